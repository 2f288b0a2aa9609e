"""The run that a search has found, replayed by the interpreter: an ordinary trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from checker.conform.explain_events import Cursors, EventExplainer, Observation
from checker.conform.reference_steps import ReferenceSteps
from checker.model import interpreter
from checker.model.interpreter import State, Transition
from checker.results.narrate import narrate
from checker.results.rerun import Moment, ReplayMismatch, Run
from checker.results.trace import Trace
from checker.simulate.prepared_check import PreparedCheck


@dataclass(frozen=True, slots=True)
class ReplayedRun:
    """``states``: of the run, the initial one first; ``trace``: the run as a trace of the check."""

    states: tuple[State, ...]
    trace: Trace


def replayed(
    observation: Observation, nodes: Sequence[tuple[State, Cursors]], opened: PreparedCheck
) -> ReplayedRun:
    """Returns the run through ``nodes``: states, each with the cursors there.

    Raises :class:`ReplayMismatch` where it is none of the system, or explains other lines.
    """
    system = observation.system
    steps = ReferenceSteps(system, EventExplainer(observation))
    started = dict(interpreter.initial_events(system))
    first = nodes[0][0]
    if first not in started:
        raise ReplayMismatch("the first state is not initial")
    moments = [Moment(first, None, started[first])]
    for before, node in pairwise(nodes):
        transition = _between(steps, before, node)
        moments.append(Moment(node[0], transition, transition.events))
    trace = narrate(system, Run(tuple(moments), False), None, opened.header)
    return ReplayedRun(tuple(state for state, _ in nodes), trace)


def _between(
    steps: ReferenceSteps, before: tuple[State, Cursors], node: tuple[State, Cursors]
) -> Transition:
    for way, transition in steps.transitions(*before):
        if (way.state, way.cursors) == node:
            return transition
    raise ReplayMismatch("a step of the run is none of the system that the log admits")
