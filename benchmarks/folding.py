"""Bytes and time of folded rows beside whole ones: `python benchmarks/folding.py`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from unittest.mock import patch

import click
from msgspec import Struct

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.tables import Table, into_page, number  # noqa: E402
from checker.engines.native import engine  # noqa: E402
from checker.engines.native.codegen.image import KernelImage  # noqa: E402
from checker.engines.native.codegen.jit import Kernel, compile_image  # noqa: E402
from checker.engines.native.search import search, store  # noqa: E402
from checker.engines.options import Options  # noqa: E402
from checker.session.pipeline import run_check  # noqa: E402

BEGIN, END = "<!-- folding: begin -->", "<!-- folding: end -->"
ONE_THREAD = Options(threads=1)
NEVER, ALWAYS = 9.0, 0.0
"""Parts of the memory from which on rows are folded (``store.SHORT``)."""
FROM = 1 << 16
"""The number of slots of the first table here: its states are the sample for the trees."""

STATES = {
    "replication/viewstamped three_views": 384_839,
    "replication/kafka_partition three_two_epochs": 124_233,
    "replication/raft_membership four": 350_637,
    "replication/kafka_partition three_shrinking": 3_073_032,
    "replication/viewstamped_messages three_views": 2_231_914,
}
"""The states of each check, as `specs/manifest.json` has them: both forms must find so many."""


class Measured(Struct, frozen=True):
    """One search: ``seconds`` of a processor, ``bytes`` and ``nodes`` a state (``None``: rows are
    whole); ``bits`` of a state; ``table``: the bytes of the table a state, and whether its slots
    have 32 bits (``narrow``); ``most``: the bytes of table and rows in memory when they were most,
    for each of all states."""

    words: int
    seconds: float
    bytes: float
    nodes: float | None
    bits: int
    table: float
    narrow: bool
    most: float


def measured(case: str, states: int, short: float, options: Options = ONE_THREAD) -> Measured:
    """One exploration, with optimised code; raises :class:`WrongAnswer`."""
    file, check = case.split()
    path, run = str(ROOT / "specs" / f"{file}.bcast"), search.Search.run
    clock = time.thread_time if options.threads == 1 else time.process_time

    def timed(self: search.Search, *given: object) -> None:
        begun = clock()
        run(self, *given)  # type: ignore[arg-type]
        found.append(_stored(self, clock() - begun, max(in_use)))

    def opened(self: store.Store, depth: int) -> None:
        in_use.append(self.used_bytes)
        open_level(self, depth)

    found: list[Measured] = []
    in_use, open_level = [0], store.Store.open_level
    before = store.SHORT, search.Search.run
    store.SHORT, search.Search.run = short, timed  # type: ignore[method-assign]
    store.Store.open_level = opened  # type: ignore[method-assign]
    try:
        with patch.object(engine, "first_kernel", _optimised):
            report = run_check(path, check, options)
    finally:
        store.SHORT, search.Search.run = before  # type: ignore[method-assign]
        store.Store.open_level = open_level  # type: ignore[method-assign]
    if report.distinct_states != states:
        raise WrongAnswer(f"{case}: {report.distinct_states} states, not {states}")
    if not all(expected.met for expected in report.expectations):
        raise WrongAnswer(f"{case}: an expectation is not met")
    return found[-1]


def _optimised(image: KernelImage) -> tuple[Kernel, bool]:
    """Returns optimised code at once: otherwise it is a matter of chance when it is ready."""
    return compile_image(image), False


def _stored(done: search.Search, seconds: float, most: int) -> Measured:
    kept, states = done.store, max(1, done.store.states)
    nodes = None if kept.nodes is None else kept.nodes.used / states
    return Measured(
        kept.shape.words,
        seconds,
        kept.used_bytes / states,
        nodes,
        kept.kernel.image.layout.bits,
        8 * kept.slots / states,
        kept.places is not None,
        max(most, kept.used_bytes) / states,
    )


def in_turns(
    case: str, states: int, rounds: int, *ways: tuple[float, Options]
) -> tuple[Measured, Measured, list[str]]:
    """Two ways in turns, each what :func:`measured` takes: the last run of each, and as cells the
    least seconds of each and their ratio.  The first runs wait for the compiler and don't count."""
    turns = [[measured(case, states, *way) for way in ways] for _ in range(rounds + 1)]
    first, second = zip(*turns, strict=True)
    before, after = (min(one.seconds for one in runs[1:]) for runs in (first, second))
    return first[-1], second[-1], [number(before), number(after), f"{after / before:.2f}"]


def row_of(case: str, states: int, rounds: int) -> list[str]:
    """A check with whole rows, and with folded ones."""
    whole, folded, times = in_turns(case, states, rounds, (NEVER, ONE_THREAD), (ALWAYS, ONE_THREAD))
    if folded.nodes is None:
        raise WrongAnswer(f"{case}: rows were not folded")
    cells = (number(each) for each in (whole.bytes, folded.bytes, folded.nodes))
    return [case, str(folded.words), f"{states:,}", *cells, *times]


def print_rows(rows: Iterable[list[str]], table: Table, page: Path | None, *marks: str) -> None:
    """Prints rows as they come, and puts them, with the title and headings of ``table``, between
    the two ``marks`` of ``page``, if there is one."""
    done = []
    for row in rows:
        done.append(row)
        click.echo("  ".join(row))
    if page is not None:
        into_page(page, Table(table.title, table.headings, done).markdown(), *marks)


@click.command()
@click.option(
    "--rounds", default=2, show_default=True, help="The number of runs of each; the fastest counts."
)
@click.option("--markdown", "page", type=click.Path(path_type=Path), help="Put the table there.")
def main(rounds: int, page: Path | None) -> None:
    """Each check with whole rows, and with rows that are folded from the first full table on."""
    store.Store.__init__.__defaults__ = (store.private_memory, FROM)
    headings = ("check", "words", "states", "B/state, whole", "B/state, folded", "nodes a state",
                "s, whole", "s, folded", "ratio (goal: 1.2)")  # fmt: skip
    rows = (row_of(case, states, rounds) for case, states in STATES.items())
    print_rows(rows, Table("Folded rows", headings, []), page, BEGIN, END)


if __name__ == "__main__":
    main()
