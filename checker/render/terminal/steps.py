"""Renders a trace step by step in a terminal: what each step does, and what it changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from rich.console import Group, RenderableType
from rich.text import Text

from checker.diagnostics.english import listing
from checker.render.terminal.canvas import pairs, stack
from checker.render.terminal.lasso import repeated_steps
from checker.results import events as ev
from checker.results.trace import Change, Step, Trace
from checker.words.events import assignment, sentence, stops, timer_text
from checker.words.steps import headline, is_led_by

LABEL = 9
"""The columns for the label in front of each line of a step."""
PERHAPS_MORE = "? perhaps others, too: not all successors were explored"
"""Explains what is open, where it is not known to be all."""


def step_list(trace: Trace) -> RenderableType:
    """Renders all steps of ``trace``, those of the cycle marked as such."""
    loop = trace.length if trace.loop is None else trace.loop
    shown = [step for step in trace.steps if step.number or step.events]
    parts: list[RenderableType] = [Text("Step by step", style="bold")]
    parts += [_step(trace, step) for step in shown if step.number <= loop]
    if trace.closing is not None:
        again = [_step(trace, s) for s in (*trace.steps[loop + 1 :], trace.closing)]
        parts.append(repeated_steps(trace, again))
    return stack(parts)


def headline_list(trace: Trace) -> RenderableType:
    """Renders a line for each step of ``trace``, those of the cycle marked as such."""
    loop = trace.length if trace.loop is None else trace.loop
    width = len(str(trace.length))

    def line(step: Step) -> RenderableType:
        number = Text(f"{step.number:>{width}}", style="dim")
        number.append(open_after(trace, step.number))
        return pairs([(number, Text(headline(step)))], 0, width + widest_open(trace) + 1)

    parts = [line(step) for step in trace.steps if 0 < step.number <= loop]
    if trace.closing is not None:
        again = [line(step) for step in (*trace.steps[loop + 1 :], trace.closing)]
        parts.append(repeated_steps(trace, [Group(*again)]))
    return Group(*parts) if parts else Text("The initial state is the whole run.")


def open_after(trace: Trace, number: int) -> str:
    """Returns what can still be decided after step ``number``, all as wide: `` {0,1}``; empty where
    that is not known."""
    if not trace.still_open:
        return ""
    at = number if number < len(trace.still_open) else trace.loop or 0
    return str(trace.still_open[at]).rjust(widest_open(trace))


def widest_open(trace: Trace) -> int:
    """Returns the width of what :func:`open_after` returns."""
    return max((1 + len(str(each)) for each in trace.still_open), default=0)


def _step(trace: Trace, step: Step) -> RenderableType:
    width = len(str(trace.length))
    number = Text(f"{step.number:>{width}}", style="dim")
    title = pairs([(number, Text(headline(step), style="bold"))], 0, width + 1)
    fine = trace.header.fine_steps
    rows = [row for event in step.events for row in _event(step, event, fine)]
    rows += [_change(step, change) for change in step.changes if not change.quiet]
    if open_ := open_after(trace, step.number).strip():
        rows.append((Text("open", style="dim"), Text(f"still open: {open_}", style="dim")))
    rows += [(Text("not done", style="bold red"), Text(sentence(event))) for event in step.cut]
    return Group(title, pairs(rows, width + 2, LABEL)) if rows else title


def _event(step: Step, event: ev.Event, fine: bool) -> Iterable[tuple[Text, Text]]:
    """Yields a line for what the headline lacks; in ``fine`` steps copies leave later."""
    who = "" if event.process == step.process else f"{event.process}: "
    led = is_led_by(step, event)
    match event:
        case ev.Handled(handler, arguments):
            bound = ", ".join(f"{name} = {value}" for name, value in arguments)
            if led and bound:
                yield Text("with", style="dim"), Text(bound, style="dim")
            if led:
                return
            text = Text(who + handler)
            if bound:
                text.append(f"  with {bound}", style="dim")
            yield Text("runs", style="cyan"), text
        case ev.Sent(message, receivers):
            text = Text(f"{who}{message} to {listing(receivers) or 'nobody'}")
            yield Text("to send" if fine else "sends", style="yellow"), text
        case ev.CopyLeft(message, receiver) if step.kind != "effect":
            yield Text("sends", style="yellow"), Text(f"{who}{message} to {receiver}")
        case ev.Indicated(call) if not led:
            yield Text("indicates", style="green"), Text(f"{who}{call}")
        case ev.Requested(call) if step.kind != "request":
            yield Text("asks", style="green"), Text(f"{who}{call}")
        case ev.Received(message) if step.kind not in ("receive", "forge"):
            yield Text("receives", style="cyan"), Text(f"{who}{message}")
        case ev.Crashed() if step.kind != "crash":
            yield Text(stops(event), style="bold red"), Text(f"{event.process}, here")
        case (
            ev.Forged()
            | ev.Lost()
            | ev.CopyLeft()
            | ev.Indicated()
            | ev.Requested()
            | ev.Received()
            | ev.Crashed()
        ):
            return
        case ev.Recovered(_, lost):
            if not led:
                yield Text("then", style="cyan"), Text(sentence(event))
            for each in lost:
                changed = Text(f"{who}{each.variable}: {each.had} -> {each.has}")
                yield Text("changes", style="magenta"), changed
        case _ if led:
            return
        case ev.Performed(act):
            yield Text("performs", style="bold green"), Text(who + act)
        case ev.Stored():
            yield Text("stores", style="magenta"), Text(who + assignment(event))
        case ev.AlternativeTaken(alternative):
            yield Text("takes", style="magenta"), Text(who + alternative)
        case ev.Synced(variables):
            yield Text("syncs", style="magenta"), Text(who + variables)
        case ev.SyncFailed(variables):
            yield Text("fails", style="bold red"), Text(f"{who}to sync {variables}")
        case ev.Chosen():
            whose = f"{event.process}." if who else ""
            yield Text("starts", style="magenta"), Text(f"with {whose}{assignment(event)}")
        case ev.Left():
            yield Text("is left", style="magenta"), Text(f"with {assignment(event)}")
        case ev.Drawn():
            yield Text("draws", style="magenta"), Text(who + assignment(event))
        case ev.TimerChanged(does, timer):
            yield Text(f"{does}s", style="cyan"), Text(who + timer_text(timer))
        case (
            ev.TimedOut()
            | ev.OracleIndicated()
            | ev.Paused()
            | ev.Resumed()
            | ev.Disconnected()
            | ev.World()
        ):
            yield Text("then", style="cyan"), Text(sentence(event))
        case _:
            assert_never(event)


def _change(step: Step, change: Change) -> tuple[Text, Text]:
    who = "" if change.process in ("", step.process) else f"{change.process}."
    text = Text(f"{who}{change.title}: {change.before} -> {change.after}")
    return Text("changes", style="magenta"), text
