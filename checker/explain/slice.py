"""Slices an execution: the steps on which its violation may not depend.

The order of causes is read from the trace, and does not see every dependence: through ghosts,
histories, acts, budgets and guards that became false.  So these are candidates only;
:mod:`checker.explain.leave_out` replays the execution without them.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.explain.claims import entries, row_of
from checker.explain.realisation import Voice
from checker.model.ir import Property, PropertyKind, TransitionSystem
from checker.results import events as ev
from checker.results.causality import causality, lane_of
from checker.results.rerun import Run
from checker.results.trace import Trace
from checker.results.truth import Fact, facts, whole_word, word_of

FAULTS = (
    ev.Crashed
    | ev.Recovered
    | ev.Paused
    | ev.SyncFailed
    | ev.Lost
    | ev.Forged
    | ev.World
    | ev.OracleIndicated
    | ev.TimedOut
)
"""Kinds of events that others may be the consequence of without any message between them."""


def context(system: TransitionSystem, prop: Property, run: Run, trace: Trace) -> tuple[int, ...]:
    """Returns the numbers of the steps of ``trace`` that are not in the causal past of the
    violation.

    To the violation belong the steps at which what the property reads got its final value, and
    faults.  What never happens has no past of its own: where that is what is violated, all that the
    named processes do (where none is named, that any does) belongs to it, with what follows from
    this, and a loop.  Where nothing is found to belong to it, no step is context.
    """
    found = facts(system, prop, run)
    if not found:
        return ()
    past = causality(trace)
    numbers = set(_targets(system, prop, run, trace, found))
    numbers = {number for number in numbers if 0 < number < len(past.steps)}
    if not numbers:
        return ()
    needed = past.past(numbers)
    return tuple(s.number for s in past.steps if s.number and s.number not in needed)


def without_past(trace: Trace, context: tuple[int, ...], steps: set[int]) -> tuple[int, ...]:
    """Returns ``context`` without ``steps`` and what is in their causal past: those that the
    counterfactuals show to be essential."""
    order = causality(trace)
    needed = order.past({number for number in steps if number < len(order.steps)})
    return tuple(number for number in context if number not in needed)


def _targets(
    system: TransitionSystem, prop: Property, run: Run, trace: Trace, found: tuple[Fact, ...]
) -> Iterator[int]:
    whole = whole_word(system, run)
    voice = Voice(word_of(system, prop, run), trace)
    for fact in found:
        yield from _changes(row_of(whole, fact), bool(fact.atom.otherwise))
        for condition, _ in fact.atom.otherwise:
            row = [whole.value(condition, at, fact.names) for at in range(len(whole.states))]
            yield from _changes(row, True)
        yield from _events(trace, fact, voice)
    for step in trace.steps:
        if any(isinstance(event, FAULTS) for event in step.events):
            yield step.number
    if trace.closing is not None and trace.loop is not None:
        yield from range(trace.loop + 1, trace.closing.number + 1)
    if prop.kind is PropertyKind.LIVENESS:
        named = {voice.fill((f.atom.owner,), f) for f in found if f.atom.owner is not None}
        owners = {who for fact in found for who, _ in entries(system, voice, fact)}
        named |= owners & set(trace.processes)
        named = named or set(trace.processes)
        theirs = {step.number for step in trace.steps if lane_of(step) in named}
        yield from _after(trace, theirs)


def _after(trace: Trace, numbers: set[int]) -> set[int]:
    """Returns ``numbers`` and all steps that depend on one of them: their possible consequences."""
    causes = causality(trace).causes
    found = set(numbers)
    for number, direct in enumerate(causes):
        if number and direct & found:
            found.add(number)
    return found


def _changes(row: list[bool], all_of_them: bool) -> Iterator[int]:
    """Yields where a truth value changed the last time, or each time."""
    changed = [at for at in range(1, len(row)) if row[at] != row[at - 1]]
    yield from changed if all_of_them else changed[-1:]


def _events(trace: Trace, fact: Fact, voice: Voice) -> Iterator[int]:
    """Yields the steps at which what should happen once, or in an order, happened."""
    if fact.atom.kind not in ("twice", "order", "act"):
        return
    said = voice.fill((*fact.atom.subject, " ", *fact.atom.objects), fact)
    for step in trace.steps:
        for event in step.events:
            if _mentions(event, fact, said):
                yield step.number


def _mentions(event: ev.Event, fact: Fact, said: str) -> bool:
    if isinstance(event, ev.Performed):
        return f"act {event.act} " in f"{said} "
    if not isinstance(event, ev.Indicated) or event.call.operator != fact.atom.op:
        return False
    return said.startswith(event.process) and all(v in said for _, v in event.call.named)
