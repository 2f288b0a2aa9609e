"""Objectives as targets that the best or the worst adversary tries to reach.

Every query of this package is about the largest probability of reaching some states: those of
the objective itself, or of the fair end components by which it is met or missed (Baier and Katoen
2008, 10.6; under fairness: Baier and Kwiatkowska, Model checking for a probabilistic branching time
logic with fairness, 1998).  The smallest probability of an objective is 1 minus the largest one of
missing it.

=====================  ==================================  ====================================
objective              met                                 missed
=====================  ==================================  ====================================
eventually G           G is reached                        a fair component without G
always G               a fair component of G only, by G    the rest is reached
                       only
infinitely often G     a fair component with G             a fair component without G
eventually always G    a fair component of G only          a fair component with some other state
=====================  ==================================  ====================================
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from msgspec import Struct

from checker.chance.fair_components import FairComponents, fair_components
from checker.chance.graph import EndComponent, Part, ProcessGraph
from checker.chance.native_graph import OUT
from checker.chance.objective import Kind, Objective


class UnfairProcessError(ValueError):
    """No fair execution begins in an initial state; ``fair``: those in which one does."""

    def __init__(self, fair: tuple[int, ...]) -> None:
        super().__init__("no fair execution begins in an initial state")
        self.fair = fair


class Target(Struct, frozen=True):
    """The largest probability of reaching ``states`` in ``part`` is that of an objective.

    ``components``: those where an execution then stays (``None``: it may do anything).
    """

    part: Part
    states: AbstractSet[int]
    components: FairComponents | None


class Step(Struct, frozen=True):
    """A step of a route: from ``state`` by ``choice``, and by its branch ``branch``."""

    state: int
    choice: int
    branch: int


class Witness(Struct, frozen=True):
    """How an objective is met, or missed, with positive probability: the steps from an initial
    state to ``state``, and the end component where the execution then stays (``None``: it may do
    anything)."""

    route: tuple[Step, ...]
    state: int
    component: EndComponent | None


def fair_part(graph: ProcessGraph, fair: bool = True) -> Part:
    """Returns the states in which a fair execution may begin, with the choices by which it stays
    among them.  Raises :class:`UnfairProcessError` if an initial state is not among them."""
    whole = graph.whole()
    if not fair or not any(graph.process.constraint_sets):
        return whole
    everywhere = fair_components(graph, whole)
    _, part = graph.almost_surely_reaching(everywhere.states, whole)
    initial = graph.process.initial
    fair_ones = tuple(state for state in initial if part.states[state] != OUT)
    if len(fair_ones) < len(initial):
        raise UnfairProcessError(fair_ones)
    return part


def target_of(graph: ProcessGraph, objective: Objective, fair: bool = True) -> Target:
    """Returns what is to be reached so that an objective is met."""
    part, count = fair_part(graph, fair), graph.process.states
    states = objective.states
    if objective.kind is Kind.EVENTUALLY:
        return Target(part, {s for s in states if part.states[s] != OUT}, None)
    if objective.kind is Kind.INFINITELY_OFTEN:
        found = fair_components(graph, part, states, fair)
        return Target(part, set(found.states), found)
    others = [state for state in range(count) if state not in states]
    found = fair_components(graph, graph.without(others, part), None, fair)
    if objective.kind is Kind.ALWAYS:
        part = _ending_in(graph, part, others)
    return Target(part, set(found.states), found)


def _ending_in(graph: ProcessGraph, part: Part, ends: list[int]) -> Part:
    """Returns a part in which nothing follows on the states ``ends``."""
    left = part.copy()
    for state in ends:
        for choice in graph.process.choices_of(state):
            left.choices[choice] = 0
    return left


def almost_surely(
    graph: ProcessGraph, objective: Objective, fair: bool = True
) -> tuple[bool, Witness | None]:
    """Returns whether an objective is met with probability 1 under every (fair) adversary, and if
    not how it is missed."""
    target = target_of(graph, objective.negation(graph.process.states), fair)
    found = witness(graph, target)
    return found is None, found


def witness(graph: ProcessGraph, target: Target) -> Witness | None:
    """Returns a path from an initial state to the target; ``None`` if the target is unreachable."""
    closure = graph.reaching(target.states, target.part)
    place = {state: i for i, state in enumerate(closure.queue)}
    starts = [state for state in graph.process.initial if state in place]
    if not starts:
        return None
    state, process, steps = min(starts, key=place.__getitem__), graph.process, list[Step]()
    while state not in target.states:
        choice = closure.how[state]
        nearest = min(
            (b for b in process.branches_of(choice) if process.target[b] in place),
            key=lambda b: place[process.target[b]],
        )
        steps.append(Step(state, choice, nearest))
        state = process.target[nearest]
    component = None if target.components is None else target.components.component(state)
    return Witness(tuple(steps), state, component)
