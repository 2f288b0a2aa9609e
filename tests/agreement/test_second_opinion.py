"""SPIN confirms what the engines find, and sees each fault that is seeded into an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from checker.engines.native import engine as native
from checker.engines.options import Options
from checker.engines.reference import engine as reference
from checker.model import ir
from checker.model.ir import Op, TransitionSystem
from checker.model.types import BOOL
from checker.records import replace
from checker.resources import specs
from checker.results.answer import Answer, Limits
from checker.session.load import load_check
from checker.session.systems import instantiated
from scripts.second_opinion.compare import Opinion, compare, second_opinion
from scripts.second_opinion.layout import Untranslatable
from scripts.second_opinion.program import program
from scripts.second_opinion.spin import Verifiers, missing

MOST, SECONDS, MEGABYTES = 3_000, 20, 1_000

CHECKS = (
    "broadcast/best_effort.bcast::crash_one",
    "broadcast/lazy_reliable.bcast::crash_one",
    "detectors/trivial.bcast::suspects_everybody",
    "links/stubborn.bcast::fair_loss",
    "links/alternating_bit.bcast::fair_loss_for_ever",
    "links/crash_and_recovery.bcast::log_then_deliver",
    "queues/refused_write.bcast::without_end",
    "exactly_once/remote_call.bcast::at_least_once_call",
)
"""Small checks of the library: invariants and liveness, weak and strong fairness, both verdicts."""

pytestmark = [
    pytest.mark.peers,
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=f"a second opinion: {missing()}"),
]


@pytest.fixture(scope="module")
def verifiers(tmp_path_factory: pytest.TempPathFactory) -> Verifiers:
    return Verifiers(tmp_path_factory.mktemp("verifiers"), SECONDS, MEGABYTES)


@pytest.mark.parametrize("name", CHECKS)
def test_spin_confirms(name: str, verifiers: Verifiers) -> None:
    file, _, check = name.partition("::")
    opinion = compare(str(specs() / file), check, verifiers, MOST)
    assert opinion.reasons == [] and not opinion.different, opinion.line
    assert {"number of states", "depth"} <= {fact.kind for fact in opinion.facts}


@cache
def system_of(name: str) -> TransitionSystem:
    file, _, check = name.partition("::")
    return instantiated(load_check(str(specs() / file), check, {}), Options()).system


def native_answer(system: TransitionSystem) -> Answer:
    return native.explore(system, Limits(), threads=1)


# ---- seeded faults ----------------------------------------------------------------------------

Change = Callable[[TransitionSystem], Iterator[TransitionSystem]]
"""Yields the systems that an engine explores in place of one, by a fault."""


def with_actions(
    system: TransitionSystem, change: Callable[[ir.Action], Iterator[ir.Action]]
) -> Iterator[TransitionSystem]:
    for i, action in enumerate(system.actions):
        for other in change(action):
            yield replace(system, actions=(*system.actions[:i], other, *system.actions[i + 1 :]))


def without_an_action(system: TransitionSystem) -> Iterator[TransitionSystem]:
    for i in range(len(system.actions)):
        yield replace(system, actions=system.actions[:i] + system.actions[i + 1 :])


def without_an_update(system: TransitionSystem) -> Iterator[TransitionSystem]:
    def change(action: ir.Action) -> Iterator[ir.Action]:
        for i, stmt in enumerate(action.body):
            if isinstance(stmt, ir.Assign):
                yield replace(action, body=action.body[:i] + action.body[i + 1 :])

    return with_actions(system, change)


def with_a_negated_guard(system: TransitionSystem) -> Iterator[TransitionSystem]:
    def change(action: ir.Action) -> Iterator[ir.Action]:
        yield replace(action, guard=ir.Apply(BOOL, Op.NOT, (action.guard,)))

    return with_actions(system, change)


def without_fairness(system: TransitionSystem) -> Iterator[TransitionSystem]:
    return with_actions(system, lambda action: iter((replace(action, promised=ir.FALSE),)))


def with_fairness_for_all(system: TransitionSystem) -> Iterator[TransitionSystem]:
    return with_actions(system, lambda action: iter((replace(action, promised=ir.TRUE),)))


def with_weak_fairness(system: TransitionSystem) -> Iterator[TransitionSystem]:
    def change(action: ir.Action) -> Iterator[ir.Action]:
        if action.fairness is not None and action.fairness.kind is ir.FairnessKind.STRONG:
            weak = replace(action.fairness, kind=ir.FairnessKind.WEAK)
            yield replace(action, fairness=weak)

    return with_actions(system, change)


def without_the_monitor(system: TransitionSystem) -> Iterator[TransitionSystem]:
    yield replace(system, monitor=())


def with_negated_properties(system: TransitionSystem) -> Iterator[TransitionSystem]:
    for i, prop in enumerate(system.properties):
        if prop.kind is ir.PropertyKind.INVARIANT:
            other = replace(prop, bad=ir.Apply(BOOL, Op.NOT, (prop.bad,)))
            yield replace(
                system, properties=(*system.properties[:i], other, *system.properties[i + 1 :])
            )


def without_acceptance(system: TransitionSystem) -> Iterator[TransitionSystem]:
    for i, prop in enumerate(system.properties):
        if prop.automaton is not None and prop.automaton.accepting:
            other = replace(prop, automaton=replace(prop.automaton, accepting=()))
            yield replace(
                system, properties=(*system.properties[:i], other, *system.properties[i + 1 :])
            )


FAULTS: tuple[Change, ...] = (
    without_an_action,
    without_an_update,
    with_a_negated_guard,
    without_fairness,
    with_fairness_for_all,
    with_weak_fairness,
    without_the_monitor,
    with_negated_properties,
    without_acceptance,
)


def seen(system: TransitionSystem, answer: Answer, verifiers: Verifiers) -> bool:
    """Returns whether an engine that gives ``answer`` about ``system`` differs from SPIN."""
    opinion = Opinion("", [], [])
    second_opinion(system, answer, verifiers, opinion)
    return opinion.different


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_of_an_engine_is_seen(fault: Change, verifiers: Verifiers) -> None:
    """At least in one of the checks: elsewhere it may make no difference."""
    for name in CHECKS:
        system = system_of(name)
        if any(seen(system, native_answer(other), verifiers) for other in fault(system)):
            return
    pytest.fail("no check shows it")


def test_states_with_one_hash_are_seen(
    verifiers: Verifiers, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = system_of(CHECKS[0])
    assert not seen(system, reference.explore(system, Limits()), verifiers)
    monkeypatch.setattr(reference, "seen", lambda _, state: hash(state) % 17)
    assert seen(system, reference.explore(system, Limits()), verifiers)


def test_a_system_without_a_translation_is_named() -> None:
    system = system_of(CHECKS[0])
    effect = ir.Emit("send", ())
    with pytest.raises(Untranslatable, match="not lowered"):
        program(replace(system, init=(effect,)))
