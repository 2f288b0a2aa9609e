"""A step that nobody notices must not keep a promise that another step is owed."""

from __future__ import annotations

import pytest

from checker.engines import native
from checker.reductions import dead
from checker.reductions.choose import VERDICTS, choose
from checker.reductions.plan import Kind, Plan
from checker.reductions.promises import doubtful
from checker.system import ir
from checker.system.build import negation
from checker.system.ir import FALSE, TRUE, Const, Fairness, FairnessKind, Read, Target
from checker.system.types import BOOL
from checker.witness.answer import Limits
from tests.recurring import never_for_ever

DONE, NOISE = Read(BOOL, "done"), Read(BOOL, "noise")
REST: ir.Block = (ir.Assign(Target(BOOL, "noise", True), FALSE),)
"""Nobody ever reads ``noise``."""


def assign(name: str, value: ir.Expr) -> ir.Assign:
    return ir.Assign(Target(BOOL, name, True), value)


def action(
    name: str, guard: ir.Expr, body: ir.Block, group: str, promised: ir.Expr = TRUE
) -> ir.Action:
    kind = FairnessKind.STRONG if group.startswith("strong") else FairnessKind.WEAK
    return ir.Action(
        name, ir.ActionKind.STEP, (), guard, body, promised, None, Fairness(group, (), kind)
    )


def system(*actions: ir.Action) -> ir.TransitionSystem:
    variables = tuple(
        ir.Variable(n, BOOL, False, ir.VariableKind.SHARED) for n in ("done", "noise", "turn")
    )
    prop = never_for_ever("done_in_the_end", negation(DONE))
    return ir.TransitionSystem("noise", (), variables, (), actions, (), (prop,), ())


def finish(group: str) -> ir.Action:
    return action("finish", negation(DONE), (assign("done", TRUE),), group)


def hum(group: str, promised: ir.Expr = TRUE) -> ir.Action:
    return action("hum", TRUE, (assign("noise", negation(NOISE)),), group, promised)


def violated(of: ir.TransitionSystem, plan: Plan) -> bool:
    answer = native.explore(of, Limits(), plan=plan, threads=1)
    assert not answer.undecided
    return bool(answer.violations)


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead, "find", lambda system: (REST, ()))


def test_a_shared_promise_kept_without_notice_starves_another_step() -> None:
    shared = system(finish("step"), hum("step"))
    assert violated(shared, Plan())
    assert not violated(shared, Plan(dead=REST)), "this is what would go wrong"
    assert doubtful(shared, REST, round_=False) == "hum"
    plan = choose(shared, "all", VERDICTS)
    assert Kind.DEAD not in plan.used
    assert "`hum` might keep a promise" in " ".join(u.why for u in plan.unused)


@pytest.mark.parametrize("promised", [TRUE, FALSE])
def test_a_promise_of_its_own_starves_nobody(promised: ir.Expr) -> None:
    alone = system(finish("step"), hum("hum" if promised == TRUE else "step", promised))
    assert doubtful(alone, REST, round_=True) is None
    assert violated(alone, Plan()) == violated(alone, Plan(dead=REST))


def test_a_step_that_always_shows_is_no_danger() -> None:
    noisy = action("speak", negation(DONE), (assign("done", TRUE), assign("noise", TRUE)), "step")
    assert doubtful(system(finish("step"), noisy), REST, round_=True) is None


def test_what_shows_sometimes_only_is() -> None:
    body = (ir.If(NOISE, (assign("done", TRUE),)), assign("noise", TRUE))
    other = action("speak", negation(DONE), body, "step")
    assert doubtful(system(finish("step"), other), REST, round_=True) == "speak"
    reset = (assign("done", TRUE), assign("done", FALSE), assign("noise", TRUE))
    other = action("speak", negation(DONE), reset, "step")
    assert doubtful(system(finish("step"), other), REST, round_=True) == "speak"


def test_a_choice_may_go_unnoticed_or_not() -> None:
    choice = ir.Choose("x", ir.Universe(BOOL), TRUE)
    body = (choice, ir.If(ir.Local(BOOL, "x"), (assign("done", TRUE),)), *hum("own").body)
    either = action("either", TRUE, body, "own")
    assert doubtful(system(either), REST, round_=False) == "either"
    assert violated(system(either), Plan())
    assert not violated(system(either), Plan(dead=REST)), "this is what would go wrong"


def test_a_strong_promise_may_be_kept_where_nobody_notices() -> None:
    turn = Read(BOOL, "turn")
    flip = action("flip", TRUE, (assign("turn", negation(turn)),), "flip")
    body = (
        assign("noise", negation(NOISE)),
        ir.If(turn, (assign("done", TRUE),)),
    )
    mixed = system(action("mixed", negation(DONE), body, "strong"), flip)
    assert violated(mixed, Plan())
    assert not violated(mixed, Plan(dead=REST)), "this is what would go wrong"
    assert doubtful(mixed, REST, round_=False) is None
    assert doubtful(mixed, REST, round_=True) == "mixed"
    plan = choose(mixed, "all", VERDICTS)
    assert plan.acyclic
    assert plan.cautious is not None
    assert not plan.cautious.used


@pytest.mark.parametrize(("value", "known"), [(Const(BOOL, True), True), (TRUE, False)])
def test_what_is_made_true_was_false(value: ir.Expr, known: bool) -> None:
    guard = negation(DONE) if known else DONE
    speak = action("speak", guard, (assign("done", value), assign("noise", TRUE)), "step")
    found = doubtful(system(finish("step"), speak), REST, round_=True)
    assert found == (None if known else "speak")
