"""Code of a transition system as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass


def nodes(root: object) -> Iterator[object]:
    """``root``, or each part of a tuple, and everything below it: the dataclasses among it."""
    if isinstance(root, tuple):
        for part in root:
            yield from nodes(part)
    elif is_dataclass(root) and not isinstance(root, type):
        yield root
        for field in fields(root):
            yield from nodes(getattr(root, field.name))
