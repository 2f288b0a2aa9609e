"""Bytes and time of 32-bit slots beside 64-bit ones: `python benchmarks/narrowing.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.folding import NEVER, in_turns, print_rows  # noqa: E402
from benchmarks.tables import Table, number  # noqa: E402
from checker.engines.native.search import narrowing  # noqa: E402
from checker.engines.options import Options  # noqa: E402

BEGIN, END = "<!-- narrowing: begin -->", "<!-- narrowing: end -->"
FROM = 1 << 16
"""The number of slots from which on a table may change here."""
WHOLE = Options(threads=1, reduce="none")
NARROW = Options(threads=1, reduce="none", compact=True)

STATES = {
    "oracles/aba_asyn_byz four": 991_481,
    "oracles/two_phase eight": 1_745_408,
    "oracles/two_phase nine": 10_340_352,
}
"""The states of each check, as others published them (`specs/oracles/tla.tsv`)."""


def row_of(case: str, states: int, rounds: int) -> list[str]:
    """A check with 64-bit slots, and with 32-bit ones."""
    wide, narrow, times = in_turns(case, states, rounds, (NEVER, WHOLE), (NEVER, NARROW))
    if not narrow.narrow:
        raise WrongAnswer(f"{case}: the slots did not become narrow")
    cells = (number(each) for each in (wide.bytes, narrow.table, narrow.most))
    return [case, str(wide.bits), f"{states:,}", *cells, *times]


@click.command()
@click.option(
    "--rounds", default=2, show_default=True, help="The number of runs of each; the fastest counts."
)
@click.option("--markdown", "page", type=click.Path(path_type=Path), help="Put the table there.")
def main(rounds: int, page: Path | None) -> None:
    """Each check with 64-bit slots, and with `--compact`, which changes to 32-bit slots."""
    headings = ("check", "bits", "states", "B/state, 64-bit slots", "B/state, 32-bit slots: table",
                "table and rows, at most", "s, 64-bit", "s, 32-bit", "ratio")  # fmt: skip
    narrowing.FROM = FROM
    rows = (row_of(case, states, rounds) for case, states in STATES.items())
    print_rows(rows, Table("Slots of 32 bits", headings, []), page, BEGIN, END)


if __name__ == "__main__":
    main()
