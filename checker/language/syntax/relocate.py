"""Moves syntax trees to another location."""

from __future__ import annotations

from typing import Any

from checker.diagnostics import Span
from checker.records import fields, is_record, replace

_NOWHERE = Span("", 0, 0, 0, 0)


def relocate(node: Any, span: Span = _NOWHERE) -> Any:
    """Returns ``node`` with all that it contains located at ``span``; with the same ``span``, trees
    that are written alike are equal."""
    if isinstance(node, Span):
        return span
    if isinstance(node, tuple):
        return tuple(relocate(part, span) for part in node)
    if is_record(node) and not isinstance(node, type):
        parts = {f.name: relocate(getattr(node, f.name), span) for f in fields(node)}
        return replace(node, **parts)
    return node
