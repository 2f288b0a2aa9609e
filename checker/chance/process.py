"""The decision process of a state graph, and others that are made of it."""

from __future__ import annotations

from array import array
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from checker.chance.decision_process import DecisionProcess
from checker.chance.graph import ProcessGraph
from checker.chance.targets import UnfairProcessError, fair_part
from checker.engines.chance import Steps
from checker.records import replace


class Restricted(NamedTuple):
    """A process with some of the choices of another; ``origin``: the number of each in that one."""

    process: DecisionProcess
    origin: array[int]


def process_of(steps: Steps) -> DecisionProcess:
    """Returns the decision process whose arrays are those of ``steps``."""
    return DecisionProcess(
        first_choice=steps.first_choice,
        first_branch=steps.first_branch,
        target=steps.target,
        weight=steps.weight,
        initial=steps.initial,
        constraint=steps.constraint,
        enabled=steps.enabled,
        constraint_sets=steps.constraint_sets,
        strong=steps.strong,
    )


def ending_in(process: DecisionProcess, ends: AbstractSet[int]) -> Restricted:
    """Returns the process in which nothing follows on the states ``ends``, so that what they fail
    is failed for good."""
    left = array("B", b"\1") * process.choices
    for state in ends:
        for choice in process.choices_of(state):
            left[choice] = 0
    nothing = len(process.constraint_sets)
    enabled = array("q", process.enabled)
    for state in ends:
        enabled[state] = nothing
    made = restricted(process, left)
    sets = (*process.constraint_sets, frozenset[int]())
    return made._replace(process=replace(made.process, enabled=enabled, constraint_sets=sets))


def admissible(process: DecisionProcess) -> Restricted | None:
    """Returns the process with the choices of admissible adversaries only: those after which a
    fair execution is still possible with probability 1; ``None`` where that are all of them.

    Raises :class:`UnfairProcessError` where no fair execution begins in any initial state.
    """
    graph, starts = ProcessGraph(process), process.initial
    try:
        part = fair_part(graph)
    except UnfairProcessError as unfair:
        if not unfair.fair:
            raise
        starts = unfair.fair
        graph = ProcessGraph(replace(process, initial=starts))
        part = fair_part(graph)
    if starts == process.initial and all(part.choices):
        return None
    return restricted(graph.process, part.choices)


def restricted(process: DecisionProcess, left: array[int]) -> Restricted:
    """Returns the process with the choices ``left`` only (a 1 for each of those)."""
    first_choice, first_branch = array("q", [0]), array("q", [0])
    target, weight, constraint, origin = (array("q") for _ in range(4))
    for state in range(process.states):
        for choice in process.choices_of(state):
            if left[choice]:
                branches = process.branches_of(choice)
                target.extend(process.target[branches.start : branches.stop])
                weight.extend(process.weight[branches.start : branches.stop])
                first_branch.append(len(target))
                constraint.append(process.constraint[choice])
                origin.append(choice)
        first_choice.append(len(constraint))
    made = replace(
        process,
        first_choice=first_choice,
        first_branch=first_branch,
        target=target,
        weight=weight,
        constraint=constraint,
    )
    return Restricted(made, origin)
