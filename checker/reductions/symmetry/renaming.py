"""The action of a renaming of atoms on values and states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from checker.model import types as t
from checker.model.evaluate import key_rank
from checker.model.interpreter import State
from checker.model.ir import Property, domain_item
from checker.model.memo import in_an_analysis_with
from checker.model.types import Type, Value, universe
from checker.reductions.reduction_plan import Atom, Permutation, Sorts, Symmetry


class Renaming:
    """Applies ``images`` to values; those of types whose atoms stay are returned unchanged."""

    def __init__(self, sorts: Sorts, images: Permutation) -> None:
        self.sorts, self.images = sorts, images
        self._moves: dict[Type, bool] = {}

    def moves(self, type_: Type) -> bool:
        """Whether some atom in values of ``type_`` is renamed."""
        known = self._moves.get(type_)
        if known is None:
            known = any(
                self.images[sort][atom] != atom for sort, atom in atoms_of(self.sorts, type_)
            )
            self._moves[type_] = known
        return known

    def value(self, type_: Type, value: Any) -> Any:
        """The renamed value: it is of ``type_`` if the renaming preserves the types of its
        atoms.
        """
        if not self.moves(type_):
            return value
        match type_:
            case t.BoolT() | t.IntT():
                return value
            case t.AtomT():
                sort = self.sorts.of(type_)
                return value if sort is None else self.images[sort][value]
            case t.TupleT(items):
                return tuple(self.value(i, v) for i, v in zip(items, value, strict=True))
            case t.OptionT(item):
                return None if value is None else (self.value(item, value[0]),)
            case t.SetT(item):
                return frozenset(self.value(item, v) for v in value)
            case t.MapT(key, item):
                entries = [self.value(item, v) for v in value]
                if not self.moves(key):
                    return tuple(entries)
                placed = list(entries)
                for k, entry in zip(universe(key), entries, strict=True):
                    placed[key_rank(key, self.value(key, k))] = entry
                return tuple(placed)
            case t.SeqT(item):
                return tuple(self.value(item, v) for v in value)
            case t.BagT(item):
                return tuple(sorted((self.value(item, v) for v in value), key=t.sort_key))
            case t.VariantT(cases=cases):
                fields = [field for _, field in cases[value[0]].fields]
                parts = zip(fields, value[1:], strict=True)
                return (value[0], *(self.value(f, v) for f, v in parts))
            case _:
                assert_never(type_)

    def state(self, types: Sequence[Type], state: State) -> State:
        """The renamed state; ``types`` are those of the variables."""
        return tuple(self.value(type_, v) for type_, v in zip(types, state, strict=True))


def fixed(
    symmetry: Symmetry | None, prop: Property, assignments: Sequence[tuple[Value, ...]]
) -> Sequence[tuple[Value, ...]]:
    """The assignments of the parameters of ``prop`` that no renaming of a group changes."""
    if symmetry is None:
        return assignments
    types = [domain_item(param.domain) for param in prop.params]
    swaps = [
        Renaming(symmetry.sorts, symmetry.swap(number, 0, i))
        for number, one in enumerate(symmetry.classes)
        for i in range(1, len(one.blocks))
    ]
    return [
        values
        for values in assignments
        if all(
            swap.value(type_, value) == value
            for swap in swaps
            for type_, value in zip(types, values, strict=True)
        )
    ]


@in_an_analysis_with
def atoms_of(sorts: Sorts, type_: Type) -> frozenset[Atom]:
    """The atoms that can occur in values of ``type_``, keys of maps included."""
    return frozenset(
        (sort, part.first + i)
        for part in t.parts_of(type_)
        if isinstance(part, t.AtomT) and (sort := sorts.of(part)) is not None
        for i in range(len(part.labels))
    )


def mentioned_atoms(sorts: Sorts, type_: Type, value: Any) -> frozenset[Atom]:
    """The atoms that occur in ``value``, keys of maps not counted."""
    match type_:
        case t.BoolT() | t.IntT():
            return frozenset()
        case t.AtomT():
            sort = sorts.of(type_)
            return frozenset() if sort is None else frozenset({(sort, value)})
        case t.TupleT(items):
            parts = list(zip(items, value, strict=True))
        case t.OptionT(item):
            parts = [] if value is None else [(item, value[0])]
        case t.SetT(item) | t.SeqT(item) | t.BagT(item) | t.MapT(_, item):
            parts = [(item, v) for v in value]
        case t.VariantT(cases=cases):
            parts = list(zip((f for _, f in cases[value[0]].fields), value[1:], strict=True))
        case _:
            assert_never(type_)
    return frozenset(atom for one, v in parts for atom in mentioned_atoms(sorts, one, v))


def facts(sorts: Sorts, type_: Type, value: Value) -> list[tuple[Atom | object, ...]]:
    """``value`` decomposed into rows that hold atoms, for comparing how atoms occur in it."""
    match type_:
        case t.AtomT():
            sort = sorts.of(type_)
            return [(("atom", sort, value) if sort is not None else value,)]
        case t.MapT(key, item):
            assert isinstance(value, tuple)
            return [
                (*k, *v)
                for rank, one in zip(universe(key), value, strict=True)
                for k in facts(sorts, key, rank)
                for v in facts(sorts, item, one)
            ]
        case t.SetT(item):
            assert isinstance(value, frozenset)
            return [("in", *row) for one in value for row in facts(sorts, item, one)]
        case t.TupleT(items):
            assert isinstance(value, tuple)
            pairs = list(enumerate(zip(items, value, strict=True)))
            return [tuple(x for i, (one, v) in pairs for row in facts(sorts, one, v) for x in row)]
        case _:
            return [(repr(value),)] if not mentioned_atoms(sorts, type_, value) else []
