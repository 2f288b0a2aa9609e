"""Renamings that a system does not notice: all of them are automorphisms, and one state of each orbit
is explored; what breaks a symmetry is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checker.engines import native
from checker.loading import load_check
from checker.properties import ask
from checker.reductions import symmetry
from checker.reductions.plan import Permutation, Plan, Symmetry
from checker.reductions.symmetry_renaming import Renaming
from checker.scout import scouted
from checker.system import interpreter
from checker.system.instantiate.assemble import instantiate
from checker.system.interpreter import State
from checker.system.ir import PropertyKind, TransitionSystem
from checker.witness.answer import Limits

SPECS = Path(__file__).parents[2] / "specs"


def system_of(spec: str, name: str) -> TransitionSystem:
    check = load_check(str(SPECS / f"{spec}.bcast"), name, {})
    return instantiate(check, {}, ask, capacities=scouted(check, {}, False)).system


def safe(system: TransitionSystem) -> TransitionSystem:
    """The system with its invariants only."""
    kept = tuple(p for p in system.properties if p.kind is PropertyKind.INVARIANT)
    return replace(system, properties=kept)


def group_of(system: TransitionSystem) -> Symmetry:
    found, _ = symmetry.find(system)
    assert found is not None
    return found


def graph_of(system: TransitionSystem) -> dict[State, set[State | None]]:
    """All reachable states with their successors; ``None`` is an error of the run."""
    todo, graph = interpreter.initial_states(system), dict[State, set[State | None]]()
    while todo:
        state = todo.pop()
        if state not in graph:
            graph[state] = {step.successor for step in interpreter.successors(system, state)}
            todo += [s for s in graph[state] if s is not None]
    return graph


def orbits(system: TransitionSystem, found: Symmetry, states: set[State]) -> int:
    """How many sets of states there are that differ by a renaming only."""
    types, left, count = [v.type for v in system.variables], set(states), 0
    renamings = [Renaming(found.sorts, images) for images in found.elements()]
    while left:
        state = left.pop()
        left -= {renaming.state(types, state) for renaming in renamings}
        count += 1
    return count


SMALL = [
    ("oracles/two_phase", "three", 6),
    ("oracles/tcommit", "three", 6),
    ("oracles/bcast_folklore", "three", 6),
    ("oracles/paxos", "three", 6),
    ("broadcast/eager_reliable", "no_fault", 2),
    ("broadcast/eager_reliable", "two_senders", 2),
    ("broadcast/gossip", "two_rounds_crash_two", 6),
    ("broadcast/thrifty_reliable", "crash_two_of_four", 6),
    ("broadcast/lazy_reliable", "crash_one", 2),
    ("consensus/paxos", "quorums_that_miss_each_other", 2),
    ("consensus/leader", "zero_for_ones", 6),
    ("consensus/flood_set", "one_round", 2),
    ("commit/two_phase_commit", "crash_one", 2),
    ("links/perfect", "from_fair_loss", 2),
]


@pytest.mark.parametrize(("spec", "name", "order"), SMALL)
def test_every_renaming_is_an_automorphism_and_one_state_of_each_orbit_is_explored(
    spec: str, name: str, order: int
) -> None:
    system = system_of(spec, name)
    found = group_of(system)
    elements = list(found.elements())
    assert len(set(elements)) == len(elements) == found.order == order
    graph, types = graph_of(system), [v.type for v in system.variables]
    for images in elements:
        renaming = Renaming(found.sorts, images)
        image = {state: renaming.state(types, state) for state in graph}
        for state, after in graph.items():
            there = {None if s is None else image[s] for s in after}
            assert graph[image[state]] == there
            for prop in system.properties:
                for closed in (prop.bad, prop.premise):
                    old = interpreter.holds(system, closed, state)
                    assert interpreter.holds(system, closed, image[state]) == old
    answer = native.explore(safe(system), Limits(), plan=Plan(symmetry=found))
    assert answer.distinct_states == orbits(system, found, set(graph))


@pytest.mark.parametrize(("participants", "count"), [("three", 80), ("five", 314)])
def test_two_phase_commit_has_so_many_orbits(participants: str, count: int) -> None:
    system = system_of("oracles/two_phase", participants)
    plan = Plan(symmetry=group_of(system))
    assert native.explore(system, Limits(), plan=plan).distinct_states == count
