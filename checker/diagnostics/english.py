"""Names and numbers in English."""

from __future__ import annotations

import re
from collections.abc import Iterable

_IES = re.compile(r"(?<![aeiou])y$")
_HISSES = ("s", "x", "ch", "sh")
"""The ends of nouns whose plurals do not end in a mere ``s``."""


def listing(names: Iterable[str], last: str = "and") -> str:
    """Returns ``a``, ``a and b``, ``a, b and c``, with ``last`` before the last one; empty for
    none."""
    *most, final = [*names] or [""]
    return f"{', '.join(most)} {last} {final}" if most else final


def count(number: int, noun: str) -> str:
    """Returns ``1 state``, ``1,204 states``, ``0 properties``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {_IES.sub('ie', noun)}{'es' if noun.endswith(_HISSES) else 's'}"


def times(count: int) -> str:
    """Returns `` twice``, `` 3 times``; nothing for once."""
    return "" if count == 1 else " twice" if count == 2 else f" {count} times"
