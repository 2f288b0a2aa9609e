"""``bivalence test-cases``: few and short runs that drive an implementation through a check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli import console
from checker.cli.settings import FINE_STEPS, SET, TIMEOUT

if TYPE_CHECKING:
    from checker.conform.covering_runs import CoveringSet


@click.command("test-cases")
@click.argument("name", metavar="FILE::CHECK")
@SET
@click.option(
    "--cover",
    default="transitions",
    show_default=True,
    metavar="WHAT",
    help="Coverage goal: transitions, handlers, pairs of consecutive handlers, or sequences of K.",
)
@click.option(
    "--out", metavar="FOLDER", required=True, help="Folder for a trace (JSON, ITF) of each run."
)
@FINE_STEPS
@click.option(
    "--max-states", type=click.IntRange(min=1), default=5000, show_default=True, metavar="N",
    help="Explore at most N states; the rest is not covered.",
)  # fmt: skip
@TIMEOUT
def test_cases(
    name: str,
    settings: tuple[str, ...],
    cover: str,
    out: str,
    fine_steps: bool,
    max_states: int,
    timeout: float | None,
) -> int:
    """Write runs that cover a check, to test implementations.

    Writes each run as a JSON trace and in the Informal Trace Format. `checker.api.drive` executes
    its steps on an implementation and compares. Exits with 0, or with 3 if the state limit was
    reached.
    """
    from checker.cli.progress import Count
    from checker.cli.settings import one_target, settings_of
    from checker.conform.covering_runs import COVER, TRANSITIONS, covering_set
    from checker.engines import budgets
    from checker.session.pipeline import Options, open_check

    if cover not in (*COVER, TRANSITIONS) and not (cover.isdigit() and 1 <= int(cover) <= 6):
        raise click.UsageError(f"--cover {cover}: write transitions, handlers, pairs or 1 to 6")
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise click.UsageError(f"{out}: {problem.strerror}") from problem
    spec, check = one_target(name)
    options = Options(settings=settings_of(settings), fine_steps=fine_steps)
    with (
        Count(f"{spec}::{check}", max_states) as meter,
        budgets.within(timeout),
        budgets.raising_when_exhausted(),
    ):
        opened = open_check(spec, check, options)
        found = covering_set(opened, cover, max_states, lambda done: meter.count(done, []))
    _write(found, folder)
    console.print_line(_said(found, cover, out))
    return 0 if found.complete else 3


def _write(found: CoveringSet, folder: Path) -> None:
    from checker.cli.console import write_file
    from checker.formats import itf, json_format

    for number, run in enumerate(found.runs, 1):
        write_file(str(folder / f"run-{number:03}.json"), json_format.trace_to_text(run))
        write_file(str(folder / f"run-{number:03}.itf.json"), itf.trace_to_text(run))


def _said(found: CoveringSet, cover: str, out: str) -> str:
    from checker.diagnostics.english import count

    what = cover if not cover.isdigit() else f"sequences of {cover} handlers"
    said = (
        f"{count(len(found.runs), 'run')} of {count(found.steps, 'step')} in {out}: they cover"
        f" {found.covered:,} of {found.targets:,} {what}, in {count(found.states, 'state')}"
    )
    return said if found.complete else f"{said}; there are more states (--max-states)"
