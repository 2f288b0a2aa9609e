"""Draws operations as intervals: from the call of a request to its return."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checker.records import replace
from checker.render.diagram.parts import Mark, Operation
from checker.results.trace import Event, Interval, Step, Trace

RETURNS = " returns"
"""What stands between an operation and its result."""


def text_of(operation: Interval) -> str:
    """Returns ``read() returns none``: what stands beside the end of ``operation``."""
    result = f" {operation.result}" if operation.result else ""
    return f"{operation.call}{RETURNS}{result}"


def with_returns(trace: Trace) -> Trace:
    """Returns ``trace`` with ``read() returns none`` in place of the indications that return."""
    if not trace.operations:
        return trace
    closing = None if trace.closing is None else _with_returns(trace, trace.closing)
    steps = tuple(_with_returns(trace, step) for step in trace.steps)
    return replace(trace, steps=steps, closing=closing)


def _with_returns(trace: Trace, step: Step) -> Step:
    texts = {
        (o.process, o.answer): text_of(o) for o in trace.operations if o.returned == step.number
    }
    if not texts:
        return step

    def told(event: Event) -> Event:
        said = texts.get((event.process, event.name)) if event.kind == "indication" else None
        return event if said is None else replace(event, name=said)

    return replace(step, events=tuple(map(told, step.events)))


def intervals_of(
    trace: Trace, x: dict[str, float], marks: Iterable[Mark], end: float
) -> Iterator[Operation]:
    """Lays out the operations of ``trace`` on the lanes at ``x``; ``end``: where the lanes end."""
    places: dict[tuple[int, str], float] = {}
    for mark in marks:
        if mark.first or mark.kind == "also":
            places.setdefault((mark.step, mark.lane), mark.y)
    for one in trace.operations:
        top = places.get((one.called, one.process))
        if top is None:
            continue
        bottom = end if one.returned is None else places.get((one.returned, one.process), end)
        said = f"{one.call} of {one.process}, called in step {one.called}"
        said += " and never returned" if one.returned is None else f", {_answered(one)}"
        yield Operation(one.process, x[one.process], top, bottom, said, one.returned is not None)


def _answered(one: Interval) -> str:
    result = f" {one.result}" if one.result else ""
    return f"returned{result} in step {one.returned}"
