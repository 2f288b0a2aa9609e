"""Formulas against the interpreter: initial states, successors, run-time errors, predicates."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
import z3

from checker.engines.symbolic.encoding import Encoding, Symbolic
from checker.model import interpreter, ir
from checker.model.build import equal, integer
from checker.model.evaluate import RunFault
from checker.model.types import (
    BOOL,
    AtomT,
    BagT,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    universe,
)
from checker.results.answer import State, Unsupported
from tests.agreement.expressions import STATE_TYPES, WIDE_TYPES
from tests.agreement.generator import Generator
from tests.agreement.test_random_systems import system_of

SHARDS, EXAMPLES, STATES, SUCCESSORS = 3, 10, 4, 60


def models(
    encoding: Encoding, formula: z3.BoolRef, state: Symbolic, most: int
) -> set[State] | None:
    """All values of ``state`` for which ``formula`` holds; ``None`` where they are many."""
    solver = z3.SolverFor("QF_BV")
    solver.add(formula)
    found: set[State] = set()
    while solver.check() == z3.sat:
        value = encoding.value(solver.model(), state)
        assert value not in found, "equal values are equal constants"
        found.add(value)
        if len(found) > most:
            return None
        solver.add(z3.Not(encoding.equal(state, encoding.constant(value))))
    return found


def satisfiable(*formulas: z3.BoolRef) -> bool:
    solver = z3.SolverFor("QF_BV")
    solver.add(*formulas)
    found = solver.check()
    assert found != z3.unknown
    return bool(found == z3.sat)


def agrees(system: ir.TransitionSystem, encoding: Encoding, state: State) -> set[State]:
    """The successors of ``state``, by the interpreter, after comparing all that is said of it."""
    known, after = encoding.constant(state), encoding.state("after")
    assert encoding.value(_empty(), known) == state
    assert z3.is_true(z3.simplify(encoding.well_formed(known)))
    ways = list(interpreter.successors(system, state))
    expected = {way.successor for way in ways if way.successor is not None}
    fails = any(way.fault is not None for way in ways)
    assert satisfiable(encoding.faulty(known, "error")) == fails
    step = encoding.step(known, after, "step")
    if not fails:
        found = models(encoding, step, after, SUCCESSORS)
        assert found is None or found == expected
        assert not satisfiable(step, z3.Not(encoding.well_formed(after)))
    for index, prop in enumerate(system.properties):
        if prop.kind is not ir.PropertyKind.INVARIANT:
            continue
        try:
            bad = interpreter.holds(system, prop.bad, state)
        except RunFault:
            bad = True
        assert z3.is_true(z3.simplify(encoding.bad(known, index))) == bad
    return expected


def _empty() -> z3.ModelRef:
    solver = z3.Solver()
    solver.check()
    return solver.model()


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_systems_step_as_the_interpreter_says(shard: int) -> None:
    for number in range(EXAMPLES):
        system = system_of(1000 * (shard + 1) + number)
        try:
            first = interpreter.initial_states(system)
        except RunFault:
            with pytest.raises(RunFault):
                Encoding(system)
            continue
        encoding = Encoding(system, reachable=number % 2 == 0)
        start = encoding.state("start")
        found = models(encoding, encoding.initial(start), start, SUCCESSORS)
        assert found is None or found == set(first)
        left, seen = first[:2], set(first)
        for _ in range(STATES):
            if not left:
                break
            for state in sorted(agrees(system, encoding, left.pop(0)) - seen, key=repr):
                seen.add(state)
                left.append(state)


def assigning(seed: int) -> ir.TransitionSystem:
    """One action for each type: its variable gets the value of a random expression."""
    draw = random.Random(seed)
    generator = Generator(lambda count: draw.randrange(count), safe=seed % 3 == 0)
    types: tuple[Type, ...] = (*STATE_TYPES, *WIDE_TYPES[:1])
    generator.variables = tuple(generator.variable(i, type_) for i, type_ in enumerate(types))
    actions = []
    for variable in generator.variables:
        target = ir.Target(variable.type, variable.name, True)
        body = (ir.Assign(target, generator.expr(variable.type, 3)),)
        actions.append(ir.Action(variable.name, ir.ActionKind.STEP, (), ir.TRUE, body, ir.TRUE))
    bad = generator.expr(BOOL, 4)
    asked = ir.Property("p", ir.PropertyKind.INVARIANT, bad, ir.TRUE, "")
    return ir.TransitionSystem(
        "expressions", (), generator.variables, (), tuple(actions), (), (asked,), ()
    )


@pytest.mark.every
@pytest.mark.parametrize("seed", range(8))
def test_expressions_of_every_kind(seed: int) -> None:
    system = assigning(seed)
    encoding = Encoding(system)
    (state,) = interpreter.initial_states(system)
    agrees(system, encoding, state)


SMALL, PART = IntT(-2, 3), AtomT("part", ("a", "b"), 1)
SHAPES: tuple[Type, ...] = (
    BOOL,
    SMALL,
    IntT(5, 5),
    PART,
    TupleT((PART, BOOL)),
    OptionT(SMALL),
    OptionT(OptionT(PART)),
    SetT(SMALL),
    SetT(TupleT((PART, BOOL))),
    MapT(PART, OptionT(BOOL)),
    SeqT(PART, 2),
    SeqT(SeqT(BOOL, 1), 2),
    OptionT(SetT(PART)),
)


@pytest.mark.parametrize("type_", SHAPES, ids=str)
def test_well_formed_constants_are_exactly_the_values(type_: Type) -> None:
    value = next(iter(universe(type_)))
    variable = ir.Variable("v", type_, value, ir.VariableKind.SHARED)
    encoding = Encoding(ir.TransitionSystem("one", (), (variable,), (), (), (), (), ()))
    state = encoding.state("x")
    found = models(encoding, encoding.well_formed(state), state, 1000)
    assert found == {(value,) for value in universe(type_)}


def test_bags_are_counted_and_bounded() -> None:
    bag = BagT(PART, 2)
    variable = ir.Variable("v", bag, (), ir.VariableKind.SHARED)
    encoding = Encoding(ir.TransitionSystem("one", (), (variable,), (), (), (), (), ()))
    state = encoding.state("x")
    found = models(encoding, encoding.well_formed(state), state, 100)
    assert found == {(bag,) for bag in ((), (1,), (2,), (1, 1), (1, 2), (2, 2))}


def taking(variable: ir.Variable, value: ir.Expr, bad: ir.Expr) -> ir.TransitionSystem:
    """One action, which assigns ``value``; ``bad`` must not be."""
    body = (ir.Assign(ir.Target(variable.type, variable.name, True), value),)
    action = ir.Action("go", ir.ActionKind.STEP, (), ir.TRUE, body, ir.TRUE)
    asked = ir.Property("p", ir.PropertyKind.INVARIANT, bad, ir.TRUE, "")
    return ir.TransitionSystem("one", (), (variable,), (), (action,), (), (asked,), ())


def pairs() -> Iterator[tuple[int, int]]:
    edge = (1 << 40) - 1
    yield from ((a, b) for a in (-7, -1, 0, 1, 7, edge) for b in (-3, -1, 0, 1, 3, edge))


@pytest.mark.parametrize("op", [ir.Op.ADD, ir.Op.SUB, ir.Op.MUL, ir.Op.DIV, ir.Op.MOD])
def test_integers_are_unbounded(op: ir.Op) -> None:
    """Whatever the operands, the result is that of Python's integers, and a zero divisor fails."""
    numbers, wide = IntT(-(1 << 40), 1 << 40), IntT(-(1 << 90), 1 << 90)
    a, b, result = (
        ir.Variable(name, type_, 0, ir.VariableKind.SHARED)
        for name, type_ in (("a", numbers), ("b", numbers), ("r", wide))
    )
    value = ir.Apply(wide, op, (ir.Read(numbers, "a"), ir.Read(numbers, "b")))
    body = (ir.Assign(ir.Target(wide, "r", True), value),)
    action = ir.Action("go", ir.ActionKind.STEP, (), ir.TRUE, body, ir.TRUE)
    system = ir.TransitionSystem("sum", (), (a, b, result), (), (action,), (), (), ())
    encoding = Encoding(system)
    for x, y in pairs():
        agrees(system, encoding, (x, y, 0))


def test_an_error_on_the_way_to_an_answer_counts_as_a_violation() -> None:
    numbers = IntT(0, 3)
    variable = ir.Variable("v", numbers, 0, ir.VariableKind.SHARED)
    read = ir.Read(numbers, "v")
    bad = equal(ir.Apply(numbers, ir.Op.DIV, (integer(3), read)), integer(1))
    encoding = Encoding(taking(variable, integer(1), bad))
    assert z3.is_true(z3.simplify(encoding.bad(encoding.constant((0,)), 0)))
    assert z3.is_false(z3.simplify(encoding.bad(encoding.constant((1,)), 0)))


def test_a_store_out_of_range_is_an_error_and_no_step() -> None:
    numbers = IntT(0, 3)
    variable = ir.Variable("v", numbers, 0, ir.VariableKind.SHARED)
    more = ir.Apply(IntT(1, 4), ir.Op.ADD, (ir.Read(numbers, "v"), integer(1)))
    encoding = Encoding(taking(variable, more, ir.FALSE))
    before, after = encoding.state("a"), encoding.state("b")
    faulty = models(encoding, encoding.faulty(before, "x"), before, 10)
    assert faulty == {(3,)}
    last = encoding.constant((3,))
    assert not satisfiable(encoding.step(last, after, "x"))


def test_what_has_too_many_values_is_refused_by_name() -> None:
    wide = SetT(TupleT((IntT(0, 999), IntT(0, 999))))
    variable = ir.Variable("seen", wide, frozenset(), ir.VariableKind.SHARED)
    with pytest.raises(Unsupported, match="`seen`: it has an entry for each of 1,000,000 values"):
        Encoding(ir.TransitionSystem("wide", (), (variable,), (), (), (), (), ()))
