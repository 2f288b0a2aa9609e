"""Graph queries on decision processes by plain definitions: the reference for native code.

Nothing here is shared with :mod:`checker.chance.graph` and the code that uses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from checker import graphs
from checker.chance.decision_process import DecisionProcess
from checker.chance.objective import Kind, Objective
from checker.polling import poll

Choices = dict[int, set[int]]
"""States, and the choices that each of them may take."""


def all_choices(process: DecisionProcess) -> Choices:
    """Returns all states with all their choices."""
    return {s: set(process.choices_of(s)) for s in range(process.states)}


def targets_of(process: DecisionProcess, choice: int) -> set[int]:
    """Returns the states that a choice may lead to."""
    return {process.target[b] for b in process.branches_of(choice)}


def _after(process: DecisionProcess, allowed: Iterable[int]) -> set[int]:
    poll()
    return {there for choice in allowed for there in targets_of(process, choice)}


def closed(process: DecisionProcess, choices: Choices) -> Choices:
    """Returns the largest part that no choice leads out of; states left without a choice that have
    some are left out, too."""
    left = {state: set(allowed) for state, allowed in choices.items()}
    while True:
        for allowed in left.values():
            poll()
            allowed -= {c for c in allowed if not targets_of(process, c) <= left.keys()}
        empty = [s for s, c in left.items() if not c and process.choices_of(s)]
        if not empty:
            return left
        for state in empty:
            del left[state]


def following(process: DecisionProcess, choices: Choices, initial: Iterable[int]) -> Choices:
    """Returns the states that are reached from ``initial``, with their choices."""
    found = graphs.reached(initial, lambda s: _after(process, choices[s]))
    return {state: choices[state] for state in found}


def reaching(process: DecisionProcess, choices: Choices, targets: Iterable[int]) -> set[int]:
    """Returns the states from which the choices may lead to ``targets``."""
    before = graphs.predecessors({s: _after(process, allowed) for s, allowed in choices.items()})
    return set(graphs.reached(choices.keys() & set(targets), before.__getitem__))


def surely_reaching(
    process: DecisionProcess, choices: Choices, targets: AbstractSet[int]
) -> Choices:
    """Returns the states from which a scheduler reaches ``targets`` with probability 1, and the
    choices it may take: the greatest set that it can stay in and reach them from everywhere."""
    left = {state: set(allowed) for state, allowed in choices.items()}
    while True:
        found = reaching(process, left, targets)
        if found == left.keys():
            return left
        left = {s: {c for c in left[s] if targets_of(process, c) <= found} for s in found}


def components(process: DecisionProcess, choices: Choices) -> list[Choices]:
    """Returns the strongly connected components of a part."""
    found = graphs.components(choices, lambda s: _after(process, choices[s]))
    return [{s: choices[s] for s in one} for one in found]


def end_components(process: DecisionProcess, choices: Choices) -> list[Choices]:
    """Returns the maximal end components of a part; an end is one, without choices."""
    ends = [{s: set[int]()} for s in choices if not process.choices_of(s)]
    found, todo = list[Choices](), [{s: c for s, c in choices.items() if process.choices_of(s)}]
    while todo:
        part = todo.pop()
        for one in components(process, part):
            inner = closed(process, one)
            if inner == one:
                found.append(one)
            elif inner:
                todo.append(inner)
    return ends + [one for one in found if all(one.values())]


def fair_components(process: DecisionProcess, choices: Choices) -> list[Choices]:
    """Returns the maximal fair end components of a part."""
    found, todo = list[Choices](), [choices]
    while todo:
        for one in end_components(process, todo.pop()):
            if not any(one.values()):
                found.append(one)
                continue
            sets = [process.enabled_in(s) for s in one]
            taken = {process.constraint[c] for allowed in one.values() for c in allowed}
            if frozenset.intersection(*sets) - process.strong - taken:
                continue
            starving = frozenset[int]().union(*sets) & process.strong - taken
            if not starving:
                found.append(one)
            elif fed := {s: c for s, c in one.items() if not process.enabled_in(s) & starving}:
                todo.append(closed(process, fed))
    return found


def fair_choices(process: DecisionProcess) -> Choices:
    """Returns the states in which a fair execution may begin, with the choices that it may take."""
    choices = all_choices(process)
    inside = {s for one in fair_components(process, choices) for s in one}
    return surely_reaching(process, choices, inside)


def target_states(process: DecisionProcess, objective: Objective, choices: Choices) -> set[int]:
    """Returns the states that are to be reached so that an objective is met: see
    :mod:`checker.chance.targets`."""
    states = objective.states
    match objective.kind:
        case Kind.EVENTUALLY:
            return set(states & choices.keys())
        case Kind.INFINITELY_OFTEN:
            found = [c for c in fair_components(process, choices) if not states.isdisjoint(c)]
        case Kind.PERSISTENTLY | Kind.ALWAYS:
            inner = closed(process, {s: c for s, c in choices.items() if s in states})
            found = fair_components(process, inner)
    return {s for one in found for s in one}
