"""Walks through trees, as they are written or typed."""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics import Span
from checker.records import fields, is_record


def nodes_of(root: object) -> Iterator[object]:
    """Yields the records in a tree, from the outside to the inside."""
    if isinstance(root, tuple):
        for part in root:
            yield from nodes_of(part)
    elif is_record(root) and not isinstance(root, Span):
        yield root
        for field in fields(root):
            yield from nodes_of(getattr(root, field.name))
