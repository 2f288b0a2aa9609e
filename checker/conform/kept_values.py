"""Converts values of a state, some of them unknown, to data that JSON can hold, and back.

Numbers, truth values and ``null`` are themselves, tuples are lists, sets and what is not known are
objects.  An unknown value has a number in its state, so that those that are the same stay so, and
its type.
"""

from __future__ import annotations

from typing import Any

from checker.conform.unknown import OneMember, Unknown
from checker.model import types as t

TYPES = {
    kind.__name__: kind
    for kind in (
        *(t.BoolT, t.IntT, t.AtomT, t.TupleT, t.OptionT, t.SetT, t.MapT, t.SeqT, t.BagT),
        *(t.Case, t.VariantT),
    )
}


def to_data(value: Any, numbers: dict[int, int] | None = None) -> Any:
    """Returns a value as data."""
    numbers = {} if numbers is None else numbers
    match value:
        case tuple():
            return [to_data(part, numbers) for part in value]
        case frozenset():
            return {"set": sorted((to_data(part, numbers) for part in value), key=repr)}
        case Unknown():
            number = numbers.setdefault(id(value), len(numbers))
            return {"unknown": number, "type": _type_to_data(value.type), "free": value.free}
        case OneMember():
            there, others = to_data(value.there, numbers), to_data(value.others, numbers)
            return {"member": value.process, "there": there, "others": others}
        case _:
            return value


def of_data(data: Any, known: dict[int, Unknown] | None = None) -> Any:
    """Returns the value that :func:`to_data` has made ``data`` of."""
    known = {} if known is None else known
    match data:
        case list():
            return tuple([of_data(part, known) for part in data])
        case {"set": items}:
            return frozenset(of_data(part, known) for part in items)
        case {"unknown": number, "type": type_, "free": free}:
            if number not in known:
                known[number] = Unknown(_type_of_data(type_), free)
            return known[number]
        case {"member": process, "there": there, "others": others}:
            return OneMember(process, of_data(there, known), of_data(others, known))
        case _:
            return data


def _type_to_data(type_: Any) -> Any:
    match type_:
        case tuple():
            return [_type_to_data(part) for part in type_]
        case None | str() | int():
            return type_
        case _:
            names = type(type_).__match_args__
            parts = {name: _type_to_data(getattr(type_, name)) for name in names}
            return {"of": type(type_).__name__, **parts}


def _type_of_data(data: Any) -> Any:
    match data:
        case list():
            return tuple([_type_of_data(part) for part in data])
        case {"of": name, **parts}:
            return TYPES[name](**{str(key): _type_of_data(part) for key, part in parts.items()})
        case _:
            return data
