"""What both definitions let everybody see: who has crashed, and what the variables of the protocol
on top are at the processes that run.

The tool keeps the world in other variables than the second definition, and leaves out what nothing
reads, so states can't be compared one by one; these parts of them can be counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
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


def names_of(check: typed.Check, system: TransitionSystem) -> dict[str, tuple[str, str]]:
    """The variables that both have, by their names in ``system``: their role and name."""
    named = {
        f"{role.name}.{v.name}" if role.name else v.name: (role.name, v.name)
        for role in check.protocol.roles
        for v in role.states
        if not v.ghost and not check.bounds
    }
    return {v.name: named[v.name] for v in system.variables if v.name in named}


def of_the_tool(system: TransitionSystem, names: Collection[str]) -> Counts:
    """Counts what can be reached by the interpreter, state by state."""
    at = {v.name: i for i, v in enumerate(system.variables)}
    mine = (v for v in system.variables if v.name in names)
    keys = {v.name: v.type.key for v in mine if isinstance(v.type, MapT)}
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
        own = (
            value
            for name, key in keys.items()
            for p, value in enumerate(state[at[name]], getattr(key, "first", 0))
            if p not in gone
        )
        return down, gone, tuple(own)

    ends = (state for state in found if interpreter.is_admissible_end(system, state))
    return _counts(map(seen, found), map(seen, ends))


def of_the_definition(graph: Graph, names: Iterable[tuple[str, str]]) -> Counts:
    """Counts the same in ``graph``."""
    roles = graph.model.roles

    def seen(here: int) -> Any:
        state = graph.states[here]
        gone = state["down"] | state["byzantine"]
        own = (
            state["var", TOP, name, p] for role, name in names for p in roles[role] if p not in gone
        )
        return state["down"], gone, tuple(own)

    everything = range(len(graph.states))
    ends = [h for h in everything if any(fair(graph, {h}, lambda inside: True))]
    return _counts(map(seen, everything), map(seen, ends))


def _counts(states: Iterable[Any], ends: Iterable[Any]) -> Counts:
    return len(set(states)), len(set(ends))
