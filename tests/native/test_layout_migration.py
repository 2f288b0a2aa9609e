"""Rows of one layout as rows of another: the same values, in wider types."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from checker.engines.native.codegen.jit import compile_move
from checker.engines.native.codegen.layout import Layout, lay_out
from checker.model import types as t
from checker.model.types import Type
from checker.results.answer import State, Unsupported
from tests.native.test_packing import TYPES, _of_types, generator


def wider(type_: Type, more: int) -> Type:
    """``type_`` with room for larger numbers, and for more items; the keys of maps stay."""
    match type_:
        case t.IntT(lo, hi):
            return t.IntT(lo, hi + 3 * more)
        case t.TupleT(items):
            return t.TupleT(tuple(wider(i, more) for i in items))
        case t.OptionT(item):
            return t.OptionT(wider(item, more))
        case t.MapT(key, value):
            return t.MapT(key, wider(value, more))
        case t.SeqT(item, cap):
            return t.SeqT(wider(item, more), cap + more)
        case t.BagT(item, cap):
            return t.BagT(wider(item, more), cap + more)
        case t.VariantT(name, cases):
            found = ((c.name, tuple((n, wider(f, more)) for n, f in c.fields)) for c in cases)
            return t.VariantT(name, tuple(t.Case(n, fields) for n, fields in found))
        case _:
            return type_


def moved(before: Layout, now: Layout, states: list[State]) -> list[list[int]]:
    rows = [word for state in states for word in before.pack(state)]
    here = (ctypes.c_uint64 * len(rows))(*rows)
    there = (ctypes.c_uint64 * (now.words * len(states)))(*[2**64 - 1] * now.words * len(states))
    compile_move(before, now)(ctypes.addressof(here), len(states), ctypes.addressof(there))
    return [list(there[i * now.words : (i + 1) * now.words]) for i in range(len(states))]


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.lists(TYPES, min_size=1, max_size=5), st.integers(0, 4), st.data())
@pytest.mark.slow
def test_rows_are_those_of_the_other_layout(
    types: list[Type], more: int, data: st.DataObject
) -> None:
    before = lay_out(_of_types(types))
    now = lay_out(_of_types([wider(type_, more) for type_ in types]))
    states = [tuple(generator(data).value(type_) for type_ in types) for _ in range(3)]
    try:
        rows = moved(before, now, states)
    except Unsupported:
        assume(False)
    assert rows == [now.pack(state) for state in states]


def test_maps_over_many_words() -> None:
    """Whose entries are of one word here and of several there."""
    key = t.IntT(0, 39)
    queue = t.SeqT(t.IntT(0, 6), 4)
    before, now = (
        lay_out(_of_types([t.MapT(key, type_), t.BOOL])) for type_ in (queue, wider(queue, 40))
    )
    states: list[State] = [(tuple((i % 7,) * (i % 5) for i in range(40)), True)]
    assert moved(before, now, states) == [now.pack(state) for state in states]
