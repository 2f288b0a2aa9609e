"""The decision process of a state graph, and others that are made of it."""

from __future__ import annotations

from array import array
from collections.abc import Set as AbstractSet
from dataclasses import replace

from checker.chance.decision_process import DecisionProcess
from checker.engines.chance import Steps


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


def ending_in(
    process: DecisionProcess, ends: AbstractSet[int]
) -> tuple[DecisionProcess, array[int]]:
    """Returns the process in which nothing follows on the states ``ends``, so that what they fail
    is failed for good, and for each of its choices that of ``process``."""
    first_choice, first_branch = array("q", [0]), array("q", [0])
    target, weight, constraint, origin = (array("q") for _ in range(4))
    for state in range(process.states):
        if state not in ends:
            for choice in process.choices_of(state):
                branches = process.branches_of(choice)
                target.extend(process.target[branches.start : branches.stop])
                weight.extend(process.weight[branches.start : branches.stop])
                first_branch.append(len(target))
                constraint.append(process.constraint[choice])
                origin.append(choice)
        first_choice.append(len(constraint))
    nothing = len(process.constraint_sets)
    enabled = array("q", process.enabled)
    for state in ends:
        enabled[state] = nothing
    made = replace(
        process,
        first_choice=first_choice,
        first_branch=first_branch,
        target=target,
        weight=weight,
        constraint=constraint,
        enabled=enabled,
        constraint_sets=(*process.constraint_sets, frozenset()),
    )
    return made, origin
