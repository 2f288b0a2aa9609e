"""What valence costs beside a search of the same states: `python benchmarks/valence.py`."""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from checker.records import replace

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.tables import Table, number  # noqa: E402
from checker.engines.native.engine import explore  # noqa: E402
from checker.engines.options import Options  # noqa: E402
from checker.instantiate.instantiated import Instantiated  # noqa: E402
from checker.results.answer import Answer  # noqa: E402
from checker.results.valence import Valence  # noqa: E402
from checker.session.state_graphs import graph_of_check  # noqa: E402
from checker.valence.analysis import analyse  # noqa: E402
from checker.valence.compute import compute  # noqa: E402
from checker.valence.question import Question, question_of  # noqa: E402

SPECS = ROOT / "specs"
CASES = (
    "consensus/hierarchical::no_fault",
    "consensus/rotating_coordinator::crash_one",
    "consensus/flp/rounds::no_coins",
    "consensus/paxos::anything_goes",
    "consensus/hierarchical::crash_one",
    "consensus/flp/rounds::coins",
    "consensus/rotating_coordinator::settles",
    "consensus/hierarchical::wrong_detector",
    "commit/paxos_commit::aborts_at_once",
    "consensus/fast_paxos::fast_majority",
    "consensus/ben_or::one_proposal_is_not_enough",
)
"""Checks of the library that decide, for all inputs, with 50,000 to 10 million states, small ones
first."""
MOST = 2.0
"""Valence takes at most so many times as long as the search."""
BYTES = 2
"""And so many bytes of a state."""


@dataclass(frozen=True, slots=True)
class Row:
    """Processor seconds of one thread: of a search of all states, from the check on, and of what
    valence adds to it, up to the runs that are shown; ``bytes``: of a state, beside the graph."""

    check: str
    states: int
    steps: int
    search: float
    valence: float
    bytes: int
    bivalent: int
    critical: int

    @property
    def ratio(self) -> float:
        """How many times as long as the search valence takes."""
        return self.valence / self.search


def measured(name: str, repeat: int) -> Row:
    """Measures one check, so many times, and takes the fastest.

    Raises :class:`WrongAnswer` where the states are not those of a plain search, or levels do not
    have each state once.
    """
    file, _, check = name.partition("::")
    options = Options(threads=1)
    asked = question_of(str(SPECS / f"{file}.bcast"), check, options, None, free_inputs=True)
    _whole(asked)  # compiles the code that the others load
    _search(asked)
    searches, wholes = list[float](), list[float]()
    for _ in range(repeat):
        seconds, answer = _search(asked)
        searches.append(seconds)
        seconds, report = _whole(asked)
        wholes.append(seconds)
    _require_states(name, report, answer)
    bivalent = sum(level.bivalent for level in report.levels)
    return Row(
        name,
        report.states,
        report.edges,
        min(searches),
        min(wholes) - min(searches),
        report.bytes_per_state,
        bivalent,
        report.critical_states,
    )


@dataclass(slots=True)
class _Searched:
    """A search, where a state graph could be."""

    answer: Answer
    missing: str = ""


def _search(asked: Question) -> tuple[float, Answer]:
    """A search without reductions, from the check to the number of its states: it looks at nothing
    but these."""

    def search(made: Instantiated, options: Options) -> _Searched:
        plain = replace(made.system, properties=(), view=None)
        return _Searched(explore(plain, options.limits, threads=1, answer_only=True))

    began = time.process_time()
    _, found, _ = graph_of_check(asked.make, "native", search, asked.options)
    return time.process_time() - began, found.answer


def _whole(asked: Question) -> tuple[float, Valence]:
    """The search and the valence together, from the check to the report."""
    began = time.process_time()
    report = analyse(compute(asked, None))
    return time.process_time() - began, report


def _require_states(name: str, report: Valence, answer: Answer) -> None:
    in_levels = sum(level.states for level in report.levels)
    if not report.states == answer.distinct_states == in_levels:
        raise WrongAnswer(
            f"{name}: {report.states:,} states, {in_levels:,} in levels, and"
            f" {answer.distinct_states:,} of a plain search"
        )


def rows(names: Sequence[str], repeat: int) -> Iterator[Row]:
    """Measures checks; says what is slower, or larger, than it should be, once all are there."""
    over = []
    for name in names:
        row = measured(name, repeat)
        yield row
        if row.ratio > MOST or row.bytes > BYTES:
            over.append(f"{name}: {row.ratio:.1f} times the search, {row.bytes} bytes a state")
    if over:
        raise WrongAnswer("; ".join(over))


def table(done: Sequence[Row]) -> Table:
    """All of it in columns."""
    cells = [
        [
            *(row.check, f"{row.states:,}", f"{row.steps:,}"),
            *(number(row.search), number(row.valence), f"{row.ratio:.2f}"),
            *(str(row.bytes), f"{row.bivalent:,}", f"{row.critical:,}"),
        ]
        for row in done
    ]
    names = ["check", "states", "steps", "search s", "valence s", "valence/search", "B/state"]
    notes = ["processor seconds of one thread; valence: what it adds to the search"]
    return Table("Valence", [*names, "bivalent", "critical"], cells, notes)


@click.command()
@click.option("--only", default="", help="Checks whose name has this in it.")
@click.option("--repeat", default=3, show_default=True, help="How often each is measured.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write all of it here.")
def main(only: str, repeat: int, target: Path | None) -> None:
    """Measure what valence costs beside a search of the same states."""
    done: list[Row] = []
    try:
        for row in rows([name for name in CASES if only in name], repeat):
            click.echo(row.check, err=True)
            done.append(row)
    except WrongAnswer as error:
        raise click.ClickException(str(error)) from error
    finally:
        if done:
            click.echo(table(done).text())
    if target is not None:
        machine = {"kind": platform.machine(), "python": platform.python_version()}
        found = {"machine": machine, "rows": [asdict(one) for one in done]}
        target.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
