"""Draws operations as intervals: from the call of a request to its return."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checker.render.diagram.parts import Mark, Operation
from checker.results.events import Indicated
from checker.results.trace import Interval, Trace

RETURNS = " returns"
"""The text between an operation and its result."""


def text_of(operation: Interval) -> str:
    """Returns ``read() returns none``: what stands beside the end of ``operation``."""
    result = f" {operation.result}" if operation.result else ""
    return f"{operation.call}{RETURNS}{result}"


def text_of_indication(trace: Trace, number: int, event: Indicated) -> str:
    """Returns ``read() returns none`` for an indication in step ``number`` by which an operation
    returns, and the indication itself for others."""
    call = str(event.call)
    return next((text_of(one) for one in _ended(trace, number, event)), call)


def is_return(trace: Trace, number: int, event: Indicated) -> bool:
    """Returns whether an operation returns by ``event``, in step ``number``."""
    return any(True for _ in _ended(trace, number, event))


def _ended(trace: Trace, number: int, event: Indicated) -> Iterator[Interval]:
    ends = event.process, str(event.call), number
    return (one for one in trace.operations if (one.process, one.answer, one.returned) == ends)


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
