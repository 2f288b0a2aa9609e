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
from checker.instantiate.capacities import enlarge_bound, maximum_bound
from checker.language.load import Spec
from checker.model import interpreter, ir
from checker.model.evaluate import RunFault
from checker.model.names import reads_in
from checker.polling import poll
from checker.session.load import load_check
from checker.session.systems import instantiated

Action = tuple[str, tuple[Any, ...]]
"""The name of an action, and its parameters."""


class TooLarge(Exception):
    """The graph has more states than may be compared, or a capacity may not be enlarged."""


class _Error(Struct, frozen=True):
    """Where a run ends that meets a run-time error."""

    code: str


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
    """Returns the state graph of a check, as the interpreter defines it; a run-time error is a
    state of its own.  Raises :class:`TooLarge` where it has more than ``most`` states, and
    :class:`SpecError`.

    Where a guessed capacity is too small, the system is made again with a larger one."""
    check = load_check(spec, name, options.settings)
    capacities: dict[str, int] | None = None
    while True:
        made = instantiated(check, options, capacities)
        try:
            return _graph(made.system, most)
        except RunFault as fault:
            size = fault.grows and made.capacities[fault.grows]
            if not fault.grows or not size or size >= maximum_bound(fault.grows):
                raise TooLarge from None
            capacities = {**made.capacities, fault.grows: enlarge_bound(size)}


def _graph(system: ir.TransitionSystem, most: int) -> Graph:
    """Raises :class:`TooLarge`, and the error of a capacity that is too small."""
    asked = ((p.bad, p.premise, *p.propositions) for p in system.properties)
    read = {variable for formulas in asked for variable in reads_in(formulas)}
    columns = [at for at, variable in enumerate(system.variables) if variable.name in read]
    numbers: dict[Hashable, int] = {}
    for state in interpreter.initial_states(system):
        numbers.setdefault(state, len(numbers))
    initial = frozenset(numbers.values())
    observed: list[Hashable] = []
    transitions: list[frozenset[tuple[Action, int]]] = []
    waiting: list[Any] = [*numbers]
    for state in waiting:  # which grows
        poll()
        if isinstance(state, _Error):
            observed.append(state)
            transitions.append(frozenset())
            continue
        moves: set[tuple[Action, int]] = set()
        for step in interpreter.successors(system, state):
            target = _Error(step.fault.code) if step.fault is not None else step.successor
            if step.fault is not None and step.fault.grows is not None:
                raise step.fault
            if target not in numbers:
                if len(waiting) >= most:
                    raise TooLarge
                numbers[target] = len(waiting)
                waiting.append(target)
            moves.add(((step.action.name, step.params), numbers[target]))
        ends = not moves and interpreter.is_admissible_end(system, state)
        observed.append((ends, *(state[at] for at in columns)))
        transitions.append(frozenset(moves))
    return Graph(tuple(observed), tuple(transitions), initial)
