"""Bodies with choices, loops, errors and marks: the same ways as the interpreter takes."""

from __future__ import annotations

import pytest

from checker.engines.native import engine as native
from checker.engines.native.codegen.jit import Effort, compile_image
from checker.engines.reference import engine as reference
from checker.model.ir import (
    FALSE,
    TRUE,
    Action,
    ActionKind,
    Assign,
    Assume,
    Block,
    Choose,
    Const,
    Declare,
    Expr,
    Fault,
    For,
    If,
    Local,
    Mark,
    MarkInfo,
    MarkKind,
    Members,
    Op,
    Param,
    Property,
    PropertyKind,
    Read,
    Stmt,
    Target,
    TransitionSystem,
    Universe,
    While,
)
from checker.model.types import BOOL, BagT, IntT, SeqT, SetT, Value
from checker.results.answer import Limits
from tests.agreement.test_random_systems import summary
from tests.native.models import both, call, equal, negated, variable
from tests.recurring import never_for_ever

DIGIT, WIDE = IntT(0, 4), IntT(-20, 20)
X, Y = Read(DIGIT, "x"), Read(DIGIT, "y")
SEEN = Read(SetT(IntT(0, 70)), "seen")


def digit(value: int) -> Const:
    return Const(DIGIT, value)


def store(read: Read, value: Expr) -> Stmt:
    return Assign(Target(read.type, read.variable, True), value)


def plus(a: Expr, b: Expr) -> Expr:
    return call(WIDE, Op.ADD, a, b)


def choose(name: str, *values: int, where: Expr = TRUE) -> Choose:
    among = SetT(DIGIT)
    return Choose(name, Members(Const(among, frozenset(values)), DIGIT), where)


def local(name: str) -> Local:
    return Local(DIGIT, name)


def set_local(name: str, value: Expr) -> Stmt:
    return Assign(Target(DIGIT, name, False), value)


def small(name: str, bound: int) -> Expr:
    return call(BOOL, Op.LT, local(name), digit(bound))


BODIES: dict[str, Block] = {
    "choices with assignments in between": (
        choose("a", 0, 1, 2),
        store(X, plus(X, local("a"))),
        choose("b", 0, 1, 3),
        store(Y, plus(X, local("b"))),
    ),
    "a local that the ways before have changed": (
        Declare("d", DIGIT, digit(1)),
        choose("a", 0, 1, 2),
        set_local("d", plus(local("d"), local("a"))),
        store(X, local("d")),
    ),
    "the state that the ways before have changed": (
        store(X, digit(1)),
        choose("a", 0, 1, 2),
        store(X, plus(X, digit(1))),
        store(Y, local("a")),
        Assume(equal(X, digit(2))),
    ),
    "marks of ways that end": (
        Mark(0),
        choose("a", 0, 1, 2),
        If(equal(local("a"), digit(0)), (Mark(1), Assume(FALSE))),
        If(equal(local("a"), digit(1)), (Mark(2), store(X, digit(2)))),
        choose("b", 0, where=equal(local("a"), digit(2))),
        Mark(3),
    ),
    "choices in branches and loops": (
        store(X, digit(0)),
        Declare("d", DIGIT, digit(0)),
        For(
            "i",
            Members(Const(SeqT(DIGIT, 3), (1, 0, 1)), DIGIT),
            (
                If(
                    equal(local("i"), digit(1)),
                    (choose("a", 0, 1), set_local("d", plus(local("d"), local("a"))), Mark(0)),
                    (choose("b", 0, 2), store(X, local("b")), Mark(1)),
                ),
            ),
        ),
        choose("c", 0, 1, where=negated(equal(X, local("c")))),
        store(Y, plus(local("d"), local("c"))),
        Mark(2),
    ),
    "choices that depend on choices": (
        If(
            TRUE,
            (
                choose("a", 0, 1, 2, 3),
                choose("b", 0, 1, 2, 3, where=call(BOOL, Op.LT, local("a"), local("b"))),
                store(X, local("a")),
                store(Y, local("b")),
            ),
        ),
    ),
    "an error in where removes all": (
        choose("a", 1, 2),
        choose(
            "b",
            0,
            1,
            2,
            where=both(
                TRUE,
                equal(call(WIDE, Op.DIV, local("a"), local("b")), digit(0)),
            ),
        ),
    ),
    "an error on one way only": (
        choose("a", 0, 1, 2),
        store(X, digit(3)),
        store(X, plus(X, local("a"))),
    ),
    "an error behind a nested choice": (
        If(TRUE, (choose("a", 0, 1, 2),)),
        If(equal(local("a"), digit(1)), (Fault("F", ""),)),
        store(X, local("a")),
    ),
    "a loop that ends in time": (
        Declare("d", DIGIT, digit(0)),
        While(small("d", 3), (set_local("d", plus(local("d"), digit(1))),), 3),
        store(X, local("d")),
    ),
    "a loop that takes one round too many": (
        Declare("d", DIGIT, digit(0)),
        While(small("d", 3), (set_local("d", plus(local("d"), digit(1))),), 2),
        store(X, local("d")),
    ),
    "elements of a sequence, in order": (
        store(X, digit(0)),
        For(
            "i",
            Members(Const(SeqT(DIGIT, 3), (3, 1, 1)), DIGIT),
            (store(Y, X), store(X, local("i"))),
        ),
    ),
    "elements of a bag, each once": (
        For(
            "i",
            Members(Const(BagT(DIGIT, 3), (1, 1, 2)), DIGIT),
            (store(X, plus(X, local("i"))), Mark(0)),
        ),
    ),
    "one bit of a large set": (
        choose("a", 0, 4),
        store(SEEN, call(SEEN.type, Op.INSERT, SEEN, call(WIDE, Op.MUL, local("a"), digit(4)))),
        store(Y, call(DIGIT, Op.CARD, SEEN)),
    ),
    "nothing": (),
}


def system_of(
    body: Block, promised: Expr = TRUE, params: tuple[Param, ...] = ()
) -> TransitionSystem:
    """One action with ``body``; the end is bad unless ``x`` is small."""
    questions = (
        Property("small", PropertyKind.INVARIANT, equal(X, digit(3)), TRUE, ""),
        never_for_ever("end", call(BOOL, Op.LT, digit(0), X), FALSE),
    )
    values: tuple[tuple[Read, Value], ...] = ((X, 1), (Y, 2), (SEEN, frozenset((3, 66))))
    return TransitionSystem(
        "body",
        (),
        tuple(variable(read.variable, read.type, value) for read, value in values),
        (),
        (Action("a", ActionKind.STEP, params, TRUE, body, promised),),
        (),
        questions,
        (MarkInfo(MarkKind.BRANCH, ""),) * 4,
    )


def agree(system: TransitionSystem, effort: Effort, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both engines say the same of ``system``."""
    monkeypatch.setattr(
        native, "first_kernel", lambda image: (compile_image(image, effort, cache=False), False)
    )
    expected = reference.explore(system, Limits())
    assert summary(native.explore(system, Limits(), threads=1)) == summary(expected)


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("name", BODIES)
def test_bodies(name: str, effort: Effort, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(system_of(BODIES[name]), effort, monkeypatch)


@pytest.mark.parametrize("promised", [TRUE, FALSE, equal(Y, digit(2)), equal(X, digit(2))])
def test_promises(promised: Expr, monkeypatch: pytest.MonkeyPatch) -> None:
    body = BODIES["the state that the ways before have changed"]
    agree(system_of((*body, choose("c", 0, 1)), promised), Effort.QUICK, monkeypatch)
    agree(system_of(BODIES["choices that depend on choices"], promised), Effort.QUICK, monkeypatch)


@pytest.mark.parametrize("op", [Op.DIV, Op.MOD])
def test_division_rounds_down(op: Op, monkeypatch: pytest.MonkeyPatch) -> None:
    signed = IntT(-5, 5)
    params = tuple(Param(n, Universe(signed), TRUE) for n in ("a", "b"))
    a, b = Local(signed, "a"), Local(signed, "b")
    seven = Const(IntT(35, 35), 35)
    shifted = plus(call(WIDE, op, a, b), Const(IntT(10, 10), 10))
    key = call(IntT(0, 700), Op.ADD, shifted, Const(IntT(0, 0), 0))
    body = (
        Assume(negated(equal(b, Const(signed, 0)))),
        Assume(call(BOOL, Op.LE, key, seven)),
        store(SEEN, call(SEEN.type, Op.SET, key)),
        store(X, call(DIGIT, Op.ITE, call(BOOL, Op.LT, a, b), digit(1), digit(0))),
        store(Y, call(DIGIT, Op.MOD, a, Const(IntT(3, 3), 3))),
    )
    agree(system_of(body, TRUE, params), Effort.FULL, monkeypatch)
