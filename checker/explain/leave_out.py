"""Leaves steps out of an execution and replays the others.

Everything here is decided by the interpreter alone, so it sees every dependence that there is: of
properties, guards, budgets and fairness constraints on ghosts, histories, acts and all other state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from checker.explain.costs import cost_of
from checker.instantiate.faults.fault_marks import fault_kind, faults_of
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import Event, State, Transition
from checker.model.ir import MarkKind, Property, PropertyKind, TransitionSystem
from checker.model.types import Value
from checker.results.answer import Path
from checker.results.fair_lasso import Unfair, satisfies, steps_due
from checker.results.mismatch import ReplayMismatch
from checker.results.rerun import Moment, Run, rerun

MOST = 2000
"""The largest number of transitions that are taken for one replay."""

OPENING = (MarkKind.HANDLER, MarkKind.RECEIVE, MarkKind.REQUEST, MarkKind.TIMEOUT)
"""The events with which a step begins that may end in a fault."""


class Remainder(Struct, frozen=True):
    """The steps of an execution that are left: its states, the number of the state to which they
    return (``None``: it is finite), and the numbers of the steps that were left out."""

    states: tuple[State, ...]
    loop: int | None
    without: frozenset[int]


# ---- a smaller execution ----------------------------------------------------------------------


def remove_unneeded(
    system: TransitionSystem,
    prop: Property,
    path: Path,
    run: Run,
    is_over: Callable[[], bool],
) -> tuple[Path, Run]:
    """Returns an execution that violates ``prop`` and costs no more than ``run`` (along ``path``):
    no fault and no single step can be left out of it.

    Faults are tried first, then steps from the last one on.  What can't be taken without them is
    left out, too.  Each execution is replayed.
    """
    untried = _attempts(system, run)
    failed = 0
    while failed < len(untried) and not is_over():
        other = _violating(system, prop, run, untried[failed])
        if other is None or not _takes_less(system, other[1], run):
            failed += 1
            continue
        path, run = other
        untried = _attempts(system, run)
        # Everything is tried again in what is left, first of all what was not tried before.
        untried = (*untried[failed:], *untried[:failed])
        failed = 0
    return path, run


class _Attempt(Struct, frozen=True):
    """Leaves out the step ``number``, or, where ``fault_only``, the fault at the end of it."""

    number: int
    fault_only: bool = False


def _attempts(system: TransitionSystem, run: Run) -> tuple[_Attempt, ...]:
    """Returns what may be left out of ``run``: faults first, then steps from the last one on."""
    moments = _moments(run)
    counts = faults_of(system, (moment.events for moment in moments))
    faulty = [number for number, faults in enumerate(counts) if number and faults]
    found = [_Attempt(number, only) for number in faulty for only in (True, False)]
    others = reversed(range(1, len(moments)))
    return (*found, *(_Attempt(number) for number in others if number not in faulty))


def _violating(
    system: TransitionSystem, prop: Property, run: Run, attempt: _Attempt
) -> tuple[Path, Run] | None:
    """Returns an execution with what is left after ``attempt``; ``None`` where that is no execution
    that violates ``prop``."""

    def ways(number: int, state: State) -> list[Transition | None]:
        moment = _moments(run)[number]
        if number != attempt.number:
            return list(_alike(system, moment, state)) or [None]
        return list(_without_fault(system, moment, state)) if attempt.fault_only else [None]

    for rest in _replays(run, ways):
        if rest.loop is None and not _is_bad(system, prop, rest.states[-1]):
            continue
        path = Path(rest.states, False, rest.loop, run.values)
        try:
            return path, rerun(system, path, prop)
        except ReplayMismatch:
            continue
    return None


def _takes_less(system: TransitionSystem, one: Run, other: Run) -> bool:
    costs = [cost_of(system, run) for run in (one, other)]
    less, more = [(cost.faults, cost.messages, cost.steps) for cost in costs]
    return less < more and costs[0].steps <= costs[1].steps


# ---- steps on which a violation does not depend ----------------------------------------------


def irrelevant(
    system: TransitionSystem, prop: Property, run: Run, steps: tuple[int, ...]
) -> tuple[int, ...]:
    """Returns those of ``steps`` on which the violation does not depend: see :func:`is_irrelevant`.

    Where that is not so of ``steps``, steps are added to the empty set from the last one on, as
    long as it is.
    """
    chosen = tuple(sorted(steps))
    if chosen and not is_irrelevant(system, prop, run, chosen):
        chosen = ()
        for step in sorted(steps, reverse=True):
            if is_irrelevant(system, prop, run, (step, *chosen)):
                chosen = (step, *chosen)
    return chosen


def is_irrelevant(
    system: TransitionSystem, prop: Property, run: Run, steps: tuple[int, ...]
) -> bool:
    """Returns whether the violation does not depend on ``steps``: on all of them together, nor on
    any one, left out with those of them that can't be taken without it.

    Without them all other steps can be taken, with the same events; the property is violated for
    the same values; and nothing else is due: where a fairness constraint is violated, it is by not
    taking a step that was left out.
    """
    every = frozenset(steps)
    if _remains_violated(system, prop, run, every, every) is None:
        return False
    alone = (_remains_violated(system, prop, run, frozenset({step}), every) for step in steps)
    return all(rest is not None for rest in alone)


def _remains_violated(
    system: TransitionSystem,
    prop: Property,
    run: Run,
    left_out: frozenset[int],
    optional: frozenset[int],
) -> Remainder | None:
    """Returns a replay without ``left_out``, and without those of ``optional`` that can't be taken
    then, that violates ``prop`` as :func:`is_irrelevant` says."""

    def ways(number: int, state: State) -> list[Transition | None]:
        if number in left_out:
            return [None]
        moment = _moments(run)[number]
        same = [t for t in _alike(system, moment, state) if t.events == moment.events]
        return list(same) or ([None] if number in optional else [])

    for rest in _replays(run, ways):
        try:
            if _is_violated(system, prop, run, rest):
                return rest
        except (RunFault, Unfair):
            continue
    return None


def _is_violated(system: TransitionSystem, prop: Property, run: Run, rest: Remainder) -> bool:
    if rest.loop is None:
        return _is_bad(system, prop, rest.states[-1])
    if satisfies(system, prop, run.values, rest.states, rest.loop):
        return False
    moments = _moments(run)
    taken = (moments[number].transition for number in rest.without)
    left_out = {(step.action.name, step.params) for step in taken if step is not None}
    return steps_due(system, rest.states, rest.loop) <= left_out


# ---- replays ----------------------------------------------------------------------------------

Ways = Callable[[int, State], "list[Transition | None]"]
"""The ways to take the step of a number in a state; ``None`` among them: it is left out."""


def _replays(run: Run, ways: Ways) -> Iterator[Remainder]:
    """Yields the executions that take the steps of ``run`` in one of the given ways each: depth
    first, and at most ``MOST`` transitions."""
    moments = _moments(run)
    seen: set[tuple[int, State, State]] = set()
    waiting: list[tuple[tuple[State, ...], int, frozenset[int]]] = [
        ((run.moments[0].state,), 1, frozenset())
    ]
    steps = 0
    while waiting and steps < MOST:
        states, number, without = waiting.pop()
        if number == len(moments):
            rest = _close(run, states, without)
            if rest is not None:
                yield rest
            continue
        loops = run.loop is not None and number > run.loop
        first = states[(run.loop or 0) - _up_to(without, run.loop)] if loops else states[-1]
        if (number, first, states[-1]) in seen:
            continue
        seen.add((number, first, states[-1]))
        steps += 1
        try:
            found = ways(number, states[-1])
        except RunFault:
            continue
        for way in reversed(found):
            if way is None:
                waiting.append((states, number + 1, without | {number}))
            elif way.successor is not None:
                waiting.append(((*states, way.successor), number + 1, without))


def _close(run: Run, states: tuple[State, ...], without: frozenset[int]) -> Remainder | None:
    """Returns the replay through ``states``; ``None`` where it is infinite and does not return to
    where its loop begins."""
    if run.loop is None:
        return Remainder(states, None, without)
    loop = run.loop - _up_to(without, run.loop)
    if states[-1] != states[loop]:
        return None
    if len(states) - 1 > loop:
        states = states[:-1]
    return Remainder(states, loop, without)


def _up_to(numbers: frozenset[int], last: int | None) -> int:
    """Returns how many of ``numbers`` are at most ``last``."""
    return sum(1 for number in numbers if last is not None and number <= last)


def _moments(run: Run) -> tuple[Moment, ...]:
    """Returns the moments of ``run``, with the one that closes a loop of several states."""
    closes = run.closing is not None and run.loop != len(run.moments) - 1
    return (*run.moments, run.closing) if closes and run.closing is not None else run.moments


def _alike(system: TransitionSystem, moment: Moment, state: State) -> Iterator[Transition]:
    """Yields the transitions of ``state`` by the same instance of the same action, those with the
    same events first."""
    taken = moment.transition
    if taken is None:
        return
    ways = interpreter.action_transitions(system, taken.action, state, taken.params)
    same = [way for way in ways if way.successor is not None]
    yield from sorted(same, key=lambda t: (t.events != moment.events, len(t.events)))


def _without_fault(system: TransitionSystem, moment: Moment, state: State) -> Iterator[Transition]:
    """Yields the transitions of ``state`` that begin as that of ``moment`` and have no fault."""
    opening = _opening(system, moment.events)
    if not opening:
        return
    for transition in interpreter.successors(system, state):
        kinds = (fault_kind(system.marks[event.mark]) for event in transition.events)
        if transition.successor is not None and not any(kinds):
            if _opening(system, transition.events) == opening:
                yield transition


def _opening(
    system: TransitionSystem, events: tuple[Event, ...]
) -> list[tuple[MarkKind, str, tuple[Value, ...]]]:
    infos = [(system.marks[event.mark], event.args) for event in events]
    return [(info.kind, info.text, args) for info, args in infos if info.kind in OPENING][:1]


def _is_bad(system: TransitionSystem, prop: Property, state: State) -> bool:
    if prop.kind is PropertyKind.LIVENESS:
        return False
    try:
        return interpreter.holds(system, prop.bad, state)
    except RunFault:
        return False
