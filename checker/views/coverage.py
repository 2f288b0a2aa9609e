"""Coverage as a table: each handler with its branches and crash points, reached or not."""

from __future__ import annotations

from collections import Counter

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from checker.views.paper import listing
from checker.witness.verdict import Covered

KINDS = {"handler": "handlers", "branch": "branches", "point": "crash points"}


def coverage_view(covered: tuple[Covered, ...]) -> RenderableType:
    """What was reached in some run, in the order of the source, with a line that counts it."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("reached", no_wrap=True)
    table.add_column("what", overflow="fold", ratio=1)
    table.add_column("where", overflow="fold")
    table.expand = True
    for each in covered:
        mark = Text("yes", style="green") if each.reached else Text("NO", style="bold red")
        indent = "" if each.kind == "handler" else "  "
        table.add_row(mark, Text(indent + each.text), Text(_where(each), style="dim"))
    title = Text("Coverage", style="bold")
    title.append(f": {_counted(covered)}", style="not bold")
    return Group(title, table)


def _counted(covered: tuple[Covered, ...]) -> str:
    """``3 of 4 handlers, 2 of 2 branches and 5 of 5 crash points reached``."""
    whole = Counter(each.kind for each in covered)
    reached = Counter(each.kind for each in covered if each.reached)
    parts = [f"{reached[k]} of {whole[k]} {name}" for k, name in KINDS.items() if whole[k]]
    return f"{listing(parts)} reached" if parts else "there is nothing to reach"


def _where(each: Covered) -> str:
    return f"{each.file}:{each.line}" if each.file else ""
