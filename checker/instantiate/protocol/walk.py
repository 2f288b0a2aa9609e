"""Traverses the typed tree of a protocol."""

from __future__ import annotations

from collections.abc import Iterator

from checker.language.syntax import typed
from checker.model import tree


def nodes(root: object) -> Iterator[object]:
    """Yields ``root`` and every node of the typed tree below it, top down.

    Types are among them; layers, interfaces and source locations are not.
    """
    return tree.nodes(root, (typed.Layer, typed.Interface))


def expressions_of(root: object) -> Iterator[typed.Expr]:
    """Yields every expression below ``root``."""
    for node in nodes(root):
        if isinstance(node, typed.Expr):
            yield node


def histories_in(formula: object) -> Iterator[tuple[typed.History | typed.Acts, bool]]:
    """Yields the histories that ``formula`` reads, each with whether the order, number or position
    of entries matters, and not only membership."""
    members: set[int] = set()
    for node in nodes(formula):
        match node:
            case typed.Operation(_, "in" | "not in", (_, typed.History() | typed.Acts() as log), _):
                members.add(id(log))
            case typed.Binder(_, typed.History() | typed.Acts() as log, _):
                members.add(id(log))
            case _:
                pass
    for node in nodes(formula):
        if isinstance(node, typed.History | typed.Acts):
            yield node, id(node) not in members
