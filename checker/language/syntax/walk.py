"""Walks through trees, as they are written or typed, takes their nodes apart and changes them.

Types and patterns are nodes, too; places in the text are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import is_
from typing import Any

from checker.diagnostics import Span
from checker.records import fields, is_record, replace

_NAMES: dict[type, tuple[str, ...]] = {}

_NOWHERE = Span("", 0, 0, 0, 0)


def field_names(kind: type) -> tuple[str, ...]:
    """Returns the names of the fields of the nodes of a class; none where it is no node's."""
    found = _NAMES.get(kind)
    if found is None:
        found = tuple(field.name for field in fields(kind)) if is_record(kind) else ()
        _NAMES[kind] = found
    return found


def parts(node: object) -> Iterator[object]:
    """Yields the values of the fields of ``node``, in order."""
    for name in field_names(type(node)):
        yield getattr(node, name)


def nodes_of(root: object, beyond: tuple[type, ...] = ()) -> Iterator[Any]:
    """Yields the nodes in a tree, from the outside to the inside, in order.

    Those of the classes ``beyond`` are left out, with everything inside of them.
    """
    todo = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple):
            todo.extend(reversed(node))
        elif _is_node(node) and not isinstance(node, beyond):
            yield node
            todo.extend([*parts(node)][::-1])


def mapped(node: Any, change: Callable[[Any], Any]) -> Any:
    """Returns ``node``, or a tuple, with ``change`` applied to each of its parts: itself where that
    changes nothing."""
    if isinstance(node, tuple):
        made = tuple(change(part) for part in node)
        return node if all(map(is_, made, node)) else made
    if not _is_node(node):
        return node
    found = {name: change(getattr(node, name)) for name in field_names(type(node))}
    found = {name: part for name, part in found.items() if part is not getattr(node, name)}
    return replace(node, **found) if found else node


def _is_node(node: object) -> bool:
    return is_record(type(node)) and not isinstance(node, Span)


def relocate(node: Any, span: Span = _NOWHERE) -> Any:
    """Returns ``node`` with all that it contains located at ``span``; with the same ``span``, trees
    that are written alike are equal."""
    return span if isinstance(node, Span) else mapped(node, lambda part: relocate(part, span))
