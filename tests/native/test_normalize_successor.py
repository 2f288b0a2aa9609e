"""What is a step, and what goes round within an orbit: against the definition, word by word."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.engines.native.codegen import normalize_successor
from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.fields import Worker
from checker.engines.native.codegen.jit import Effort, _compile, _function
from checker.engines.native.codegen.layout import Layout
from checker.engines.native.codegen.make_image import digest_of, module_text
from checker.model import ir
from checker.reductions.reduction_plan import Class, PlanPart, ReductionPlan, Sorts, Symmetry

Row = tuple[int, ...]
TWO = Symmetry(Sorts((("a", "b"),)), (Class((((0, 0),), ((0, 1),))),), "")
SOME: ir.Block = (ir.Mark(0),)
ORBITS, RESTS = PlanPart("symmetry", symmetry=TWO), PlanPart("dead", resets=SOME)
DEAD = 4
"""The bit of a word that rests at 0."""


def rest() -> Fn:
    """Sets the dead bit of both words to 0."""
    fn = Fn("rest", [("row", 0), ("source", 0)], None)
    for i in range(2):
        place = fn.at(fn.args[0], i)
        fn.store(fn.and_(fn.load(place, 64), const(~DEAD)), place)
    fn.ret()
    return fn


def canonical() -> Fn:
    """The smaller word comes first."""
    fn = Fn("canonical", [("worker", 0), ("row", 0)], None)
    places: list[Val] = [fn.at(fn.args[1], i) for i in range(2)]
    one, two = (fn.load(place, 64) for place in places)
    less = fn.lt(two, one)
    fn.store(fn.select(less, two, one), places[0])
    fn.store(fn.select(less, one, two), places[1])
    fn.ret()
    return fn


def resting(row: Row, plan: ReductionPlan) -> Row:
    return tuple(word & ~DEAD for word in row) if plan.resets else row


def normal(row: Row, plan: ReductionPlan) -> Row:
    found = resting(row, plan)
    return tuple(sorted(found)) if plan.symmetry is not None else found


def arrive(plan: ReductionPlan) -> tuple[Any, Callable[..., int]]:
    layout = cast(Layout, SimpleNamespace(words=2))
    text = module_text(
        [rest(), canonical(), *normalize_successor.functions(layout, plan)], public=True
    )
    engine = _compile(text, digest_of(text), Effort.FULL, cache=False)
    return engine, _function(engine, "arrive", ctypes.c_bool, 3)


@pytest.mark.parametrize(
    "plan", [ReductionPlan(parts) for parts in ((ORBITS,), (RESTS,), (ORBITS, RESTS))]
)
def test_it_is_a_step_unless_it_rests_at_its_source(plan: ReductionPlan) -> None:
    engine, function = arrive(plan)
    rows = list(product(range(8), repeat=2))
    for source in {normal(row, plan) for row in rows}:
        for came in rows:
            worker = (ctypes.c_uint64 * (Worker.MARKS + 1))()
            here, there = (ctypes.c_uint64 * 2)(*source), (ctypes.c_uint64 * 2)(*came)
            step = function(*(ctypes.addressof(one) for one in (worker, here, there)))
            assert step == (resting(came, plan) != source)
            assert not step or tuple(there) == normal(came, plan)
            assert worker[Worker.TURNED] == (step and normal(came, plan) == source)
    assert engine


def test_where_no_state_stands_for_another_there_is_nothing_to_do() -> None:
    assert not normalize_successor.functions(
        cast(Layout, SimpleNamespace(words=2)), ReductionPlan()
    )
