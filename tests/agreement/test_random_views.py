"""Views of random systems: what is explored can be reached, and nothing is missed where states that
are taken for one behave alike."""

from __future__ import annotations

import pytest

from checker.engines.native import engine as native
from checker.engines.reference import engine as reference
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.model.ir import PropertyKind, SourceLocation, TransitionSystem
from checker.model.views import View, seen
from checker.records import replace
from checker.results.answer import Limits, Unsupported
from checker.results.unseparated import compare
from tests.agreement.test_random_systems import system_of

STATES = 150


def graph_of(system: TransitionSystem) -> dict[State, set[State | None]] | None:
    """All states with their successors (``None``: an error), by brute force; ``None`` where there
    are many."""
    graph: dict[State, set[State | None]] = {}
    todo = list(interpreter.initial_states(system))
    while todo:
        state = todo.pop()
        if state not in graph:
            graph[state] = {step.successor for step in interpreter.successors(system, state)}
            todo += [after for after in graph[state] if after is not None]
        if len(graph) > STATES:
            return None
    return graph


def is_sound(system: TransitionSystem, graph: dict[State, set[State | None]]) -> bool:
    """Whether any two states in which the view is equal have the same views behind them."""
    behind: dict[State, set[frozenset[State | None]]] = {}
    for state, after in graph.items():
        own = seen(system, state)
        views = frozenset(None if s is None else seen(system, s) for s in after)
        behind.setdefault(own, set()).add(views - {own})
    return all(len(views) == 1 for views in behind.values())


def small_system(seed: int) -> tuple[TransitionSystem, dict[State, set[State | None]]] | None:
    """A random system of few states that asks about single states, and its graph."""
    system = system_of(seed)
    kept = tuple(p for p in system.properties if p.kind is PropertyKind.INVARIANT)
    system = replace(system, properties=kept, justice=())
    try:
        graph = graph_of(system)
    except RunFault:
        return None
    return None if graph is None or len(graph) < 3 else (system, graph)


@pytest.mark.parametrize("part", range(4))
def test_views_of_random_systems(part: int) -> None:
    tried = sound = merging = 0
    for seed in range(60 * part, 60 * part + 60):
        drawn = small_system(seed)
        if drawn is None:
            continue
        system, graph = drawn
        name = system.variables[seed % len(system.variables)].name
        system = replace(system, view=View(frozenset({name}), "v", SourceLocation("", 0, 0)))
        views = {seen(system, state) for state in graph}
        alike = is_sound(system, graph)
        assert compare(system, 10**6).all == alike
        for engine in (reference, native):
            try:
                answer = engine.explore(system, Limits())
            except (Unsupported, RunFault):
                continue
            if answer.fault is None:
                assert answer.distinct_states <= len(views)
            if alike and answer.fault is None:
                assert answer.distinct_states == len(views), seed
            for path in answer.violations.values():
                assert set(path.states) <= graph.keys()
        tried += 1
        sound += alike
        merging += alike and len(views) < len(graph)
    assert tried >= 10
    assert part or (merging and sound < tried), "there are views of all kinds"
