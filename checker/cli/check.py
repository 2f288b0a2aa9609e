"""``bivalence check``: runs checks, and shows their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from checker.cli import console
from checker.cli.checkpoint_options import keeping_options
from checker.cli.settings import LAYOUT, SET, engine_options, selection
from checker.diagnostics.visible import json_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from checker.cli.progress import Meter
    from checker.cli.settings import Target
    from checker.language.load import Spec
    from checker.render.diagram.rows import Layout
    from checker.render.terminal.selection import Shown
    from checker.results.trace import Trace
    from checker.results.verdict import Report
    from checker.session.pipeline import Options

EXPLAIN = 5.0
"""Seconds."""


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="FILE[::CHECK]...")
@SET
@engine_options
@keeping_options
@click.option(
    "--json", "json_out", metavar="FILE", help="Write the report as JSON; - is stdout, alone."
)
@click.option("--trace-out", metavar="FILE", help="Write the first violation's trace as JSON.")
@click.option("--itf-out", metavar="FILE", help="Write it in the Informal Trace Format.")
@click.option(
    "--states-out", metavar="DIR", help="Write all states and transitions as Parquet tables."
)
@click.option(
    "--explain",
    "explaining",
    type=click.FloatRange(min=0.0),
    default=EXPLAIN,
    show_default=True,
    metavar="SECONDS",
    help="How long to look, for each check, for the smallest runs that violate its properties and"
    " for what would have saved them.",
)
@click.option(
    "--all",
    "kinds",
    type=click.IntRange(min=1),
    default=1,
    metavar="K",
    help="Show up to K runs for each violated property, each different in kind from the others.",
)
@click.option("--no-explain", is_flag=True, help="Show the runs that were found first.")
@click.option("--coverage", is_flag=True, help="Say which handlers and branches were reached.")
@click.option(
    "--audit-reductions", is_flag=True, help="Explore again with --reduce none, and compare."
)
@click.option(
    "--compact",
    is_flag=True,
    help="Keep fingerprints in place of states: less memory, and a probability that some state was"
    " omitted, which is said.",
)
@click.option("--steps", is_flag=True, help="Show runs step by step, with all that changes.")
@LAYOUT
@selection
@click.option("--quiet", "-q", is_flag=True, help="No progress and no traces.")
def check(
    names: tuple[str, ...],
    settings: tuple[str, ...],
    json_out: str | None,
    trace_out: str | None,
    itf_out: str | None,
    states_out: str | None,
    explaining: float,
    kinds: int,
    no_explain: bool,
    coverage: bool,
    audit_reductions: bool,
    compact: bool,
    steps: bool,
    layout: Layout,
    lanes: tuple[str, ...],
    folded: bool,
    quiet: bool,
    **engine: Any,
) -> int:
    """Run checks: all of FILE's, or the one called CHECK."""
    from checker.cli.checkpoint_options import with_keeping
    from checker.cli.settings import options_of, targets
    from checker.proving.dispatch_check import answer_check
    from checker.render.terminal.selection import Shown
    from checker.session.run_engine import shared_sessions

    outputs = [output for output in (json_out, trace_out, itf_out) if output is not None]
    require_outputs(outputs)
    options = options_of(settings, engine, coverage=coverage)
    options = replace(options, kinds=kinds, audit=audit_reductions, compact=compact)
    asked = targets(names, options.limits.timeout, options.limits.memory)
    options = with_keeping(options, engine, len(asked))
    options = _with_tables(options, states_out, len(asked))
    if not no_explain and (outputs or not quiet):
        options = replace(options, explain=explaining)

    def ask(spec: Spec, name: str, meter: Meter) -> Report:
        return answer_check(spec, name, options, meter)

    files = Files(json_out, trace_out, itf_out)
    with shared_sessions(options):
        return run_and_report(
            asked,
            ask,
            options,
            files,
            quiet=quiet,
            steps=steps,
            layout=layout,
            shown=Shown(lanes, folded),
        )


def run_and_report(
    asked: list[Target],
    ask: Callable[[Spec, str, Meter], Report],
    options: Options,
    files: Files,
    *,
    quiet: bool,
    steps: bool,
    layout: Layout = "steps",
    shown: Shown | None = None,
) -> int:
    """Writes what ``ask`` reports of each check, until an interrupt, to ``files``, prints it, and
    returns the worst exit code.

    An error in one check, or in showing it, is reported, and does not end the others.
    """
    from checker.cli.checkpoint_options import say_kept
    from checker.cli.errors import attempt
    from checker.cli.progress import Meter
    from checker.cli.signals import interrupting_on_signals
    from checker.render.terminal.text import trace_view
    from checker.results.verdict import worst

    reports: list[Report] = []
    codes: list[int] = []
    for spec, name in asked:

        def answer(spec: Spec = spec, name: str = name) -> None:
            with Meter(f"{spec}::{name}", silent=quiet) as meter, interrupting_on_signals():
                reports.append(ask(spec, name, meter))

        if failed := attempt(answer):
            codes.append(failed)
            continue
        report = reports[-1]
        codes += [report.exit_code, attempt(lambda: files.write(reports))]
        if files.leave_stdout:
            first = len(reports) == 1
            drawn = partial(trace_view, steps=steps, layout=layout, shown=shown)
            show = partial(_print, report, None if quiet else drawn, first=first)
            codes.append(attempt(show))
        for what in report.failed:
            console.print_note(f"error: {what}")
        say_kept(report, options)
        if report.was_interrupted:
            break
    codes.append(attempt(lambda: files.close(reports)))
    return worst(codes)


def require_outputs(outputs: list[str]) -> None:
    """Raises ``UsageError`` where two of the files are the same, or a file can't be written."""
    from checker.cli.console import require_writable

    if len(set(outputs)) < len(outputs):
        raise click.UsageError("two outputs can't go to the same file")
    for output in outputs:
        if output != "-":
            require_writable(output)


def _with_tables(options: Options, states_out: str | None, checks: int) -> Options:
    if states_out is None:
        return options
    if checks > 1:
        raise click.UsageError("--states-out is about one check: name it, as FILE::CHECK")
    return replace(options, states_out=states_out)


def _print(report: Report, drawn: Callable[..., RenderableType] | None, *, first: bool) -> None:
    """Prints ``report``, with its traces as ``drawn`` renders them, unless that is ``None``."""
    from checker.cli.console import print_view
    from checker.render.terminal.report import report_view

    if not first:
        console.print_line()
    print_view(report_view(report))
    if drawn is not None:
        for trace, *others in _runs(traces_of(report)):
            console.print_line()
            print_view(drawn(trace, others=tuple(others)))
        further = [trace for verdict in report.verdicts for trace in verdict.others]
        for number, (trace, *others) in enumerate(_runs(further), start=2):
            console.print_line(f"\nAnother kind of run ({number})\n")
            print_view(drawn(trace, others=tuple(others)))


def _runs(traces: list[Trace]) -> list[list[Trace]]:
    """Groups ``traces`` by their execution."""
    from checker.render.terminal.text import same_run

    found: list[list[Trace]] = []
    for trace in traces:
        for run in found:
            if same_run(run[0], trace):
                run.append(trace)
                break
        else:
            found.append([trace])
    return found


def traces_of(report: Report) -> list[Trace]:
    """Returns the traces worth showing: the unexpected ones, then the expected ones, each once."""
    from checker.results.verdict import meets

    found: list[Trace] = []
    for surprising in (True, False):
        for verdict in report.verdicts:
            surprise = not meets(verdict.word, report.expected_word(verdict))
            if surprise is surprising and verdict.trace is not None and verdict.trace not in found:
                found.append(verdict.trace)
    return found


class Files:
    """The outputs: reports, and the first trace of a violation, go to files as soon as they are
    there, and to stdout (``-``) when all of them are.
    """

    def __init__(
        self, json_out: str | None = None, trace_out: str | None = None, itf_out: str | None = None
    ) -> None:
        self._json = json_out
        self._traces = {trace_out: "json", itf_out: "itf"}
        self._traces.pop(None, None)
        self._written = False

    @property
    def leave_stdout(self) -> bool:
        """Returns whether no output goes to stdout, which is free for other text then."""
        return "-" not in (self._json, *self._traces)

    def write(self, reports: list[Report]) -> None:
        """Writes the reports so far to files."""
        from checker.formats.exports import export

        if self._json not in (None, "-"):
            console.write_file(str(self._json), _documents(reports))
        traces = _traces(reports)
        if traces and not self._written:
            for file, name in self._traces.items():
                if file not in (None, "-"):
                    console.write_file(file, export(name, traces[0]))
            self._written = True

    def close(self, reports: list[Report]) -> None:
        """Writes the outputs on stdout, and reports which outputs were not written."""
        if self._json == "-":
            console.write_stdout(_documents(reports))
        if not self._traces:
            return
        traces = _traces(reports)
        if not traces:
            console.print_note("there is no violation, so no trace was written")
            return
        if "-" in self._traces:
            from checker.formats.exports import export

            console.write_stdout(export(self._traces["-"], traces[0]))
        if len(traces) > 1:
            console.print_note(
                f"of {len(traces)} traces, the first was written: {traces[0].property_name}"
            )


def _traces(reports: list[Report]) -> list[Trace]:
    return [trace for report in reports for trace in traces_of(report)]


def _documents(reports: list[Report]) -> str:
    from checker.formats.json_format import report_to_json

    documents = [report_to_json(report) for report in reports]
    return json_text(documents[0] if len(documents) == 1 else documents) + "\n"
