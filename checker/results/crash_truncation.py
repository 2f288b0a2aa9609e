"""Truncation by a crash: what a handler would have done, had its process not crashed inside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from checker.model import interpreter
from checker.model.interpreter import State
from checker.model.ir import CRASHING, MarkKind, TransitionSystem
from checker.results.events import trace_events
from checker.results.rerun import Moment
from checker.results.trace import Event

EFFECTS = (MarkKind.SEND, MarkKind.INDICATION, MarkKind.PERFORM, MarkKind.STORE, MarkKind.COPY)
"""Kinds of events that a crash inside a handler can cut off."""


def cut_short(system: TransitionSystem, before: State | None, moment: Moment) -> tuple[Event, ...]:
    """Returns the effects that the step to ``moment`` lacks since its process crashes inside the
    handler, in order; of a multicast that only some were sent, with the receivers that it missed.

    Of a handler with several possible continuations, their longest common prefix.
    """
    transition = moment.transition
    if before is None or transition is None or not transition.action.name.endswith(CRASHING):
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
