"""``bivalence conform``: whether the log of an implementation is a run of its spec."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.cli import console
from checker.cli.document_options import ITF_OUT, JSON_OUT, trace_option
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.settings import MAX_STATES, MEMORY, SET, TIMEOUT
from checker.extensions.tables import AUTO, DEFAULT, DEFINITION

if TYPE_CHECKING:
    from checker.conform.conform_log import Asked
    from checker.results.conformance import Conformance


@click.command(cls=Grouped)
@click.argument("name", metavar="FILE::CHECK")
@click.argument("logs", metavar="LOG…", nargs=-1, required=True)
@SET
@click.option("--map", "mapping", metavar="FILE", help="How names of the log become the spec's.")
@click.option("--fine-steps", is_flag=True, help="Each copy of a multicast leaves in its own step.")
@click.option(
    "--engine",
    type=click.Choice([AUTO, DEFAULT, DEFINITION]),
    default=AUTO,
    show_default=True,
    help="What follows the log: compiled code, or the plain interpreter that defines it.",
)
@click.option(
    "--replay",
    type=click.IntRange(min=0),
    default=2000,
    show_default=True,
    metavar="K",
    help="The interpreter replays the last K steps of a run; they are the trace.",
)
@MAX_STATES
@TIMEOUT
@MEMORY
@JSON_OUT
@trace_option("the run's")
@ITF_OUT
@quiet_option("No progress and no run.")
def conform(name: str, logs: tuple[str, ...], quiet: bool, **given: Any) -> int:
    """Say whether a log is the log of a run of a check.

    LOG is a file (lines of JSON, docs/logs.md); files together are one log, each process numbers
    its own lines, and no clock is trusted. A folder is a log of its own: of several, each is asked.
    What a log does not say is free; a line that no step explains is an error. Exit codes: 0 it
    conforms, 1 it does not, 3 unknown (a budget was reached), 4 vacuous (it says nothing).
    """
    from checker.cli.reporting import require_outputs
    from checker.results.verdict import worst

    outputs = [given[each] for each in ("json_out", "trace_out", "itf_out") if given[each]]
    require_outputs(outputs)
    asked = _asked(name, given)
    reports: list[Conformance] = []
    codes: list[int] = []
    apart = _apart(logs)
    for files in apart:
        code = _one(
            asked, files, quiet, reports, alone=len(apart) == 1, silent=given["json_out"] == "-"
        )
        codes.append(code)
        if reports and reports[-1].was_interrupted:
            break
    _write(reports, given)
    return worst(codes)


def _asked(name: str, given: dict[str, Any]) -> Asked:
    from checker.cli.settings import one_target, settings_of
    from checker.conform.conform_log import Asked
    from checker.conform.mapping import NOTHING_RENAMED, read_mapping
    from checker.results.answer import Limits
    from checker.session.pipeline import Options

    spec, check = one_target(name)
    mapping = NOTHING_RENAMED if given["mapping"] is None else read_mapping(given["mapping"])
    options = Options(
        settings=settings_of(given["settings"]),
        fine_steps=given["fine_steps"],
        engine=given["engine"],
        limits=Limits(given["max_states"], None, given["timeout"], given["memory"]),
    )
    return Asked(spec, check, options, mapping, given["replay"])


def _apart(logs: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Returns the files of each log: those of each folder, and all others together."""
    folders = [path for path in logs if Path(path).is_dir()]
    files = tuple(path for path in logs if path not in folders)
    found = [files] if files else []
    for folder in folders:
        inside = tuple(str(path) for path in sorted(Path(folder).iterdir()) if path.is_file())
        if not inside:
            raise click.UsageError(f"{folder} has no files")
        found.append(inside)
    return found


def _one(
    asked: Asked,
    files: tuple[str, ...],
    quiet: bool,
    into: list[Conformance],
    *,
    alone: bool,
    silent: bool,
) -> int:
    """Asks of one log, shows what is found, and returns the exit code."""
    from checker.cli.errors import attempt
    from checker.cli.progress import Meter
    from checker.cli.signals import interrupting_on_signals
    from checker.conform.conform_log import conform as ask

    def answer() -> None:
        with (
            Meter(f"{asked.spec}::{asked.check}", silent=quiet) as meter,
            interrupting_on_signals(),
        ):
            into.append(ask(asked, files, meter))

    failed = attempt(answer)
    if failed:
        return failed
    if not silent:
        _show(into[-1], quiet, alone)
    return into[-1].exit_code


def _show(report: Conformance, quiet: bool, alone: bool) -> None:
    from checker.render.terminal.conformance import conformance_line, conformance_view

    if alone or report.exit_code:
        console.print_view(conformance_view(report, runs=not quiet))
    else:
        console.print_view(conformance_line(report))


def _write(reports: list[Conformance], given: dict[str, Any]) -> None:
    """Writes the files that were asked for."""
    from checker.cli.console import print_note, write_file
    from checker.diagnostics.visible import json_text
    from checker.formats import itf, json_format

    if given["json_out"] is not None and reports:
        documents = [json_format.conformance_to_json(report) for report in reports]
        text = json_text(documents[0] if len(documents) == 1 else documents)
        if given["json_out"] == "-":
            console.print_line(text)
        else:
            write_file(given["json_out"], text + "\n")
    found = next((report for report in reports if report.trace is not None), None)
    trace = None if found is None or found.omitted else found.trace
    for option, write in (("trace_out", json_format.trace_to_text), ("itf_out", itf.trace_to_text)):
        if given[option] is None:
            continue
        if trace is None:
            why = "there is no run that was replayed from its start"
            print_note(f"{given[option]} was not written: {why}")
        else:
            write_file(given[option], write(trace))
