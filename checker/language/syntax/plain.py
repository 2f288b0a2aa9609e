"""Serialises trees and tables as JSON: data only, nothing executable.

A compound value (a tuple, a list, a dict, a record) is a JSON list: first its
kind, then its parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from checker.records import fields, is_record

Kinds = Mapping[str, type]
"""Dataclasses by name."""
NONE: Kinds = {}

TUPLE, LIST, DICT = "", "list", "dict"


def kinds(*modules: ModuleType) -> Kinds:
    """Returns the classes of records in the namespaces of ``modules``, by name."""
    found = (kind for module in modules for kind in vars(module).values() if is_record(kind))
    return {kind.__name__: kind for kind in found if isinstance(kind, type)}


def dump(value: object) -> bytes:
    """Serialises ``value``, made of records, tuples, lists, dicts, strings, integers, Booleans
    and ``None``."""
    return json.dumps(_to_data(value), separators=(",", ":")).encode()


def load(data: bytes, known: Kinds = NONE) -> Any:
    """Restores what :func:`dump` wrote, with classes of records from ``known``.

    Raises ``ValueError``, ``KeyError``, ``TypeError``, ``AttributeError`` or ``RecursionError`` for
    any other ``data``.
    """
    return _from_data(json.loads(data), known)


def _to_data(value: object) -> object:
    match value:
        case None | bool() | int() | str():
            return value
        case tuple():
            return [TUPLE, *map(_to_data, value)]
        case list():
            return [LIST, *map(_to_data, value)]
        case dict():
            return [DICT, *(_to_data(part) for pair in value.items() for part in pair)]
    parts = (getattr(value, field.name) for field in fields(value))
    return [type(value).__name__, *map(_to_data, parts)]


def _from_data(data: Any, known: Kinds) -> Any:
    if type(data) is not list:
        return data
    kind, *rest = data
    parts: Iterable[Any] = (_from_data(part, known) for part in rest)
    if kind == TUPLE:
        return tuple(parts)
    if kind == LIST:
        return list(parts)
    if kind == DICT:
        return dict(zip(parts, parts, strict=True))  # one iterator: a key, then its value
    return known[kind](*parts)
