"""Text layout for the views: columns, and rich turned into plain lines of text."""

from __future__ import annotations

import io

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from checker.diagnostics.visible import visible

WIDTH = 80


def as_text(view: RenderableType, width: int = WIDTH, colour: bool = False) -> str:
    """Renders ``view`` as lines of at most ``width`` columns, without trailing blanks."""
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
    console.print(_Visible(view))
    lines = (line.rstrip() for line in page.getvalue().splitlines())
    return "\n".join(lines).rstrip("\n") + "\n"


class _Visible:
    """A view whose control characters are made visible; colours are not part of its text."""

    def __init__(self, view: RenderableType) -> None:
        self._view = view

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._view, options):
            yield segment._replace(text=visible(segment.text))


def pairs(rows: list[tuple[Text, Text]], indent: int, label: int) -> RenderableType:
    """Lays out rows of a label and a text that wraps under itself."""
    table = Table.grid(padding=(0, 1))
    table.add_column(min_width=label, no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.expand = True
    for name, text in rows:
        table.add_row(name, text)
    return Padding(table, (0, 0, 0, indent))


def stack(parts: list[RenderableType]) -> RenderableType:
    """Stacks the parts one under another, with a blank line between them."""
    spaced: list[RenderableType] = []
    for part in parts:
        if spaced:
            spaced.append(Text(""))
        spaced.append(part)
    return Group(*spaced)
