"""Proofs of transition systems: agreement with exploration, wrong certificates, what is shown."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
import z3

from checker.engines.reference import engine as reference
from checker.engines.symbolic.certificate import (
    Certificate,
    Faultless,
    Lemma,
    Safe,
    Stage,
    Typed,
    WrongCertificate,
    recheck,
    smt2,
)
from checker.engines.symbolic.encoding import Encoding
from checker.engines.symbolic.induction import induct
from checker.engines.symbolic.prover import METHODS, ProofResult, prove
from checker.engines.symbolic.sampling import sample
from checker.engines.symbolic.solver_queries import GaveUp, QueryBudget, ask, plain_solver
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.ir import (
    Action,
    ActionKind,
    Apply,
    Assign,
    Const,
    Expr,
    Fault,
    If,
    Op,
    Property,
    PropertyKind,
    Read,
    Target,
    TransitionSystem,
    Variable,
    VariableKind,
)
from checker.model.types import BOOL, IntT
from checker.records import replace
from checker.results.answer import Limits, Unsupported
from checker.results.replay import replay
from tests.agreement.test_random_systems import system_of
from tests.native import models

SHARDS, EXAMPLES = 2, 6
HUNDRED = IntT(0, 100)


# ---- small systems whose proofs are known -----------------------------------------------------


def number(value: int) -> Expr:
    return Const(IntT(value, value), value)


def counters(*guards: tuple[str, Expr, Expr], bad: Expr, names: str = "xy") -> TransitionSystem:
    """Numbers from 0; ``guards``: a variable, when it changes, and what it becomes."""
    variables = tuple(Variable(n, HUNDRED, 0, VariableKind.SHARED) for n in names)
    actions = tuple(
        Action(
            f"a{i}",
            ActionKind.STEP,
            (),
            guard,
            (Assign(Target(HUNDRED, name, True), value),),
            Const(BOOL, True),
        )
        for i, (name, guard, value) in enumerate(guards)
    )
    prop = Property("safe", PropertyKind.INVARIANT, bad, Const(BOOL, True), "")
    return TransitionSystem("counters", (), variables, (), actions, (), (prop,), ())


X, Y = Read(HUNDRED, "x"), Read(HUNDRED, "y")


def call(op: Op, *args: Expr) -> Expr:
    return Apply(BOOL, op, args)


def plus(expr: Expr, value: int) -> Expr:
    return Apply(IntT(0, 200), Op.ADD, (expr, number(value)))


def by_two() -> TransitionSystem:
    """``x`` goes up by two to ten: it is never seven.  One step before, five is not excluded; five
    states in a row are (from 1, 3, 5 one comes to 7)."""
    up = ("x", call(Op.LT, X, number(10)), plus(X, 2))
    return counters(up, bad=call(Op.EQ, X, number(7)), names="x")


def proved(found: ProofResult) -> set[object]:
    return set(found.proved)


@pytest.mark.parametrize("methods", [METHODS, *((method,) for method in METHODS)])
def test_a_fact_that_needs_a_chain_of_states_is_proved_by_each_method(
    methods: tuple[str, ...],
) -> None:
    found = prove(by_two(), QueryBudget(120.0), methods=methods)
    if methods != ("invariants",):
        assert proved(found) == {Safe(0), Faultless()}
    assert not found.refuted


def test_the_least_k_is_found() -> None:
    # 7 is reached from 5, that from 3, that from 1, and 1 from nowhere (x is never negative): a
    # chain of four states ends in 7, one of five does not.
    found = prove(by_two(), QueryBudget(120.0), methods=("induction",))
    assert [stage.k for stage in found.certificate if Safe(0) in stage.facts] == [4]


def test_a_loop_outside_what_is_reached_is_cut_by_keeping_states_apart() -> None:
    # Once x is 1 it may stay so forever, or become 2; it starts at 0 and stays there.
    stay = ("x", call(Op.EQ, X, number(1)), number(1))
    fall = ("x", call(Op.EQ, X, number(1)), number(2))
    system = counters(stay, fall, bad=call(Op.EQ, X, number(2)), names="x")
    encoding = Encoding(system)
    came = induct(encoding, (Typed(),), (Safe(0),), 5, QueryBudget(60.0))
    assert [stage.k for stage in came.stages] == [2]
    assert came.stages[0].apart


def test_facts_are_proved_together() -> None:
    # Neither x <= y nor y <= x + 1 is inductive alone where both move in turn.
    up_x = ("x", call(Op.LT, X, Y), plus(X, 1))
    both = call(Op.AND, call(Op.EQ, X, Y), call(Op.LT, Y, number(50)))
    up_y = ("y", both, plus(Y, 1))
    system = counters(up_x, up_y, bad=call(Op.LT, Y, X))
    second = replace(system.properties[0], name="near", bad=call(Op.LT, plus(X, 1), Y))
    system = replace(system, properties=(system.properties[0], second))
    found = prove(system, QueryBudget(120.0), methods=("induction",))
    assert proved(found) == {Safe(0), Safe(1), Faultless()}


def test_an_error_of_the_run_stands_in_the_way_of_everything() -> None:
    up = ("x", Const(BOOL, True), plus(X, 7))  # 105 is beyond its range
    system = counters(up, bad=call(Op.EQ, X, number(3)), names="x")
    found = prove(system, QueryBudget(60.0))
    path = found.refuted[Faultless()]
    assert path.then_fault
    assert len(path.states) == 15  # 0, 7, …, 98
    replay(system, path, None)


def test_an_error_that_is_never_met_needs_a_proof() -> None:
    trap = If(call(Op.EQ, X, number(7)), (Fault("F", "seven"),))
    system = by_two()
    action = replace(system.actions[0], body=(trap, *system.actions[0].body))
    system = replace(system, actions=(action,), properties=())
    assert proved(prove(system, QueryBudget(60.0), methods=("induction",))) == {Faultless()}


def test_no_time_proves_nothing_and_says_so() -> None:
    found = prove(by_two(), QueryBudget(0.0))
    assert not found.proved
    assert found.tried
    with pytest.raises(GaveUp, match="was reached"):
        ask(plain_solver(), QueryBudget(0.0))


def test_known_models_are_proved() -> None:
    system = models.two_phase(3)
    found = prove(system, QueryBudget(300.0))
    everything = reference.explore(system, Limits())
    assert everything.exhaustive
    assert {system.properties[f.index].name for f in found.proved if isinstance(f, Safe)} == {
        p.name
        for p in system.properties
        if p.kind is PropertyKind.INVARIANT and p.name not in everything.violations
    }


# ---- random systems ---------------------------------------------------------------------------


@pytest.mark.parametrize("shard", range(SHARDS))
def test_proofs_agree_with_exploration(shard: int) -> None:
    draw = random.Random(shard)
    done = 0
    while done < EXAMPLES:
        system = system_of(draw.randrange(1 << 32))
        try:
            expected = reference.explore(system, Limits(max_states=3000, timeout=20.0))
            if not expected.exhaustive and expected.fault is None:
                continue
            found = prove(system, QueryBudget(10.0), deepest=3)
        except (RunFault, Unsupported):
            continue
        done += 1
        if Faultless() in found.proved:
            assert expected.fault is None
        assert (Safe(0) in found.proved) <= ("p0" not in expected.violations)
        for fact, path in found.refuted.items():
            if fact == Faultless():
                replay(system, path, None)
                if expected.fault is not None and fact not in found.lengthy:
                    assert len(path.states) == len(expected.fault.states)
            else:
                replay(system, path, system.properties[0])
                if "p0" in expected.violations and fact not in found.lengthy:
                    assert len(path.states) == len(expected.violations["p0"].states)
        for excluded in found.open.values():
            if excluded is not None:
                confirmed(system, excluded.states)


def confirmed(system: TransitionSystem, states: tuple[interpreter.State, ...]) -> None:
    """A counterexample to induction is made of steps of the interpreter."""
    for before, after in pairwise(states):
        assert after in {way.successor for way in interpreter.successors(system, before)}


# ---- what is not excluded ---------------------------------------------------------------------


def test_a_counterexample_to_induction_is_a_step_from_a_good_state_to_a_bad_one() -> None:
    system = by_two()
    came = induct(Encoding(system), (Typed(),), (Safe(0),), 1, QueryBudget(60.0))
    excluded = came.open[Safe(0)]
    assert excluded is not None
    assert excluded.states == ((5,), (7,))
    confirmed(system, excluded.states)


# ---- certificates -----------------------------------------------------------------------------


def certified() -> tuple[TransitionSystem, Certificate]:
    system = by_two()
    found = prove(system, QueryBudget(120.0), methods=("induction",))
    assert Safe(0) in found.proved
    return system, found.certificate


def test_a_right_certificate_passes_again() -> None:
    system, certificate = certified()
    assert recheck(Encoding(system), certificate, QueryBudget(60.0)) > 0


def test_wrong_certificates_are_refused() -> None:
    system, certificate = certified()
    lemma = Lemma(call(Op.LT, X, number(10)))  # false after five steps
    first, *rest = certificate
    mutated: list[Certificate] = [
        (replace(first, facts=(*first.facts, lemma)), *rest),
        (first, Stage((lemma,), 1), *rest),
        (first, *(replace(stage, k=stage.k - 1) for stage in rest)),
        (first, Stage((Safe(0), Faultless()), 1)),
        (first, Stage((Lemma(call(Op.EQ, X, number(1))),), 1)),  # no initial state
        (replace(first, following=frozenset({0})), *rest),  # nothing says so of types
    ]
    for wrong in mutated:
        with pytest.raises(WrongCertificate):
            recheck(Encoding(system), wrong, QueryBudget(60.0))


def test_a_certificate_that_says_nothing_of_types_is_refused() -> None:
    system, certificate = certified()
    with pytest.raises(AssertionError):
        recheck(Encoding(system), certificate[1:], QueryBudget(60.0))


def test_queries_as_text_are_all_unsat() -> None:
    system, certificate = certified()
    text = smt2(system, certificate)
    parts = text.split("(reset)")[1:]
    assert (
        len(parts)
        == text.count("(check-sat)")
        == recheck(Encoding(system), certificate, QueryBudget(60.0))
    )
    for part in parts:
        solver = z3.Solver()
        solver.from_string(re.sub(r"\(check-sat\)|\(exit\)", "", part))
        assert solver.check() == z3.unsat


def test_queries_of_a_wrong_certificate_as_text_are_not_all_unsat() -> None:
    system, certificate = certified()
    text = smt2(system, (certificate[0], Stage((Safe(0), Faultless()), 1)))
    answers = set()
    for part in text.split("(reset)")[1:]:
        solver = z3.Solver()
        solver.from_string(re.sub(r"\(check-sat\)|\(exit\)", "", part))
        answers.add(str(solver.check()))
    assert "sat" in answers


# ---- samples ----------------------------------------------------------------------------------


def test_samples_are_the_same_every_time_and_reached() -> None:
    system = models.two_phase(2)
    one, other = sample(system, QueryBudget()), sample(system, QueryBudget())
    assert list(one.states) == list(other.states)
    everything = reference.explore(system, Limits())
    assert one.exhaustive == (len(one.states) == everything.distinct_states)
    for state, before in one.states.items():
        if before is not None:
            confirmed(system, (before, state))
