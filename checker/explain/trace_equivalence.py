"""Equivalence of traces: the same causal shape up to a renaming of processes.

Two executions are equivalent where the same things happen because of the same things: kinds of
steps, names of handlers and types of messages agree, each message comes from the same kind of step,
and processes see the same kinds of deliveries in the same order.  Names of processes, payloads and
numbers make no difference, nor does the order of causally independent steps (Mazurkiewicz: Trace
Theory, 1987).

The shape is computed as in B. Weisfeiler and A. Leman: The reduction of a graph to canonical form
(1968): the label of a step is made of what it is and of the labels of its direct causes.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict

from checker.results import events as ev
from checker.results.causality import causality, lane_of
from checker.results.terms import head, words
from checker.results.trace import Step, Trace

Kind = tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
"""For each process, what happens there in any order, and what it delivers in that order."""


def kind_of(trace: Trace) -> Kind:
    """Returns the equivalence class of ``trace``; equal for equivalent executions."""
    order = causality(trace)
    left_out = set(trace.explanation.context) if trace.explanation is not None else set()
    processes = set(trace.processes)
    names: dict[int, str] = {0: ""}
    lanes: dict[str, list[str]] = defaultdict(list)
    delivered: dict[str, list[str]] = defaultdict(list)
    for step in order.steps[1:]:
        if step.number in left_out:
            continue
        lane = lane_of(step)
        elsewhere = [c for c in order.causes[step.number] if lane_of(order.steps[c]) != lane]
        because = sorted(names[cause] for cause in elsewhere if names.get(cause))
        repeats = trace.loop is not None and step.number > trace.loop
        names[step.number] = _short((_label(step, processes), repeats, because))
        lanes[lane].append(names[step.number])
        if any(isinstance(event, ev.Indicated | ev.Performed) for event in step.events):
            delivered[lane].append(names[step.number])
    return tuple(sorted((tuple(sorted(lanes[at])), tuple(delivered[at])) for at in lanes))


def _short(name: object) -> str:
    return hashlib.sha256(repr(name).encode()).hexdigest()


def _label(step: Step, processes: set[str]) -> tuple[object, ...]:
    """Returns what happens in a step, without names of processes, payloads and numbers."""
    return (step.kind, *(_of_event(event, processes) for event in step.events))


def _of_event(event: ev.Event, processes: set[str]) -> tuple[object, ...]:
    values = processes | {text for _, text in ev.named_values(event)}
    name, message = _types(_name(event), values), _types(ev.message_of(event), values)
    return (ev.kind_name(event), name, message, len(ev.peers_of(event)))


def _name(event: ev.Event) -> str:
    """Returns what an event is about, apart from its message."""
    match event:
        case ev.Handled():
            return event.handler
        case ev.Requested() | ev.Indicated() | ev.OracleIndicated():
            return str(event.call)
        case ev.Performed():
            return event.act
        case ev.Stored() | ev.Chosen() | ev.Drawn() | ev.Left():
            return event.variable
        case ev.AlternativeTaken():
            return event.alternative
        case ev.TimerChanged() | ev.TimedOut():
            return event.timer
        case ev.OracleAsked():
            return str(event.request)
        case _:
            return ""


def _types(text: str, values: set[str]) -> tuple[str, ...]:
    """Returns the names in ``text`` that are neither processes nor payloads: those of types begin
    with a capital letter, those of handlers and operators stand before anything in parentheses."""
    before = head(text)
    outside = (word for word in words(before) if not word[0].isdigit())
    inside = (word for word in words(text.removeprefix(before)) if word[0].isupper())
    return tuple(word for word in (*outside, *inside) if word not in values)
