"""Truncation by a crash: what a handler would have done, had its process not crashed inside it."""

from __future__ import annotations

from collections.abc import Iterable

from checker.model import interpreter
from checker.model.interpreter import State
from checker.model.ir import CRASHING, ActionKind, TransitionSystem
from checker.model.types import Value
from checker.records import replace
from checker.results.events import CopyLeft, Effect, Event, Handled, Sent, peers_of
from checker.results.mark_events import trace_events
from checker.results.rerun import Moment

LONGEST = 100
"""The largest number of effects, each a separate step, that are looked for after a crash."""


def cut_short(system: TransitionSystem, before: State | None, moment: Moment) -> tuple[Effect, ...]:
    """Returns the effects that the step to ``moment`` lacks since its process crashes inside the
    handler, in order; of a multicast that only some were sent, with the receivers that it missed.

    Of a handler with several possible continuations, their longest common prefix.  If effects
    are separate steps: those that its process would still have taken.
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


def _pending_effects(system: TransitionSystem, state: State, victim: Value) -> tuple[Effect, ...]:
    """Returns the effects that ``victim`` still has to take in ``state``, in order; the copies of a
    multicast are one."""
    effects = [action for action in system.actions if action.kind is ActionKind.EFFECT]
    found: list[Effect] = []
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
            if isinstance(event, Effect):
                _add_effect(found, event)
    return tuple(found)


def _add_effect(found: list[Effect], event: Effect) -> None:
    """Adds ``event``; a copy to the multicast that the last one belongs to, if it does."""
    if not isinstance(event, CopyLeft):
        found.append(event)
        return
    receivers, last = {event.receiver}, found[-1] if found else None
    if isinstance(last, Sent) and last.message == event.message:
        receivers.update(last.receivers)
        found.pop()
    to = tuple(sorted(receivers))
    found.append(Sent(event.message, to, process=event.process, at=event.at))


def _missing(done: tuple[Event, ...], whole: tuple[Event, ...]) -> tuple[Effect, ...] | None:
    """Returns the effects of ``whole`` that are not in ``done``; ``None`` where ``done`` is not a
    prefix of it."""
    waiting = [event for event in done if isinstance(event, Effect | Handled)]
    missing: list[Effect] = []
    for event in whole:
        if event in waiting:
            waiting.remove(event)
            continue
        part = next((w for w in waiting if _is_part(w, event)), None)
        if part is not None and isinstance(event, Sent):
            waiting.remove(part)
            missed = tuple(to for to in event.receivers if to not in peers_of(part))
            missing.append(replace(event, receivers=missed))
        elif isinstance(event, Effect):
            missing.append(event)
    return None if waiting else tuple(missing)


def _is_part(some: Event, all_: Event) -> bool:
    """Returns whether ``some`` is the multicast ``all_`` to only some of its receivers."""
    if not isinstance(some, Sent) or not isinstance(all_, Sent):
        return False
    alike = (some.message, some.at) == (all_.message, all_.at)
    return alike and set(some.receivers) < set(all_.receivers)


def _beginning(ways: Iterable[tuple[Effect, ...]]) -> tuple[Effect, ...]:
    """Returns the longest common prefix of ``ways``."""
    common: list[Effect] = []
    for events in zip(*ways, strict=False):
        if any(event != events[0] for event in events):
            break
        common.append(events[0])
    return tuple(common)
