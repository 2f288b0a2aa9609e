"""Renders a lasso: the steps of its cycle, and the fairness justification."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.text import Text

from checker.diagnostics.english import listing
from checker.render.terminal.canvas import pairs, stack
from checker.results.trace import FairnessJustification, Trace

MOST = 4
"""The largest number of steps that are named one by one."""


class Bar:
    """A container with a bar on the left."""

    def __init__(self, inside: RenderableType) -> None:
        self._inside = inside

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        narrower = options.update(width=max(options.max_width - 2, 1))
        for line in console.render_lines(self._inside, narrower, pad=False):
            yield Segment("| ")
            yield from line
            yield Segment.line()


def repeated_steps(trace: Trace, steps: list[RenderableType]) -> RenderableType:
    """Renders ``steps``, which repeat forever, marked as such."""
    then = "at the start" if trace.loop == 0 else f"after step {trace.loop}"
    head = Text(f"+-- from here on, forever: {repeating(trace)}", style="bold yellow")
    foot = Text(f"+-- then the state is as {then}, and so on forever", style="yellow")
    return Group(head, Bar(stack(steps)), foot)


def repeating(trace: Trace) -> str:
    """Names the cycle: ``steps 5 to 8 repeat``."""
    first, last = (trace.loop or 0) + 1, trace.length
    return f"step {first} repeats" if first == last else f"steps {first} to {last} repeat"


def fairness_view(trace: Trace) -> RenderableType | None:
    """Renders how the execution is fair to each constraint; ``None`` where there is none."""
    if not trace.ledger:
        return None
    if trace.still_acts:
        title = "Why the run may stay like this forever: every fairness assumption holds in it"
    elif trace.closing is None:
        title = "Why the run may end here: every fairness assumption holds"
    else:
        title = "Why this lasso is fair: every fairness assumption holds in it"
    rows = []
    for entry in trace.ledger:
        text = Text(entry.text)
        text.append(f"\n{_justification_text(entry, trace)}", style="dim")
        rows.append((Text("-"), text))
    return Group(Text(title, style="bold"), pairs(rows, 2, 1))


def _justification_text(entry: FairnessJustification, trace: Trace) -> str:
    match entry.how:
        case "taken" if not entry.steps:
            return "it happens again and again without changing the state"
        case "taken":
            return f"it happens in {_steps(entry.steps)}"
        case "disabled" if entry.kind == "strong":
            return "it is never possible in the loop"
        case "disabled":
            return f"it is not always possible: not {_after(entry.steps[:1])}"
        case _ if trace.closing is None:
            return "so it is at the end"
        case _:
            return f"so it is {_after(entry.steps)}"


def _after(numbers: tuple[int, ...]) -> str:
    return "at the start" if numbers == (0,) else f"after {_steps(numbers)}"


def _steps(numbers: tuple[int, ...]) -> str:
    if len(numbers) > MOST:
        named = ", ".join(str(number) for number in numbers[:MOST])
        return f"steps {named} and {len(numbers) - MOST} more"
    return ("step " if len(numbers) == 1 else "steps ") + listing([str(n) for n in numbers])
