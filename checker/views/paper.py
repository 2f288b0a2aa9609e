"""What the views draw on: columns, and rich turned into plain lines of text."""

from __future__ import annotations

import io

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

WIDTH = 80


def as_text(view: RenderableType, width: int = WIDTH, colour: bool = False) -> str:
    """``view`` as lines of at most ``width`` columns, without trailing blanks."""
    page = io.StringIO()
    console = Console(
        file=page,
        width=width,
        color_system="standard" if colour else None,
        force_terminal=colour,
        no_color=not colour,
        highlight=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    console.print(view)
    lines = (line.rstrip() for line in page.getvalue().splitlines())
    return "\n".join(lines).rstrip("\n") + "\n"


def pairs(rows: list[tuple[Text, Text]], indent: int, label: int) -> RenderableType:
    """Rows of a label and a text that wraps under itself."""
    table = Table.grid(padding=(0, 1))
    table.add_column(min_width=label, no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.expand = True
    for name, text in rows:
        table.add_row(name, text)
    return Padding(table, (0, 0, 0, indent))


def stack(parts: list[RenderableType]) -> RenderableType:
    """The parts one under another, with a blank line between them."""
    spaced: list[RenderableType] = []
    for part in parts:
        if spaced:
            spaced.append(Text(""))
        spaced.append(part)
    return Group(*spaced)
