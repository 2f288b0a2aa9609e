"""A step that nobody notices keeps its promise: states at rest are fair where others are.

Every violation is made a run of the system itself, and replayed.
"""

from __future__ import annotations

import pytest

from checker.engines.native import engine as native
from checker.model import ir
from checker.model.build import negation
from checker.model.ir import FALSE, TRUE, Fairness, FairnessKind, Read, Target
from checker.model.types import BOOL
from checker.reductions.choose import VERDICTS, choose
from checker.reductions.dead_variables import analysis as dead_variables
from checker.reductions.reduction_plan import PlanPart, ReductionPlan
from checker.results.answer import Limits
from checker.results.rerun import rerun
from tests.recurring import never_for_ever

DONE, NOISE = Read(BOOL, "done"), Read(BOOL, "noise")
REST: ir.Block = (ir.Assign(Target(BOOL, "noise", True), FALSE),)
"""Nobody ever reads ``noise``."""
RESTING = ReductionPlan((PlanPart("dead", resets=REST),))


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


def violated(of: ir.TransitionSystem, plan: ReductionPlan) -> bool:
    answer = native.explore(of, Limits(), plan=plan, threads=1)
    assert not answer.undecided
    for path in answer.violations.values():
        rerun(of, path, of.properties[0])
    return bool(answer.violations)


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_variables, "find_dead", lambda system: (REST, ()))


def test_a_shared_promise_kept_without_notice_starves_another_step() -> None:
    shared = system(finish("step"), hum("step"))
    assert violated(shared, ReductionPlan())
    assert violated(shared, RESTING)
    plan = choose(shared, "all", VERDICTS)
    assert "dead" in plan.used
    assert "por" not in plan.used


@pytest.mark.parametrize("promised", [TRUE, FALSE])
def test_a_promise_of_its_own_starves_nobody(promised: ir.Expr) -> None:
    alone = system(finish("step"), hum("hum" if promised == TRUE else "step", promised))
    assert not violated(alone, ReductionPlan())
    assert not violated(alone, RESTING)


def test_a_choice_may_go_unnoticed_or_not() -> None:
    choice = ir.Choose("x", ir.Universe(BOOL), TRUE)
    body = (choice, ir.If(ir.Local(BOOL, "x"), (assign("done", TRUE),)), *hum("own").body)
    either = system(action("either", TRUE, body, "own"))
    assert violated(either, ReductionPlan())
    assert violated(either, RESTING)


def test_a_strong_promise_may_be_kept_where_nobody_notices() -> None:
    turn = Read(BOOL, "turn")
    flip = action("flip", TRUE, (assign("turn", negation(turn)),), "flip")
    body = (
        assign("noise", negation(NOISE)),
        ir.If(turn, (assign("done", TRUE),)),
    )
    mixed = system(action("mixed", negation(DONE), body, "strong"), flip)
    assert violated(mixed, ReductionPlan())
    assert violated(mixed, RESTING)
    plan = choose(mixed, "all", VERDICTS)
    assert (plan.fallback or plan).used == ("dead",)
