"""Renders coverage as a table: each handler with its branches and crash points, reached or not."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from checker.diagnostics.english import count, listing
from checker.results.verdict import CountedSteps, Covered, CoveredKind

KINDS: dict[CoveredKind, str] = {
    "handler": "handlers",
    "branch": "branches",
    "point": "crash points",
}

PREFIX = {"branch": "branch: ", "point": "crash "}


def coverage_view(
    covered: tuple[Covered, ...], steps: CountedSteps | None = None
) -> RenderableType:
    """Renders what some execution reached, in the order of the source, with a line of totals;
    ``steps``: of handlers."""
    title = Text("Coverage", style="bold")
    title.append(f": {_summary(covered)}", style="not bold")
    if steps is not None:
        title.append(f"; {count(steps.steps, 'step')} of {steps.of}", style="not bold")
    parts: list[RenderableType] = [title]
    for file, inside in groupby(covered, key=lambda each: each.file):
        if file:
            parts.append(Text(file, style="dim", overflow="fold"))
        parts.append(_table(list(inside), steps))
    return Group(*parts)


def _table(covered: list[Covered], steps: CountedSteps | None) -> RenderableType:
    numbers = {} if steps is None else {(h.file, h.line, h.text): h.steps for h in steps.handlers}
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, min_width=6, justify="right")
    table.add_column(no_wrap=True)
    if steps is not None:
        table.add_column(no_wrap=True, justify="right")
        table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="fold", ratio=1)
    table.expand = True
    for each in covered:
        mark = Text("yes", style="green") if each.reached else Text("NO", style="bold red")
        indent = 0 if each.kind == "handler" else 2
        line = f":{each.line}" if each.line else ""
        text = Text(f"{PREFIX.get(each.kind, '')}{each.text}")
        number = numbers.get((each.file, each.line, each.text)) if each.kind == "handler" else None
        cells = [] if steps is None else ["", ""]
        if steps is not None and number is not None:
            cells = [count(number, "step"), steps.share(number)]
        place = Text(line, style="dim")
        table.add_row(place, mark, *cells, Padding(text, (0, 0, 0, indent)))
    return table


def _summary(covered: tuple[Covered, ...]) -> str:
    """Summarises coverage: ``3 of 4 handlers, 2 of 2 branches and 5 of 5 crash points reached``."""
    whole = Counter(each.kind for each in covered)
    reached = Counter(each.kind for each in covered if each.reached)
    parts = [f"{reached[k]} of {whole[k]} {name}" for k, name in KINDS.items() if whole[k]]
    return f"{listing(parts)} reached" if parts else "there is nothing to reach"
