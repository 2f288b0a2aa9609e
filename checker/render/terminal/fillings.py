"""Renders a report on the holes of a spec in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from checker.diagnostics.english import count
from checker.render.terminal.canvas import pairs, stack
from checker.results.fillings import Filling, FillingFate, Fillings

STYLES = {
    FillingFate.HOLDS: "green", FillingFate.REFUTED: "red", FillingFate.VACUOUS: "yellow",
    FillingFate.UNKNOWN: "bold yellow", FillingFate.INVALID: "dim",
}  # fmt: skip


def fillings_view(report: Fillings, *, verbose: bool = False) -> RenderableType:
    """Renders the report; ``verbose``: with the fillings that are no valid specs."""
    parts: list[RenderableType] = [_summary(report)]
    holes = [Text(f"  {place}  {text}", style="dim") for place, text in _holes(report)]
    parts.append(Group(*holes))
    for fate in FillingFate:
        found = report.with_fate(fate)
        if found and (verbose or fate is not FillingFate.INVALID):
            parts.append(
                Group(
                    Text(fate.value, style=STYLES[fate]),
                    *(_filling(report, each) for each in found),
                )
            )
    parts.append(pairs([(Text(name), Text(said)) for name, said in _rows(report)], 2, 12))
    return stack(parts)


def _summary(report: Fillings) -> Text:
    fates = [
        f"{len(found)} {fate.value}" for fate in FillingFate if (found := report.with_fate(fate))
    ]
    tried = count(len(report.fillings), "filling")
    return Text(f"{report.file}: {tried}: {', '.join(fates)}", style="bold")


def _holes(report: Fillings) -> Iterator[tuple[str, str]]:
    """Yields the line of each hole; if there are several holes, also the expressions that are equal
    there."""
    for hole in report.holes:
        yield f"line {hole.line}:", hole.text
        for each in hole.candidates if len(report.holes) > 1 else ():
            if each.same:
                yield "  equal here:", ", ".join(each.all)


def _filling(report: Fillings, each: Filling) -> Text:
    text = Text("  ")
    text.append(_values(report, each), style=STYLES[each.fate])
    if each.messages is not None:
        text.append(f"  {count(each.messages, 'message')} at most", style="dim")
    if each.kills:
        kill = each.kills[0]
        length = "" if kill.steps is None else f" in {count(kill.steps, 'step')}"
        known = ", by a run of another filling" if each.replayed else ""
        said = f"{kill.property} of {kill.check}: {kill.verdict}{length}{known}"
        text.append(f"\n      {said}", style="dim")
    if each.reason:
        text.append(f"\n      {each.reason}", style="dim")
    return text


def _values(report: Fillings, each: Filling) -> str:
    """Returns the expressions of a filling; of a single hole also those that are equal to it."""
    if len(report.holes) > 1:
        return ", ".join(each.values)
    (hole,), (value,) = report.holes, each.values
    return ", ".join(next(known.all for known in hole.candidates if known.text == value))


def _rows(report: Fillings) -> Iterator[tuple[str, str]]:
    if report.is_decided and not report.with_fate(FillingFate.HOLDS):
        yield "found", "no filling makes the checks come out as they expect"
    for at, value in report.determined.items():
        yield "determined", f"{_hole(report, int(at))} has to be `{value}`, or equal to it"
    for number in report.free:
        yield "free", f"nothing that is asked depends on {_hole(report, number)}"
    yield "checks", ", ".join(report.checks)
    yield "run", f"{count(report.runs, 'check')} run, {report.replays} refuted by known runs"
    if report.stopped:
        yield "stopped", report.stopped


def _hole(report: Fillings, number: int) -> str:
    hole = report.holes[number - 1]
    return f"the hole in line {hole.line}, column {hole.column}"
