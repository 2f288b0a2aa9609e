"""The same seed gives the same walks in machine code and by the interpreter, in every world."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from checker.diagnostics import SpecError
from checker.engines.native.codegen.image import build
from checker.engines.native.codegen.jit import Effort, compile_image
from checker.engines.native.walks.walker import NativeWalker
from checker.engines.walks import Inspection
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.ir import TransitionSystem
from checker.resources import specs
from checker.results.answer import Unsupported
from tests.agreement.generator import Generator
from tests.agreement.specs import Spec
from tests.finite_checks import finite_checks
from tests.properties.test_buchi_automaton import random_formula
from tests.simulate.opening import library, spec
from tests.simulate.walked_blocks import replay_walk, task_of, walked

WORLDS = {
    "crashes": "broadcast/eager_reliable.bcast::crash_one",
    "layers": "broadcast/uniform_majority_ack.bcast::",
    "recovery": "links/crash_and_recovery.bcast::",
    "byzantine": "byzantine/bracha.bcast::",
    "timeouts": "links/alternating_bit.bcast::",
    "clocks": "time/leases.bcast::",
    "rounds": "consensus/flood_set.bcast::",
    "detectors": "consensus/rotating_coordinator.bcast::",
    "coins": "consensus/ben_or.bcast::",
    "ledgers": "exactly_once/winch.bcast::lower_then_log",
    "queues": "queues/producer.bcast::",
}


def drawn(seed: int, formula: bool) -> TransitionSystem:
    """A small random system, with a random formula about its runs."""
    draw = random.Random(seed)
    goal = random_formula(draw, 3) if formula else None
    return Generator(lambda count: draw.randrange(count)).system(goal)


def compare(system: TransitionSystem, seed: int, walks: int, steps: int, effort: Effort) -> int:
    """Compares walks; returns how many steps they made."""
    task = task_of(system, seed, walks, steps)
    if not task.starts:
        return 0
    native, reference = walked(system, task, effort=effort)
    assert native == reference
    return native.steps


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(0, 2**32))
def test_random_systems_are_walked_alike(seed: int) -> None:
    system = drawn(seed, bool(seed % 2))
    try:
        compare(system, seed, 6, 8, Effort.FULL if seed % 5 == 0 else Effort.QUICK)
    except (RunFault, Unsupported):
        assume(False)


@pytest.mark.parametrize("seed", range(8))
def test_random_specs_are_walked_alike(seed: int) -> None:
    try:
        system = spec(Spec(random.Random(seed)).text()).system
    except SpecError:
        pytest.skip("no spec")
    assert compare(system, seed, 12, 40, Effort.QUICK) > 0


@pytest.mark.parametrize("fine", [False, True], ids=["coarse", "fine"])
@pytest.mark.parametrize("world", WORLDS)
def test_worlds_are_walked_alike(world: str, fine: bool) -> None:
    path, _, check = WORLDS[world].partition("::")
    system = library(f"{path}::{check or first_check(path)}", fine).system
    assert compare(system, 11, 6, 25, Effort.QUICK) > 0


def first_check(path: str) -> str:
    """The first check of a library's file that is of one size."""
    return finite_checks((specs() / path).read_text(encoding="utf-8"))[0]


class Everything(Inspection):
    """Every walk is looked at."""

    def wants(self, number: int, ends: tuple[int, ...]) -> bool:
        return True


@pytest.mark.parametrize("world", ["crashes", "byzantine", "rounds"])
def test_every_step_of_a_walk_is_enabled(world: str) -> None:
    path, _, check = WORLDS[world].partition("::")
    system = library(f"{path}::{check or first_check(path)}").system
    shown: list[tuple[interpreter.State, ...]] = []
    task = task_of(system, 3, 4, 20)
    kernel = compile_image(build(system, walks=True), Effort.QUICK)
    walker = NativeWalker(kernel, system, task.steps)
    keep = Everything(True, 0, lambda walk: shown.append(walk.states))
    found = walker.run(task, keep, bool).found
    shown += [] if found is None else [found.states]
    assert shown
    for number, states in enumerate(shown, 1):
        assert states[0] in task.starts
        for state, after in pairwise(states):
            assert after in {t.successor for t in interpreter.successors(system, state)}
        assert states == replay_walk(system, 3, number, task.steps, task.starts)
