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
from checker.instantiate.capacities import enlarge_bound, maximum_bound
from checker.language.load import Spec
from checker.model import interpreter, ir
from checker.model.evaluate import RunFault
from checker.model.names import reads_in
from checker.polling import poll
from checker.session.load import load_check
from checker.session.systems import instantiated

Label = tuple[int, tuple[Any, ...], tuple[Any, ...] | None]
"""The number of an action, its parameters, and the key of the fairness constraint that the step
takes, if any."""


class TooLarge(Exception):
    """The graph has more states than may be compared, or a capacity may not be enlarged."""


class _Error(Struct, frozen=True):
    """Where a run ends that meets a run-time error."""

    code: str


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
    asked = [(p.bad, p.premise, *p.propositions) for p in system.properties]
    asked += [(justice.holds,) for justice in system.justice]
    read = {variable for formulas in asked for variable in reads_in(formulas)}
    columns = [at for at, variable in enumerate(system.variables) if variable.name in read]
    places = {action.name: number for number, action in enumerate(system.actions)}
    numbers: dict[Hashable, int] = {}
    for state in interpreter.initial_states(system):
        numbers.setdefault(state, len(numbers))
    initial = frozenset(numbers.values())
    observed: list[Hashable] = []
    transitions: list[frozenset[tuple[Label, int]]] = []
    waiting: list[Any] = [*numbers]
    for state in waiting:  # which grows
        poll()
        if isinstance(state, _Error):
            observed.append(state)
            transitions.append(frozenset())
            continue
        moves: set[tuple[Label, int]] = set()
        for step in interpreter.successors(system, state):
            target: Hashable = step.successor
            key = None
            if step.fault is None:
                taken = interpreter.taken_constraint(system, state, step)
                key = None if taken is None else taken.key
            elif step.fault.grows is not None:
                raise step.fault
            else:
                target = _Error(step.fault.code)
            if target not in numbers:
                if len(waiting) >= most:
                    raise TooLarge
                numbers[target] = len(waiting)
                waiting.append(target)
            moves.add(((places[step.action.name], step.params, key), numbers[target]))
        ends = not moves and interpreter.is_admissible_end(system, state)
        observed.append((ends, *(state[at] for at in columns)))
        transitions.append(frozenset(moves))
    actions = tuple((action.name, action.kind.value) for action in system.actions)
    return Graph(tuple(observed), tuple(transitions), initial, actions)
