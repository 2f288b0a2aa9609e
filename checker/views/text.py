"""A trace as terminal text: what happened at which process, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.text import Text

from checker.views.loop import idles, ledger_view, repeating, rounds
from checker.views.paper import count, listing, pairs, stack
from checker.witness.trace import Change, Copies, Event, Fate, Step, Trace

LABEL = 9
"""Columns for the word in front of each line of a step."""

SAME = "(never received: the same as if the crash had kept it from being sent)"


def trace_view(trace: Trace) -> RenderableType:
    """The whole trace: what is violated, the steps, and what became of processes and messages."""
    parts: list[RenderableType] = [_header(trace)]
    loop = trace.length if trace.loop is None else trace.loop
    shown = [step for step in trace.steps if step.number or step.events]
    parts += [_step(trace, step) for step in shown if step.number <= loop]
    if trace.closing is not None:
        again = [_step(trace, s) for s in (*trace.steps[loop + 1 :], trace.closing)]
        parts.append(rounds(trace, again))
    if trace.failure is not None:
        parts.append(_failure(trace))
    ends = (ledger_view(trace), _fates(trace), _copies(trace), _in_flight(trace))
    parts += [part for part in ends if part is not None]
    parts.append(_closing(trace))
    return stack(parts)


def _header(trace: Trace) -> RenderableType:
    header = trace.header
    title = Text(trace.property_name, style="bold")
    title.append(": ")
    title.append(trace.word.upper(), style="bold red")
    where = f"{header.file}::{header.check}" if header.check else header.file
    sizes = ", ".join(f"{name} = {value}" for name, value in header.parameters.items())
    rows = [
        (Text("what", style="dim"), Text(_what(trace))),
        (Text("where", style="dim"), Text(f"{where} ({sizes})" if sizes else where)),
        (Text("how", style="dim"), Text(_how(trace))),
    ]
    if trace.definition:
        rows.insert(1, (Text("means", style="dim"), Text(" ".join(trace.definition.split()))))
    return Group(title, pairs(rows, 2, 5))


def _what(trace: Trace) -> str:
    """The sentence without the definition, which has a line of its own."""
    definition = " ".join(trace.definition.split())
    if definition and trace.sentence.endswith(f": {definition}"):
        return trace.sentence[: -len(definition) - 2]
    return trace.sentence


def _how(trace: Trace) -> str:
    steps = "in the initial state" if trace.length == 0 else f"in {count(trace.length, 'step')}"
    if trace.closing is not None:
        steps += f" ({repeating(trace)} for ever)"
    fine = ", fine steps" if trace.header.fine_steps else ""
    return f"{steps}{fine}, accepted by an independent replay"


def _step(trace: Trace, step: Step) -> RenderableType:
    width = len(str(trace.length))
    number = Text(f"{step.number:>{width}}", style="dim")
    title = pairs([(number, Text(step.headline, style="bold"))], 0, width + 1)
    fine = trace.header.fine_steps
    rows = [row for event in step.events for row in _event(step, event, fine)]
    rows += [_change(step, change) for change in step.changes if not change.quiet]
    return Group(title, pairs(rows, width + 2, LABEL)) if rows else title


def _event(step: Step, event: Event, fine: bool) -> Iterable[tuple[Text, Text]]:
    """A line for what the headline doesn't say yet; in ``fine`` steps copies leave later."""
    who = "" if event.process == step.process else f"{event.process}: "
    match event.kind:
        case "handler" | "branch":
            bound = ", ".join(f"{name} = {value}" for name, value in event.arguments)
            if step.headline.startswith(event.sentence):
                if bound:
                    yield Text("with", style="dim"), Text(bound, style="dim")
                return
            text = Text(who + event.name)
            if bound:
                text.append(f"  with {bound}", style="dim")
            yield Text("runs" if event.kind == "handler" else "takes", style="cyan"), text
        case "send":
            text = Text(f"{who}{event.message} to {listing(event.peers) or 'nobody'}")
            yield Text("to send" if fine else "sends", style="yellow"), text
        case "copy" if step.kind != "effect":
            yield Text("sends", style="yellow"), Text(f"{who}{event.message} to {event.peers[0]}")
        case "indication" if not step.headline.startswith(event.sentence):
            yield Text("indicates", style="green"), Text(who + event.name)
        case "request" if step.kind != "request":
            yield Text("asks", style="green"), Text(who + event.name)
        case "receive" if step.kind not in ("receive", "forge"):
            yield Text("receives", style="cyan"), Text(f"{who}{event.message}")
        case "crash" if step.kind != "crash":
            yield Text("crashes", style="bold red"), Text(f"{event.process}, here")
        case "perform" | "store" | "timer" | "timeout" | "detect" | "recover" | "world":
            if not step.headline.startswith(event.sentence):
                yield _of_world(event, who)


def _of_world(event: Event, who: str) -> tuple[Text, Text]:
    """A line for something that is no message and no call."""
    match event.kind:
        case "perform":
            return Text("performs", style="bold green"), Text(who + event.name)
        case "store":
            return Text("stores", style="magenta"), Text(who + event.name)
        case "timer":
            verb, _, timer = event.name.partition(" ")
            return Text(verb, style="cyan"), Text(who + timer)
        case _:
            return Text("then", style="cyan"), Text(event.sentence)


def _change(step: Step, change: Change) -> tuple[Text, Text]:
    who = "" if change.process in ("", step.process) else f"{change.process}."
    text = Text(f"{who}{change.title}: {change.before} -> {change.after}")
    return Text("changes", style="magenta"), text


def _failure(trace: Trace) -> RenderableType:
    failure = trace.failure
    assert failure is not None
    title = Text("then an error of the run", style="bold red")
    rows = [(Text("what", style="dim"), Text(f"{failure.message} ({failure.code})"))]
    if failure.during:
        rows.append((Text("during", style="dim"), Text(failure.during)))
    if failure.file:
        at = f"{failure.file}:{failure.line}:{failure.column}"
        rows.append((Text("at", style="dim"), Text(at)))
    return Group(title, pairs(rows, 2, LABEL))


def _fates(trace: Trace) -> RenderableType:
    rows = []
    for fate in trace.fates:
        text = Text(_indicated(fate))
        faults = _faults(fate)
        text.append(f"  ({faults or 'correct'})", style="red" if faults else "dim")
        rows.append((Text(fate.process, style="bold"), text))
    width = max((len(p) for p in trace.processes), default=1)
    performs = any(d.startswith("perform ") for f in trace.fates for d in f.deliveries)
    did = "indicated and performed" if performs else "indicated"
    return Group(Text(f"What each process {did}, in order", style="bold"), pairs(rows, 2, width))


def _indicated(fate: Fate) -> str:
    if not fate.again:
        return listing(fate.deliveries) or "nothing"
    before = fate.deliveries[: len(fate.deliveries) - len(fate.again)]
    return f"{listing(before)}{', then ' if before else ''}for ever again {listing(fate.again)}"


def _faults(fate: Fate) -> str:
    """What is wrong with a process; empty where it is correct."""
    words = {"byzantine": "Byzantine", "omitting": "omission-faulty"}
    found = [words[fate.faulty]] if fate.faulty in words else []
    if fate.crashed:
        found.append("crashed")
    elif fate.recovered:
        found.append("crashed and came back up")
    return ", ".join(found)


def _copies(trace: Trace) -> RenderableType | None:
    rows = []
    crashed = {fate.process for fate in trace.fates if fate.crashed}
    for copies in trace.copies:
        name = Text(f"{copies.sender}: {copies.message}", style="bold")
        rows.append((name, Text(f"{_got_out(copies, crashed)} (step {copies.step})")))
    if not rows:
        return None
    width = min(max(len(name) for name, _ in rows), 28)
    title = Text("Messages of crashed processes", style="bold")
    parts: list[RenderableType] = [title, pairs(rows, 2, width)]
    if any(copies.missing for copies in trace.copies) and not trace.header.fine_steps:
        parts.append(Text(f"  {SAME}", style="dim"))
    return Group(*parts)


def _got_out(copies: Copies, crashed: set[str]) -> str:
    received = listing(copies.received)
    missing = listing([f"{p} (crashed)" if p in crashed else p for p in copies.missing])
    if not missing:
        return f"got out to {received}"
    if not received:
        return "never reached " + (missing if len(copies.missing) == 1 else f"any of {missing}")
    some = "the copy" if len(copies.missing) == 1 else "the copies"
    return f"got out to {received}; {some} to {missing} did not"


def _in_flight(trace: Trace) -> RenderableType | None:
    if not trace.in_flight:
        return None
    lines = [Text(f"  {message.text}") for message in trace.in_flight]
    title = "Still on the way at the end"
    if trace.closing is not None:
        title = "On the way all the time from then on"
    if trace.ends:
        title += " (nothing promises that they arrive)"
    return Group(Text(title, style="bold"), *lines)


def _closing(trace: Trace) -> RenderableType:
    closing = Text(_what(trace) + ".", style="bold")
    if idles(trace):
        closing.append("\nThe run stays like this for ever, as the world allows.", "dim")
    elif trace.ends:
        closing.append("\nThe run is over: nothing that the world promises is left to do.", "dim")
    elif trace.closing is not None:
        closing.append("\nThe run goes round like this for ever, as the world allows.", "dim")
    elif trace.failure is None:
        closing.append("\nThe run may go on; whatever happens, this has happened.", "dim")
    return closing
