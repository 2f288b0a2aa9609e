"""The table of which reduction is used for which query, and why that is sound.

Its columns come with the reductions of the registry.  :mod:`checker.reductions.choose` takes its
decisions from it, the page on reductions its content.  The proofs cite their sources; the tests are
named cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checker.reductions.contract import Ask, Reduction, TableEntry, Use
from checker.reductions.registry import REDUCTIONS


def against(reduction: Reduction, asked: Iterable[tuple[Ask, str]]) -> Iterator[str]:
    """The reasons, in words, why ``reduction`` is not used for the queries, each once.

    ``asked``: queries, each with the name of the property that makes it (or nothing).
    """
    reasons = (
        reduction.column[ask].why.format(name=name)
        for ask, name in asked
        if reduction.column[ask].use is Use.NO
    )
    return iter(dict.fromkeys(reasons))


def markdown() -> list[str]:
    """The table, line by line; the proofs below, one for each cell."""
    columns = list(REDUCTIONS.values())
    notes = list(dict.fromkeys(r.column[ask].where for ask in Ask for r in columns))
    lines = [f"| | {' | '.join(r.title for r in columns)} |", f"|---|{'---|' * len(columns)}"]
    for ask in Ask:
        cells = " | ".join(_cell_text(r.column[ask], notes) for r in columns)
        lines.append(f"| {ask.value} | {cells} |")
    for reduction in columns:
        lines += ["", f"### {reduction.title.capitalize()}"]
        for ask in Ask:
            cell = reduction.column[ask]
            where = f", if {cell.where}" if cell.where else ""
            lines += ["", f"**{ask.value.capitalize()}**: {cell.use.value}{where}. {cell.proof}"]
            lines.append(f"({cell.source}; `tests/{cell.test}`)")
    return lines


def _cell_text(cell: TableEntry, notes: list[str]) -> str:
    """A cell, with the number of its further condition."""
    number = [note for note in notes if note].index(cell.where) + 1 if cell.where else 0
    return f"{cell.use.value} ({number})" if number else cell.use.value
