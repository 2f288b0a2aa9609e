"""What the width of states costs: `python benchmarks/width.py`.

Protocols are made whose state graphs are the same and whose states are not: three processes count,
and each carries data along, of which a step changes one item.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.tables import Table, into_page, number  # noqa: E402
from checker.engines.native.codegen.layout import lay_out  # noqa: E402
from checker.engines.options import Options  # noqa: E402
from checker.instantiate.assemble import instantiate  # noqa: E402
from checker.properties.formula import ask  # noqa: E402
from checker.session.load import load_check  # noqa: E402
from checker.session.pipeline import run_check  # noqa: E402

BEGIN, END = "<!-- width: begin -->", "<!-- width: end -->"
ITEMS = (0, 4, 10, 21, 42, 53)
"""Numbers of 16 bits that each of the three processes carries."""

LAST = 79
"""What each process counts to."""

SHAPES = {
    "map": ("map<0..{end}, 0..65535> = 0", "held[count mod {items}] := 257 * count + 1"),
    "seq": ("seq<0..65535, max {items}> = [{zeros}]",
            "held := tail(held) + (257 * count + 1)"),
    "bag": ("bag<0..65535, max {items}> = {{| {zeros} |}}",
            "held -= (if count < {items} then 0 else 257 * (count - {items}) + 1)"
            "  held += 257 * count + 1"),
}  # fmt: skip
"""How the data is declared, and the statements that change one item of it."""

SPEC = """
protocol Carries {{
  state count : 0..{last} = 0
  {held}
  upon condition count < {last} {{ {step}  count += 1 }}
  property counts : always forall p in Proc: p.count <= {last}
}}
check carries of Carries {{ n = 3  prove counts }}
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """One exploration; ``words`` of 64 bits are a state's."""

    words: int
    states: int
    transitions: int
    seconds: float
    bytes_per_state: float


def text_of(shape: str, items: int, last: int = LAST) -> str:
    """The spec whose processes carry ``items`` numbers."""
    held = step = ""
    if items:
        sizes = {"items": items, "end": items - 1, "zeros": ", ".join(["0"] * items)}
        declared, step = (part.format(**sizes) for part in SHAPES[shape])
        held = f"state held : {declared}"
    return SPEC.format(last=last, held=held, step=step)


def measured(shape: str, items: int, mode: str, rounds: int, last: int = LAST) -> Measured:
    """The fastest of some explorations."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "carries.bcast"
        path.write_text(text_of(shape, items, last), encoding="utf-8")
        system = instantiate(load_check(str(path), "carries", {}), {}, ask).system
        found = [
            run_check(str(path), "carries", Options(reduce=mode, threads=1)) for _ in range(rounds)
        ]
    expected = (last + 1) ** 3
    if mode != "none":
        expected = (last + 1) * (last + 2) * (last + 3) // 6
    best = min(found, key=lambda report: report.seconds)
    if best.distinct_states != expected:
        raise WrongAnswer(f"{shape} {items}: {best.distinct_states} states, not {expected}")
    return Measured(
        lay_out(system).words,
        best.distinct_states,
        best.transitions,
        best.seconds,
        best.bytes_per_state,
    )


def rows_of(shape: str, rounds: int, items: tuple[int, ...] = ITEMS) -> list[list[str]]:
    """A row for each width: plain and with symmetry."""
    rows = []
    for count in items:
        plain = measured(shape, count, "none", rounds)
        orbits = measured(shape, count, "symmetry", rounds)
        rows.append(
            [
                str(plain.words),
                number(plain.transitions / plain.seconds),
                number(1e9 * plain.seconds / plain.transitions),
                number(plain.bytes_per_state),
                number(plain.bytes_per_state / (8 * plain.words)),
                number(orbits.transitions / orbits.seconds),
                number(1e9 * orbits.seconds / orbits.transitions),
            ]
        )
        click.echo("  ".join([shape, *rows[-1]]))
    return rows


@click.command()
@click.option("--rounds", default=3, show_default=True, help="The fastest of so many counts.")
@click.option("--markdown", "page", type=click.Path(path_type=Path), help="Put the tables there.")
def main(rounds: int, page: Path | None) -> None:
    """Each shape of data, by width."""
    headings = ("words", "steps/s", "ns/step", "B/state", "over the bare state",
                "steps/s, symmetry", "ns/step, symmetry")  # fmt: skip
    tables = [
        Table(f"A {shape} in each process", headings, rows_of(shape, rounds)) for shape in SHAPES
    ]
    if page is not None:
        into_page(page, "\n\n".join(table.markdown() for table in tables), BEGIN, END)


if __name__ == "__main__":
    main()
