"""Which states may lie on cycles, found by shards: against graphs that are looked at as a whole."""

from __future__ import annotations

import pickle
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.native.codegen.image import KernelImage, build
from checker.engines.native.codegen.jit import Effort, compile_image
from checker.engines.native.sharding import backward_search, region
from checker.engines.native.sharding.cycle_filter import Remainder, filter_cycles
from checker.engines.native.sharding.cycle_filter_steps import FilterContext, Step, TimeLimitReached
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.ir import TransitionSystem
from checker.results.answer import State, Unsupported
from tests.agreement.generator import Generator
from tests.agreement.textbook import random_model, system_of
from tests.native.walked import Walk, stored, walk
from tests.properties.test_buchi_automaton import random_formula
from tests.selection import some

Edges = dict[State, set[State]]


def edges(found: Walk) -> Edges:
    """The steps to other states."""
    steps: Edges = {state: set() for level in found.levels for state in level}
    for _, source, transition in found.moves:
        if transition.successor not in (None, source):
            steps[source].add(transition.successor)
    return steps


def between_cycles(steps: Edges) -> set[State]:
    """What is left when states without a successor, or a predecessor, are dropped until none is."""
    left = set(steps)
    while True:
        entered = set().union(*(steps[s] for s in left)) if left else set()
        less = {s for s in left if s in entered and steps[s] & left}
        if less == left:
            return left
        left = less


def on_cycles(steps: Edges) -> set[State]:
    """The states that some run comes back to."""

    def after(start: State) -> set[State]:
        reached: set[State] = set()
        fresh = set(steps[start])
        while fresh:
            reached |= fresh
            fresh = set().union(*(steps[s] for s in fresh)) - reached
        return reached

    return {state for state in steps if state in after(state)}


def left_over(
    image: KernelImage, folder: RunFolder, found: Walk, shards: int, **how: Any
) -> Remainder:
    trim = pickle.loads(pickle.dumps(FilterContext(image, folder, shards, **how)))

    def here(steps: Sequence[Step]) -> list[object]:
        return [pickle.loads(pickle.dumps(step)).do(trim) for step in steps]

    whole = Remainder(folder.parts(), found.states, len(found.moves))
    return filter_cycles(trim, whole, here, lambda _: False, lambda _: None)


def rows_of(folder: RunFolder, left: Remainder, image: KernelImage) -> dict[State, int]:
    """The states, each with its level."""
    known: dict[State, int] = {}
    for level, parts in left.levels.items():
        for part in parts:
            for block in folder.read(part):
                words = list(block.cast("Q"))
                for at in range(0, len(words), folder.words):
                    state = image.layout.unpack(words[at : at + folder.words])
                    assert state not in known, "each state once"
                    known[state] = level
    return known


def check(system: TransitionSystem, folder: Path, shards: int) -> int:
    """Compares what is left; gives how much that is."""
    found = walk(system, 400)
    if found is None:
        return 0
    image = build(system)
    run = stored(folder, image.layout, found)
    left = left_over(image, run, found, shards)
    steps, known = edges(found), rows_of(run, left, image)
    assert known.keys() == between_cycles(steps)
    assert known.keys() >= on_cycles(steps)
    assert all(state in found.levels[level] for state, level in known.items())
    assert left.states == len(known)
    assert left.steps >= sum(len(steps[state]) for state in known)
    names = {part.name for parts in left.levels.values() for part in parts}
    kept = {name for name in run.place.files() if "/cycles/" in name}
    assert kept == names, "what is not needed any more is gone"
    return left.states


def test_plain_graphs(tmp_path: Path) -> None:
    sizes = [
        check(system_of(random_model(seed)), tmp_path / f"{seed}-{shards}", shards)
        for seed in range(some(12))
        for shards in (1, 2, 3)
    ]
    assert min(sizes) == 0 < max(sizes)


def test_states_of_any_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(region, "FEW", 1)
    monkeypatch.setattr(region, "MANY", 2)
    monkeypatch.setattr(
        backward_search, "compile_image", lambda image: compile_image(image, Effort.QUICK)
    )
    sizes: dict[bool, list[int]] = {True: [], False: []}
    for seed in range(some(30)):
        draw = random.Random(seed)
        formula = random_formula(draw, 2)
        system = Generator(lambda count, draw=draw: draw.randrange(count)).system(formula)
        try:
            interpreter.initial_states(system)
            wide = build(system).shape.words > 1
            sizes[wide].append(check(system, tmp_path / str(seed), 1 + seed % 3))
        except (RunFault, Unsupported):
            continue
    for found in sizes.values():
        assert min(found) == 0 < max(found)


def test_a_time_limit(tmp_path: Path) -> None:
    system = system_of(random_model(1))
    found, image = walk(system), build(system)
    assert found is not None
    run = stored(tmp_path, image.layout, found)
    with pytest.raises(TimeLimitReached):
        left_over(image, run, found, 1, deadline=1.0)
