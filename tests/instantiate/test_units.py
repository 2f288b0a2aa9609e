"""The verifier, the dump, the interpreter, the question for cycles, growth of capacities."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.instantiate import capacities, capacity_estimation
from checker.model import build, interpreter, ir
from checker.model.dump import dump
from checker.model.evaluate import RunFault, Scope, evaluate, misfit
from checker.model.ir import Action, ActionKind, Param, Property, PropertyKind, TransitionSystem
from checker.model.types import BOOL, AtomT, BagT, Case, IntT, MapT, SeqT, SetT, VariantT
from checker.model.verify import MalformedSystem, verify
from checker.records import replace
from checker.results.answer import Answer, Limits
from checker.session import attempts, pipeline
from checker.session.pipeline import Options

DIGIT = IntT(0, 3)
V = ir.Read(DIGIT, "v")
SEQ, BAG = SeqT(DIGIT, 2), BagT(DIGIT, 2)


def put(value: ir.Expr, name: str = "v", is_state: bool = True) -> ir.Assign:
    return ir.Assign(ir.Target(DIGIT, name, is_state), value)


def plus_one(expr: ir.Expr) -> ir.Expr:
    return ir.Apply(IntT(1, 4), ir.Op.ADD, (expr, build.integer(1)))


def action(*body: ir.Stmt, name: str = "step", guard: ir.Expr = ir.TRUE) -> Action:
    return Action(name, ActionKind.STEP, (), guard, body, ir.TRUE)


def system(*actions: Action, bad: ir.Expr = ir.FALSE) -> TransitionSystem:
    variable = ir.Variable("v", DIGIT, 0, ir.VariableKind.SHARED, "v")
    prop = Property("p", PropertyKind.INVARIANT, bad, ir.TRUE, "")
    return TransitionSystem("s", ("p1",), (variable,), (), actions, (), (prop,), ())


GOOD = system(action(put(plus_one(V)), guard=build.below(V, build.integer(3))))
MESSAGE = VariantT("m", (Case("A", (("k", DIGIT),)),))
MALFORMED = {
    "variables of one name": replace(GOOD, variables=GOOD.variables * 2),
    "initial value": replace(GOOD, variables=(replace(GOOD.variables[0], initial=4),)),
    "actions of one name": system(action(), action()),
    "unbound local": system(action(put(ir.Local(DIGIT, "x")))),
    "a branch's local outside": system(
        action(
            ir.If(ir.TRUE, (ir.Declare("x", DIGIT, V),)),
            put(ir.Local(DIGIT, "x")),
        )
    ),
    "unknown variable": system(action(put(ir.Read(DIGIT, "w")))),
    "type of a variable": system(action(put(ir.Read(BOOL, "v")))),
    "unknown target": system(action(put(V, "w"))),
    "undeclared target": system(action(put(V, "x", False))),
    "guard": system(action(guard=V)),
    "condition": system(action(ir.If(V, ()))),
    "assumption": system(action(ir.Assume(V))),
    "constant": system(action(put(ir.Const(DIGIT, 7)))),
    "mark": system(action(ir.Mark(0))),
    "effect": system(action(ir.Emit("send", ()))),
    "comparison": system(action(guard=ir.Apply(BOOL, ir.Op.EQ, (V, ir.TRUE)))),
    "entry": system(action(put(ir.Index(DIGIT, V, V)))),
    "fields": system(action(ir.Mark(0, (ir.Make(MESSAGE, 0, ()),)))),
    "bad": system(action(), bad=V),
    "later parameter": system(
        Action(
            "a",
            ActionKind.STEP,
            (
                Param("x", ir.Universe(DIGIT), build.below(ir.Local(DIGIT, "y"), V)),
                Param("y", ir.Universe(DIGIT), ir.TRUE),
            ),
            ir.TRUE,
            (),
            ir.TRUE,
        )
    ),
}


@pytest.mark.parametrize("wrong", MALFORMED.values(), ids=MALFORMED.keys())
def test_the_verifier_refuses(wrong: TransitionSystem) -> None:
    with pytest.raises(MalformedSystem):
        verify(wrong)


def test_the_verifier_accepts() -> None:
    assert verify(GOOD) is GOOD


def test_interpreter() -> None:
    assert interpreter.initial_states(GOOD) == [(0,)]
    assert [t.successor for t in interpreter.successors(GOOD, (1,))] == [(2,)]
    assert list(interpreter.successors(GOOD, (3,))) == []
    assert not interpreter.is_admissible_end(GOOD, (2,))
    assert interpreter.is_admissible_end(GOOD, (3,))


def test_an_error_in_one_way_to_start_is_an_error() -> None:
    start = (
        ir.Choose("x", ir.Universe(DIGIT), ir.TRUE),
        put(plus_one(ir.Local(DIGIT, "x"))),
    )
    broken = replace(GOOD, init=start)
    with pytest.raises(RunFault):
        interpreter.initial_states(broken)
    with pytest.raises(RunFault):
        interpreter.initial_events(broken)


def test_a_choice_copies_and_an_assumption_removes() -> None:
    x = ir.Local(DIGIT, "x")
    chosen = action(
        ir.Choose("x", ir.Universe(DIGIT), ir.TRUE),
        put(x),
        ir.Assume(build.negation(build.equal(x, build.integer(2)))),
    )
    found = [t.successor for t in interpreter.successors(system(chosen), (1,))]
    assert found == [(0,), (1,), (3,)]


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (ir.Apply(SeqT(DIGIT, 3), ir.Op.APPEND, (ir.Const(SEQ, (1, 2)), V)), (1, 2, 3)),
        (
            ir.Apply(
                SeqT(DIGIT, 4), ir.Op.CONCAT, (ir.Const(SEQ, (1,)), ir.Const(SeqT(DIGIT, 1), (2,)))
            ),
            (1, 2),
        ),
        (ir.Apply(IntT(-4, 4), ir.Op.DIV, (ir.Const(IntT(-9, 9), -7), build.integer(2))), -4),
        (ir.Apply(IntT(0, 1), ir.Op.MOD, (ir.Const(IntT(-9, 9), -7), build.integer(2))), 1),
        (ir.Apply(BOOL, ir.Op.IN, (build.integer(9), ir.Const(SetT(DIGIT), frozenset()))), False),
        (ir.Apply(BAG, ir.Op.BAG_ADD, (ir.Const(BAG, (3,)), build.integer(0))), (0, 3)),
    ],
)
def test_operations(expr: ir.Expr, value: object) -> None:
    assert evaluate(expr, Scope({"v": 3}, {})) == value


@pytest.mark.parametrize(
    "expr",
    [
        ir.Apply(SEQ, ir.Op.APPEND, (ir.Const(SEQ, (1, 2)), V)),
        ir.Apply(SEQ, ir.Op.APPEND, (ir.Const(SEQ, ()), build.integer(9))),
        ir.Apply(DIGIT, ir.Op.HEAD, (ir.Const(SEQ, ()),)),
        ir.Apply(DIGIT, ir.Op.DIV, (V, build.integer(0))),
        ir.Index(DIGIT, ir.Const(SEQ, (1,)), build.integer(1)),
    ],
)
def test_errors_of_a_run(expr: ir.Expr) -> None:
    with pytest.raises(RunFault):
        evaluate(expr, Scope({"v": 3}, {}))


def test_processes_of_a_role_are_keys_of_their_own() -> None:
    workers = AtomT("w", ("w1", "w2"), 1)
    table = ir.Const(MapT(workers, DIGIT), (3, 1))
    proc = AtomT("Proc", ("b", "w1", "w2"))
    assert evaluate(ir.Index(DIGIT, table, ir.Const(proc, 2)), Scope({}, {})) == 1
    with pytest.raises(RunFault):
        evaluate(ir.Index(DIGIT, table, ir.Const(proc, 0)), Scope({}, {}))
    assert misfit(workers, 0, None) is not None


GROWING = """
protocol P {
  state v = 0
  state q : seq<Nat> = []
  upon condition v < TOP { v += 1  q := q + v }
  property small: always forall p in Proc: p.v < TOP
  property all_there: always forall p in Proc: #p.q == p.v
}
check c of P { n = 1  prove small, all_there }
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("top", [1, 3, 4, 5, 17])
def test_capacities_grow_as_far_as_needed(
    top: int, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guess that is made first must not be seen in the result."""
    path = tmp_path / "grow.bcast"
    path.write_text(GROWING.replace("TOP", str(top)), encoding="utf-8")
    guessed = pipeline.run_check(str(path), None, Options(engine=engine))
    monkeypatch.setattr(capacity_estimation, "estimate_capacities", lambda make: make({}))
    found = pipeline.run_check(str(path), None, Options(engine=engine))
    for report in (guessed, found):
        assert [v.word.value for v in report.verdicts] == ["violated", "holds"]
        assert report.distinct_states == top + 1
        trace = report.verdicts[0].trace
        assert trace is not None and trace.length == top


def test_a_capacity_without_end_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacities, "LARGEST_CAPACITY", 30)
    monkeypatch.setattr(capacity_estimation, "estimate_capacities", lambda make: make({}))
    path = tmp_path / "endless.bcast"
    text = GROWING.replace("condition v < TOP", "condition true").replace("TOP", "99")
    path.write_text(text, encoding="utf-8")
    report = pipeline.run_check(str(path), None, Options(engine="reference"))
    assert {v.word.value for v in report.verdicts} == {"unknown"}


def test_the_dump_is_stable(tmp_path: Path) -> None:
    """The same check gives the same text, whatever was made before."""
    path = tmp_path / "spec.bcast"
    path.write_text(GROWING.replace("TOP", "2"), encoding="utf-8")
    first = pipeline.dump(str(path), None, Options())
    assert first == pipeline.dump(str(path), None, Options())
    assert "action upon condition v < 2" in first
    assert dump(GOOD) == dump(GOOD)


def test_a_reason_names_the_time_limit_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*_: object) -> Answer:
        left = "the time limit of 0.25 s was reached"
        return Answer("native", 1, 0, True, 0.1, undecided={"small": left, "all_there": "full"})

    monkeypatch.setattr(attempts, "answer_of", late)
    path = tmp_path / "late.bcast"
    path.write_text(GROWING.replace("TOP", "2"), encoding="utf-8")
    report = pipeline.run_check(str(path), None, Options(limits=Limits(timeout=7)))
    assert [v.reason for v in report.verdicts] == ["the time limit of 7 s was reached", "full"]
