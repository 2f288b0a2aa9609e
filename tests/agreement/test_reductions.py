"""What is found with reductions, and what without: the same, on random systems and properties.

For a long run: ``BIVALENCE_LONG=20000 pytest tests/agreement/test_reductions.py`` tries so many
systems in each test instead of a few.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from checker.engines.native import engine as native
from checker.engines.native.liveness import liveness_decision
from checker.engines.native.search import search
from checker.engines.reference import engine as reference
from checker.engines.search_engine import Cyclic
from checker.model.build import conj, equal, negation
from checker.model.evaluate import RunFault
from checker.model.ir import (
    Local,
    PropertyKind,
    Quant,
    Quantifier,
    TransitionSystem,
    domain_item,
)
from checker.model.types import BOOL
from checker.properties.persistence import needs_automaton
from checker.records import replace
from checker.reductions.choose import VERDICTS, choose
from checker.reductions.reduction_plan import ReductionPlan
from checker.reductions.registry import REDUCTIONS
from checker.results.answer import Answer, Limits, Unsupported
from checker.results.rerun import rerun
from tests.agreement.alike import Alike
from tests.agreement.circling import Circling
from tests.agreement.generator import Generator
from tests.agreement.keeping import Keeping
from tests.properties.test_buchi_automaton import random_formula
from tests.selection import some

LONG = int(os.environ.get("BIVALENCE_LONG", "0"))
FEW = 16
STATES = 250

SYMMETRY, DEAD, ORDER, DOMINANCE = (
    frozenset({name}) for name in ("symmetry", "dead", "por", "dominance")
)
ALL = frozenset(REDUCTIONS)


def seeds(name: str, times: int = 1) -> Iterator[int]:
    """Numbers of systems, others for each test."""
    draw = random.Random(name)
    for _ in range(LONG or some(times * FEW)):
        yield draw.randrange(2**40)


def alike(seed: int) -> TransitionSystem:
    """A system with symmetric structure; a third of them ask a formula about whole runs."""
    draw = random.Random(seed)
    formula = random_formula(draw, 3) if seed % 3 == 0 else None
    return Alike(draw.randrange).system(formula)


def anything(seed: int) -> TransitionSystem:
    """A system of the generator of all kinds of types and expressions."""
    draw = random.Random(seed)
    formula = random_formula(draw, 3) if seed % 2 else None
    return Generator(draw.randrange).system(formula)


def only(plan: ReductionPlan, kinds: frozenset[str]) -> ReductionPlan:
    """``plan`` without the reductions that are not among ``kinds``."""
    return replace(
        plan,
        parts=tuple(part for part in plan.parts if part.reduction in kinds),
        fallback=None if plan.fallback is None else only(plan.fallback, kinds),
    )


def with_plan(
    system: TransitionSystem, plan: ReductionPlan, limits: Limits, threads: int = 1
) -> tuple[Answer, ReductionPlan]:
    """The answer under ``plan``, and the plan that was finally used."""
    while True:
        try:
            return native.explore(system, limits, plan=plan, threads=threads), plan
        except Cyclic:
            assert plan.fallback is not None
            plan = plan.fallback


def whole(system: TransitionSystem) -> Answer | None:
    """The answer without reductions, by the reference engine; ``None`` where it is no small
    system that can be decided."""
    try:
        if LONG:
            answer = native.explore(system, Limits(max_states=20 * STATES), threads=1)
        else:
            answer = reference.explore(system, Limits(max_states=STATES))
    except (RunFault, Unsupported):
        return None
    return None if answer.stopped is not None or answer.undecided else answer


def compare(system: TransitionSystem, kinds: frozenset[str], seed: int) -> bool:
    """Compares the answers with and without; gives whether anything was left out."""
    plan = only(choose(system, "all", VERDICTS), kinds)
    if not plan.used:
        return False
    expected = whole(system)
    if expected is None:
        return False
    found, plan = with_plan(system, plan, Limits())
    where = f"seed {seed}, {', '.join(plan.used)}"
    assert (found.fault is None) == (expected.fault is None), where
    for name, path in found.violations.items():
        prop = next(p for p in system.properties if p.name == name)
        rerun(system, path, prop)
    if found.fault is not None:
        rerun(system, found.fault, None)
        return True
    assert found.exhaustive, where
    assert not found.undecided, where
    assert found.violations.keys() == expected.violations.keys(), where
    assert found.fair == expected.fair, where
    assert found.premises <= expected.premises, where
    assert found.reached_marks <= expected.reached_marks, where
    assert found.distinct_states <= expected.distinct_states, where
    used = set(plan.used)
    if not used & (ORDER | DOMINANCE):
        assert found.premises == expected.premises, where
    if used <= SYMMETRY:
        assert found.reached_marks == expected.reached_marks, where
        assert found.depth == expected.depth, where
        assert lengths(system, found) == lengths(system, expected), where
    return found.distinct_states < expected.distinct_states


def lengths(system: TransitionSystem, answer: Answer) -> dict[str, int]:
    """Of shortest runs to a bad state or a bad end."""
    safe = {p.name for p in system.properties if p.kind is PropertyKind.INVARIANT}
    return {
        name: len(path.states)
        for name, path in answer.violations.items()
        if name in safe or path.loop == len(path.states) - 1
    }


def campaign(name: str, kinds: frozenset[str], times: int = 1) -> None:
    """Many systems; some of them have to be smaller with the reduction."""
    smaller = 0
    for seed in seeds(name, times):
        make = anything if seed % 8 == 0 else alike
        smaller += compare(make(seed), kinds, seed)
    assert smaller


@pytest.fixture(autouse=True)
def _threads_for_small_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PARALLEL_FROM", 2)


def test_symmetry() -> None:
    campaign("symmetry", SYMMETRY)


def test_dead_parts() -> None:
    campaign("dead", DEAD)


def test_partial_order() -> None:
    campaign("order", ORDER, times=2)


def keeping(seed: int) -> TransitionSystem:
    """A system that asks for safety only, most of whose sets are monotone."""
    return Keeping(random.Random(seed).randrange).system(None)


def test_dominance() -> None:
    """Alone, and with all others."""
    smaller = 0
    for seed in seeds("dominance", times=3):
        system = keeping(seed)
        smaller += compare(system, DOMINANCE, seed)
        compare(system, ALL, seed)
    assert smaller


def test_all_together() -> None:
    campaign("all", ALL)


def test_symmetry_keeps_lengths() -> None:
    """Levels are those of all states: so far as a budget of depth reaches, too."""
    compared = 0
    for seed in seeds("lengths"):
        system = alike(seed)
        plan = only(choose(system, "all", VERDICTS), SYMMETRY)
        if not plan.used:
            continue
        for depth in (1, 2, 4):
            limits = Limits(max_depth=depth, max_states=None if LONG else STATES * 10)
            try:
                expected = native.explore(system, limits, threads=1)
                found, _ = with_plan(system, plan, limits)
            except (RunFault, Unsupported):
                break
            if expected.fault is not None or found.fault is not None:
                assert (expected.fault is None) == (found.fault is None), seed
                assert expected.depth == found.depth, seed
                break
            assert expected.depth == found.depth, seed
            assert (expected.stopped is None) == (found.stopped is None), seed
            assert lengths(system, expected) == lengths(system, found), seed
            compared += 1
    assert compared


def test_budgets_say_unknown_or_the_truth() -> None:
    """Where a budget ends a run with reductions, what was found is so, and nothing holds."""
    stopped = 0
    for seed in seeds("budgets"):
        system = alike(seed)
        plan = choose(system, "all", VERDICTS)
        if not plan.used:
            continue
        expected = whole(system)
        if expected is None or expected.fault is not None:
            continue
        draw = random.Random(seed)
        limits = Limits(max_states=1 + draw.randrange(max(1, expected.distinct_states)))
        found, _ = with_plan(system, plan, limits)
        assert found.violations.keys() <= expected.violations.keys(), seed
        assert found.premises <= expected.premises, seed
        stopped += found.stopped is not None
        if found.exhaustive:
            assert found.violations.keys() == expected.violations.keys(), seed
    assert stopped


def rounds(kinds: frozenset[str], name: str) -> None:
    """Where a plan is given up because of a cycle, what is left is proven for cycles."""
    given_up = 0
    for seed in seeds(name, times=30):
        system = alike(seed)
        plan = only(choose(system, "all", VERDICTS), kinds)
        if not plan.used or not plan.acyclic:
            continue
        if given_up == 3 and not LONG:
            break
        try:
            _, used = with_plan(system, plan, Limits(max_states=20 * STATES))
        except (RunFault, Unsupported):
            continue
        if used is not plan:
            given_up += 1
            assert not set(used.used) & {"symmetry", "por"}
            compare(system, kinds, seed)
    assert given_up


def circling(seed: int) -> TransitionSystem:
    """A system with symmetric structure that most likely runs in circles."""
    return Circling(random.Random(seed).randrange).system(None)


def monitoring(seed: int) -> TransitionSystem:
    """A system with symmetric structure that asks a formula about whole runs, with a process as its
    parameter, with two, or for any process."""
    draw = random.Random(seed)
    system = Alike(draw.randrange).system(random_formula(draw, 3))
    *others, prop = system.properties
    (param,) = prop.params
    kind = seed % 4
    if kind == 1:
        propositions = tuple(
            Quant(Quantifier.EXISTS, param.name, param.domain, each, BOOL)
            for each in prop.propositions
        )
        prop = replace(prop, params=(), propositions=propositions)
    elif kind == 2:
        item = domain_item(param.domain)
        same = equal(Local(item, param.name), Local(item, "y"))
        either = conj(prop.propositions[0], negation(same))
        other = replace(param, name="y")
        propositions = (either, *prop.propositions[1:])
        prop = replace(prop, params=(param, other), propositions=propositions)
    return replace(system, properties=(*others, prop))


def test_symmetry_with_a_monitor() -> None:
    """Alone, and with dead values; for formulas with parameters, and without."""
    kept, violated = dict.fromkeys(range(4), 0), 0
    for seed in seeds("monitored", times=8):
        system = monitoring(seed)
        if not needs_automaton(system.properties[-1]):
            continue
        kinds = (SYMMETRY, SYMMETRY | DEAD)[seed % 3 == 0]
        if compare(system, kinds, seed):
            answer, used = with_plan(system, only(choose(system, "all", VERDICTS), kinds), Limits())
            kept[seed % 4] += used.symmetry is not None
            violated += used.symmetry is not None and "p2" in answer.violations
    assert kept[0] and kept[1] and kept[3] and violated, (kept, violated)


def test_symmetry_unfolds_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, with dead values, and with all others; violations are found without symmetry."""
    parts, unfolded = 0, 0
    unfold = liveness_decision._Decision._unfold

    def noted(decision: liveness_decision._Decision) -> None:
        nonlocal parts, unfolded
        unfold(decision)
        parts += decision.found.part > 0
        unfolded += bool(decision.found.unfolded)

    monkeypatch.setattr(liveness_decision._Decision, "_unfold", noted)
    for seed in seeds("circles", times=4):
        kinds = (SYMMETRY, SYMMETRY | DEAD, ALL)[seed % 3]
        compare(circling(seed), kinds, seed)
    assert parts and unfolded


def test_unfolded_cycles_do_not_depend_on_threads() -> None:
    compared = 0
    for seed in seeds("circles by threads"):
        system = circling(seed)
        plan = only(choose(system, "all", VERDICTS), SYMMETRY | DEAD)
        if plan.symmetry is None or not plan.acyclic:
            continue
        try:
            found = [with_plan(system, plan, Limits(max_states=5_000), n)[0] for n in (1, 3)]
        except (RunFault, Unsupported):
            continue
        if all(answer.exhaustive for answer in found):
            assert found[0].violations == found[1].violations, seed
            assert found[0].fair == found[1].fair, seed
            compared += 1
    assert compared


def test_unfolded_cycles_keep_to_the_budget() -> None:
    """Where a budget ends the search of the cycles, nothing is said to hold."""
    stopped = 0
    for seed in seeds("circles and budgets"):
        system = circling(seed)
        plan = only(choose(system, "all", VERDICTS), SYMMETRY)
        expected = whole(system)
        if plan.symmetry is None or expected is None or expected.fault is not None:
            continue
        states = native.explore(system, Limits(), plan=plan, threads=1).distinct_states
        found, _ = with_plan(system, plan, Limits(max_states=states + 1))
        assert found.violations.keys() <= expected.violations.keys(), seed
        held = expected.violations.keys() - found.violations.keys()
        assert held <= found.undecided.keys(), seed
        stopped += bool(found.undecided)
    assert stopped


def test_partial_order_is_given_up_where_runs_go_round() -> None:
    rounds(ORDER, "rounds of order")
