"""Dataclasses as JSON objects, and back: one key for each field, nothing added, nothing guessed.

Pairs of a name and a text are objects with ``name`` and ``value``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints, overload

R = TypeVar("R")

PAIR = (str, str)


def to_data(value: object) -> Any:
    """Returns ``value``, made of dataclasses, tuples and plain values, as JSON data."""
    if is_dataclass(value) and not isinstance(value, type):
        hints = _hints(type(value))
        return {f.name: _field(getattr(value, f.name), hints[f.name]) for f in fields(value)}
    if isinstance(value, tuple):
        return [to_data(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def _field(value: Any, hint: Any) -> Any:
    if _of_pairs(hint):
        return [{"name": name, "value": text} for name, text in value]
    return to_data(value)


@overload
def read(kind: type[R], data: object) -> R: ...
@overload
def read(kind: Any, data: object) -> Any: ...
def read(kind: Any, data: object) -> Any:
    """Returns the value of type ``kind`` that :func:`to_data` wrote.

    Raises ``TypeError``, ``KeyError`` or ``ValueError`` where ``data`` is none.
    """
    if isinstance(kind, type) and is_dataclass(kind):
        return _record(kind, data)
    if get_origin(kind) in (UnionType, Union):
        if data is None and NoneType in get_args(kind):
            return None
        (inner,) = [arg for arg in get_args(kind) if arg is not NoneType]
        return read(inner, data)
    if get_origin(kind) is tuple:
        return _tuple(kind, data)
    if get_origin(kind) is not None or not isinstance(kind, type):  # a mapping of plain values
        if not isinstance(data, dict):
            raise TypeError(f"expected an object, found {data!r}")
        return dict(data)
    if type(data) is not kind:
        raise TypeError(f"expected {_type_name(kind)}, found {data!r}")
    return data


def _record(kind: Any, data: object) -> Any:
    if not isinstance(data, dict):
        raise TypeError(f"expected an object, found {data!r}")
    hints = _hints(kind)
    return kind(**{f.name: read(hints[f.name], data[f.name]) for f in fields(kind)})


def _tuple(kind: Any, data: object) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise TypeError(f"expected a list, found {data!r}")
    if _of_pairs(kind):
        return tuple((read(str, pair["name"]), read(str, pair["value"])) for pair in data)
    item = get_args(kind)[0]
    return tuple(read(item, each) for each in data)


def _of_pairs(hint: Any) -> bool:
    return get_origin(hint) is tuple and get_args(get_args(hint)[0]) == PAIR


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _type_name(kind: type) -> str:
    return {str: "a text", int: "a whole number", bool: "true or false"}.get(kind, kind.__name__)
