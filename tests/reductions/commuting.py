"""By trying everything out: whether an instance may go before all that can happen meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field

from checker.model import interpreter
from checker.model.interpreter import State
from checker.model.ir import PropertyKind, TransitionSystem
from checker.reductions.partial_order.effects import effects
from checker.reductions.partial_order.equivalent_actions import are_equivalent
from checker.reductions.reduction_plan import AmpleAction

Instance = tuple[int, tuple[object, ...]]
FAULT = "fault"


@dataclass
class Graph:
    """What each instance does in each state; filled as it is asked for."""

    system: TransitionSystem
    ways: dict[State, dict[Instance, frozenset[State | str]]] = field(default_factory=dict)

    def of(self, state: State) -> dict[Instance, frozenset[State | str]]:
        """For each enabled instance where it leads."""
        if state not in self.ways:
            found: dict[Instance, set[State | str]] = {}
            for number, action in enumerate(self.system.actions):
                for way in interpreter.action_transitions(self.system, action, state):
                    there = FAULT if way.successor is None else way.successor
                    found.setdefault((number, way.params), set()).add(there)
            self.ways[state] = {one: frozenset(there) for one, there in found.items()}
        return self.ways[state]

    def reachable(self, most: int) -> list[State]:
        """All states, or nothing where there are more than ``most``."""
        found = dict.fromkeys(interpreter.initial_states(self.system))
        left = list(found)
        while left:
            for there in self.of(left.pop()).values():
                for state in there:
                    if not isinstance(state, str) and state not in found:
                        if len(found) >= most:
                            return []
                        found[state] = None
                        left.append(state)
        return list(found)

    def promised(self, instance: Instance, state: State) -> bool:
        """Whether the instance, which is enabled, is promised."""
        action = self.system.actions[instance[0]]
        names = {p.name: v for p, v in zip(action.params, instance[1], strict=True)}
        return interpreter.holds(self.system, action.promised, state, names)


def eager_in(graph: Graph, eager: tuple[AmpleAction, ...], state: State) -> list[Instance]:
    """The instances that are said to be eager in ``state``, and lead elsewhere."""
    found = []
    for one in eager:
        action = graph.system.actions[one.action]
        for instance, there in graph.of(state).items():
            if instance[0] != one.action or there == {state}:
                continue
            names = {p.name: v for p, v in zip(action.params, instance[1], strict=True)}
            if interpreter.holds(graph.system, one.when, state, names):
                found.append(instance)
    return found


def alike(system: TransitionSystem) -> dict[int, set[int]]:
    """For each action those whose instances with the same parameters do the same."""
    known = [effects(system, action) for action in system.actions]
    return {
        i: {j for j, other in enumerate(known) if i == j or are_equivalent(one, other)}
        for i, one in enumerate(known)
    }


def trouble(graph: Graph, start: State, instance: Instance, same: set[int]) -> str | None:
    """Why ``instance`` may not go first in ``start``; ``None`` where it may.

    All sequences of other steps are followed to their ends.
    """
    live = any(p.kind is PropertyKind.LIVENESS for p in graph.system.properties)
    seen, left = {start}, [start]
    while left:
        state = left.pop()
        here = graph.of(state)
        if instance not in here:
            return f"{instance} is no longer there"
        if live and not graph.promised(instance, state):
            return f"{instance} is no longer promised"
        first = here[instance]
        if len(first) != 1:
            return f"{instance} has several ways"
        (after,) = first
        for other, there in here.items():
            if other[1] == instance[1] and other[0] in same:
                if there != first:
                    return f"{other} is no twin of {instance}"
                continue
            if isinstance(after, str):
                continue
            behind = graph.of(after).get(other)
            if behind is None:
                return f"{instance} hinders {other}"
            wanted: set[State | str] = set()
            for one in there:
                if isinstance(one, str):
                    wanted.add(FAULT)
                else:
                    wanted |= graph.of(one).get(instance, frozenset())
                    if one not in seen:
                        seen.add(one)
                        left.append(one)
            if not wanted <= behind:
                return f"{instance} and {other} do not commute"
    return None
