"""Names and numbers in English, for whatever is said of a run."""

from __future__ import annotations

from collections.abc import Iterable


def listing(names: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; empty for none."""
    *most, last = [*names] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def count(number: int, noun: str) -> str:
    """``1 state``, ``1,204 states``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
