"""Truncation by a crash: what a handler would have done, had its process not crashed inside it."""

from __future__ import annotations

from collections.abc import Iterable

from checker.model import interpreter
from checker.model.interpreter import State
from checker.model.ir import CRASHING, ActionKind, MarkKind, TransitionSystem
from checker.model.types import Value
from checker.records import replace
from checker.results.events import trace_events
from checker.results.rerun import Moment
from checker.results.trace import Event

EFFECTS = (MarkKind.SEND, MarkKind.INDICATION, MarkKind.PERFORM, MarkKind.STORE, MarkKind.COPY)
"""Kinds of events that a crash inside a handler can cut off."""

LONGEST = 100
"""The largest number of effects, each a step of its own, that are looked for behind a crash."""


def cut_short(system: TransitionSystem, before: State | None, moment: Moment) -> tuple[Event, ...]:
    """Returns the effects that the step to ``moment`` lacks since its process crashes inside the
    handler, in order; of a multicast that only some were sent, with the receivers that it missed.

    Of a handler with several possible continuations, their longest common prefix.  Where effects
    are steps of their own: those that its process would still have taken.
    """
    transition = moment.transition
    if before is None or transition is None:
        return ()
    if transition.action.kind is ActionKind.CRASH:
        return _pending_effects(system, before, transition.params[0])
    if not transition.action.name.endswith(CRASHING):
        return ()
    whole = transition.action.name.removesuffix(CRASHING)
    done = trace_events(system, moment.events)
    ways = [
        _missing(done, trace_events(system, other.events))
        for action in system.actions
        if action.name == whole
        for other in interpreter.action_transitions(system, action, before)
        if other.params == transition.params and other.fault is None
    ]
    return _beginning([way for way in ways if way is not None])


def _pending_effects(system: TransitionSystem, state: State, victim: Value) -> tuple[Event, ...]:
    """Returns the effects that ``victim`` still has to take in ``state``, in order; the copies of a
    multicast are one."""
    effects = [action for action in system.actions if action.kind is ActionKind.EFFECT]
    found: list[Event] = []
    for _ in range(LONGEST):
        ways = (
            t
            for action in effects
            for t in interpreter.action_transitions(system, action, state)
            if t.successor not in (None, state) and t.params[0] == victim
        )
        taken = next(ways, None)
        if taken is None or taken.successor is None:
            break
        state = taken.successor
        for event in trace_events(system, taken.events):
            if event.kind in EFFECTS:
                _add_effect(found, event)
    return tuple(found)


def _add_effect(found: list[Event], event: Event) -> None:
    """Adds ``event``; a copy to the multicast that the last one belongs to, if it does."""
    if event.kind != MarkKind.COPY:
        found.append(event)
        return
    last = found[-1] if found else None
    if last is not None and (last.kind, last.message) == (MarkKind.SEND, event.message):
        found.pop()
        event = replace(event, peers=tuple(sorted({*last.peers, *event.peers})))
    said = f"{event.process} sends {event.message} to {', '.join(event.peers)}"
    found.append(replace(event, kind=MarkKind.SEND.value, sentence=said))


def _missing(done: tuple[Event, ...], whole: tuple[Event, ...]) -> tuple[Event, ...] | None:
    """Returns the effects of ``whole`` that are not in ``done``; ``None`` where ``done`` is not a
    prefix of it."""
    waiting = [event for event in done if event.kind in (*EFFECTS, MarkKind.HANDLER)]
    missing: list[Event] = []
    for event in whole:
        if event in waiting:
            waiting.remove(event)
            continue
        part = next((w for w in waiting if _is_part(w, event)), None)
        if part is not None:
            waiting.remove(part)
            missed = tuple(peer for peer in event.peers if peer not in part.peers)
            missing.append(replace(event, peers=missed))
        elif event.kind in EFFECTS:
            missing.append(event)
    return None if waiting else tuple(missing)


def _is_part(some: Event, all_: Event) -> bool:
    """Returns whether ``some`` is the multicast ``all_`` to only some of its receivers."""
    alike = (some.kind, some.message, some.at) == (all_.kind, all_.message, all_.at)
    return alike and some.kind == MarkKind.SEND and set(some.peers) < set(all_.peers)


def _beginning(ways: Iterable[tuple[Event, ...]]) -> tuple[Event, ...]:
    """Returns the longest common prefix of ``ways``."""
    common: list[Event] = []
    for events in zip(*ways, strict=False):
        if any(event != events[0] for event in events):
            break
        common.append(events[0])
    return tuple(common)
