"""Takes nodes of syntax trees and typed trees apart."""

from __future__ import annotations

from collections.abc import Iterator

from checker.records import fields, is_record

_NAMES: dict[type, tuple[str, ...]] = {}


def field_names(kind: type) -> tuple[str, ...]:
    """Returns the names of the fields of the nodes of a class; none where it is no node's."""
    found = _NAMES.get(kind)
    if found is None:
        found = tuple(field.name for field in fields(kind)) if is_record(kind) else ()
        _NAMES[kind] = found
    return found


def parts(node: object) -> Iterator[object]:
    """Yields what the fields of ``node`` are, in their order; nothing where it has none."""
    for name in field_names(type(node)):
        yield getattr(node, name)
