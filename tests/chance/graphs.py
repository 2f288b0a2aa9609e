"""State graphs with distributions, of specs, in a form that does not depend on the engine."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from checker.engines.chance import STAY, ChanceGraph, ChanceProblem
from checker.engines.options import Options
from checker.engines.registry import engine_of
from checker.instantiate.assemble import instantiate
from checker.language.syntax import typed
from checker.model.interpreter import State
from checker.model.ir import TransitionSystem
from checker.properties.formula import ask

Distribution = frozenset[tuple[State, Fraction]]


def system_of(check: typed.Check, *, fine: bool = False) -> TransitionSystem:
    """Returns the system of a check."""
    return instantiate(check, {}, ask, fine=fine).system


def graph_by(engine: str, system: TransitionSystem) -> ChanceGraph:
    """Returns the graph that an engine finds."""
    return engine_of(engine).chance(ChanceProblem(system, Options()), None)


def plainly(graph: ChanceGraph) -> dict[State, tuple[Counter[object], int]]:
    """Returns for each state its choices, and how many fairness constraints are enabled there."""
    steps, found = graph.steps, dict[State, tuple[Counter[object], int]]()
    for number in range(len(steps.enabled)):
        choices = Counter[object]()
        for choice in range(steps.first_choice[number], steps.first_choice[number + 1]):
            name = "stay"
            if steps.action[choice] != STAY:
                name = graph.system.actions[steps.action[choice]].name
            choices[name, distribution(graph, choice), steps.constraint[choice] >= 0] += 1
        enabled = steps.constraint_sets[steps.enabled[number]]
        found[graph.state(number)] = choices, len(enabled)
    return found


def distribution(graph: ChanceGraph, choice: int) -> Distribution:
    """Returns the distribution of a choice."""
    steps = graph.steps
    branches = range(steps.first_branch[choice], steps.first_branch[choice + 1])
    whole = sum(steps.weight[b] for b in branches)
    return frozenset(
        (graph.state(steps.target[b]), Fraction(steps.weight[b], whole)) for b in branches
    )
