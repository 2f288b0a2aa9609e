"""What both definitions let everybody see: who has crashed, and what the variables of the protocol
on top are at the processes that run.

The tool keeps the world in other variables than the second definition, and leaves out what nothing
reads, so states can't be compared one by one; these parts of them can be counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from checker.instantiate.variable_names import BYZANTINE
from checker.language.syntax import typed
from checker.model import interpreter
from checker.model.ir import TransitionSystem
from checker.model.types import MapT
from tests.world.judge import Graph, fair
from tests.world.system import TOP

Counts = tuple[int, int]
"""Different observed states, and those of them in which a fair run may end."""


def names_of(check: typed.Check, system: TransitionSystem) -> list[str]:
    """The variables that both have, by the same names in both."""
    protocol = check.protocol
    if [role.name for role in protocol.roles] != [""] or check.bounds:
        return []
    there = {v.name for v in system.variables if isinstance(v.type, MapT)}
    return [v.name for v in protocol.roles[0].states if v.name in there and not v.ghost]


def of_the_tool(system: TransitionSystem, names: list[str]) -> Counts:
    """Counts what can be reached by the interpreter, state by state."""
    at = {v.name: i for i, v in enumerate(system.variables)}
    processes = range(len(next(v for v in system.variables if v.name in names).initial))
    left = list(interpreter.initial_states(system))
    found = set(left)
    while left:
        for step in interpreter.successors(system, left.pop()):
            if step.successor is not None and step.successor not in found:
                found.add(step.successor)
                left.append(step.successor)

    def seen(state: Any) -> Any:
        down = state[at["@crashed"]] if "@crashed" in at else frozenset()
        gone = down | (state[at[BYZANTINE]] if BYZANTINE in at else frozenset())
        own = (tuple(state[at[n]][p] for n in names) for p in processes if p not in gone)
        return down, gone, tuple(own)

    ends = (state for state in found if interpreter.is_admissible_end(system, state))
    return _counts(map(seen, found), map(seen, ends))


def of_the_definition(graph: Graph, names: list[str]) -> Counts:
    """Counts the same in ``graph``."""

    def seen(here: int) -> Any:
        state = graph.states[here]
        gone = state["down"] | state["byzantine"]
        here_ = [p for p in graph.model.processes if p not in gone]
        own = (tuple(state["var", TOP, n, p] for n in names) for p in here_)
        return state["down"], gone, tuple(own)

    everything = range(len(graph.states))
    ends = [h for h in everything if any(fair(graph, {h}, lambda inside: True))]
    return _counts(map(seen, everything), map(seen, ends))


def _counts(states: Iterable[Any], ends: Iterable[Any]) -> Counts:
    return len(set(states)), len(set(ends))
