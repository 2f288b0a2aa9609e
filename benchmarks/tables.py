"""Tables, for the terminal and for a page of the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BEGIN = "<!-- measured: begin -->"
END = "<!-- measured: end -->"


@dataclass(frozen=True, slots=True)
class Table:
    """Cells under headings, the first column to the left; ``notes`` follow it, a line each."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def text(self) -> str:
        """In columns."""
        lines = [self.headings, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.headings))]
        shown = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([f"\n{self.title}", *(f"  {line}" for line in shown), *self.notes])

    def markdown(self) -> str:
        """As a section of a page."""
        rule = ["---", *("---:" for _ in self.headings[1:])]
        lines = ["| " + " | ".join(line) + " |" for line in [self.headings, rule, *self.rows]]
        notes = [f"- {note}" for note in self.notes]
        parts = [f"### {self.title}", "\n".join(lines), "\n".join(notes)]
        return "\n\n".join(part for part in parts if part)


def into_page(page: Path, text: str, begins: str = BEGIN, ends: str = END) -> None:
    """Puts ``text`` into ``page`` in place of what stands between two marks.

    Raises ValueError where the page has no such place.
    """
    old = page.read_text()
    head, begin, rest = old.partition(begins)
    _, end, tail = rest.partition(ends)
    if not begin or not end:
        raise ValueError(f"{page} has no place for numbers: {begins} and {ends}")
    page.write_text(f"{head}{begins}\n\n{text}\n\n{ends}{tail}")


def number(value: float) -> str:
    """Three digits that mean something, or all of a large one."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 1 else f"{value:.3f}"
