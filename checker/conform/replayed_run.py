"""The run that a search has found, or its last part, replayed by the interpreter: a trace."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from checker.conform.explain_events import Cursors, EventExplainer, Observation
from checker.conform.reference_steps import ReferenceSteps
from checker.model import interpreter
from checker.model.interpreter import Event, State, Transition
from checker.model.ir import TransitionSystem
from checker.results.mismatch import ReplayMismatch
from checker.results.narrate import narrate
from checker.results.rerun import Moment, Run
from checker.results.trace import Trace
from checker.simulate.prepared_check import PreparedCheck


class ReplayedRun(Struct, frozen=True):
    """``states``: of the run, the initial one first; ``steps``: between them; ``trace``: the run as
    a trace of the check."""

    states: tuple[State, ...]
    steps: tuple[Transition, ...]
    trace: Trace


def replayed(
    observation: Observation,
    nodes: Sequence[tuple[State, Cursors]],
    opened: PreparedCheck,
    from_start: bool = True,
) -> ReplayedRun:
    """Returns the run through ``nodes``: states, each with the cursors there.

    ``from_start``: whether the first state has to be initial; it is believed otherwise.  Raises
    :class:`ReplayMismatch` where it is none of the system, or explains other lines.
    """
    system = observation.system
    known = len(opened.made.system.marks)  # others note what handlers choose
    steps = ReferenceSteps(system, EventExplainer(observation))
    first = nodes[0][0]
    moments = [Moment(first, None, _events_before(system, first) if from_start else ())]
    for before, node in pairwise(nodes):
        transition = _between(steps, before, node)
        events = tuple(event for event in transition.events if event.mark < known)
        moments.append(Moment(node[0], transition, events))
    trace = narrate(system, Run(tuple(moments), False), None, opened.header)
    steps_taken = tuple(each.transition for each in moments if each.transition is not None)
    return ReplayedRun(tuple(state for state, _ in nodes), steps_taken, trace)


def _events_before(system: TransitionSystem, first: State) -> tuple[Event, ...]:
    started = dict(interpreter.initial_events(system))
    if first not in started:
        raise ReplayMismatch("the first state is not initial")
    return started[first]


def _between(
    steps: ReferenceSteps, before: tuple[State, Cursors], node: tuple[State, Cursors]
) -> Transition:
    for way, transition in steps.transitions(*before):
        if (way.state, way.cursors) == node:
            return transition
    raise ReplayMismatch("a step of the run is not a step that the log admits")
