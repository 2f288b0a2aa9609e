"""Finds what a protocol stores and nobody reads: state that occurs only where it is assigned."""

from __future__ import annotations

from checker.diagnostics import Span
from checker.language.syntax import ast, ast_items
from checker.language.syntax.walk import nodes_of, parts


def unread_assignments(
    spec: ast_items.Spec, protocol: ast_items.Protocol
) -> list[tuple[Span, str]]:
    """Returns where the protocol assigns a state that it, its variants and the properties of the
    file read nowhere but for its own next value, and the name of that state."""
    others = (item for item in spec.items if not isinstance(item, ast_items.Protocol))
    nodes = [*nodes_of((protocol, *others))]
    assigned: dict[str, list[ast.Assign]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            assigned.setdefault(_stored(node.target), []).append(node)
    declared = {n.name.text for n in nodes_of(protocol) if isinstance(n, ast_items.State)}
    return [
        (each.span, name)
        for name in declared & assigned.keys()
        if _mentions(nodes, name)
        == _declarations(nodes, name)
        + sum(_mentions([*nodes_of(each)], name) for each in assigned[name])
        for each in assigned[name]
    ]


def _stored(target: ast.Expr) -> str:
    while isinstance(target, ast.IndexOf | ast.FieldOf):
        target = target.base
    return target.text if isinstance(target, ast.Name) else ""


def _declarations(nodes: list[object], name: str) -> int:
    return sum(isinstance(node, ast_items.State) and node.name.text == name for node in nodes)


def _mentions(nodes: list[object], name: str) -> int:
    return sum(name in [*parts(node)] for node in nodes)
