"""Renders a report on conformance in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from checker.diagnostics.english import count, listing
from checker.render.terminal.canvas import pairs, stack
from checker.render.terminal.spacetime import spacetime
from checker.render.terminal.windows import windows_view
from checker.results.conformance import Conformance, Obstacle
from checker.results.step_proposals import StepProposal
from checker.results.trace import Trace
from checker.results.verdict import Word
from checker.words.steps import headline

STYLES = {Word.HOLDS: "bold green", Word.VIOLATED: "bold red"}
WORDS = {Word.HOLDS: "CONFORMS", Word.VIOLATED: "DOES NOT CONFORM"}
COUNTED = {
    Word.HOLDS: "conforming",
    Word.VIOLATED: "not conforming",
    Word.VACUOUS: "vacuous",
    Word.UNKNOWN: "unknown",
}
"""How many of several logs have a verdict, in words."""
MOST_DRAWN = 40
"""The largest number of steps of a run that is drawn."""
LAST = 8
"""The number of last steps of a longer run that are listed, with those that a reason cites."""
MOST_GAPS = 6
MOST_FREE = 12
"""The largest number of unlogged kinds of events that are named in a row about several logs."""


def conformance_view(report: Conformance, *, runs: bool = True) -> RenderableType:
    """Renders the report; ``runs``: with the run that explains the log, or its longest prefix."""
    parts: list[RenderableType] = []
    if report.windows is not None:
        parts.append(windows_view(report.windows))
    parts.append(_verdict(report))
    if report.trace is not None and runs:
        parts.append(_run(report, report.trace))
    if report.obstacles:
        parts.append(Group(*_obstacles(report.obstacles)))
    if report.proposals:
        parts.append(Group(*_proposals(report.proposals)))
    parts.append(pairs([(Text(name), Text(said)) for name, said in _rows(report)], 2, 12))
    return stack(parts)


def conformance_line(report: Conformance, name: str) -> Text:
    """Renders one of several reports, on the log ``name``, in a line."""
    said = _word(report).append(f"  {name}", style="default not bold")
    if report.word is Word.VACUOUS:
        return said.append(f"  {report.sentence}", style="dim not bold")
    of_all = f"{report.explained:,} of {count(report.lines, 'line')}"
    why = f" explained: {report.stopped}" if report.stopped else " explained"
    return said.append(f"  {of_all}{why}", style="dim not bold")


def logs_summary(reports: Sequence[Conformance], wanted: int, failed: int, seconds: float) -> Text:
    """Renders how many of several logs conform, and what those do not log; ``wanted``: the number
    of logs to be checked, ``failed``: the number for which there is an error instead."""
    words = Counter(report.word for report in reports)
    said = [f"{number:,} {told}" for word, told in COUNTED.items() if (number := words[word])]
    said += [f"{failed:,} can't be used"] if failed else []
    lines = sum(report.explained for report in reports)
    total = len(reports) + failed
    text = Text(f"{count(max(total, wanted), 'log')}: {', '.join(said) or 'none was checked'}")
    text.stylize("bold")
    rate = f", {lines / seconds:,.0f} a second" if seconds > 0.01 else ""
    of_all = f"{lines:,} of {count(sum(report.lines for report in reports), 'line')} explained"
    missing = f", {wanted - total:,} not checked" if total < wanted else ""
    text.append(f"{missing}\n{of_all}, {seconds:.1f} s{rate}", style="dim not bold")
    for free in _left_free([report for report in reports if report.word is Word.HOLDS]):
        text.append(f"\n{free}", style="dim not bold")
    return text


def _left_free(conforming: Sequence[Conformance]) -> Iterator[str]:
    """Yields what logs that conform do not say, and of how many."""
    of_all = (
        f"of {count(len(conforming), 'log')} that {'conform' if conforming[1:] else 'conforms'}"
    )
    silent = Counter(name for report in conforming for name in report.silent)
    for number in sorted(set(silent.values()), reverse=True):
        names = [name for name in silent if silent[name] == number]
        names.sort(key=lambda name: (name.startswith("everything"), name))
        shown = names[:MOST_FREE]
        shown += [f"{len(names) - MOST_FREE:,} more"] if len(names) > MOST_FREE else []
        yield f"{listing(shown)}: not logged in {number:,} {of_all}"
    if gaps := sum(bool(report.gaps) for report in conforming):
        yield f"gaps in {gaps:,} {of_all}"


def _word(report: Conformance) -> Text:
    word = WORDS.get(report.word, report.word.value.upper())
    return Text(word, style=STYLES.get(report.word, "bold yellow"))


def _verdict(report: Conformance) -> Text:
    said = _word(report).append(f"  {report.check}: {report.sentence}", style="default not bold")
    return said.append(f"\n{report.world}", style="dim not bold") if report.world else said


def _run(report: Conformance, trace: Trace) -> RenderableType:
    what = "The run" if report.word is Word.HOLDS else "The longest explained prefix"
    steps = len(trace.steps) - 1
    behind = f", after {report.omitted:,} that are not shown" if report.omitted else ""
    title = Text(f"{what}: {count(steps, 'step')}{behind}", style="bold")
    if steps <= MOST_DRAWN:
        return stack([title, spacetime(trace, "steps", None)])
    cited = {step for obstacle in report.obstacles for step in obstacle.steps}
    shown = [step for step in trace.steps if step.number in cited or step.number > steps - LAST]
    lines = []
    before = 0
    for step in shown:
        if step.number > before + 1:
            lines.append(Text("     …", style="dim"))
        lines.append(Text(f"{report.omitted + step.number:>8}  {headline(step)}"))
        before = step.number
    return Group(title, *lines)


def _obstacles(obstacles: tuple[Obstacle, ...]) -> Iterator[RenderableType]:
    yield Text("The next log entry, and why no step explains it", style="bold")
    for obstacle in obstacles:
        line = obstacle.line
        said = Text(f"  {line.text}", style="bold")
        yield said.append(f"  {line.file}:{line.number}", style="dim not bold")
        for reason in obstacle.reasons:
            yield Text(f"      {reason}")


def _proposals(proposals: tuple[StepProposal, ...]) -> Iterator[RenderableType]:
    said = "Perhaps lines are one step. Each of these, in a mapping, would explain red windows;"
    yield Text(f"{said} none is applied", style="bold")
    for each in proposals:
        reds = f"its {count(each.reds, 'red window')}" if each.reds > 1 else "its red window"
        yield Text(f"  {each.step}: {reds} would be explained, {price_of(each)}")
        for line in each.toml.splitlines():
            yield Text(f"      {line}")


def price_of(proposal: StepProposal) -> str:
    """Returns the price of a proposal and what remains red with it, in words."""
    price = (
        f"and of {count(proposal.changes, 'log')} with one value changed at least"
        f" {proposal.rejected:,} would still be rejected"
    )
    if proposal.left:
        return f"{price}; {count(proposal.left, 'other window')} would still be red"
    return f"{price}; the log would conform" if proposal.conforms else price


def _rows(report: Conformance) -> Iterator[tuple[str, str]]:
    """Yields what was read and searched."""
    for one in report.processes:
        yield one.process, f"{one.explained:,} of {count(one.lines, 'line')} explained"
    ignored = f", {report.ignored:,} of them ignored" if report.ignored else ""
    yield "read", f"{count(report.read, 'line')} of {count(len(report.logs), 'file')}{ignored}"
    for gap in report.gaps[:MOST_GAPS]:
        yield "gap", gap
    if len(report.gaps) > MOST_GAPS:
        yield "gap", f"and {len(report.gaps) - MOST_GAPS:,} more"
    if report.logged:
        yield "logged", listing(report.logged)
    if report.silent:
        yield "not logged", f"{listing(report.silent)}: may happen at any time"
    rate = f", {report.explained / report.seconds:,.0f} lines/s" if report.seconds > 0.01 else ""
    yield (
        "search",
        f"{report.nodes:,} nodes, {count(report.steps, 'step')}, {report.engine},"
        f" {report.seconds:.2f} s{rate}",
    )
    for note in report.notes:
        yield "note", note
    for step in report.next_steps:
        yield "next", step
