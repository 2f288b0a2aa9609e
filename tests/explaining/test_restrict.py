"""Twins against their definition: on random systems, and on graphs by the book."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from checker.engines import reference
from checker.explaining.asking import Clock, Inquiry
from checker.explaining.smaller import FAULTS, cost_of, smaller
from checker.system.ir import TransitionSystem
from checker.system.passes import restrict
from checker.witness.answer import Limits, Path
from checker.witness.rerun import rerun
from checker.witness.trace import Cost
from tests.agreement.textbook import random_model, some_fair_run, violations
from tests.explaining.budgeted import (
    at_most,
    faulty_system,
    least,
    numbers,
    random_system,
)


def violated(seeds: range) -> Iterator[tuple[int, TransitionSystem, Path]]:
    """Random systems, each with a shortest run that violates its property."""
    for seed in seeds:
        system = random_system(seed)
        path = reference.explore(system, Limits()).violations.get("p0")
        if path is not None:
            yield seed, system, path


def test_no_run_takes_less() -> None:
    for seed, system, path in violated(range(60)):
        (prop,) = system.properties
        run = rerun(system, path, prop)
        found = smaller(system, prop, path, run, Clock(60))
        wanted = least(system, prop.bad)
        assert wanted is not None
        assert cost_of(system, found.run) == Cost(*wanted), seed
        assert found.fewest
        assert not found.notes


@pytest.mark.parametrize("most", [0, 1])
def test_whole_runs_within_a_budget(most: int) -> None:
    outcomes = set()
    for seed in range(110):
        model = random_model(seed)
        if model.states * (most + 1) > 8:
            continue
        faulty = frozenset(numbers(seed, len(model.rules)))
        system = faulty_system(model, faulty)
        (prop,) = system.properties
        budgets = (restrict.faults_at_most(system, 3, FAULTS),)
        reply = Inquiry.about(system, prop, budgets, Clock(60)).ask({FAULTS: most})
        restricted = at_most(model, faulty, most)
        found, _ = violations(restricted)
        assert (reply.path is not None) == found, seed
        assert reply.settled
        if reply.run is None:
            assert reply.fair == some_fair_run(restricted), seed
        else:
            assert cost_of(system, reply.run).faults <= most, seed
        outcomes.add((violations(model)[0], found))
    assert outcomes >= {(True, True), (True, False), (False, False)}


def test_what_can_be_asked() -> None:
    system = random_system(1)
    made = restrict.twin(system, system.properties[0], (restrict.messages_at_most(3),))
    assert made.asking({}) == made.system
    assert made.asking({"@messages": 3}).variables[-1].initial == 3
    with pytest.raises(ValueError, match="@messages can't be 4"):
        made.asking({"@messages": 4})
    with pytest.raises(KeyError):
        made.asking({"@others": 0})
