"""Steps that may go before everything else, tried out by brute force."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.engines.native import engine as native
from checker.engines.native.search import findings, search
from checker.instantiate.assemble import instantiate
from checker.model import interpreter, ir
from checker.model.build import conj, negation
from checker.model.interpreter import State
from checker.model.ir import TRUE, PropertyKind, TransitionSystem
from checker.model.types import BOOL
from checker.properties.formula import ask
from checker.reductions.partial_order import ample_sets as partial_order
from checker.reductions.partial_order import may_enable as partial_order_may_enable
from checker.reductions.partial_order.access_sets import Access
from checker.reductions.reduction_plan import NOTHING, AmpleAction, PlanPart, ReductionPlan
from checker.results.answer import Limits
from checker.session.pipeline import load_check
from tests.reductions.commuting import FAULT, Graph, alike, eager_in, trouble

SPECS = Path(__file__).parents[2] / "specs"

CHECKS = [
    ("broadcast/best_effort", "no_fault"),
    ("broadcast/best_effort", "crash_one"),
    ("broadcast/best_effort", "two_senders"),
    ("broadcast/eager_reliable", "crash_one"),
    ("broadcast/eager_reliable", "crash_two"),
    ("broadcast/lazy_reliable", "no_fault"),
    ("broadcast/eager_reliable_without_relay", "crash_one"),
    ("links/sequence_numbers", "without_loss"),
    ("exactly_once/winch", "lower_to_height"),
]
"""A bit of everything: one by one, all states, all sequences."""


def plan_of(eager: tuple[AmpleAction, ...]) -> ReductionPlan:
    return ReductionPlan((PlanPart("por", ample_actions=eager),))


def system_of(spec: str, check: str) -> TransitionSystem:
    made = instantiate(load_check(str(SPECS / f"{spec}.bcast"), check, {}), {}, ask)
    return made.system


def reduced(graph: Graph, eager: tuple[AmpleAction, ...]) -> Iterator[State]:
    """The states that are left, in the plain way."""
    found = dict.fromkeys(interpreter.initial_states(graph.system))
    left = list(found)
    while left:
        state = left.pop()
        yield state
        first = eager_in(graph, eager, state)[:1]
        for instance in first or graph.of(state):
            for there in graph.of(state)[instance]:
                if not isinstance(there, str) and there not in found:
                    found[there] = None
                    left.append(there)


@pytest.mark.parametrize(("spec", "check"), CHECKS)
def test_eager_steps_commute_with_all_that_may_follow(spec: str, check: str) -> None:
    system = system_of(spec, check)
    graph, same = Graph(system), alike(system)
    eager, _ = partial_order.find_ample(system)
    assert eager
    tried = 0
    for state in graph.reachable(2_000):
        for instance in eager_in(graph, eager, state):
            assert trouble(graph, state, instance, same[instance[0]]) is None
            tried += 1
    assert tried


@pytest.mark.parametrize(("spec", "check"), CHECKS)
def test_ends_bad_states_and_faults_are_kept(spec: str, check: str) -> None:
    system = system_of(spec, check)
    graph = Graph(system)
    eager, _ = partial_order.find_ample(system)
    everything, less = graph.reachable(2_000), list(reduced(graph, eager))
    assert set(less) <= set(everything)

    def ends(states: list[State]) -> set[State]:
        return {s for s in states if interpreter.is_admissible_end(system, s)}

    def wrong(states: list[State]) -> set[str]:
        bad = {
            p.name
            for p in system.properties
            for s in states
            if p.kind is PropertyKind.INVARIANT and interpreter.holds(system, p.bad, s)
        }
        faults = {FAULT for s in states for ways in graph.of(s).values() if FAULT in ways}
        return bad | faults

    if any(p.kind is PropertyKind.LIVENESS for p in system.properties):
        assert ends(less) == ends(everything)
    assert wrong(less) == wrong(everything)


@pytest.mark.parametrize(("spec", "check"), CHECKS)
def test_native_code_explores_no_more_than_the_plain_way_may(spec: str, check: str) -> None:
    system = system_of(spec, check)
    eager, _ = partial_order.find_ample(system)
    whole = native.explore(system, Limits(), plan=NOTHING)
    answers = [native.explore(system, Limits(), plan=plan_of(eager), threads=k) for k in (1, 2)]
    assert answers[0].distinct_states == answers[1].distinct_states
    assert answers[0].distinct_states <= whole.distinct_states


def test_a_step_that_a_crash_prevents_is_not_eager_while_there_may_be_crashes() -> None:
    system = system_of("broadcast/best_effort", "crash_one")
    graph = Graph(system)
    eager, _ = partial_order.find_ample(system)
    crashed = [v.name for v in system.variables].index("@crashed")
    for state in graph.reachable(2_000):
        if not state[crashed]:
            assert not eager_in(graph, eager, state)


def test_brute_force_notices_steps_that_are_called_eager_and_are_not() -> None:
    system = system_of("broadcast/best_effort", "crash_one")
    graph, same = Graph(system), alike(system)
    names = [action.name for action in system.actions]
    everything = (AmpleAction(names.index("receive"), TRUE),)
    found = [
        trouble(graph, state, instance, same[instance[0]])
        for state in graph.reachable(2_000)
        for instance in eager_in(graph, everything, state)
    ]
    assert any(found)


def test_an_analysis_that_forgets_what_crashes_do_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forgetful(a: Access, b: Access, system: TransitionSystem) -> tuple[ir.Expr, ...] | None:
        of_crashes = a.variable in ("@crashed", "@network")
        return None if of_crashes else partial_order_may_enable.clash(a, b, system)

    monkeypatch.setattr(partial_order, "clash", forgetful)
    system = system_of("broadcast/best_effort", "crash_one")
    graph, same = Graph(system), alike(system)
    eager, _ = partial_order.find_ample(system)
    assert any(
        trouble(graph, state, instance, same[instance[0]])
        for state in graph.reachable(2_000)
        for instance in eager_in(graph, eager, state)
    )


X, Y = (ir.Read(BOOL, name) for name in "xy")


def step(name: str, guard: ir.Expr, variable: str, value: ir.Expr) -> ir.Action:
    body = (ir.Assign(ir.Target(BOOL, variable, True), value),)
    return ir.Action(name, ir.ActionKind.STEP, (), guard, body, ir.TRUE)


SET_X = step("set x", negation(X), "x", ir.TRUE)
SET_Y = step("set y", negation(Y), "y", ir.TRUE)


def flags(bad: ir.Expr, *steps: ir.Action) -> TransitionSystem:
    """Two flags, not set at first, and an invariant that is violated where ``bad`` holds."""
    variables = tuple(ir.Variable(name, BOOL, False, ir.VariableKind.SHARED, name) for name in "xy")
    never = ir.Property("never", PropertyKind.INVARIANT, bad, ir.TRUE, "")
    return ir.TransitionSystem("flags", (), variables, (), steps, (), (never,), ())


def violated(system: TransitionSystem) -> bool:
    """Whether the invariant is violated in what is left of the states."""
    eager, _ = partial_order.find_ample(system)
    answer = native.explore(system, Limits(), plan=plan_of(eager))
    return bool(answer.violations)


@pytest.mark.parametrize("one_way", [True, False])
def test_nothing_is_put_off_for_ever(one_way: bool) -> None:
    """``y`` goes to and fro, or to, and nobody looks at it."""
    back = () if one_way else (step("clear y", Y, "y", ir.FALSE),)
    system = flags(X, SET_X, SET_Y, *back)
    eager, _ = partial_order.find_ample(system)
    names = [system.actions[one.action].name for one in eager]
    assert ("set y" in names) == one_way
    assert violated(system)


def test_a_step_that_goes_round_by_itself_puts_nothing_off() -> None:
    flip = step("flip y", TRUE, "y", negation(Y))
    assert violated(flags(X, flip, SET_X)) and violated(flags(X, SET_X, flip))


def test_a_step_that_an_invariant_sees_is_not_taken_before_others() -> None:
    """All steps commute; where ``x`` goes first, there is no state with ``y`` alone."""
    assert violated(flags(conj(Y, negation(X)), SET_X, SET_Y))
    assert violated(flags(conj(X, negation(Y)), SET_X, SET_Y))


def test_threads_explore_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PARALLEL_FROM", 2)
    system = system_of("broadcast/eager_reliable", "crash_one")
    plan = plan_of(partial_order.find_ample(system)[0])
    found = [native.explore(system, Limits(), plan=plan, threads=k) for k in (1, 2, 3)]
    assert len({(a.distinct_states, a.depth, a.ends) for a in found}) == 1
    assert found[0].violations == found[1].violations == found[2].violations


def test_where_one_step_is_seldom_enough_it_is_looked_for_now_and_then_whoever_explores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "PARALLEL_FROM", 2)
    system = system_of("broadcast/eager_reliable", "two_senders")
    eager, _ = partial_order.find_ample(system)
    plan = plan_of(eager)
    often = native.explore(system, Limits(), plan=plan)
    whole = native.explore(system, Limits(), plan=NOTHING)
    monkeypatch.setattr(findings, "SELDOM", -(1 << 40))
    seldom = [native.explore(system, Limits(), plan=plan, threads=k) for k in (1, 2, 3)]
    counts = {(a.distinct_states, a.transitions, a.depth) for a in seldom}
    assert len(counts) == 1
    assert often.distinct_states <= seldom[0].distinct_states <= whole.distinct_states
    assert all(set(a.violations) == set(whole.violations) for a in seldom)


BAGS = """
protocol Piles {
  uses leader : LeaderDetector
  message TRIFLE(of: Proc)
  message PILE(x: bag<Proc, max 2>)
  state got : set<Proc> = {}
  state done = false
  state pile : bag<Proc, max 2> = {| |}

  upon init { start t  send TRIFLE(self) to Proc }
  upon timeout t { start t  cancel t }
  upon receive TRIFLE(p) { got += p }
  upon condition not done { done := true  pile += self  send PILE(pile) to Proc }
  upon receive PILE(x) { pile := x }

  property small : always forall p in Proc: #p.pile <= 1 and #p.got <= 2
}

check c of Piles {
  faults crash <= 1
  timing asynchronous
  detector Omega
  prove small
  allow unused
}
"""


def test_messages_may_carry_bags(tmp_path: Path) -> None:
    """Of which nobody can count all."""
    (tmp_path / "p.bcast").write_text(BAGS, encoding="utf-8")
    made = instantiate(load_check(str(tmp_path / "p.bcast"), "c", {"n": 2}), {}, ask)
    partial_order.find_ample(made.system)
