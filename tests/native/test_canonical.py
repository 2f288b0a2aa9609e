"""One state stands for each orbit: against all renamings, made of Python values."""

from __future__ import annotations

import ctypes
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.engines.native.codegen.image import build
from checker.engines.native.codegen.jit import Effort, compile_image
from checker.engines.native.search.lift_trace import Normalizer
from checker.model import ir
from checker.model import types as t
from checker.model.interpreter import State
from checker.model.ir import TransitionSystem
from checker.model.types import Type, Value, cardinality, universe
from checker.reductions.reduction_plan import Class, PlanPart, ReductionPlan, Sorts, Symmetry
from checker.reductions.symmetry.renaming import Renaming

PROC = t.AtomT("Proc", ("p1", "p2", "p3", "p4", "p5"))
ROLE = t.AtomT("role", ("p2", "p3", "p4"), 1)
MSG = t.AtomT("Msg", ("a", "b"))
TURN = t.AtomT("request", ("r1", "r2"))
SMALL = t.IntT(0, 2)
LETTER = t.VariantT(
    "letter", (t.Case("ask", (("of", PROC),)), t.Case("tell", (("n", SMALL), ("m", MSG))))
)
PACKET = t.TupleT((PROC, PROC, LETTER), ("from", "to", "message"))

TYPES: dict[str, tuple[Type, ...]] = {
    "sets and maps": (
        t.SetT(PROC),
        t.MapT(PROC, t.SetT(t.TupleT((PROC, MSG)))),
        t.MapT(ROLE, SMALL),
        t.MapT(TURN, t.BOOL),
    ),
    "atoms as values": (
        t.MapT(PROC, t.OptionT(PROC)),
        t.MapT(MSG, ROLE),
        t.TupleT((PROC, t.OptionT(LETTER))),
        t.MapT(t.TupleT((PROC, MSG)), SMALL),
    ),
    "bags": (t.BagT(PACKET, 4), t.SetT(MSG), t.MapT(MSG, t.BOOL)),
    "sequences": (t.SeqT(PACKET, 3), t.MapT(ROLE, t.SeqT(PROC, 2)), t.SeqT(t.SetT(PROC), 2)),
    "wide": (t.SetT(PACKET), t.MapT(PROC, t.MapT(PROC, t.MapT(PROC, SMALL)))),
    "nested": (
        t.OptionT(t.BagT(t.TupleT((PROC, SMALL)), 3)),
        t.SetT(t.SetT(ROLE)),
        t.OptionT(t.MapT(ROLE, t.OptionT(ROLE))),
        t.BagT(t.TupleT((t.SeqT(PACKET, 4), t.SetT(t.TupleT((PROC, PROC))))), 2),
    ),
}

SORTS = Sorts((PROC.labels, MSG.labels, TURN.labels))

GROUPS: dict[str, tuple[Class, ...]] = {
    "two": (Class((((0, 1),), ((0, 3),))),),
    "three": (Class((((0, 1),), ((0, 2),), ((0, 3),))),),
    "two and two": (Class((((0, 0),), ((0, 4),))), Class((((1, 0),), ((1, 1),)))),
    "together": (Class((((0, 1), (1, 1), (2, 0)), ((0, 2), (1, 0), (2, 1)))),),
    "three and two": (
        Class((((0, 1),), ((0, 2),), ((0, 3),))),
        Class((((1, 0), (2, 0)), ((1, 1), (2, 1)))),
    ),
}


def value_of(random: Random, type_: Type) -> Value:
    """Some value; often one that many renamings leave alone."""
    match type_:
        case t.TupleT(items):
            return tuple(value_of(random, item) for item in items)
        case t.OptionT(item):
            return None if random.random() < 0.4 else (value_of(random, item),)
        case t.SetT(item):
            some = random.choice((0.0, 0.1, 0.5, 1.0))
            return frozenset(v for v in universe(item) if random.random() < some)
        case t.MapT(key, item):
            common = value_of(random, item)
            return tuple(
                common if random.random() < 0.6 else value_of(random, item)
                for _ in range(cardinality(key))
            )
        case t.SeqT(item, cap) | t.BagT(item, cap):
            values = [value_of(random, item) for _ in range(random.randint(0, cap))]
            return tuple(sorted(values, key=t.sort_key) if isinstance(type_, t.BagT) else values)
        case t.VariantT(cases=cases):
            index = random.randrange(len(cases))
            return (index, *(value_of(random, field) for _, field in cases[index].fields))
        case _:
            return random.choice(list(universe(type_)))


def normal_of(types: tuple[Type, ...], classes: tuple[Class, ...]) -> tuple[Normalizer, Symmetry]:
    variables = tuple(
        ir.Variable(f"v{i}", type_, t.default(type_), ir.VariableKind.SHARED)
        for i, type_ in enumerate(types)
    )
    system = TransitionSystem("none", PROC.labels, variables, (), (), (), (), ())
    found = Symmetry(SORTS, classes, "")
    return Normalizer(
        compile_image(
            build(system, ReductionPlan((PlanPart("symmetry", symmetry=found),))), Effort.QUICK
        )
    ), found


def orbit(state: State, types: tuple[Type, ...], found: Symmetry) -> set[State]:
    return {Renaming(SORTS, images).state(types, state) for images in found.elements()}


def size(normal: Normalizer, state: State) -> int:
    """What native code says about how large the orbit of a state is."""
    row = (ctypes.c_uint64 * normal.layout.words)(*normal.layout.pack(state))
    sums = (ctypes.c_uint64 * 2)()
    assert normal.kernel.weigh is not None
    normal.kernel.weigh(ctypes.addressof(row), 1, 0, ctypes.addressof(sums))
    assert sums[0] == 1
    return sums[1]


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("kind", TYPES)
def test_one_state_stands_for_an_orbit(kind: str, group: str) -> None:
    types = TYPES[kind]
    normal, found = normal_of(types, GROUPS[group])

    @settings(max_examples=8, deadline=None)
    @given(st.integers(0, 1 << 30))
    def check(seed: int) -> None:
        random = Random(seed)
        state = tuple(value_of(random, type_) for type_ in types)
        members = orbit(state, types, found)
        least = normal.state(state)
        assert least in members
        assert {normal.state(member) for member in members} == {least}
        assert size(normal, state) == len(members)

    check()


def test_nine_that_are_alike_are_not_tried_in_all_orders() -> None:
    names = tuple(f"p{i}" for i in range(9))
    proc = t.AtomT("Proc", names)
    types: tuple[Type, ...] = (t.SetT(proc), t.MapT(proc, SMALL))
    variables = tuple(
        ir.Variable(f"v{i}", type_, t.default(type_), ir.VariableKind.SHARED)
        for i, type_ in enumerate(types)
    )
    system = TransitionSystem("none", names, variables, (), (), (), (), ())
    found = Symmetry(Sorts((names,)), (Class(tuple(((0, i),) for i in range(9))),), "")
    normal = Normalizer(
        compile_image(
            build(system, ReductionPlan((PlanPart("symmetry", symmetry=found),))), Effort.QUICK
        )
    )
    for k in range(10):
        members = frozenset(range(9 - k, 9))
        state: State = (members, tuple(2 * (p in members) for p in range(9)))
        there = normal.state(state)
        assert isinstance(there[0], frozenset)
        assert len(there[0]) == k
        ways = 1
        for i in range(k):
            ways = ways * (9 - i) // (i + 1)
        assert size(normal, state) == ways
