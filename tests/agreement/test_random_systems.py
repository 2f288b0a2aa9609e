"""The native engine against the reference engine, on random systems of all kinds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from checker.engines.native import engine as native
from checker.engines.native.codegen.jit import Effort, compile_image
from checker.engines.native.search import search
from checker.engines.reference import engine as reference
from checker.model.evaluate import RunFault
from checker.model.ir import PropertyKind, TransitionSystem
from checker.results.answer import Answer, Limits, Path, Unsupported
from checker.results.rerun import rerun
from tests.agreement.generator import Generator
from tests.properties.test_buchi_automaton import random_formula
from tests.selection import first_by_default

STATES, DEPTH, EXAMPLES, SHARDS = 250, 3, 120, 8


def system_of(seed: int) -> TransitionSystem:
    """A small random system: drawn from a generator of its own, so that all sizes are as likely."""
    draw = random.Random(seed)
    return Generator(lambda count: draw.randrange(count)).system()


@pytest.fixture(autouse=True)
def _threads_for_small_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PARALLEL_FROM", 2)


@contextmanager
def compiled(effort: Effort) -> Iterator[None]:
    """This code from the start to the end: small searches would not come to optimised code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "first_kernel", lambda image: (compile_image(image, effort), False))
        yield


def summary(answer: Answer) -> dict[str, object]:
    """What has to be the same for every engine."""
    found: dict[str, object] = {
        "states": answer.distinct_states,
        "depth": answer.depth,
        "exhaustive": answer.exhaustive,
        "violations": {n: len(p.states) for n, p in answer.violations.items() if p.loop is None},
        "premises": answer.premises,
        "ends": answer.ends,
    }
    if answer.fault is None:
        found["bad ends"] = {n: len(p.states) for n, p in answer.violations.items() if _ends(p)}
    if answer.exhaustive:
        found["fair"], found["undecided"] = answer.fair, answer.undecided
        found["violated"] = answer.violations.keys()
    if answer.stopped is None:
        found["fault"] = answer.fault and len(answer.fault.states)
        found["marks"] = answer.reached_marks
        found["transitions"] = answer.transitions
    return found


def _ends(path: Path) -> bool:
    return path.loop == len(path.states) - 1


def check(system: TransitionSystem, effort: Effort) -> None:
    """Compares both engines on ``system``, and with one and two threads; ``effort``: of the latter,
    as what takes time is to optimise."""
    limits = Limits(max_states=STATES, max_depth=DEPTH)
    try:
        expected = reference.explore(system, limits)
    except RunFault:
        assume(False)
        return
    assume(expected.stopped is None or "depth" in expected.stopped)
    limits = Limits(max_depth=DEPTH)
    try:
        with compiled(Effort.QUICK):
            one = native.explore(system, limits, threads=1)
    except Unsupported:
        assume(False)
        return
    assert summary(one) == summary(expected)
    with compiled(effort):
        two = native.explore(system, limits, threads=2)
    assert summary(two) == summary(expected)
    assert two.violations == one.violations
    assert two.fault == one.fault


@pytest.mark.parametrize("shard", first_by_default(range(SHARDS), 2))
@settings(
    max_examples=EXAMPLES // SHARDS,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(0, 2**32))
def test_engines_agree(shard: int, seed: int) -> None:
    number = seed * SHARDS + shard
    check(system_of(number), Effort.QUICK if number % 3 else Effort.FULL)


def whole(seed: int) -> TransitionSystem:
    """A small random system with promises, and a random formula about its runs."""
    draw = random.Random(seed)
    formula = random_formula(draw, 3)
    return Generator(lambda count: draw.randrange(count)).system(formula)


def judged(system: TransitionSystem, answer: Answer) -> dict[str, object]:
    """What was found about whole runs; every counterexample is replayed first."""
    found: dict[str, object] = {
        "fair": answer.fair,
        "undecided": answer.undecided,
        "ends": answer.ends,
    }
    for prop in system.properties:
        path = answer.violations.get(prop.name)
        if path is None or prop.kind is not PropertyKind.LIVENESS:
            continue
        rerun(system, path, prop)
        found[prop.name] = len(path.states) if _ends(path) else "lasso"
    return found


@settings(
    max_examples=EXAMPLES // 4,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.integers(0, 2**32))
def test_engines_agree_about_whole_runs(seed: int) -> None:
    system = whole(seed)
    try:
        expected = reference.explore(system, Limits(max_states=STATES))
    except RunFault:
        assume(False)
        return
    assume(expected.exhaustive)
    try:
        found = native.explore(system, Limits(), threads=1)
    except Unsupported:
        assume(False)
        return
    assert found.exhaustive
    assert judged(system, found) == judged(system, expected)
    assert found.edges in (0, expected.edges)
