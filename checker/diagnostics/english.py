"""Names and numbers in English."""

from __future__ import annotations

from collections.abc import Iterable


def listing(names: Iterable[str], last: str = "and") -> str:
    """Returns ``a``, ``a and b``, ``a, b and c``, with ``last`` before the last one; empty for
    none."""
    *most, final = [*names] or [""]
    return f"{', '.join(most)} {last} {final}" if most else final


def count(number: int, noun: str, nouns: str = "") -> str:
    """Returns ``1 state``, ``1,204 states``; ``nouns``: the plural, where it does not end in a
    mere ``s``."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def times(count: int) -> str:
    """Returns `` twice``, `` 3 times``; nothing for once."""
    return "" if count == 1 else " twice" if count == 2 else f" {count} times"
