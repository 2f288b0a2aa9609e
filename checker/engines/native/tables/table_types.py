"""Types of the transition system as columns of tables, and their values as Arrow takes them.

=============  ==========================================================================
type           column
=============  ==========================================================================
``BoolT``      ``bool``
``IntT``       ``int64``; ``string`` where the range is larger
``AtomT``      ``string``: the label
``TupleT``     ``struct``; the fields of a plain tuple are ``_1``, ``_2`` …
``OptionT``    the column of the item, null where there is nothing; an option of an option is a
               ``struct`` with the field ``value``
``SetT``       ``list``, ascending
``MapT``       ``map``; keys that are neither atoms, integers nor truth values are in words
``SeqT``       ``list``
``BagT``       ``list``, ascending; what is in it twice is there twice
``VariantT``   ``string``: as a trace shows it
=============  ==========================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, assert_never

import pyarrow as pa

from checker.model import types as t
from checker.model.types import Type, Value
from checker.results.show_values import show

Plain = Callable[[Value], Any]
"""Makes what Arrow takes from a value of one type."""

REMEMBERED = 1 << 16
"""Parts of states recur: the number of values of a column whose conversion is cached."""


def column_names(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """A column for each of ``names``, different from each other and from ``taken`` in any case.

    Letters, digits and ``_`` are kept: ``@history.deliver`` becomes ``history_deliver``.  Names
    that are columns already come first where two would be the same; the others get a number.
    """
    wanted = list(names)
    found: dict[int, str] = {}
    used = {name.lower() for name in taken}
    order = sorted(range(len(wanted)), key=lambda i: _column(wanted[i]) != wanted[i])
    for i in order:
        base = name = _column(wanted[i])
        number = 2
        while name.lower() in used:
            name, number = f"{base}_{number}", number + 1
        used.add(name.lower())
        found[i] = name
    return [found[i] for i in range(len(wanted))]


def _column(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_") or "_"


def arrow_type(type_: Type) -> pa.DataType:
    """The Arrow type of a column of values of ``type_``."""
    match type_:
        case t.BoolT():
            return pa.bool_()
        case t.IntT():
            return pa.int64() if _fits(type_) else pa.string()
        case t.AtomT() | t.VariantT():
            return pa.string()
        case t.TupleT(items):
            if not items:
                return pa.string()  # Parquet has no struct without fields
            fields = zip(_fields(type_), items, strict=True)
            return pa.struct([(name, arrow_type(item)) for name, item in fields])
        case t.OptionT(item):
            inner = arrow_type(item)
            return pa.struct([("value", inner)]) if isinstance(item, t.OptionT) else inner
        case t.SetT(item) | t.SeqT(item) | t.BagT(item):
            return pa.list_(arrow_type(item))
        case t.MapT(key, value):
            keys = arrow_type(key) if _is_key(key) else pa.string()
            return pa.map_(keys, arrow_type(value))
        case _:
            assert_never(type_)


def converter(type_: Type) -> Plain:
    """The values of ``type_`` as Arrow takes them for a column of :func:`arrow_type`."""
    convert = _converter(type_)
    if isinstance(type_, t.BoolT | t.IntT | t.AtomT):
        return convert
    known: dict[Value, Any] = {}

    def memoized(value: Value) -> Any:
        if value not in known:
            if len(known) >= REMEMBERED:
                known.clear()
            known[value] = convert(value)
        return known[value]

    return memoized


def _converter(type_: Type) -> Callable[[Any], Any]:
    match type_:
        case t.BoolT():
            return bool
        case t.IntT():
            return int if _fits(type_) else str
        case t.AtomT(labels=labels, first=first):
            return lambda value: labels[value - first]
        case t.VariantT():
            return lambda value: show(type_, value)
        case t.TupleT(items):
            return _of_tuple(type_) if items else lambda _: "()"
        case t.OptionT(item):
            one = _converter(item)
            if isinstance(item, t.OptionT):
                return lambda value: None if value is None else {"value": one(value[0])}
            return lambda value: None if value is None else one(value[0])
        case t.SetT(item):
            one = _converter(item)
            return lambda value: [one(v) for v in sorted(value, key=t.sort_key)]
        case t.SeqT(item) | t.BagT(item):
            one = _converter(item)
            return lambda value: [one(v) for v in value]
        case t.MapT(key, item):
            return _of_map(key, _converter(item))
        case _:
            assert_never(type_)


def _of_tuple(type_: t.TupleT) -> Plain:
    parts = list(zip(_fields(type_), map(_converter, type_.items), strict=True))
    return lambda value: {
        name: convert(v) for (name, convert), v in zip(parts, _items(value), strict=True)
    }


def _of_map(key: Type, convert: Plain) -> Plain:
    named = _converter(key) if _is_key(key) else lambda value: show(key, value)
    keys = [named(value) for value in t.universe(key)]
    return lambda value: [(name, convert(v)) for name, v in zip(keys, _items(value), strict=True)]


def _items(value: Any) -> tuple[Value, ...]:
    assert isinstance(value, tuple)
    return value


def _fields(type_: t.TupleT) -> list[str]:
    plain = [f"_{i}" for i in range(1, len(type_.items) + 1)]
    return column_names(type_.names) if type_.names else plain


def _is_key(type_: Type) -> bool:
    return isinstance(type_, t.BoolT | t.IntT | t.AtomT)


def _fits(type_: t.IntT) -> bool:
    return type_.lo >= -(1 << 63) and type_.hi < 1 << 63
