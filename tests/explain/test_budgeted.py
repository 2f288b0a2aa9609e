"""Twins against their definition: on random systems, and on graphs by the book."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from checker.engines.native import engine as native
from checker.engines.reference import engine as reference
from checker.explain.costs import cost_of
from checker.explain.counterfactual_queries import ExplainingBudget, Inquiry
from checker.explain.minimisation import FAULTS, MinimisedRun, minimise, shortest
from checker.instantiate.faults import budgeted
from checker.model.ir import TransitionSystem
from checker.resources import specs
from checker.results.answer import Limits, Path
from checker.results.replay import path_of
from checker.results.rerun import rerun
from checker.results.trace import Cost
from tests.agreement.textbook import Model, fair, random_model, some_fair_run, subsets, violations
from tests.explain.budgeted import at_most, faulty_system, least, numbers, random_system
from tests.explain.violations import violation
from tests.selection import first_by_default, some


def violated(seeds: range) -> Iterator[tuple[int, TransitionSystem, Path]]:
    """Random systems, each with a shortest run that violates its property."""
    for seed in seeds:
        system = random_system(seed)
        path = reference.explore(system, Limits()).violations.get("p0")
        if path is not None:
            yield seed, system, path


def test_no_run_takes_less() -> None:
    for seed, system, path in violated(range(some(60))):
        (prop,) = system.properties
        run = rerun(system, path, prop)
        found = minimise(system, prop, path, run, ExplainingBudget(60))
        wanted = least(system, prop.bad)
        assert wanted is not None
        assert cost_of(system, found.run) == Cost(*wanted), seed
        assert found.fewest
        assert not found.notes


@pytest.mark.parametrize("most", first_by_default([0, 1], 1))
def test_whole_runs_within_a_budget(most: int) -> None:
    outcomes = set()
    for seed in range(some(110)):
        model = random_model(seed)
        if model.states * (most + 1) > 8:
            continue
        faulty = frozenset(numbers(seed, len(model.rules)))
        system = faulty_system(model, faulty)
        (prop,) = system.properties
        budgets = (budgeted.faults_at_most(system, 3, FAULTS),)
        reply = Inquiry.about(system, prop, budgets, ExplainingBudget(60)).ask({FAULTS: most})
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
    made = budgeted.add_budgets(system, system.properties[0], (budgeted.messages_at_most(3),))
    assert made.asking({}) == made.system
    assert made.asking({"@messages": 3}).variables[-1].initial == 3
    with pytest.raises(ValueError, match="invalid @messages: 4"):
        made.asking({"@messages": 4})
    with pytest.raises(KeyError):
        made.asking({"@others": 0})


def test_a_run_that_ends_is_the_shortest_where_nothing_goes_round_sooner() -> None:
    eager = violation(specs() / "broadcast/eager_reliable.bcast", "crash_one", "uniform_agreement")
    found = MinimisedRun(path_of(eager.system, eager.trace), eager.run, True, shortest=True)
    assert shortest(eager.system, eager.prop, found, ExplainingBudget(60))
    assert not shortest(eager.system, eager.prop, found, ExplainingBudget(0))
    duel = violation(specs() / "consensus/paxos.bcast", "duel", "proposers_decide")
    found = MinimisedRun(path_of(duel.system, duel.trace), duel.run, True, shortest=True)
    assert not shortest(duel.system, duel.prop, found, ExplainingBudget(60))


def test_a_graph_that_goes_round() -> None:
    for seed in range(80):
        model = random_model(seed)
        system = faulty_system(model, frozenset())
        (prop,) = system.properties
        answer = reference.explore(system, Limits())
        path = answer.violations.get(prop.name)
        if path is None or path.loop != len(path.states) - 1:
            continue
        run = rerun(system, path, prop)
        if shortest(system, prop, MinimisedRun(path, run, True), ExplainingBudget(60)):
            loops = [s for s in subsets(model.states) if len(s) > 1 and fair(model, s)]
            sooner = [s for s in loops if len(s) < len(path.states) - 1]
            assert not any(_is_near(model, s, len(path.states) - 1) for s in sooner), seed


def _is_near(model: Model, states: frozenset[int], steps: int) -> bool:
    """Whether a run can get to ``states`` and round in them in fewer than ``steps`` steps."""
    level, far = set(model.initial), 0
    while level and not level & states:
        level = {r.target for r in model.rules if r.source in level}
        far += 1
        if far >= steps:
            return False
    return bool(level) and far + len(states) < steps


def test_a_search_that_ends_where_all_is_decided() -> None:
    for _, system, path in violated(range(25)):
        whole = native.explore(system, Limits())
        soon = native.explore(system, Limits(until_decided=True))
        assert soon.violations == whole.violations
        assert soon.distinct_states <= whole.distinct_states
        assert len(soon.violations["p0"].states) == len(path.states)
        if soon.exhaustive:  # it was decided on the last level: nothing was left to explore
            assert soon.stopped is None and soon.distinct_states == whole.distinct_states
        else:
            assert soon.stopped == "every property is decided"
