"""Codes and layouts: every value comes back, and codes are ordered like values."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from checker.engines.native.codegen.layout import lay_out
from checker.engines.native.codegen.packing import decode, encode, has_set, width
from checker.model import types as t
from checker.model.ir import TransitionSystem, Variable, VariableKind
from checker.model.types import Type
from tests.agreement.generator import Generator
from tests.native.models import system, two_phase

LEAVES = st.sampled_from(
    [t.BOOL, t.IntT(0, 0), t.IntT(-5, 6), t.AtomT("a", ("x", "y", "z"), 2), t.AtomT("one", ("x",))]
)


def _products(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    small = st.sampled_from([t.BOOL, t.IntT(-1, 3), t.TupleT((t.BOOL, t.IntT(0, 2)))])
    return st.one_of(
        st.builds(t.TupleT, st.lists(inner, max_size=3).map(tuple)),
        st.builds(t.OptionT, inner),
        st.builds(t.SetT, small),
        st.builds(t.MapT, small, inner),
        st.builds(t.SeqT, inner, st.integers(0, 3)),
        st.builds(t.BagT, inner, st.integers(0, 3)),
        st.lists(st.lists(inner, max_size=2), min_size=1, max_size=3).map(_variant),
    )


def _variant(cases: list[list[Type]]) -> Type:
    named = (t.Case("c", tuple(("f", field) for field in fields)) for fields in cases)
    return t.VariantT("V", tuple(named))


TYPES = st.recursive(LEAVES, _products, max_leaves=5)


def generator(data: st.DataObject) -> Generator:
    return Generator(lambda count: data.draw(st.integers(0, count - 1)))


@settings(deadline=None, derandomize=True, max_examples=300)
@given(TYPES, st.data())
def test_values_come_back_and_keep_their_order(type_: Type, data: st.DataObject) -> None:
    one, two = (generator(data).value(type_) for _ in range(2))
    codes = [encode(type_, value) for value in (one, two)]
    assert all(0 <= code < 1 << width(type_) for code in codes)
    assert [decode(type_, code) for code in codes] == [one, two]
    assert (codes[0] == codes[1]) == (one == two)
    if not has_set(type_):
        assert (codes[0] < codes[1]) == (t.sort_key(one) < t.sort_key(two))


def _of_types(types: list[Type]) -> TransitionSystem:
    variables = tuple(
        Variable(f"v{i}", type_, t.default(type_), VariableKind.SHARED)
        for i, type_ in enumerate(types)
    )
    return system("values", variables, ())


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.lists(TYPES, min_size=1, max_size=5), st.data())
def test_states_come_back(types: list[Type], data: st.DataObject) -> None:
    layout = lay_out(_of_types(types))
    state = tuple(generator(data).value(type_) for type_ in types)
    words = layout.pack(state)
    assert len(words) == layout.words
    assert all(0 <= word < 1 << 64 for word in words)
    assert layout.unpack(words) == state


def test_two_phase_commit_of_eight_fits_into_one_word() -> None:
    assert lay_out(two_phase(8)).words == 1


def test_large_maps_are_spread_over_words_and_the_gaps_are_used() -> None:
    table = t.MapT(t.IntT(0, 9), t.MapT(t.IntT(0, 3), t.IntT(0, 1 << 20)))
    row = t.MapT(t.IntT(0, 30), t.IntT(0, 1000))
    layout = lay_out(_of_types([t.BOOL, row, table, t.SetT(t.IntT(0, 99)), t.IntT(0, 7)]))
    assert layout.words == 8 + 20 + 2
