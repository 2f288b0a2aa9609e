"""Replayed executions: the interpreter follows an engine's states, and refuses impossible steps."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from checker.instantiate.faults.fault_marks import faults_of, is_message
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import Event, State, Transition
from checker.model.ir import Property, PropertyKind, TransitionSystem
from checker.model.types import Value
from checker.results.answer import Path
from checker.results.fair_lasso import Unfair, fairness_justification, satisfies
from checker.results.mismatch import ReplayMismatch
from checker.results.trace import FairnessJustification


class Moment(Struct, frozen=True):
    """A state of an execution; ``transition`` led to it (``None`` for the first one)."""

    state: State
    transition: Transition | None
    events: tuple[Event, ...]


class Run(Struct, frozen=True):
    """A replayed execution; ``fault``: the transition with which it fails at its end.

    ``loop``: the execution is infinite, from its last moment back to number ``loop``, by the
    transition ``closing`` (``None`` where it stays in its last state, and no fairness constraint
    forces it elsewhere); ``ends``: it is quiescent there; ``ledger``: the fairness justification,
    why the loop is fair to each constraint; ``values`` are those of the property's parameters.
    """

    moments: tuple[Moment, ...]
    ends: bool
    fault: Transition | None = None
    loop: int | None = None
    closing: Moment | None = None
    ledger: tuple[FairnessJustification, ...] = ()
    values: tuple[Value, ...] = ()

    @property
    def last(self) -> State:
        """The state in which the execution ends."""
        return self.moments[-1].state


def rerun(system: TransitionSystem, path: Path, prop: Property | None) -> Run:
    """Returns the execution along ``path``: of the transitions that fit a step, the one with the
    fewest faults, then the fewest messages, then the first one in canonical order."""
    if not path.states:
        raise ReplayMismatch("the run has no states")
    moments = _moments(system, _start(system, path.states[0]), path.states)
    if prop is not None and prop.kind is PropertyKind.LIVENESS:
        return _for_ever(system, path, prop, moments)
    last = moments[-1].state
    fault = _failing(system, last) if path.then_fault else None
    ends = fault is None and _is_end(system, last)
    if prop is not None:
        _require_violation(system, prop, path.states)
    elif fault is None:
        raise ReplayMismatch("the run ends with neither a violation nor an error")
    return Run(moments, ends, fault)


def run_through(system: TransitionSystem, states: Sequence[State]) -> Run:
    """Returns the execution along ``states``, of which nothing is required but that its steps are
    the system's; it need not begin in an initial state."""
    return Run(_moments(system, Moment(states[0], None, ()), states), ends=False)


def run_from_start(system: TransitionSystem, states: Sequence[State]) -> Run:
    """Returns the execution along ``states`` from an initial state, of which nothing else is
    required; raises :class:`ReplayMismatch` if it is not one of the system."""
    return Run(_moments(system, _start(system, states[0]), states), ends=False)


def _moments(
    system: TransitionSystem, first: Moment, states: Sequence[State]
) -> tuple[Moment, ...]:
    """Returns the moments of the execution along ``states``, of which ``first`` is the first."""
    moments = [first]
    for number, state in enumerate(states[1:], start=1):
        moments.append(_step(system, moments[-1].state, state, number))
    return tuple(moments)


def _for_ever(
    system: TransitionSystem, path: Path, prop: Property, moments: tuple[Moment, ...]
) -> Run:
    """Returns an infinite execution, after checking that its loop closes, that it is fair, and that
    ``prop`` is false in it."""
    loop, last = path.loop, len(path.states) - 1
    if loop is None or not 0 <= loop <= last:
        raise ReplayMismatch(f"{prop.asked} is a liveness property, but this run has no loop")
    closing = None if loop == last else _step(system, path.states[-1], path.states[loop], last + 1)
    try:
        if path.values not in interpreter.assignments(prop.params):
            raise ReplayMismatch(f"{prop.asked} does not range over these values")
        entries = fairness_justification(system, path.states, loop)
        if satisfies(system, prop, path.values, path.states, loop):
            raise ReplayMismatch(f"the run does not violate {prop.asked}")
        if loop == last:
            closing = _round_of_one(system, path.states[-1])
    except Unfair as why:
        raise ReplayMismatch(f"the world does not admit this run: {why}") from why
    except RunFault as fault:
        raise ReplayMismatch(f"{prop.asked} can't be evaluated: {fault.message}") from fault
    return Run(moments, closing is None, None, loop, closing, entries, path.values)


def _round_of_one(system: TransitionSystem, state: State) -> Moment | None:
    """Returns the step from ``state`` to itself that takes a fairness constraint although another
    step that takes it would lead elsewhere; ``None`` where there is none."""
    found = list(interpreter.successors(system, state))
    leaving = {
        interpreter.taken_constraint(system, state, t) for t in found if t.successor != state
    } - {None}
    for transition in found:
        stays = transition.successor == state
        if stays and interpreter.taken_constraint(system, state, transition) in leaving:
            return Moment(state, transition, transition.events)
    return None


def _start(system: TransitionSystem, state: State) -> Moment:
    ways = [events for found, events in interpreter.initial_events(system) if found == state]
    if not ways:
        raise ReplayMismatch("the run does not start in an initial state")
    return Moment(
        state, None, min(ways, key=lambda events: _count_faults_and_messages(system, events))
    )


def _step(system: TransitionSystem, before: State, after: State, number: int) -> Moment:
    ways = [t for t in interpreter.successors(system, before) if t.successor == after]
    if not ways:
        raise ReplayMismatch(f"no transition leads to the state of step {number}")
    least = min(ways, key=lambda transition: _count_faults_and_messages(system, transition.events))
    return Moment(after, least, least.events)


def _count_faults_and_messages(
    system: TransitionSystem, events: tuple[Event, ...]
) -> tuple[int, int]:
    """Returns how many faults and messages there are among ``events``."""
    (faults,) = faults_of(system, (events,))
    return len(faults), sum(is_message(system, event) for event in events)


def _failing(system: TransitionSystem, state: State) -> Transition:
    """Returns the transition that fails, preferably one that no larger capacity would help."""
    failing = [t for t in interpreter.successors(system, state) if t.fault is not None]
    for transition in failing:
        if transition.fault is not None and transition.fault.grows is None:
            return transition
    if not failing:
        raise ReplayMismatch("no transition of the last state meets an error")
    return failing[0]


def _is_end(system: TransitionSystem, state: State) -> bool:
    try:
        return interpreter.is_over(system, state)
    except RunFault:
        return False


def _require_violation(system: TransitionSystem, prop: Property, states: tuple[State, ...]) -> None:
    try:
        bad = interpreter.holds(system, prop.bad, states[-1])
    except RunFault as fault:
        fault.states = states
        raise ReplayMismatch(f"{prop.asked} can't be evaluated: {fault.message}") from fault
    if not bad:
        raise ReplayMismatch(f"the last state does not violate {prop.asked}")
