"""Makes a monitor a finite automaton over the calls and returns of a check's clients, and minimal.

Two states of the monitor that no continuation tells apart are one (Moore): so the observation
tells no more states of the system apart than the question needs.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from checker.properties.consistency.calls import Call, Result
from checker.properties.consistency.monitors import Monitor

LARGEST = 50_000
"""The largest number of states before it is made minimal."""
HEAVIEST = 200_000
"""The largest number of configurations in all of these states together."""


class TooMany(Exception):
    """The automaton would be too large."""


class Event(NamedTuple):
    """The call of an operation (``kind`` ``call``), its return with ``result`` (``return``), or
    with any result that no other event names (``other``)."""

    kind: str
    operation: int
    result: Result = None


class Automaton(Struct, frozen=True):
    """``edges[n]``: for each event that may come in state ``n``, the state after it; any other is
    not correct.  State 0 is the first; those from ``first_returned`` on have seen an operation
    return; the last one, ``violated``, is that of all histories that are not correct."""

    edges: tuple[Mapping[Event, int], ...]
    first_returned: int

    @property
    def violated(self) -> int:
        return len(self.edges)

    def after(self, state: int, event: Event) -> int:
        """Returns the state after ``event`` in ``state``."""
        edges = self.edges[state] if state < self.violated else {}
        if event not in edges and event.kind == "return":
            event = Event("other", event.operation)
        return edges.get(event, self.violated)


class _At(NamedTuple):
    """A state of the monitor, and where each client is: how many operations it has called, and the
    one that is outstanding; ``crashes``: how many may still be lost."""

    state: Hashable
    called: tuple[int, ...]
    outstanding: tuple[int | None, ...]
    crashes: int
    any_returned: bool


def automaton_of(monitor: Monitor[Any], calls: tuple[Call, ...], crashes: int) -> Automaton:
    """Returns the automaton for ``calls``; ``crashes``: how many operations may be lost such that
    their client calls another one.  Raises :class:`TooMany`."""
    processes = sorted({call.process for call in calls})
    programs = [[i for i, c in enumerate(calls) if c.process == p] for p in processes]
    nobody = (None,) * len(processes)
    first = _At(monitor.start(), (0,) * len(processes), nobody, crashes, False)
    numbers = {first: 0}
    edges: list[dict[Event, int]] = []
    todo = [first]
    weight = 0
    for at in todo:
        found: dict[Event, int] = {}
        for event, after in _steps(monitor, programs, at).items():
            if after not in numbers:
                numbers[after] = len(numbers)
                todo.append(after)
                weight += monitor.weight(after.state)
                if len(numbers) > LARGEST or weight > HEAVIEST:
                    raise TooMany
            found[event] = numbers[after]
        edges.append(found)
    return _minimal(edges, [at.any_returned for at in todo])


def _steps(monitor: Monitor[Any], programs: list[list[int]], at: _At) -> dict[Event, _At]:
    found: dict[Event, _At] = {}
    for process, program in enumerate(programs):
        now = at.outstanding[process]
        called = at.called[process]
        if now is not None:
            found |= _returns(monitor, at, process, now)
        if called < len(program) and (now is None or at.crashes):
            operation = program[called]
            state = at.state if now is None else monitor.lost(at.state, now)
            found[Event("call", operation)] = at._replace(
                state=monitor.call(state, operation),
                called=_put(at.called, process, called + 1),
                outstanding=_put(at.outstanding, process, operation),
                crashes=at.crashes - (now is not None),
            )
    return found


def _returns(monitor: Monitor[Any], at: _At, process: int, operation: int) -> dict[Event, _At]:
    found: dict[Event, _At] = {}
    results = monitor.results(at.state, operation)
    anything = results is None
    for result in (None,) if results is None else results:
        after = monitor.returned(at.state, operation, result)
        if after is not None:
            event = Event("other" if anything else "return", operation, result)
            found[event] = at._replace(
                state=after,
                outstanding=_put(at.outstanding, process, None),
                any_returned=True,
            )
    return found


def _put(items: tuple[Any, ...], position: int, item: object) -> tuple[Any, ...]:
    return (*items[:position], item, *items[position + 1 :])


def _minimal(edges: list[dict[Event, int]], returned: list[bool]) -> Automaton:
    """Merges states with the same continuations; those before any return stand first."""
    block = [int(seen) for seen in returned]
    count = 0
    while len(set(block)) > count:
        count = len(set(block))
        keys = [
            (block[n], frozenset((event, block[after]) for event, after in leaving.items()))
            for n, leaving in enumerate(edges)
        ]
        order: dict[object, int] = {}
        for key in keys:
            order.setdefault(key, len(order))
        block = [order[key] for key in keys]
    heads: dict[int, int] = {}
    for n, number in enumerate(block):
        heads.setdefault(number, n)
    ordered = sorted(heads, key=lambda number: (returned[heads[number]], heads[number]))
    place = {number: i for i, number in enumerate(ordered)}
    merged = tuple(
        {event: place[block[after]] for event, after in edges[heads[number]].items()}
        for number in ordered
    )
    before = sum(not returned[heads[number]] for number in ordered)
    return Automaton(merged, before)
