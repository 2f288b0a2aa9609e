"""Checks whether the parts of a trace, which may have been edited, are consistent.

Views rely on it: they look up the processes, steps and kinds to which a document refers.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.results.events import Chosen, Drawn, World, kind_name, peers_of
from checker.results.trace import Explanation, Step, Trace

SHARED = Chosen | Drawn | World
"""Events that may belong to no process."""


def require_fit(trace: Trace) -> None:
    """Raises ``ValueError`` where a part of ``trace`` refers to what is not in it."""
    if not trace.processes or len(set(trace.processes)) < len(trace.processes):
        raise ValueError("no processes, or a duplicate")
    if trace.loop is not None and trace.loop >= len(trace.steps):
        raise ValueError(f"no loop: {trace.loop}")
    if trace.closing is not None and trace.loop is None:
        raise ValueError("a step closes a loop, but there is no loop")
    steps = trace.every_step
    for number, step in enumerate(steps):
        _step(step, number, trace.processes)
    for what, where in _step_numbers(trace):
        if what >= len(steps):
            raise ValueError(f"{where}: there is no step {what}")
    for name, where in _names(trace):
        if name not in trace.processes:
            raise ValueError(f"{where}: {name!r} is not a process of the trace")
    if trace.explanation is not None:
        _truths(trace.explanation, len(trace.steps))


def _step(step: Step, number: int, processes: tuple[str, ...]) -> None:
    if step.number != number:
        raise ValueError(f"step {number} is numbered {step.number}")
    for event in (*step.events, *step.cut):
        if not event.process and not isinstance(event, SHARED):
            raise ValueError(f"step {number} has an event without a process, {kind_name(event)}")
    named = [step.process, *(change.process for change in step.changes)]
    for event in (*step.events, *step.cut):
        named += [event.process, *peers_of(event)]
    unknown = [name for name in named if name and name not in processes]
    if unknown:
        raise ValueError(f"step {number} is of {unknown[0]!r}, which is not a process of the trace")


def _step_numbers(trace: Trace) -> Iterator[tuple[int, str]]:
    """Yields the step numbers that ``trace`` refers to, each with the field that has it."""
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
    yield from ((lack.process, "lacking") for lack in trace.lacking if not lack.is_act)
    for copies in trace.copies:
        names = (copies.sender, *copies.received, *copies.missing)
        yield from ((name, "copies") for name in names)


def _truths(explanation: Explanation, states: int) -> None:
    for claim in explanation.claims:
        if len(claim.truths) != states:
            raise ValueError(f"claims: {len(claim.truths)} truths in {states} states")
