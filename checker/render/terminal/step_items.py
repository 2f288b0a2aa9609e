"""Computes the items and arrows of each step of a space-time diagram in a terminal."""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from checker.diagnostics.english import listing
from checker.records import replace
from checker.render.diagram.operations import is_return, text_of_indication
from checker.render.diagram.rows import Layout, home_of, rows_of
from checker.render.diagram.words import text_of_bar
from checker.render.terminal import marks as m
from checker.results import events as ev
from checker.results.causality import Arrow, Causality, CopyOutcome
from checker.results.trace import NO_HANDLER, Step, Trace
from checker.words.events import asking, assignment, back_up, opinion, stops
from checker.words.steps import headline

FAULT, DELIVERED, ACTED, ASKED, TOLD, QUIET = (
    "bold red",
    "bold green",
    "bold green",
    "bold",
    "magenta",
    "dim",
)


class LaneItem(Struct, frozen=True):
    """An event at process ``lane``: ``mark`` on its lane, ``text`` beside it.

    ``message`` gives the colour, where there is one; ``style`` otherwise.  ``opens``: an operation
    begins with it.
    """

    lane: str
    mark: str
    text: str
    style: str = ""
    message: str = ""
    opens: bool = False


class Block(Struct, frozen=True):
    """A step: ``arrows`` end in it, then come ``items``.

    ``bar``: a step of the environment, across all lanes.
    """

    step: Step
    arrows: tuple[Arrow, ...]
    items: tuple[LaneItem, ...]
    bar: str = ""


def blocks_of(trace: Trace, order: Causality, layout: Layout) -> tuple[Block, ...]:
    """Returns the diagram of ``trace``, from top to bottom; a start without events is left out."""
    homes = tuple(home_of(step, trace.processes) for step in order.steps)
    rows = rows_of(order, homes, trace.loop, layout)
    sorted_steps = sorted(order.steps, key=lambda step: (rows[step.number], step.number))
    shown = (step for step in sorted_steps if step.number or step.events)
    return tuple(_block(trace, order, step) for step in shown)


def undelivered(trace: Trace, order: Causality) -> tuple[Arrow, ...]:
    """Returns copies that are in transit when the execution ends, that were counted without any
    effect, or that never arrive because of their sender's crash; once for each sender, receiver and
    message.  None to processes that are crashed or Byzantine: no fairness constraint is about their
    receipts.
    """
    down = {f.process for f in trace.fates if f.crashed or f.faulty == "byzantine"}
    received = {
        (a.sender, a.receiver, a.message) for a in order.arrows if a.how is CopyOutcome.RECEIVED
    }
    found: dict[tuple[str, str, str], Arrow] = {}
    for arrow in order.arrows:
        ends = arrow.sender, arrow.receiver, arrow.message
        if (
            arrow.how in (CopyOutcome.RECEIVED, CopyOutcome.LOST, CopyOutcome.FORGED)
            or arrow.receiver in down
        ):
            continue
        if arrow.how is CopyOutcome.MISSED and (order.was_cut_off(arrow) or ends in received):
            continue
        if arrow.sender != arrow.receiver or arrow.how is CopyOutcome.UNDER_WAY:
            found.setdefault(ends, arrow)
    return tuple(found.values())


def _block(trace: Trace, order: Causality, step: Step) -> Block:
    ended = [a for a in order.arrows if a.ended == step.number]
    arrows = tuple(a for a in ended if a.sender != a.receiver)
    items = _items(trace, step, arrows)
    known = set(trace.processes)
    for change in step.changes:
        lane = change.process or step.process
        if change.variable in trace.reads and not change.quiet and lane in known:
            items.append(LaneItem(lane, "", f"{change.title} = {change.after}", TOLD))
    if trace.failure is not None and step == trace.failing and step.process in known:
        items.append(LaneItem(step.process, m.ERROR, f"error {trace.failure.code}", FAULT))
    at = [item for item in items if item.lane in known]
    if not at and not arrows and step.process in known:
        at = [_of_itself(step)]
    idle = not at and not arrows
    local = any(item.mark == m.TIMER for item in at)
    world = (
        any(isinstance(e, ev.World) and not isinstance(e, ev.OracleAsked) for e in step.events)
        and not local
    )
    bar = (
        text_of_bar(step, trace.processes) if idle or world or choices_of_shared_state(step) else ""
    )
    return Block(step, arrows, tuple(at), bar)


def choices_of_shared_state(step: Step) -> list[str]:
    """Describes the nondeterministic choices in the initial shared state."""
    return [assignment(e) for e in step.events if isinstance(e, ev.Chosen) and not e.process]


def _items(trace: Trace, step: Step, arrows: tuple[Arrow, ...]) -> list[LaneItem]:
    in_order = sorted(step.events, key=lambda event: not isinstance(event, ev.Chosen))
    left = [event for event in in_order if isinstance(event, ev.Left)]
    before = [event for event in in_order if event not in left]
    found = [item for event in before for item in _item(trace, step, event, arrows)]
    handlers = [e for e in step.events if isinstance(e, ev.Handled)]
    if handlers and step.kind in ("step", "timeout"):
        first = handlers[0]
        if not any(item.mark == m.TIMER and item.lane == first.process for item in found):
            when = first.handler.replace("upon condition ", "when ")
            found.insert(0, LaneItem(first.process, m.RECEIVE, when, QUIET))
    crashes = [item for item in found if item.mark == m.CRASH]
    if step.cut and crashes:
        crashes = [replace(item, text=f"{item.text} inside the handler") for item in crashes]
    found = [item for item in found if item.mark != m.CRASH] + crashes
    found += [item for event in left for item in _item(trace, step, event, arrows)]
    if step.untaken:
        found.append(LaneItem(step.untaken, "", NO_HANDLER, QUIET))
    return found + [item for event in step.cut for item in _not_done(trace, event)]


def _item(trace: Trace, step: Step, event: ev.Event, arrows: tuple[Arrow, ...]) -> list[LaneItem]:
    who = event.process
    match event:
        case ev.Requested(call):
            opens = any(o.process == who and o.called == step.number for o in trace.operations)
            return [LaneItem(who, m.REQUEST, str(call), ASKED, opens=opens)]
        case ev.Sent() | ev.CopyLeft():
            return _send_items(trace, step, event, arrows)
        case ev.Received(message, sender) if sender == who:
            return [LaneItem(who, m.RECEIVE, f"{message} from itself", "", message)]
        case ev.Lost(message, receiver) if receiver == who:
            return [LaneItem(who, m.LOST, f"{message} to itself", FAULT)]
        case ev.Indicated():
            mark = m.RETURN if is_return(trace, step.number, event) else m.DELIVERY
            said = text_of_indication(trace, step.number, event)
            return [LaneItem(who, mark, said, DELIVERED)]
        case ev.Performed(act):
            return [LaneItem(who, m.PERFORM, f"performs {act}", ACTED)]
        case ev.Stored():
            return [LaneItem(who, m.STORE, f"stores {assignment(event)}", TOLD)]
        case ev.AlternativeTaken(alternative):
            return [LaneItem(who, "", alternative, TOLD)]
        case ev.Synced(variables):
            return [LaneItem(who, m.STORE, f"syncs {variables}", TOLD)]
        case ev.SyncFailed(variables):
            return [LaneItem(who, m.NOT_STORED, f"fails to sync {variables}", FAULT)]
        case ev.Left():
            return [LaneItem(who, "", f"left with {assignment(event)}", TOLD)]
        case ev.Chosen():
            return [LaneItem(who, "", assignment(event), TOLD)]
        case ev.Drawn():
            return [LaneItem(who, m.COIN, assignment(event), TOLD)]
        case ev.TimerChanged(does, timer):
            return [LaneItem(who, m.TIMER, f"{does}s {timer or 'the timer'}", QUIET)]
        case ev.TimedOut(timer):
            return [LaneItem(who, m.TIMER, f"timeout {timer}".rstrip(), TOLD)]
        case ev.OracleIndicated(call):
            return [LaneItem(who, m.SUSPICION, opinion(event) or str(call), TOLD)]
        case ev.Crashed():
            return [LaneItem(who, m.CRASH, stops(event), FAULT)]
        case ev.Recovered():
            up, *lost = back_up(event)
            told = (LaneItem(who, "", said, TOLD) for said in lost)
            return [LaneItem(who, m.RECOVERY, up, ASKED), *told]
        case ev.Paused():
            return [LaneItem(who, "", "pauses", FAULT)]
        case ev.Resumed():
            return [LaneItem(who, "", "goes on", ASKED)]
        case ev.Disconnected(peer):
            return [LaneItem(who, "", f"disconnected from {peer}", TOLD)]
        case ev.ClockTicked(clock):
            return [LaneItem(clock, m.TIMER, "its clock ticks", QUIET)]
        case ev.OracleAsked(asker):
            return [LaneItem(asker, m.SEND, asking(event), QUIET)]
        case ev.Handled() | ev.Received() | ev.Lost() | ev.Forged() | ev.World():
            return []
        case _:
            assert_never(event)


def _of_itself(step: Step) -> LaneItem:
    """Returns an item for a step without any other visible event."""
    if step.kind == "effect":
        return LaneItem(step.process, "", "an inner step", QUIET)
    return LaneItem(step.process, m.RECEIVE, headline(step).removeprefix(f"{step.process}: "))


def _send_items(
    trace: Trace, step: Step, event: ev.Sent | ev.CopyLeft, arrows: tuple[Arrow, ...]
) -> list[LaneItem]:
    """Returns items for sending a message; none if this step has arrows for all its copies."""
    here = {a.receiver for a in arrows if a.sent == step.number and a.message == event.message}
    if here and set(ev.peers_of(event)) <= here | {event.process}:
        return []
    later = trace.header.fine_steps and isinstance(event, ev.Sent)
    text = f"{event.message} to {_receivers(trace, event)}"
    mark = m.UP if later else m.SEND
    said = f"will send {text}" if later else f"{m.RIGHT} {text}"
    return [LaneItem(event.process, mark, said, "", event.message)]


def _receivers(trace: Trace, event: ev.Sent | ev.CopyLeft) -> str:
    peers, others = set(ev.peers_of(event)), set(trace.processes) - {event.process}
    if len(trace.processes) > 2 and peers == set(trace.processes):
        return "all"
    if len(others) > 1 and peers == others:
        return "all others"
    if peers == {event.process}:
        return "itself"
    return listing(ev.peers_of(event)) or "nobody"


def _not_done(trace: Trace, event: ev.Effect) -> list[LaneItem]:
    """Returns the effects that a crash cut off."""
    match event:
        case ev.Sent(message):
            sign, said = m.DOWN, f"not sent: {message} to {_receivers(trace, event)}"
        case ev.CopyLeft():
            return []
        case ev.Indicated(call):
            sign, said = m.NOT_DELIVERED, f"not done: {call}"
        case ev.Performed(act):
            sign, said = m.NOT_PERFORMED, f"not done: performs {act}"
        case ev.Stored():
            sign, said = m.NOT_STORED, f"not done: stores {assignment(event)}"
        case ev.Synced(variables):
            sign, said = m.NOT_STORED, f"not done: syncs {variables}"
    return [LaneItem(event.process, sign, said, FAULT)]
