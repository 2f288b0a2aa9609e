"""Every expression of a typed protocol, wherever it stands."""

from __future__ import annotations

from collections.abc import Iterator

from checker.lang import typed
from checker.system.tree import backwards


def nodes(root: object) -> Iterator[object]:
    """``root`` and every node of the typed tree below it, from the top down.

    Types are among them; layers, interfaces and places in a file are not."""
    todo = [root]
    while todo:
        node = todo.pop()
        below = backwards(type(node))
        if below is not None and not isinstance(node, typed.Layer | typed.Interface):
            yield node
            todo.extend(below(node))
        elif isinstance(node, tuple):
            todo.extend(reversed(node))


def expressions_of(root: object) -> Iterator[typed.Expr]:
    """Every expression below ``root``."""
    for node in nodes(root):
        if isinstance(node, typed.Expr):
            yield node


def histories_in(formula: object) -> Iterator[tuple[typed.History | typed.Acts, bool]]:
    """The histories that ``formula`` speaks of, and of each whether their order, their number or a
    position in them is asked for, and not only who is a member."""
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
