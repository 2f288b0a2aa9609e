"""A step to another state of the same orbit is a run that repeats."""

from __future__ import annotations

from checker.engines.native import engine as native
from checker.model import ir
from checker.model.build import equal, negation
from checker.model.ir import TRUE, Local, Read
from checker.model.types import AtomT
from checker.reductions.choose import VERDICTS, choose
from checker.results.answer import Limits
from checker.results.rerun import rerun
from tests.recurring import never_for_ever

P = AtomT("proc", ("p1", "p2", "p3"))


def test_a_token_that_goes_round_is_no_end() -> None:
    one, p = Read(P, "one"), Local(P, "p")
    give = (ir.Assign(ir.Target(P, "one", True), p),)
    param = ir.Param("p", ir.Universe(P), negation(equal(p, one)))
    action = ir.Action("give", ir.ActionKind.STEP, (param,), TRUE, give, TRUE)
    init = (ir.Choose("i", ir.Universe(P), TRUE), ir.Assign(give[0].target, Local(P, "i")))
    system = ir.TransitionSystem(
        "token",
        P.labels,
        (ir.Variable("one", P, 0, ir.VariableKind.SHARED),),
        init,
        (action,),
        (),
        (never_for_ever("p", TRUE),),
        (),
    )
    plan = choose(system, "symmetry", VERDICTS)
    assert plan.symmetry is not None
    assert native.explore(system, Limits(), threads=1).violations
    found = native.explore(system, Limits(), plan=plan, threads=1)
    assert found.distinct_states == 1
    (path,) = found.violations.values()
    rerun(system, path, system.properties[0])
