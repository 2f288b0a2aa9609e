"""``bivalence test``: runs every check of files and folders against what it expects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.cli import console
from checker.cli.check_tasks import CheckOutcome, CheckTask, lost_task, run_task
from checker.cli.document_options import (
    GITHUB,
    JSON_OUT,
    JUNIT_OUT,
    SARIF_OUT,
    writing_files,
)
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.parallel import JOBS
from checker.cli.settings import engine_options
from checker.diagnostics.english import count

if TYPE_CHECKING:
    from checker.cli.reporting import Files
    from checker.language.load import Spec
    from checker.render.ci.outcomes import NotRun
    from checker.results.verdict import Report
    from checker.session.pipeline import Options

SUFFIX = ".bcast"

WORTHWHILE = 6
"""Fewer checks than that are run one after the other, unless ``--jobs`` says otherwise: a process
takes as long to start."""


@click.command(cls=Grouped)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@engine_options
@JOBS
@JSON_OUT
@JUNIT_OUT
@SARIF_OUT
@GITHUB
@quiet_option("Omit progress and passing checks.")
@writing_files
def test(
    paths: tuple[str, ...],
    jobs: int | None,
    files: Files,
    quiet: bool,
    **engine: Any,
) -> int:
    """Run every check, and compare outcomes with expectations.

    PATHs are specs, or folders of specs. Checks run in parallel, on all cores.
    """
    from checker.cli.errors import UNKNOWN
    from checker.cli.settings import options_of
    from checker.results.verdict import worst
    from checker.session.run_engine import shared_sessions

    if not files.leave_stdout:
        raise click.UsageError("stdout has a line for each check: use a file instead of `-`")
    options = options_of((), engine)
    specs = list(dict.fromkeys(specs_in(paths)))
    codes: list[int] = []
    found: list[Report | NotRun] = []
    try:
        with shared_sessions(options):
            for outcome in _outcomes(specs, options, jobs, quiet, files.locate):
                console.print_error_text(outcome.said)
                if line := _line(outcome, quiet):
                    console.print_line(line)
                codes.append(outcome.code)
                found.append(outcome.report or _not_run(outcome))
                if outcome.report is not None and outcome.report.was_interrupted:
                    raise KeyboardInterrupt
    except KeyboardInterrupt:
        console.print_note("interrupted; not all checks were run")
        codes.append(UNKNOWN)
    good = sum(code == 0 for code in codes)
    console.print_line(f"{good} of {len(found)} as expected")
    files.write(found)
    files.close(found)
    return worst(codes)


def specs_in(paths: Iterable[str]) -> Iterable[Path]:
    """Returns the specs that ``paths`` name, or that are in the folders they name."""
    for name in paths:
        path = Path(name)
        if path.is_dir():
            inside = sorted(path.rglob(f"*{SUFFIX}"))
            if not inside:
                raise click.UsageError(f"{name} contains no spec ({SUFFIX})")
            yield from inside
        elif path.exists():
            yield path
        else:
            raise console.unreadable(name, "there is no such file")


def _outcomes(
    files: list[Path],
    options: Options,
    jobs: int | None,
    quiet: bool,
    locate: Callable[[Spec], None],
) -> Iterator[CheckOutcome]:
    """Yields the outcome of each check of ``files``, in order, one for a bad file; what can be
    read goes to ``locate``."""
    from checker.cli.parallel import jobs_and_threads, run_in_order
    from checker.cli.progress import Count
    from checker.sweep.local import Work

    found = list(_tasks(files, options))
    good = [each for each in found if isinstance(each, CheckTask)]
    for spec in dict.fromkeys(task.spec for task in good):
        locate(spec)
    at_once, threads = jobs_and_threads(jobs, len(good), options.threads)
    if options.cluster is not None or len(good) < (jobs or WORTHWHILE):
        at_once, threads = 1, options.threads
    good = [task.ready(threads, at_once) for task in good]
    with Count("test", len(good), "check", silent=quiet) as meter:
        outcomes = run_in_order(good, at_once, Work(run_task, lost_task), meter, str)
        with closing(outcomes):
            for each in found:
                yield each if isinstance(each, CheckOutcome) else next(outcomes)


def _tasks(files: list[Path], options: Options) -> Iterator[CheckTask | CheckOutcome]:
    """Yields what is to be run; of a file that can't be read, its outcome."""
    number = 0
    for file in files:
        spec = _read(file)
        if isinstance(spec, CheckOutcome):
            yield spec
            continue
        if not spec.names:
            console.print_hint(f"{file}: no checks")
        for name in spec.names:
            number += 1
            yield CheckTask(number, spec, name, options)


def _read(file: Path) -> Spec | CheckOutcome:
    from checker.cli.errors import attempt_quietly
    from checker.session import pipeline

    read: list[Spec] = []
    failed = attempt_quietly(lambda: read.append(pipeline.read_spec(str(file))))
    if read:
        return read[0]
    return CheckOutcome(0, str(file), None, failed.code, failed.said, failed.errors)


def _not_run(outcome: CheckOutcome) -> NotRun:
    from checker.render.ci.outcomes import NotRun

    file, _, check = outcome.what.partition("::")
    return NotRun(file, check, outcome.errors, outcome.said, outcome.code)


def _line(outcome: CheckOutcome, quiet: bool) -> str:
    """Returns the line of a check; empty where it need not be shown."""
    from checker.cli.errors import USAGE
    from checker.results.origin import sources

    report = outcome.report
    if report is None:
        return f"{'UNUSABLE' if outcome.code == USAGE else 'FAILED'}  {outcome.what}"
    if quiet and report.exit_code == 0 and not report.warnings:
        return ""
    mark = "as expected" if report.exit_code == 0 else "UNEXPECTED "
    took = f"{count(report.distinct_states, 'state')}, {report.seconds:.2f} s"
    if report.proof is not None:
        took = f"{count(report.proof.queries, 'query')}, {report.proof.seconds:.2f} s"
    why = "".join(f"\n             {reason}" for reason in _reasons(report))
    warned = (f"warning {w.code}: {w.file}:{w.line}: {w.message}" for w in report.warnings)
    about = "".join(f"\n             {said}" for said in (*warned, *sources(report.verdicts)))
    return f"{mark}  {report.file}::{report.check}  ({took}){why}{about}"


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
