"""How far bounded model checking comes in a minute: `python benchmarks/bounded.py`.

First it has to find the shortest counterexamples that the native engine finds.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.tables import Table, into_page, number  # noqa: E402
from checker.engines.native import engine as native  # noqa: E402
from checker.engines.options import Options  # noqa: E402
from checker.engines.symbolic import bounded  # noqa: E402
from checker.instantiate.assemble import instantiate  # noqa: E402
from checker.instantiate.capacity_estimation import estimate_capacities  # noqa: E402
from checker.model.ir import PropertyKind, TransitionSystem  # noqa: E402
from checker.properties.formula import ask  # noqa: E402
from checker.results.answer import Answer, Limits  # noqa: E402
from checker.results.verdict import Word  # noqa: E402
from checker.session.load import load_check  # noqa: E402
from checker.session.pipeline import run_check  # noqa: E402

SECONDS = 60.0
"""For each check, with writing the formulas."""

DEEPEST = 200
"""Steps that are asked for."""

VIOLATED = (
    ("byzantine/echo", "built_for_one_with_two"),
    ("byzantine/bracha", "joins_too_soon"),
    ("links/sequence_numbers", "without_numbers"),
    ("exactly_once/connector", "place_at_connector"),
    ("oracles/networks", "twice_lossy_bag"),
)
"""Checks with an invariant property that is violated."""

HOLDING = (
    ("consensus/paxos", "outvoted"),
    ("consensus/paxos", "crash_and_loss"),
    ("byzantine/bracha", "four"),
    ("broadcast/eager_reliable", "crash_one"),
    ("commit/two_phase_commit", "crash_one"),
    ("oracles/two_phase", "nine"),
)
"""Checks whose invariant properties hold."""


def system_of(spec: str, name: str) -> TransitionSystem:
    """The system of a check, with the capacities that a first look finds."""
    check = load_check(str(ROOT / "specs" / f"{spec}.bcast"), name, {})
    return estimate_capacities(lambda sizes: instantiate(check, {}, ask, capacities=sizes)).system


def lengths(system: TransitionSystem, answer: Answer) -> dict[str, int]:
    """Steps to each violated invariant property."""
    safety = {p.name for p in system.properties if p.kind is PropertyKind.INVARIANT}
    found = answer.violations.items()
    return {name: len(path.states) - 1 for name, path in found if name in safety}


def shortest(spec: str, name: str) -> dict[str, int]:
    """What both engines find; raises :class:`WrongAnswer` where they differ."""
    system = system_of(spec, name)
    found = lengths(system, bounded.explore(system, Limits(), depth=12))
    expected = lengths(system, native.explore(system, Limits(max_depth=12)))
    if not expected or found != expected:
        raise WrongAnswer(f"{spec}::{name}: {found}, and {expected} by the native engine")
    return found


def reached(spec: str, name: str, seconds: float) -> list[str]:
    """A row: how deep it comes; raises :class:`WrongAnswer` where something is violated."""
    began = time.perf_counter()
    options = Options(engine="symbolic", limits=Limits(timeout=seconds, max_depth=DEEPEST))
    report = run_check(str(ROOT / "specs" / f"{spec}.bcast"), name, options)
    words = {v.word for v in report.verdicts}
    if words & {Word.VIOLATED, Word.ERROR}:
        raise WrongAnswer(f"{spec}::{name}: {', '.join(sorted(words))}")
    bounded_ones = [v for v in report.verdicts if v.up_to is not None]
    depth, why = "none", "no time"
    if bounded_ones:
        depth, why = str(bounded_ones[0].up_to), bounded_ones[0].reason.rpartition("; ")[2]
    return [f"{spec}::{name}", depth, number(time.perf_counter() - began), why]


@click.command()
@click.option("--seconds", default=SECONDS, show_default=True, help="For each check.")
@click.option("--markdown", "page", type=click.Path(path_type=Path), help="Put the table there.")
def main(seconds: float, page: Path | None) -> None:
    """Counterexamples first, then depths."""
    for spec, name in VIOLATED:
        found = ", ".join(f"{name} after {steps}" for name, steps in shortest(spec, name).items())
        click.echo(f"{spec}::{name}: {found}")
    rows = []
    for spec, name in HOLDING:
        rows.append(reached(spec, name, seconds))
        click.echo("  ".join(rows[-1]))
    title = f"Steps in {number(seconds)} s"
    table = Table(title, ["check", "up to", "s", "then"], rows)
    if page is not None:
        into_page(page, table.markdown())


if __name__ == "__main__":
    main()
