"""What a handler would have gone on to do, had its process not crashed inside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from checker.system import interpreter
from checker.system.interpreter import State
from checker.system.ir import CRASHING, MarkKind, TransitionSystem
from checker.witness.events import told
from checker.witness.rerun import Moment
from checker.witness.trace import Event

EFFECTS = (MarkKind.SEND, MarkKind.INDICATION, MarkKind.PERFORM, MarkKind.STORE, MarkKind.COPY)
"""Kinds of events that a crash inside a handler can cut off."""


def cut_short(system: TransitionSystem, before: State | None, moment: Moment) -> tuple[Event, ...]:
    """The effects that the step to ``moment`` lacks since its process crashes inside the handler,
    in order; of a multicast that only some were sent, with the receivers that it missed."""
    transition = moment.transition
    if before is None or transition is None or not transition.action.name.endswith(CRASHING):
        return ()
    whole = transition.action.name.removesuffix(CRASHING)
    done = told(system, moment.events)
    for action in system.actions:
        if action.name != whole:
            continue
        for other in interpreter.action_transitions(system, action, before):
            if other.params == transition.params and other.fault is None:
                return tuple(_missing(done, told(system, other.events)))
    return ()


def _missing(done: tuple[Event, ...], whole: tuple[Event, ...]) -> Iterator[Event]:
    """The effects of ``whole`` that are not in ``done``."""
    happened = Counter(_key(event) for event in done)
    reached = [event for event in done if event.kind == MarkKind.SEND]
    for event in whole:
        if event.kind not in EFFECTS:
            continue
        if happened[_key(event)]:
            happened[_key(event)] -= 1
            continue
        part = next((r for r in reached if (r.message, r.at) == (event.message, event.at)), None)
        if event.kind == MarkKind.SEND and part is not None:
            reached.remove(part)
            missed = tuple(peer for peer in event.peers if peer not in part.peers)
            event = replace(event, peers=missed)
        yield event


def _key(event: Event) -> tuple[str, str, str, str, tuple[str, ...]]:
    return event.kind, event.process, event.name, event.message, event.peers
