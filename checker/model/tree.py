"""Traverses and rewrites the code of a transition system as a tree.

:func:`parts` and :func:`mapped` know the fields of nodes; every walk is one of them, repeated.
What a node does with names is in :mod:`checker.model.names`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from operator import is_
from typing import Any, TypeVar

from msgspec import Struct

from checker.diagnostics import Span
from checker.model import ir, types
from checker.model.memo import analysis_table, in_an_analysis, is_in_analysis
from checker.model.node import Node, values_of
from checker.polling import poll
from checker.records import fields, is_record

R = TypeVar("R")

_PLAIN = {k.__name__ for k in (str, int, bool, tuple, frozenset, Span, ir.SourceLocation)}
_PLAIN.add("None")
"""Fields annotated with nothing else contain no node."""

_PLAIN_IN_THE_MODEL = {"Type", "Value", ir.Op.__name__, ir.Quantifier.__name__}
"""Names that in nodes of the model mean what contains no node.  In those of the language a type may
contain expressions: the bounds of a range."""

Values = Callable[[Any], tuple[Any, ...]]


class _Layout(Struct, frozen=True):
    """Where the fields of a kind of node are: ``branches`` may contain nodes; ``numbers``: their
    positions among all fields, ``first`` that of the first one.  ``below`` and ``backwards`` get
    their values, in order and the last one first; ``every`` gets those of all fields."""

    branches: tuple[str, ...]
    numbers: dict[str, int]
    below: Values
    backwards: Values
    every: Values
    apart: dict[str, Any]
    first: int


class _Layouts(dict[type, _Layout | None]):
    """The layout of each kind of node, ``None`` for what is none: types, source locations and plain
    values."""

    def __missing__(self, kind: Any) -> _Layout | None:
        is_node = (
            is_record(kind) and kind is not ir.SourceLocation and kind.__module__ != types.__name__
        )
        self[kind] = _layout(kind) if is_node else None
        return self[kind]


_layouts = _Layouts()


def _layout(kind: Any) -> _Layout:
    names = tuple(f.name for f in fields(kind))
    words = {f.name: set(re.findall(r"\w+", str(f.type))) for f in fields(kind)}
    plain = _PLAIN | _PLAIN_IN_THE_MODEL if kind.__module__ == ir.__name__ else _PLAIN
    below = tuple(name for name in names if not words[name] <= plain)
    numbers = {name: i for i, name in enumerate(names)}
    apart = {f.name: f.default for f in fields(kind) if not f.compare}
    first = numbers[below[0]] if below else 0
    return _Layout(
        below, numbers, values_of(below), values_of(below[::-1]), values_of(names), apart, first
    )


def branches(kind: type) -> tuple[str, ...] | None:
    """Returns the fields of a kind of node that may contain nodes; ``None`` where it is no node."""
    layout = _layouts[kind]
    return None if layout is None else layout.branches


def values_below(node: Any) -> tuple[Any, ...]:
    """Returns the values of the fields of ``node`` that may contain nodes; none of what is no
    node."""
    layout = _layouts[type(node)]
    return () if layout is None else layout.below(node)


def parts(node: Any) -> list[Any]:
    """Returns the children of ``node``, or the nodes in a tuple, in order: expressions, domains,
    statements."""
    kind = type(node)
    if kind is tuple:
        below = node
    else:
        layout = _layouts[kind]
        below = () if layout is None else layout.below(node)
    found: list[Any] = []
    for value in below:
        inner = type(value)
        if inner is tuple:
            found += parts(value)
        elif _layouts[inner] is not None:
            found.append(value)
    return found


def fold(join: Callable[[Any, list[R]], R]) -> Callable[[Any], R]:
    """Returns the function whose value for a node, or a tuple, is ``join`` of it and of the values
    for its :func:`parts`; in an analysis each node is joined once."""

    def value(node: Any) -> R:
        return join(node, [kept(part) for part in parts(node)])

    kept = in_an_analysis(value)
    return kept


def mapped(node: Any, change: Callable[[Any], Any]) -> Any:
    """Returns ``node``, or a tuple, with ``change`` applied to each of its :func:`parts`: itself
    where that changes nothing."""
    kind = type(node)
    if kind is tuple:
        new = tuple(
            [
                mapped(part, change)
                if (inner := type(part)) is tuple
                else (part if _layouts[inner] is None else change(part))
                for part in node
            ]
        )
        return node if all(map(is_, new, node)) else new
    layout = _layouts[kind]
    if layout is None or not layout.branches:
        return node
    if len(layout.branches) == 1:
        (value,) = layout.below(node)
        inner = type(value)
        if inner is tuple:
            new = mapped(value, change)
        else:
            new = value if _layouts[inner] is None else change(value)
        if new is value:
            return node
        values, at = layout.every(node), layout.first
        return kind(*values[:at], new, *values[at + 1 :])
    found: dict[str, Any] = {}
    for name in layout.branches:
        value = getattr(node, name)
        inner = type(value)
        if inner is tuple:
            new = mapped(value, change)
        else:
            new = value if _layouts[inner] is None else change(value)
        if new is not value:
            found[name] = new
    return with_fields(node, found) if found else node


def with_fields(node: Any, found: dict[str, Any]) -> Any:
    """Returns ``node`` with other values of the fields in ``found``."""
    layout = _layouts[type(node)]
    assert layout is not None
    values = list(layout.every(node))
    for name, value in found.items():
        values[layout.numbers[name]] = value
    return type(node)(*values)


def rewritten(node: Any, change: Callable[[Any], Any]) -> Any:
    """Returns ``node`` with ``change`` applied, top down, wherever it does not return ``None``."""
    poll()
    changed = change(node)
    return mapped(node, lambda part: rewritten(part, change)) if changed is None else changed


def nodes(root: object, beyond: tuple[type, ...] = ()) -> Iterator[Any]:
    """Yields ``root``, or each part of a tuple, and everything below it, top down.

    Nodes of the types ``beyond`` are left out, with everything below them.
    """
    todo: list[Any] = [root]
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind is tuple:
            todo += node[::-1]
        elif (layout := _layouts[kind]) is not None and kind not in beyond:
            yield node
            if layout.branches:
                todo += layout.backwards(node)


def statements(block: ir.Block) -> Iterator[ir.Stmt]:
    """Yields all statements of ``block``, nested ones included."""
    for stmt in block:
        yield stmt
        match stmt:
            case ir.If(_, then, otherwise):
                yield from statements(then)
                yield from statements(otherwise)
            case ir.For(body=body) | ir.While(body=body):
                yield from statements(body)
            case _:
                pass


def loop_carried(loop: ir.While) -> frozenset[str]:
    """Returns the loop-carried locals: those that an iteration takes over from the one before."""
    inside = tuple(statements(loop.body))
    assigned = {s.target.name for s in inside if isinstance(s, ir.Assign) and not s.target.is_state}
    return frozenset(assigned - {s.name for s in inside if isinstance(s, ir.Declare)})


_placeless = analysis_table()


@in_an_analysis
def placeless(node: Any) -> Any:
    """Returns ``node`` without source locations and without fields that are not compared.

    In an analysis equal nodes become one, so that what is kept by identity is computed once for
    them all.
    """
    layout = _layouts[type(node)]
    if layout is not None and layout.apart:
        node = with_fields(node, layout.apart)
    found = mapped(node, placeless)
    if getattr(found, "place", None) is not None:
        found = with_fields(found, {"place": None})
    if isinstance(found, Node) and is_in_analysis():
        return _placeless.setdefault(found, found)
    return found
