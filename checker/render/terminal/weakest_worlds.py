"""Renders in a terminal what the properties of a check need."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from checker.render.terminal.canvas import pairs, stack
from checker.results.weakest_worlds import PropertyWorlds, WeakestWorlds
from checker.words.weakest_worlds import figures, loud, one_of, open_questions, shown_by, summary

MARGIN = 12


def weakest_worlds_view(report: WeakestWorlds, *, verbose: bool = False) -> RenderableType:
    """Renders the report; ``verbose``: with all weakest worlds."""
    title = Text(f"{report.file}::{report.check}", style="bold")
    title.append(f"\n{report.world}", style="default not bold")
    parts: list[RenderableType] = [title]
    parts += [_property(each, verbose=verbose) for each in report.properties]
    parts.append(pairs([(Text(name), Text(said)) for name, said in _rows(report)], 0, MARGIN))
    return stack(parts)


def _property(found: PropertyWorlds, *, verbose: bool) -> RenderableType:
    lines: list[RenderableType] = [Text(said, style="bold red") for said in loud(found)]
    lines.append(Text(summary(found)))
    rows = [(Text(name, style="dim"), Text(said)) for name, said in _details(found, verbose)]
    if rows:
        lines.append(Padding(pairs(rows, 0, MARGIN), (0, 0, 0, 2)))
    return Group(*lines)


def _details(found: PropertyWorlds, verbose: bool) -> Iterator[tuple[str, str]]:
    for each in found.needed:
        if each.is_shown:
            yield "without", f"{one_of(each)}: {shown_by(each)}"
    yield from (("undecided", said) for said in open_questions(found))
    for world in found.weakest if verbose else ():
        yield "holds", f"{world.settings} ({world.states:,} states)"


def _rows(report: WeakestWorlds) -> Iterator[tuple[str, str]]:
    if report.requires:
        yield "requires", f"{report.requires}, by the protocol"
    asked = [f"{what} ({why})" for what, why in report.never_asked]
    yield "never asked", "; ".join(asked) or "nothing"
    yield "worlds", figures(report)
    if report.stopped:
        yield "stopped", report.stopped
