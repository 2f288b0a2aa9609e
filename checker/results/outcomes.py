"""Outcomes of processes and messages at the end of an execution."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, cast

from msgspec import Struct, field

from checker.instantiate.oracles.crash_prophecy import TITLE as FORESEEN
from checker.model.interpreter import State, name_values
from checker.model.ir import TransitionSystem, VariableKind
from checker.model.types import (
    BagT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    Value,
    VariantT,
    sort_key,
    universe,
)
from checker.results import events as ev
from checker.results.mark_events import trace_events
from checker.results.rerun import Run
from checker.results.show_values import show
from checker.results.trace import Copies, InFlight, ProcessOutcome, Step

FAULTY = {"byzantine": "byzantine", "omitting": "omitting", FORESEEN: "foreseen"}
"""Titles of the environment's variables that hold processes which are faulty without being down,
and the words for these in :class:`checker.results.trace.ProcessOutcome`."""


def outcomes_of(
    system: TransitionSystem, run: Run, steps: tuple[Step, ...]
) -> tuple[ProcessOutcome, ...]:
    """Returns for each process what it indicated to the layer above and performed, and its faults.

    ``steps`` are those of ``run`` with the one that closes a loop.
    """
    happened: dict[str, list[str]] = defaultdict(list)
    again: dict[str, list[str]] = defaultdict(list)
    down = set(_members(system, run.last, "crashed"))
    for step in steps:
        for event in step.events:
            visible = _visible(event)
            if visible:
                happened[event.process].append(visible)
                if run.loop is not None and step.number > run.loop:
                    again[event.process].append(visible)
            elif isinstance(event, ev.Crashed):
                down.add(event.process)
            elif isinstance(event, ev.Recovered):
                down.discard(event.process)
    came_back = ever_crashed(steps) - down
    faulty = {
        process: word
        for title, word in FAULTY.items()
        for process in _members(system, run.last, title)
        if process not in down or word != "foreseen"
    }
    return tuple(
        ProcessOutcome(
            process=p,
            crashed=p in down,
            deliveries=tuple(happened[p]),
            recovered=p in came_back,
            faulty=faulty.get(p, ""),
            again=tuple(again[p]),
        )
        for p in system.processes
    )


def _visible(event: ev.Event) -> str:
    """Returns what is observable of an event outside the protocol; empty where that is nothing."""
    if isinstance(event, ev.Indicated) and event.call.outermost:
        return str(event.call)
    return f"perform {event.act}" if isinstance(event, ev.Performed) else ""


def ever_crashed(steps: tuple[Step, ...]) -> frozenset[str]:
    """Returns the processes that crash in some step."""
    events = (event for step in steps for event in step.events)
    return frozenset(event.process for event in events if isinstance(event, ev.Crashed))


def _members(system: TransitionSystem, state: State, title: str) -> Iterator[str]:
    """Yields the members of the environment's variable of that title, where there is one."""
    for variable, value in zip(system.variables, state, strict=True):
        if variable.kind is VariableKind.WORLD and (variable.title or variable.name) == title:
            if isinstance(variable.type, SetT):
                item = variable.type.item
                yield from (show(item, v) for v in cast(frozenset[Value], value))


class _Sent(Struct):
    """A multicast: the copies that no process is known to have received yet, and those received."""

    step: int
    sender: str
    message: str
    waiting: list[str]
    received: list[str] = field(default_factory=list)


def copies_of(run: Run, system: TransitionSystem, crashed: frozenset[str]) -> tuple[Copies, ...]:
    """Returns for each multicast of a process that crashed who received it by the end, and who
    never did.

    With quasi-reliable links a message of a crashed sender that no process receives is the same as
    one that was never sent.  A crashed process's copy to itself is left out.
    """
    sent: list[_Sent] = []
    for number, moment in enumerate(run.moments):
        for event in trace_events(system, moment.events):
            _follow(event, number, sent)
    return tuple(
        Copies(
            s.step,
            s.sender,
            s.message,
            tuple(r for r in s.received if r != s.sender),
            tuple(r for r in s.waiting if r != s.sender),
        )
        for s in sent
        if s.sender in crashed and any(r != s.sender for r in (*s.received, *s.waiting))
    )


def _follow(event: ev.Event, number: int, sent: list[_Sent]) -> None:
    match event:
        case ev.Sent(message, receivers):
            sent.append(_Sent(number, event.process, message, list(receivers)))
        case ev.CopyLeft(message, to):
            # Where copies leave one by one, the multicast may have been reported before, or not.
            same = [s for s in sent if (s.sender, s.message) == (event.process, message)]
            if not any(to in (*s.waiting, *s.received) for s in same):
                if same:
                    same[-1].waiting.append(to)
                else:
                    sent.append(_Sent(number, event.process, message, [to]))
        case ev.Received(message, sender):
            for s in sent:
                if (s.sender, s.message) == (sender, message) and event.process in s.waiting:
                    s.waiting.remove(event.process)
                    s.received.append(event.process)
                    return


def in_flight(system: TransitionSystem, run: Run) -> tuple[InFlight, ...]:
    """Returns the messages that are on some link at the end, or in every state of a lasso's
    cycle."""
    if run.closing is None or run.loop is None:
        return tuple(_on_links(system, run.last))
    always = Counter(_on_links(system, run.last))
    for moment in run.moments[run.loop :]:
        always &= Counter(_on_links(system, moment.state))
    return tuple(always.elements())


def _on_links(system: TransitionSystem, state: State) -> Iterator[InFlight]:
    values = name_values(system, state)
    for variable in system.variables:
        if variable.kind is VariableKind.LINK:
            for text in _messages(variable.type, values[variable.name], ()):
                yield InFlight(variable.title or variable.name, text)


def _messages(type_: Type, value: Value, ends: tuple[tuple[str, str], ...]) -> Iterator[str]:
    """Yields the messages inside a link's value; ``ends``: what is known of them, as name and
    text."""
    held = cast(Any, value)
    match type_:
        case VariantT():
            yield show(type_, value) + _between(ends)
        case MapT(key, item):
            for k, v in zip(universe(key), held, strict=True):
                yield from _messages(item, v, (*ends, *_parts(key, k)))
        case SetT(item) | BagT(item) | SeqT(item):
            ordered = held if isinstance(type_, SeqT) else sorted(held, key=sort_key)
            for v in ordered:
                yield from _messages(item, v, ends)
        case OptionT(item):
            if held is not None:
                yield from _messages(item, held[0], ends)
        case TupleT(items=items) if any(_carries(t) for t in items):
            parts = list(_parts(type_, value))
            inside = [i for i, t in enumerate(items) if _carries(t)]
            outside = tuple(part for i, part in enumerate(parts) if i not in inside)
            for i in inside:
                yield from _messages(items[i], held[i], (*ends, *outside))
        case _:
            yield show(type_, value) + _between(ends)


def _carries(type_: Type) -> bool:
    match type_:
        case VariantT():
            return True
        case SetT(item) | BagT(item) | SeqT(item) | OptionT(item) | MapT(_, item):
            return _carries(item)
        case TupleT(items=items):
            return any(_carries(t) for t in items)
        case _:
            return False


def _parts(type_: Type, value: Value) -> tuple[tuple[str, str], ...]:
    if not isinstance(type_, TupleT):
        return (("", show(type_, value)),)
    names = type_.names or ("",) * len(type_.items)
    held = cast(tuple[Value, ...], value)
    return tuple((n, show(t, v)) for n, t, v in zip(names, type_.items, held, strict=True))


def _between(ends: tuple[tuple[str, str], ...]) -> str:
    """Returns `` from p1 to p2`` for the two ends of a link, which are its sender and its
    receiver."""
    if len(ends) == 2:
        (first, a), (_, b) = ends
        if first in ("to", "receiver"):
            a, b = b, a
        return f" from {a} to {b}"
    return f" ({', '.join(text for _, text in ends)})" if ends else ""
