"""Verdicts about liveness: both engines, and a textbook check that shares nothing with them."""

from __future__ import annotations

import pytest

from checker.engines.native import engine as native
from checker.engines.reference import engine as reference
from checker.model.ir import TransitionSystem
from checker.model.verify import verify
from checker.results.answer import Answer, Limits
from checker.results.rerun import rerun
from tests.agreement.textbook import random_model, some_fair_run, system_of, violations


def verdict(system: TransitionSystem, answer: Answer) -> tuple[bool, int | None]:
    """Whether the property is violated, and in how many steps by a run that ends; every
    counterexample is replayed first."""
    assert answer.exhaustive
    assert not answer.undecided
    path = answer.violations.get("p")
    if path is None:
        return False, None
    run = rerun(system, path, system.properties[0])
    assert run.loop is not None
    ends = run.loop == len(path.states) - 1
    return True, run.loop if ends else None


@pytest.mark.parametrize("first", range(0, 3000, 200))
def test_the_reference_engine_agrees_with_the_textbook(first: int) -> None:
    for seed in range(first, first + 200):
        model = random_model(seed)
        system = verify(system_of(model))
        answer = reference.explore(system, Limits())
        assert verdict(system, answer) == violations(model), f"seed {seed}"
        assert answer.fair == some_fair_run(model), f"seed {seed}"


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_the_native_engine_agrees_with_the_textbook(first: int) -> None:
    for seed in range(first, first + 20):
        model = random_model(seed)
        system = verify(system_of(model))
        answer = native.explore(system, Limits(), threads=1)
        assert verdict(system, answer) == violations(model), f"seed {seed}"
        assert answer.fair == some_fair_run(model), f"seed {seed}"
