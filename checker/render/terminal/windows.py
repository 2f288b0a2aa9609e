"""Renders the score of logs by windows in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from checker.diagnostics.english import count, listing
from checker.render.terminal.canvas import pairs, stack
from checker.render.terminal.coverage import PREFIX
from checker.results.verdict import Covered
from checker.results.windows import HandlerScore, Unseen, WindowScore

COLUMNS = ("windows", "explained", "red", "weak", "not asked", "outcomes")
UNSEEN = {
    "handler": "",
    "branch": "branch: ",
    "point": "crash ",
    "fault": "fault: ",
    "state": "state: ",
}
"""What the text of something that no window shows begins with, by its kind."""
MOST_UNSEEN = 12
"""The largest number of handlers and branches that no log has seen that are listed."""


def windows_view(score: WindowScore) -> RenderableType:
    """Renders the score: a table with a row for each kind of window, then the first line of each
    that no step explains."""
    if not score.handlers:
        return Text("Windows: none; no process has a log that was checked by windows", style="bold")
    red = sum(each.red for each in score.handlers)
    whole = sum(each.windows for each in score.handlers)
    title = Text(f"Windows: {count(whole, 'window')}, {red:,} red", style="bold")
    parts: list[RenderableType] = [Group(title, _table(score.handlers))]
    reds = [Group(*_red(each)) for each in score.handlers if each.red]
    if reds:
        parts.append(
            Group(
                Text("The first red window of each kind, and why no step explains it", "bold"),
                *reds,
            )
        )
    if rows := list(_rows(score)):
        parts.append(pairs([(Text(name), Text(said)) for name, said in rows], 2, 12))
    if score.unseen:
        parts.append(Group(*_unseen(score)))
    return stack(parts)


def unseen_text(each: Unseen) -> str:
    """Returns something that no window shows, in words, with its place."""
    place = f"  {each.file}:{each.line}" if each.line else ""
    never = "  (no run of this check shows it)" if each.never else ""
    return f"{UNSEEN[each.kind]}{each.text}{place}{never}"


def unseen_by_run(score: WindowScore) -> dict[tuple[str, ...], list[Unseen]]:
    """Returns what no window shows, by the run that would; last what no run was found for."""
    found: dict[tuple[str, ...], list[Unseen]] = {}
    for each in sorted(score.unseen, key=lambda each: not each.run):
        found.setdefault(each.run, []).append(each)
    return found


def _unseen(score: WindowScore) -> Iterator[Text]:
    yield Text("Not seen in any log, and runs that would show it", "bold")
    for run, shown in unseen_by_run(score).items():
        for each in shown:
            yield Text(f"  {unseen_text(each)}")
        for number, step in enumerate(run, 1):
            yield Text(f"      {number:>2} {step}", style="dim")


def _table(handlers: tuple[HandlerScore, ...]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("  begins with", overflow="fold")
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for each in handlers:
        red = Text(f"{each.red:,}", style="bold red" if each.red else "")
        row = [each.windows, each.explained, red, each.weak, each.unasked, each.outcomes]
        cells = [cell if isinstance(cell, Text) else Text(f"{cell:,}") for cell in row]
        table.add_row(Text(f"  {each.name}"), *cells)
    return table


def _red(each: HandlerScore) -> Iterator[Text]:
    assert each.first is not None
    line = each.first.line
    said = Text(f"  {line.text}", style="bold")
    yield said.append(f"  {line.file}:{line.number}", style="dim not bold")
    for reason in each.first.reasons:
        yield Text(f"      {reason}")
    if each.red > 1:
        yield Text(f"      most often: {each.condition}", style="dim")
    if each.shared:
        yield Text(f"      in all red windows, and no other: {listing(each.shared)}", style="dim")


def _rows(score: WindowScore) -> Iterator[tuple[str, str]]:
    if score.nowhere:
        yield "received", f"{count(score.nowhere, 'message')} that no line sends"
    if score.assumed:
        yield "any value", f"{listing(score.assumed)}: may change between any two steps"
    for why in score.aside:
        yield "not asked", why
    seen = [each for each in score.covered if each.reached]
    unseen = [each for each in score.covered if not each.reached]
    if score.covered:
        yield "seen", f"{len(seen)} of {len(score.covered)} handlers, branches and crash points"
    if score.unseen:
        return  # listed with runs
    for each in unseen[:MOST_UNSEEN]:
        yield "not seen", place_text(each)
    if len(unseen) > MOST_UNSEEN:
        yield "not seen", f"and {len(unseen) - MOST_UNSEEN:,} more"


def place_text(each: Covered) -> str:
    return f"{PREFIX.get(each.kind, '')}{each.text}" + (
        f"  {each.file}:{each.line}" if each.line else ""
    )
