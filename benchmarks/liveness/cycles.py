"""Measures what symmetry saves for liveness, and holds the tool to the counts.

    python -m benchmarks.liveness.cycles             # --repeat, --markdown docs/benchmarks.md

The checks of the first table have cycles, processes or values that are interchangeable, and
liveness that single states decide.  In turns, cycles are unfolded, and symmetry is given up as soon
as a cycle is known.  Those of the second one have formulas that are monitored from the initial
states, and no cycles.  In turns, symmetry is used once there are many states, and never.  Processor
time is that of the exploration with the decision of liveness, one thread, and with code that has to
be compiled.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median
from unittest.mock import patch

import click

from benchmarks.tables import Table, into_page, number
from checker.engines.native import engine as native
from checker.engines.native.codegen.image import KernelImage
from checker.engines.native.codegen.jit import graph_kernel
from checker.engines.search_engine import SearchAgain
from checker.instantiate.assemble import instantiate
from checker.instantiate.capacity_estimation import estimate_capacities
from checker.model.ir import TransitionSystem
from checker.model.memo import a_run
from checker.properties.formula import ask
from checker.records import replace
from checker.reductions.choose import VERDICTS, choose
from checker.resources import specs
from checker.results.answer import Answer, Limits
from checker.session.load import load_check

BEGIN, END = "<!-- cycles: begin -->", "<!-- cycles: end -->"
BEGIN_MONITORED, END_MONITORED = "<!-- monitored: begin -->", "<!-- monitored: end -->"


class WrongAnswer(click.ClickException):
    """The tool does not say what is known."""


@dataclass(frozen=True)
class Case:
    """A check of the library: the states if symmetry is given up, those that are searched now (it
    is still given up where they are as many), the states in which cycles are unfolded, and the
    properties that are violated."""

    check: str
    without: int
    searched: int
    unfolded: int = 0
    violated: tuple[str, ...] = ()

    @property
    def stored(self) -> int:
        """All states that are stored where cycles are unfolded."""
        return self.searched + self.unfolded


CASES = (
    Case("consensus/flp/rounds coins", 275_456, 47_024, 31_560, ("termination",)),
    Case("consensus/flp/rounds no_coins", 83_882, 14_626, 5_208, ("termination",)),
    Case("consensus/flp/rounds same_inputs", 2_293, 471),
    Case("links/perfect from_fair_loss", 35, 35),
    Case("time/leases within_the_bound", 2_408, 1_228),
    Case("time/leases fenced", 8_794, 4_469),
    Case("time/places margin_suffices", 2_548, 1_283),
    Case("time/places two_places", 4_764, 2_421),
)

MONITORED = (
    Case(
        "replication/zab_progress refuses_in_silence",
        662_340,
        110_422,
        violated=("@beyond 1", "progress"),
    ),
    Case(
        "replication/zab_progress leaves_in_silence",
        1_107_426,
        184_605,
        violated=("@beyond 1", "progress"),
    ),
    Case("replication/bookkeeper one_entry", 69_232, 69_232),
)


def system_of(case: Case) -> TransitionSystem:
    """The system of a check, with capacities that suffice."""
    file, name = case.check.split()
    check = load_check(str(specs() / f"{file}.bcast"), name, {})
    return estimate_capacities(lambda sizes: instantiate(check, {}, ask, capacities=sizes)).system


def explored(system: TransitionSystem, unfolds: bool) -> tuple[Answer, float]:
    """The answer, and seconds of processor time, with nothing kept from earlier runs."""
    plan = choose(system, "auto", VERDICTS)
    plan = plan if unfolds else replace(plan, larger=None)
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, XDG_CACHE_HOME=folder):
        begun = time.process_time()
        while True:
            try:
                answer = native.explore(system, Limits(), plan=plan, threads=1, answer_only=True)
                return answer, time.process_time() - begun
            except SearchAgain as again:
                plan = again.next_plan(plan) if unfolds else plan.careful


def given_up(system: TransitionSystem) -> tuple[Answer, float]:
    """The same if symmetry is given up as soon as a cycle is known, and with a monitor."""
    with patch.object(KernelImage, "unfolds", False):
        return explored(system, False)


def judge(case: Case, answer: Answer, stored: int) -> None:
    """Raises :class:`WrongAnswer` if the answer is not what is known of the case."""
    said = answer.reduced.text if answer.reduced else ()
    unfolded = sum(int(text.split()[2].replace(",", "")) for text in said if "unfolded" in text)
    found = answer.distinct_states + unfolded, tuple(sorted(answer.violations)), answer.undecided
    if found != (stored, case.violated, {}):
        raise WrongAnswer(f"{case.check}: {found}, expected {stored} and {case.violated}")


def measured(case: Case, repeat: int) -> tuple[float, float]:
    """Seconds of processor time with symmetry given up, and with cycles unfolded."""
    with a_run():
        system, before, after = system_of(case), list[float](), list[float]()
        for _ in range(repeat):
            answer, seconds = given_up(system)
            judge(case, answer, case.without)
            before.append(seconds)
            answer, seconds = explored(system, True)
            judge(case, answer, case.stored)
            after.append(seconds)
    return median(before), median(after)


def _cells(case: Case, before: float, after: float, *unfolded: str) -> tuple[str, ...]:
    """The columns of both tables; ``unfolded``: one that only the first has."""
    return (
        case.check,
        f"{case.without:,}",
        f"{case.searched:,}",
        *unfolded,
        f"{case.without / case.stored:.2f}x",
        number(before),
        number(after),
        f"{after / before:.2f}",
    )


def monitored_table(rows: Sequence[tuple[Case, float, float]]) -> Table:
    heads = ("check", "without", "with symmetry", "fewer states", "CPU s", "now", "ratio")
    return Table("Symmetry with a monitor", heads, [_cells(*row) for row in rows])


def table(rows: Sequence[tuple[Case, float, float]]) -> Table:
    cells = [_cells(*row, f"{row[0].unfolded:,}") for row in rows]
    fewer = geometric_mean(case.without / case.stored for case, _, _ in rows)
    ratio = geometric_mean(after / before for _, before, after in rows)
    cells.append(("geometric mean", "", "", "", f"{fewer:.2f}x", "", "", f"{ratio:.2f}"))
    heads = ("check", "given up", "searched", "unfolded", "fewer states", "CPU s", "now", "ratio")
    return Table("Symmetry with cycles", heads, cells)


@click.command()
@click.option("--repeat", default=3, type=click.IntRange(min=1), help="Turns of each [3].")
@click.option("--markdown", type=click.Path(path_type=Path), help="A page to write the table into.")
def main(repeat: int, markdown: Path | None) -> None:
    """Measure what symmetry saves for liveness."""
    graph_kernel()
    found = table([(case, *measured(case, repeat)) for case in CASES])
    watched = monitored_table([(case, *measured(case, repeat)) for case in MONITORED])
    click.echo(found.text())
    click.echo(watched.text())
    if markdown is not None:
        into_page(markdown, found.markdown(), BEGIN, END)
        into_page(markdown, watched.markdown(), BEGIN_MONITORED, END_MONITORED)


if __name__ == "__main__":
    main()
