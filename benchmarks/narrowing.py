"""Bytes and time of 32-bit slots beside 64-bit ones: `python benchmarks/narrowing.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.folding import NEVER, Measured, measured  # noqa: E402
from benchmarks.tables import Table, into_page, number  # noqa: E402
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
    """Both tables in turns; the least time of each."""
    wide, narrow = list[Measured](), list[Measured]()
    for _ in range(rounds + 1):
        wide.append(measured(case, states, NEVER, WHOLE))
        narrow.append(measured(case, states, NEVER, NARROW))
    before = min(one.seconds for one in wide[1:])  # the first ones wait for the compiler
    after = min(one.seconds for one in narrow[1:])
    if not narrow[-1].narrow:
        raise WrongAnswer(f"{case}: the slots did not become narrow")
    return [
        case,
        str(wide[-1].bits),
        f"{states:,}",
        number(wide[-1].bytes),
        number(narrow[-1].table),
        number(narrow[-1].most),
        number(before),
        number(after),
        f"{after / before:.2f}",
    ]


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
    rows = []
    for case, states in STATES.items():
        rows.append(row_of(case, states, rounds))
        click.echo("  ".join(rows[-1]))
    if page is not None:
        into_page(page, Table("Slots of 32 bits", headings, rows).markdown(), BEGIN, END)


if __name__ == "__main__":
    main()
