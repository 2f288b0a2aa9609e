"""What is dead: states of rest stand for states, and mistakes in finding them would be seen."""

from __future__ import annotations

import random
from typing import Any

import pytest

from checker.engines.native import engine as native
from checker.instantiate.assemble import instantiate
from checker.model import interpreter, ir
from checker.model.build import conj, integer, negation
from checker.model.evaluate import RunFault
from checker.model.ir import FALSE, TRUE, Apply, Fairness, Op, Read, Target
from checker.model.types import BOOL, AtomT, BagT, IntT, MapT, SetT, Type, default
from checker.properties.formula import ask
from checker.reductions.dead_variables import analysis as dead_variables
from checker.reductions.dead_variables import monotone_variables as dead_monotone_variables
from checker.reductions.dead_variables.messages import MessageEffects
from checker.reductions.dead_variables.monotonicity import Trends
from checker.reductions.reduction_plan import PlanPart, ReductionPlan
from checker.resources import specs
from checker.results.answer import Limits
from checker.session.pipeline import load_check
from tests.agreement.alike import Alike
from tests.agreement.generator import Generator
from tests.recurring import never_for_ever
from tests.reductions.resting import disagreement

STATES = 60
"""So many states of each system are compared with their states of rest."""

CHECKS = [
    ("broadcast/eager_reliable", "no_fault"),
    ("broadcast/eager_reliable", "crash_one"),
    ("broadcast/thrifty_reliable", "crash_one"),
    ("broadcast/lazy_reliable", "crash_one"),
    ("broadcast/best_effort", "crash_between_handlers"),
    ("byzantine/echo", "built_for_one_with_one"),
    ("byzantine/bracha", "four"),
    ("byzantine/pbft_round", "four"),
    ("consensus/paxos", "crash_and_loss"),
]


def plan_of(block: ir.Block) -> ReductionPlan:
    return ReductionPlan((PlanPart("dead", resets=block),))


def of_library(path: str, name: str) -> ir.TransitionSystem:
    check = load_check(str(specs() / f"{path}.bcast"), name, {})
    return instantiate(check, {}, ask).system


@pytest.mark.parametrize(("path", "name"), CHECKS)
def test_rest_stands_for_states_of_the_library(path: str, name: str) -> None:
    system = of_library(path, name)
    block, _ = dead_variables.find_dead(system)
    assert block
    assert disagreement(system, block, STATES if "byzantine" not in path else 12) is None


@pytest.mark.parametrize("made", [Alike, Generator])
def test_rest_stands_for_states_of_random_systems(made: Any) -> None:
    draw = random.Random("dead")
    for _ in range(12):
        system = made(random.Random(draw.randrange(2**40)).randrange).system()
        try:
            interpreter.initial_states(system)
        except RunFault:
            continue
        block, _ = dead_variables.find_dead(system)
        assert disagreement(system, block, STATES) is None


def test_a_message_that_is_known_vanishes() -> None:
    """With three processes and one broadcast: a relayed copy to who has it is never in flight."""
    check = load_check(str(specs() / "broadcast/eager_reliable.bcast"), "no_fault", {})
    system = instantiate(check, {}, ask, capacities={"messages in flight": 16}).system
    block, _ = dead_variables.find_dead(system)
    answer = native.explore(system, Limits(), plan=plan_of(block), threads=1)
    # nobody has broadcast; or each of the three has delivered or not
    assert answer.fault is not None or answer.distinct_states == 1 + 2**3


# ---- small systems in which a mistake would show ----------------------------------------------

SOME = AtomT("Some", ("a", "b", "c"))


def state(name: str, type_: Type, kind: ir.VariableKind = ir.VariableKind.LOCAL) -> ir.Variable:
    return ir.Variable(name, type_, default(type_), kind)


def store(name: str, type_: Type, value: ir.Expr) -> ir.Assign:
    return ir.Assign(Target(type_, name, True), value)


def action(
    name: str,
    guard: ir.Expr,
    *body: ir.Stmt,
    params: tuple[ir.Param, ...] = (),
    promised: ir.Expr = TRUE,
    fairness: Fairness | None = None,
) -> ir.Action:
    kind = ir.ActionKind.STEP
    return ir.Action(name, kind, params, guard, tuple(body), promised, None, fairness)


def system_of(
    variables: tuple[ir.Variable, ...], actions: tuple[ir.Action, ...], bad: ir.Expr
) -> ir.TransitionSystem:
    prop = never_for_ever("p", bad)
    return ir.TransitionSystem("small", (), variables, (), actions, (), (prop,), ())


LATE, WORD, DONE = Read(BOOL, "late"), Read(BOOL, "word"), Read(BOOL, "done")
BOOLS = (state("late", BOOL), state("word", BOOL), state("done", BOOL))


def flags(*more: ir.Action) -> ir.TransitionSystem:
    """``word`` is looked at until it is late."""
    say = action("say", TRUE, store("word", BOOL, TRUE))
    hear = action("hear", conj(WORD, negation(LATE)), store("done", BOOL, TRUE))
    late = action("late", negation(LATE), store("late", BOOL, TRUE))
    return system_of(BOOLS, (say, hear, late, *more), negation(DONE))


def test_what_may_be_early_again_is_not_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    again = flags(action("early", LATE, store("late", BOOL, FALSE)))
    assert (
        dead_variables.find_dead(flags())[0]
        and disagreement(flags(), dead_variables.find_dead(flags())[0], 99) is None
    )
    assert not dead_variables.find_dead(again)[0]
    monkeypatch.setattr(dead_monotone_variables, "keeps", lambda store, up: up)
    wrong, _ = dead_variables.find_dead(again)
    assert disagreement(again, wrong, 99) is not None


def crowd(how_many: Op) -> ir.TransitionSystem:
    """Something happens while there are two, or at least two, in a set that grows."""
    kind = SetT(SOME)
    some, one = Read(kind, "some"), ir.Local(SOME, "x")
    param = ir.Param("x", ir.Universe(SOME), TRUE)
    come = action(
        "come", TRUE, store("some", kind, Apply(kind, Op.INSERT, (some, one))), params=(param,)
    )
    two = Apply(BOOL, how_many, (integer(2), Apply(IntT(0, 3), Op.CARD, (some,))))
    see = action("see", conj(two, negation(DONE)), store("done", BOOL, TRUE))
    return system_of((state("some", kind), BOOLS[2]), (come, see), negation(DONE))


def test_a_threshold_is_decided_and_a_number_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for how_many in (Op.LE, Op.EQ):
        block, _ = dead_variables.find_dead(crowd(how_many))
        assert block and disagreement(crowd(how_many), block, 99) is None
    monkeypatch.setattr(Trends, "never", lambda self, expr: negation(expr))
    wrong, _ = dead_variables.find_dead(crowd(Op.EQ))
    assert disagreement(crowd(Op.EQ), wrong, 99) is not None


def test_what_is_cleared_until_is_not_known_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark that is taken away when its process is late says nothing of those who do not ask."""
    key = AtomT("Proc", ("p", "q"))
    kind = MapT(key, BOOL)
    who = ir.Local(key, "who")
    at = (ir.Key(who, key),)
    mark, late, word = (ir.Index(BOOL, Read(kind, n), who) for n in ("mark", "late", "word"))

    def put(name: str, value: ir.Expr) -> ir.Assign:
        return ir.Assign(Target(BOOL, name, True, at), value)

    each = (ir.Param("who", ir.Universe(key), TRUE),)
    actions = (
        action("mark", negation(late), put("mark", TRUE), params=each),
        action("late", negation(late), put("late", TRUE), put("mark", FALSE), params=each),
        action("say", TRUE, put("word", TRUE), params=each),
        action("hear", conj(word, negation(mark)), store("done", BOOL, TRUE), params=each),
    )
    variables = (*(state(name, kind) for name in ("mark", "late", "word")), BOOLS[2])
    system = system_of(variables, actions, negation(DONE))
    block, _ = dead_variables.find_dead(system)
    assert disagreement(system, block, 999) is None
    monkeypatch.setattr(Trends, "sides", lambda self, expr: ())
    wrong, _ = dead_variables.find_dead(system)
    assert disagreement(system, wrong, 999) is not None


def test_who_hums_for_ever_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that nobody notices keeps the promise that another is owed, at rest as well."""
    shared = Fairness("all", ())
    hum = action("hum", TRUE, store("word", BOOL, TRUE), fairness=shared)
    still = action("still", TRUE, store("word", BOOL, FALSE), fairness=shared)
    end = action("end", negation(DONE), store("done", BOOL, TRUE), fairness=shared)
    system = system_of(BOOLS[1:], (hum, still, end), negation(DONE))
    assert native.explore(system, Limits(), threads=1).violations
    assert not dead_variables.find_dead(system)[0]
    monkeypatch.setattr(dead_variables, "progresses", lambda *given: True)
    wrong, _ = dead_variables.find_dead(system)
    found = native.explore(system, Limits(), plan=plan_of(wrong), threads=1)
    assert wrong and found.violations


def mail(key: tuple[ir.Expr, ...]) -> ir.TransitionSystem:
    """Letters ``a`` are thrown away, ``b`` is read; ``a`` may come forever."""
    kind = BagT(SOME, 2, "letters")
    box, letter = Read(kind, "box"), ir.Local(SOME, "letter")

    def send(name: str, what: int) -> ir.Stmt:
        return store("box", kind, Apply(kind, Op.BAG_ADD, (box, ir.Const(SOME, what))))

    take = store("box", kind, Apply(kind, Op.BAG_REMOVE, (box, letter)))
    is_b = Apply(BOOL, Op.EQ, (letter, ir.Const(SOME, 1)))
    read = ir.If(is_b, (store("done", BOOL, TRUE),))
    params = (ir.Param("letter", ir.Members(box, SOME), TRUE),)
    actions = (
        action("first", negation(LATE), store("late", BOOL, TRUE), send("b", 1)),
        action("noise", TRUE, send("a", 0), promised=FALSE),
        action("take", TRUE, take, read, params=params, fairness=Fairness("take", key)),
    )
    variables = (state("box", kind, ir.VariableKind.LINK), BOOLS[0], BOOLS[2])
    return system_of(variables, actions, negation(DONE))


def test_a_letter_that_is_owed_alone_is_dead_and_one_of_many_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, any_ = mail((ir.Local(SOME, "letter"),)), mail(())
    block, _ = dead_variables.find_dead(own)
    assert block and disagreement(own, block, 99) is None
    assert not dead_variables.find_dead(any_)[0]
    monkeypatch.setattr(MessageEffects, "_own_promise", lambda *given: True)
    assert dead_variables.find_dead(any_)[0]
