"""Renders what a monitor notices, in lines."""

from __future__ import annotations

from typing import assert_never

from rich.console import Group, RenderableType
from rich.text import Text

from checker.diagnostics.english import count, listing
from checker.results.conformance_lines import LoggedLine
from checker.results.monitoring import Lost, Noticed, Overdue, Resumed, Summary, Wrong
from checker.results.verdict import Word

STYLES = {Word.HOLDS: "bold green", Word.VIOLATED: "bold red"}


def noticed_view(noticed: Noticed) -> RenderableType:
    """Renders something that was noticed."""
    match noticed:
        case Wrong(line, alone, reasons, allowed):
            who = "its process alone shows it" if alone else "no run of all processes has it"
            rows = [_first("WRONG", "bold red", line), Text(f"    {who}", style="dim")]
            rows += [Text(f"    {reason}") for reason in reasons]
            if allowed:
                rows.append(Text(f"    allowed here: {listing(allowed)}", style="dim"))
            return Group(*rows)
        case Overdue(line, sender, seconds):
            said = f"    no line of {sender} has sent it, {seconds:.1f} s later"
            return Group(_first("OVERDUE", "bold red", line), Text(said))
        case Lost(process, why):
            whom = f"of {process}" if process else "of the run of all processes"
            return Text("LOST TRACK", style="bold").append(f"  {whom}: {why}", "not bold")
        case Resumed(line):
            return _first("RESUMED", "bold", line)
        case Summary():
            return _summary(noticed)
        case _:
            assert_never(noticed)


def _first(word: str, style: str, line: LoggedLine) -> Text:
    said = Text(word, style=style).append(f"  {line.text}", "not bold default")
    return said.append(f"  {line.file}:{line.number}", "dim not bold")


def _summary(summary: Summary) -> RenderableType:
    said = Text(summary.word.value.upper(), style=STYLES.get(summary.word, "bold"))
    said.append(f"  {summary.sentence}", "not bold default")
    rows = [said]
    counted = {
        "wrong": summary.wrong,
        "overdue": summary.overdue,
        "lost track": summary.lost,
        "waiting": summary.waiting,
        "read before": summary.known,
    }
    parts = [f"{number:,} {name}" for name, number in counted.items() if number]
    rows.append(Text("  " + ", ".join([count(summary.lines, "line"), *parts]), style="dim"))
    if summary.stopped is not None:
        rows.append(Text(f"  {summary.stopped}", style="dim"))
    return Group(*rows)
