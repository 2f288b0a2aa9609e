"""Code of a transition system as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from checker.system import ir, types

_fields: dict[type, tuple[str, ...]] = {}


def branches(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node in which other nodes may be; none where it is no node: types,
    places and plain values are none."""
    found = _fields.get(kind)
    if found is None:
        node = is_dataclass(kind) and kind is not ir.Place and kind.__module__ != types.__name__
        found = _fields[kind] = tuple(f.name for f in fields(kind)) if node else ()
    return found


def parts(node: object) -> Iterator[Any]:
    """What ``node`` is made of, one level down: expressions, domains, statements."""
    for name in branches(type(node)):
        value = getattr(node, name)
        for part in value if isinstance(value, tuple) else (value,):
            if branches(type(part)):
                yield part


def nodes(root: object) -> Iterator[Any]:
    """``root``, or each part of a tuple, and everything below it, from the top down."""
    todo = list(reversed(root)) if isinstance(root, tuple) else [root]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple):
            todo.extend(reversed(node))
        elif branches(type(node)):
            yield node
            todo.extend(reversed(tuple(parts(node))))
