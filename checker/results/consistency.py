"""Checks whether the parts of a trace, which may have been edited, are consistent.

Views rely on it: they look up the processes, steps and kinds to which a document refers.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.model.ir import MarkKind
from checker.results.trace import Event, Explanation, Step, Trace

ONE_PEER = frozenset((MarkKind.RECEIVE, MarkKind.LOSE, MarkKind.COPY, MarkKind.FORGE))
MESSAGES = ONE_PEER | {MarkKind.SEND}
"""Events whose peers are processes; but for those that send there is one."""
SHARED = frozenset((MarkKind.CHOICE, MarkKind.WORLD))
"""Events that may belong to no process."""


def require_fit(trace: Trace) -> None:
    """Raises ``ValueError`` where a part of ``trace`` refers to what is not in it."""
    if not trace.processes or len(set(trace.processes)) < len(trace.processes):
        raise ValueError("no processes, or one of them twice")
    if trace.loop is not None and trace.loop >= len(trace.steps):
        raise ValueError(f"no loop: {trace.loop}")
    if trace.closing is not None and trace.loop is None:
        raise ValueError("a step closes a loop, but there is no loop")
    closing = () if trace.closing is None else (trace.closing,)
    steps = (*trace.steps, *closing)
    for number, step in enumerate(steps):
        _step(step, number, trace.processes)
    for what, where in _numbers(trace):
        if what >= len(steps):
            raise ValueError(f"{where}: there is no step {what}")
    for name, where in _names(trace):
        if name not in trace.processes:
            raise ValueError(f"{where}: {name!r} is no process of the trace")
    if trace.explanation is not None:
        _truths(trace.explanation, len(trace.steps))


def _step(step: Step, number: int, processes: tuple[str, ...]) -> None:
    if step.number != number:
        raise ValueError(f"step {number} has the number {step.number}")
    for event in (*step.events, *step.cut):
        _event(event, number)
    named = [step.process, *(change.process for change in step.changes)]
    for event in (*step.events, *step.cut):
        named += [event.process, *(event.peers if event.kind in MESSAGES else ())]
    unknown = [name for name in named if name and name not in processes]
    if unknown:
        raise ValueError(f"step {number} is of {unknown[0]!r}, which is no process of the trace")


def _event(event: Event, number: int) -> None:
    if not event.process and event.kind not in SHARED:
        raise ValueError(f"step {number} has an event, {event.kind}, that is nobody's")
    if event.kind in ONE_PEER and len(event.peers) != 1:
        raise ValueError(f"step {number}: one message has {len(event.peers)} peers")


def _numbers(trace: Trace) -> Iterator[tuple[int, str]]:
    """Yields numbers of steps, and where they stand."""
    yield from ((copies.step, "copies") for copies in trace.copies)
    yield from ((step, "ledger") for entry in trace.ledger for step in entry.steps)
    explanation = trace.explanation
    if explanation is None:
        return
    yield from ((step, "context") for step in explanation.context)
    yield from ((ablation.step, "ablations") for ablation in explanation.ablations)
    for each in explanation.obligations:
        places = (each.opened, each.met, each.impossible)
        yield from ((step, "obligations") for step in places if step is not None)


def _names(trace: Trace) -> Iterator[tuple[str, str]]:
    """Yields names of processes, and where they stand."""
    yield from ((fate.process, "fates") for fate in trace.fates)
    for copies in trace.copies:
        names = (copies.sender, *copies.received, *copies.missing)
        yield from ((name, "copies") for name in names)


def _truths(explanation: Explanation, states: int) -> None:
    for claim in explanation.claims:
        if len(claim.truths) != states:
            raise ValueError(f"claims: {len(claim.truths)} truths in {states} states")
