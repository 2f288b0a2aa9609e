"""Decides whether two systems behave alike: whether their state graphs are bisimilar.

States are told apart by the variables that the properties of the check read, and transitions by
their actions and the fairness that they are subject to.  Bisimilar graphs have the same runs in
these terms, also the same fair ones, since an action is enabled, and taken, in both or in neither
(Baier and Katoen, *Principles of Model Checking*, chapter 7).  So they satisfy the same properties,
and no property about the same variables tells them apart.

Classes of states are refined until each state of a class has transitions by the same actions into
the same classes (Kanellakis and Smolka 1990, by sets of transitions as in Blom and Orzan 2002).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from msgspec import Struct

from checker.engines.options import Options
from checker.language.load import Spec
from checker.model import interpreter, ir
from checker.polling import poll
from checker.session.small_systems import (
    RunError,
    columns_of_properties,
    explored,
    of_small_system,
)

Label = tuple[int, tuple[Any, ...], tuple[Any, ...] | None]
"""The number of an action, its parameters, and the key of the fairness constraint that the step
takes, if any."""


class Graph(Struct, frozen=True):
    """States by number: what is observed in each, and its transitions, each a label and a state;
    ``initial``: the first states; ``actions``: their names and kinds, by number."""

    observed: tuple[Hashable, ...]
    transitions: tuple[frozenset[tuple[Label, int]], ...]
    initial: frozenset[int]
    actions: tuple[tuple[str, str], ...]


def same_behaviour(one: Graph, other: Graph) -> bool:
    """Returns whether the graphs are bisimilar."""
    base = len(one.observed)
    counterpart = _counterparts(one.actions, other.actions)
    moves = [
        *one.transitions,
        *(
            frozenset(((counterpart[at], *rest), base + t) for (at, *rest), t in each)
            for each in other.transitions
        ),
    ]
    classes = _numbered([*one.observed, *other.observed])
    while True:
        poll()
        finer = _numbered(
            [
                (classes[state], frozenset((action, classes[target]) for action, target in each))
                for state, each in enumerate(moves)
            ]
        )
        if len({*finer}) == len({*classes}):
            break
        classes = finer
    return {classes[state] for state in one.initial} == {
        classes[base + state] for state in other.initial
    }


def _counterparts(
    one: tuple[tuple[str, str], ...], other: tuple[tuple[str, str], ...]
) -> list[int]:
    """Returns the number in ``one`` of each action of ``other``, a new one where it has none.  The
    name of an action has its guard in it, which may have changed: so if the kinds are the same, the
    actions are those in the same places."""
    if [kind for _, kind in one] == [kind for _, kind in other]:
        return [*range(len(one))]
    numbers = {name: number for number, name in enumerate(one)}
    return [numbers.setdefault(name, len(numbers)) for name in other]


def _numbered(labels: list[Hashable]) -> list[int]:
    """Returns a number for each label; equal labels have the same."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def graph_of(spec: Spec, name: str, options: Options, most: int) -> Graph:
    """Returns the state graph of a check, as the interpreter defines it; a run-time error is a
    state of its own.  Raises :class:`TooLarge` where it has more than ``most`` states, and
    :class:`SpecError`."""
    return of_small_system(spec, name, options, lambda system: _graph(system, most))


def _graph(system: ir.TransitionSystem, most: int) -> Graph:
    """Raises :class:`TooLarge`, and the error of a capacity that is too small."""
    columns = columns_of_properties(system)
    places = {action.name: number for number, action in enumerate(system.actions)}
    observed: list[Hashable] = []
    transitions: list[frozenset[tuple[Label, int]]] = []
    initial: list[int] = []
    for number, each in enumerate(explored(system, most)):
        initial += [number] * each.initial
        state = each.state
        moves: set[tuple[Label, int]] = set()
        if isinstance(state, RunError):
            observed.append(state)
        else:
            for step, target in each.steps:
                taken = None
                if step.fault is None:
                    taken = interpreter.taken_constraint(system, state, step)
                key = None if taken is None else taken.key
                moves.add(((places[step.action.name], step.params, key), target))
            ends = not moves and interpreter.is_admissible_end(system, state)
            observed.append((ends, *(state[at] for at in columns)))
        transitions.append(frozenset(moves))
    actions = tuple((action.name, action.kind.value) for action in system.actions)
    return Graph(tuple(observed), tuple(transitions), frozenset(initial), actions)
