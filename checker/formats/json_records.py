"""Records as JSON objects, and back: nothing added but what their forms say, nothing guessed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints, overload

from checker.formats.forms import FORMS, PAIR, PLAIN, Form

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Member:
    """A field of a record: its name and its key, its type with annotations, and for a tuple of
    tuples the keys of these."""

    name: str
    key: str
    hint: Any
    items: tuple[str, ...]


def form_of(kind: type) -> Form:
    """Returns the form of the JSON objects of records of a class."""
    return FORMS.get(kind, PLAIN)


@cache
def members(kind: Any) -> tuple[Member, ...]:
    """Returns the fields of the dataclass ``kind``, in the order of its JSON object."""
    form, hints = form_of(kind), get_type_hints(kind, include_extras=True)
    names = dict.fromkeys((*form.first, *(f.name for f in fields(kind))))
    return tuple(
        Member(
            name,
            form.keys.get(name, name),
            hints[name],
            form.items.get(name, PAIR) if _is_tuple_of_tuples(hints[name]) else (),
        )
        for name in names
    )


def bare(hint: Any) -> Any:
    """Returns a type without annotations around it."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def is_union(hint: Any) -> bool:
    """Returns whether a type has alternatives."""
    return get_origin(hint) in (UnionType, Union)


def _is_tuple_of_tuples(hint: Any) -> bool:
    outer = bare(hint)
    return get_origin(outer) is tuple and get_origin(bare(get_args(outer)[0])) is tuple


def to_data(value: object) -> Any:
    """Returns ``value``, made of records, tuples and plain values, as JSON data."""
    if is_dataclass(value) and not isinstance(value, type):
        return _object(value)
    if isinstance(value, tuple):
        return [to_data(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return dict(value) if isinstance(value, Mapping) else value


def _object(record: Any) -> dict[str, Any]:
    kind: Any = type(record)
    form = form_of(kind)
    document: dict[str, Any] = dict(form.constants)
    for member in members(kind):
        value = getattr(record, member.name)
        if member.name == form.inlined:
            document |= _object(value)
        elif member.name not in form.optional or getattr(record, form.optional[member.name]):
            document[member.key] = _value(value, member, form)
    document |= {name: getattr(record, name) for name in form.derived}
    return {**document, "digest": digest(document)} if form.sealed else document


def _value(value: Any, member: Member, form: Form) -> Any:
    if member.items:
        return [dict(zip(member.items, map(to_data, item), strict=True)) for item in value]
    digits = form.digits.get(member.name)
    return to_data(value if digits is None else round(value, digits))


def digest(document: dict[str, Any]) -> str:
    """Returns the SHA-256 of a JSON object, independent of the order of its keys and its layout."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@overload
def read(kind: type[R], data: object) -> R: ...
@overload
def read(kind: Any, data: object) -> Any: ...
def read(kind: Any, data: object) -> Any:
    """Returns the value of type ``kind`` that :func:`to_data` wrote.

    Raises ``TypeError``, ``KeyError`` or ``ValueError`` where ``data`` is none.
    """
    kind = bare(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return _record(kind, data)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(data)
    if is_union(kind):
        return _alternative(kind, data)
    if get_origin(kind) is tuple:
        return tuple(read(get_args(kind)[0], each) for each in _typed(list, data))
    if get_origin(kind) is not None:  # a mapping from texts
        return {key: read(get_args(kind)[1], each) for key, each in _typed(dict, data).items()}
    return _typed(kind, data)


def _record(kind: Any, data: object) -> Any:
    found, inlined = _typed(dict, data), form_of(kind).inlined
    values: dict[str, Any] = {}
    for member in members(kind):
        if member.name == inlined:
            values[member.name] = read(member.hint, found)
        elif member.key not in found and member.name in form_of(kind).optional:
            continue
        elif member.items:
            values[member.name] = _read_items(member, found[member.key])
        else:
            values[member.name] = read(member.hint, found[member.key])
    return kind(**values)


def _read_items(member: Member, data: object) -> tuple[Any, ...]:
    kinds = get_args(bare(get_args(bare(member.hint))[0]))
    return tuple(
        tuple(read(kind, item[key]) for key, kind in zip(member.items, kinds, strict=True))
        for item in _typed(list, data)
    )


def _alternative(kind: Any, data: object) -> Any:
    if data is None and NoneType in get_args(kind):
        return None
    some = [bare(arg) for arg in get_args(kind) if arg is not NoneType]
    if len(some) == 1:
        return read(some[0], data)
    if type(data) not in [get_origin(each) or each for each in some]:
        raise TypeError(f"found {data!r}, which has another type")
    return data


def _typed(kind: type[R], data: object) -> R:
    if type(data) is not kind:
        raise TypeError(f"expected {_TYPES.get(kind, kind.__name__)}, found {data!r}")
    return data


_TYPES: Mapping[type, str] = {
    str: "a string",
    int: "an integer",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}
