"""Records: values with named fields, mostly :class:`msgspec.Struct`.

A class is a dataclass where it needs more than a Struct has, fields that are not compared or lazily
computed properties; those of :mod:`checker.model.node` keep their hashes.  What follows takes all.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any, NamedTuple, TypeVar

from msgspec import NODEFAULT, Struct, structs

R = TypeVar("R")


class RecordField(NamedTuple):
    """A field: ``type``, its annotation as written; ``default``: a value, or ``MISSING``;
    ``compare``: whether it is part of the value of the record."""

    name: str
    type: Any
    default: Any
    compare: bool = True


MISSING = dataclasses.MISSING
"""Stands for the default of a field without one, or with a function that makes one."""


def replace(record: R, /, **changes: Any) -> R:
    """Returns a copy of ``record`` with other values of the fields in ``changes``; raises
    ``TypeError`` if a name is not a field."""
    if isinstance(record, Struct):
        return structs.replace(record, **changes)
    if hasattr(record, "record_fields"):
        kept = {f.name: getattr(record, f.name) for f in record.record_fields}
        return type(record)(**{**kept, **changes})
    return dataclasses.replace(record, **changes)  # type: ignore[type-var]


def is_record(value: object) -> bool:
    """Returns whether ``value`` is a record, or a class of records."""
    kind = value if isinstance(value, type) else type(value)
    if issubclass(kind, Struct):
        return kind is not Struct
    return hasattr(kind, "record_fields") or dataclasses.is_dataclass(kind)


def fields(value: object) -> tuple[RecordField, ...]:
    """Returns the fields of a record, or of a class of records, in order."""
    return _fields(value if isinstance(value, type) else type(value))


@cache
def _fields(kind: Any) -> tuple[RecordField, ...]:
    if hasattr(kind, "record_fields"):
        declared: tuple[RecordField, ...] = kind.record_fields
        return declared
    if not issubclass(kind, Struct):
        return tuple(
            RecordField(each.name, each.type, each.default, bool(each.compare))
            for each in dataclasses.fields(kind)
        )
    types: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        types.update(vars(base).get("__annotations__", {}))
    names, given = kind.__struct_fields__, kind.__struct_defaults__
    defaults = [NODEFAULT] * (len(names) - len(given)) + list(given)
    return tuple(
        RecordField(name, types[name], MISSING if _is_made(default) else default)
        for name, default in zip(names, defaults, strict=True)
    )


def _is_made(default: Any) -> bool:
    """Returns whether a field of a Struct has no default, or a function that makes one."""
    return default is NODEFAULT or type(default).__name__ == "Factory"
