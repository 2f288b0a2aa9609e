"""``bivalence test``: runs every check of files and folders against what it expects."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.cli import console
from checker.cli.settings import engine_options
from checker.diagnostics.english import count

if TYPE_CHECKING:
    from checker.language.load import Spec
    from checker.results.verdict import Report
    from checker.session.pipeline import Options

SUFFIX = ".bcast"


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@engine_options
def test(paths: tuple[str, ...], **engine: Any) -> int:
    """Run every check and compare it with what it expects.

    PATHs are specs, or folders with specs in them.
    """
    from checker.cli.settings import options_of
    from checker.results.verdict import worst
    from checker.session.run_engine import shared_sessions

    options = options_of((), engine)
    files = list(dict.fromkeys(specs_in(paths)))
    codes: list[int] = []
    with shared_sessions(options):
        for file in files:
            codes += _run(str(file), options)
    good = sum(code == 0 for code in codes)
    console.print_line(f"{good} of {len(codes)} as expected")
    return worst(codes)


def specs_in(paths: Iterable[str]) -> Iterable[Path]:
    """Returns the specs that ``paths`` name, or that are in the folders they name."""
    for name in paths:
        path = Path(name)
        if path.is_dir():
            inside = sorted(path.rglob(f"*{SUFFIX}"))
            if not inside:
                raise click.UsageError(f"{name} has no spec ({SUFFIX}) in it")
            yield from inside
        elif path.exists():
            yield path
        else:
            raise click.UsageError(f"{name} does not exist")


def _run(file: str, options: Options) -> list[int]:
    """Prints a line for each check of a file; returns their exit codes, one for a bad file."""
    from checker.cli.console import print_note
    from checker.cli.errors import attempt
    from checker.cli.progress import Meter
    from checker.proving.dispatch_check import answer_check
    from checker.session import pipeline

    read: list[Spec] = []
    if failed := attempt(lambda: read.append(pipeline.read_spec(file))):
        return [_report_unusable(file, failed)]
    (spec,) = read
    if not spec.names:
        print_note(f"{file}: has no check")
    codes = []
    for name in spec.names:
        reports: list[Report] = []

        def answer(name: str = name, reports: list[Report] = reports) -> None:
            with Meter(f"{file}::{name}") as meter:
                reports.append(answer_check(spec, name, options, meter))

        if failed := attempt(answer):
            codes.append(_report_unusable(f"{file}::{name}", failed))
            continue
        (report,) = reports
        console.print_line(_line(report))
        codes.append(report.exit_code)
        if report.was_interrupted:
            raise KeyboardInterrupt
    return codes


def _report_unusable(what: str, code: int) -> int:
    """Reports that a file or a check could not be run, with the exit code ``code``."""
    from checker.cli.errors import USAGE

    console.print_line(f"{'UNUSABLE' if code == USAGE else 'FAILED'}  {what}")
    return code


def _line(report: Report) -> str:
    mark = "as expected" if report.exit_code == 0 else "UNEXPECTED "
    took = f"{count(report.distinct_states, 'state')}, {report.seconds:.2f} s"
    if report.proof is not None:
        took = f"{count(report.proof.queries, 'query', 'queries')}, {report.proof.seconds:.2f} s"
    why = "".join(f"\n             {reason}" for reason in _reasons(report))
    return f"{mark}  {report.file}::{report.check}  ({took}){why}"


def _reasons(report: Report) -> Iterable[str]:
    from checker.results.verdict import meets

    if report.exit_code == 0:
        return
    judged = {e.what for e in report.expectations}
    for expectation in report.expectations:
        if not expectation.met:
            wanted, found = expectation.expected, expectation.found
            yield f"{expectation.what}: expected {wanted}, found {found}"
    for verdict in report.verdicts:
        if verdict.property not in judged and not meets(
            verdict.word, report.expected_word(verdict)
        ):
            yield f"{verdict.property}: {verdict.label()}, {verdict.reason}"
    for scenario in report.scenarios:
        if not scenario.met:
            yield f"scenario {scenario.name}, line {scenario.line}: {scenario.reason}"
