"""Decides whether two systems behave alike: whether their state graphs are bisimilar.

States are told apart by the variables that the properties of the check read, and transitions by
their actions.  Bisimilar graphs have the same runs in these terms, also the same fair ones, since
an action is enabled, and taken, in both or in neither (Baier and Katoen, *Principles of Model
Checking*, chapter 7).  So they satisfy the same properties, and no property about the same
variables tells them apart.

Classes of states are refined until each state of a class has transitions by the same actions into
the same classes (Kanellakis and Smolka 1990, by sets of transitions as in Blom and Orzan 2002).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from msgspec import Struct

from checker.engines.options import Options
from checker.language.load import Spec
from checker.model import interpreter
from checker.model.names import reads_in
from checker.polling import poll
from checker.session.load import load_check
from checker.session.systems import instantiated

Action = tuple[str, tuple[Any, ...]]
"""The name of an action, and its parameters."""


class TooLarge(Exception):
    """The graph has more states than may be compared, or is not known whole."""


class Graph(Struct, frozen=True):
    """States by number: what is observed in each, and its transitions, each an action and a state;
    ``initial``: the first states."""

    observed: tuple[Hashable, ...]
    transitions: tuple[frozenset[tuple[Action, int]], ...]
    initial: frozenset[int]


def same_behaviour(one: Graph, other: Graph) -> bool:
    """Returns whether the graphs are bisimilar."""
    base = len(one.observed)
    moves = [
        *one.transitions,
        *(frozenset((a, base + t) for a, t in each) for each in other.transitions),
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


def _numbered(labels: list[Hashable]) -> list[int]:
    """Returns a number for each label; equal labels have the same."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def graph_of(spec: Spec, name: str, options: Options, most: int) -> Graph:
    """Returns the state graph of a check, as the interpreter defines it; raises :class:`TooLarge`
    where it has more than ``most`` states or a run-time error, and :class:`SpecError`."""
    system = instantiated(load_check(spec, name, options.settings), options).system
    asked = ((p.bad, p.premise, *p.propositions) for p in system.properties)
    read = {variable for formulas in asked for variable in reads_in(formulas)}
    columns = [at for at, variable in enumerate(system.variables) if variable.name in read]
    states = [*dict.fromkeys(interpreter.initial_states(system))]
    numbers = {state: number for number, state in enumerate(states)}
    initial = frozenset(numbers.values())
    observed: list[Hashable] = []
    transitions: list[frozenset[tuple[Action, int]]] = []
    for state in states:  # which grows
        poll()
        moves: set[tuple[Action, int]] = set()
        for step in interpreter.successors(system, state):
            if step.successor is None:
                raise TooLarge
            if step.successor not in numbers:
                if len(states) >= most:
                    raise TooLarge
                numbers[step.successor] = len(states)
                states.append(step.successor)
            moves.add(((step.action.name, step.params), numbers[step.successor]))
        ends = not moves and interpreter.is_admissible_end(system, state)
        observed.append((ends, *(state[at] for at in columns)))
        transitions.append(frozenset(moves))
    return Graph(tuple(observed), tuple(transitions), initial)
