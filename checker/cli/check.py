"""``bivalence check``: run checks, say what was found, and show how."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from checker.cli.keeping import keeping_options
from checker.cli.settings import SET, engine_options

if TYPE_CHECKING:
    from checker.cli.progress import Meter
    from checker.pipeline import Options
    from checker.witness.trace import Trace
    from checker.witness.verdict import Report

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
    quiet: bool,
    **engine: Any,
) -> int:
    """Run checks: all of FILE's, or the one called CHECK."""
    from checker.cli.keeping import with_keeping
    from checker.cli.settings import options_of, targets
    from checker.proving.answering import answered
    from checker.running import sessions

    outputs = [output for output in (json_out, trace_out, itf_out) if output is not None]
    require_outputs(outputs)
    options = options_of(settings, engine, coverage=coverage)
    options = replace(options, kinds=kinds, audit=audit_reductions, compact=compact)
    asked = targets(names)
    options = with_keeping(options, engine, len(asked))
    options = _with_tables(options, states_out, len(asked))
    if not no_explain and (outputs or not quiet):
        options = replace(options, explain=explaining)

    def ask(path: str, name: str, meter: Meter) -> Report:
        return answered(path, name, options, meter)

    with sessions(options):
        aloud = "-" not in outputs
        reports, code = told(asked, ask, options, quiet=quiet, steps=steps, aloud=aloud)
    save(reports, json_out, trace_out, itf_out)
    return code


def told(
    asked: list[tuple[str, str]],
    ask: Callable[[str, str, Meter], Report],
    options: Options,
    *,
    quiet: bool,
    steps: bool,
    aloud: bool,
) -> tuple[list[Report], int]:
    """What ``ask`` reports of each check, until somebody interrupts, printed where ``aloud``; and
    the worst exit code, with those of checks that can't be asked, of which that is said."""
    from checker.cli.keeping import say_kept
    from checker.cli.progress import Meter
    from checker.cli.say import note
    from checker.cli.signals import ended_politely
    from checker.cli.unusable import say_unusable
    from checker.witness.verdict import worst

    reports: list[Report] = []
    codes: list[int] = []
    for path, name in asked:
        try:
            with Meter(f"{path}::{name}", silent=quiet) as meter, ended_politely():
                report = ask(path, name, meter)
        except Exception as problem:
            code = say_unusable(problem)
            if code is None:
                raise
            codes.append(code)
            continue
        codes.append(report.exit_code)
        if aloud:
            _print(report, with_traces=not quiet, steps=steps, first=not reports)
        for failed in report.failed:
            note(f"error: {failed}")
        say_kept(report, options)
        reports.append(report)
        if report.interrupted:
            break
    return reports, worst(codes)


def require_outputs(outputs: list[str]) -> None:
    """Raises ``UsageError`` where two of the files are one, or a file can't be written."""
    from checker.cli.say import require_writable

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


def _print(report: Report, *, with_traces: bool, steps: bool, first: bool) -> None:
    from checker.cli.say import page
    from checker.views.report import report_view
    from checker.views.text import trace_view

    if not first:
        click.echo()
    page(report_view(report))
    if with_traces:
        for trace, *others in _runs(traces_of(report)):
            click.echo()
            page(trace_view(trace, steps, others=tuple(others)))
        further = [trace for verdict in report.verdicts for trace in verdict.others]
        for number, (trace, *others) in enumerate(_runs(further), start=2):
            click.echo(f"\nAnother kind of run ({number})\n")
            page(trace_view(trace, steps, others=tuple(others)))


def _runs(traces: list[Trace]) -> list[list[Trace]]:
    """``traces``, those with the same run together."""
    from checker.views.text import same_run

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
    """The traces worth showing: those nobody expected, the expected ones, each once."""
    from checker.witness.verdict import meets

    found: list[Trace] = []
    for surprising in (True, False):
        for verdict in report.verdicts:
            surprise = not meets(verdict.word, report.wanted(verdict))
            if surprise is surprising and verdict.trace is not None and verdict.trace not in found:
                found.append(verdict.trace)
    return found


def save(
    reports: list[Report], json_out: str | None, trace_out: str | None, itf_out: str | None
) -> None:
    """Writes the reports, if there are any, and the first of their traces, where asked for."""
    if not reports:
        return
    if json_out is not None:
        _save_reports(reports, json_out)
    if trace_out is None and itf_out is None:
        return
    from checker.cli.say import note

    traces = [trace for report in reports for trace in traces_of(report)]
    if not traces:
        note("there is no violation, so no trace was written")
        return
    first = traces[0]
    if len(traces) > 1:
        note(f"of {len(traces)} traces, the first was written: {first.property_name}")
    _save_trace(first, trace_out, itf_out)


def _save_reports(reports: list[Report], json_out: str) -> None:
    from checker.witness.json_format import report_to_json

    documents = [report_to_json(report) for report in reports]
    _output(json_out, documents[0] if len(documents) == 1 else documents)


def _save_trace(trace: Trace, trace_out: str | None, itf_out: str | None) -> None:
    from checker.witness.itf import trace_to_itf
    from checker.witness.json_format import trace_to_json

    if trace_out is not None:
        _output(trace_out, trace_to_json(trace))
    if itf_out is not None:
        _output(itf_out, trace_to_itf(trace))


def _output(path: str, document: object) -> None:
    from checker.cli.say import write

    text = json.dumps(document, indent=2, ensure_ascii=False)
    if path == "-":
        click.echo(text)
    else:
        write(path, text + "\n")
