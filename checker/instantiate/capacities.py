"""How far the capacities of a system are enlarged that were guessed for it."""

from __future__ import annotations

WORDS = "words within a request"
"""The capacity that bounds how many indications an oracle makes within a request."""

MOST_WORDS = 7
"""The limit of that capacity: more indications would have too many orders."""

FAMILY = "instances of "
"""Prefix of the capacities that are numbers of instances."""

LARGEST_FAMILY = 32
"""The largest number of instances of a family."""

LARGEST_CAPACITY = 1 << 12
"""A capacity found by the tool is not enlarged beyond this: such a system is unbounded."""


def enlarge_bound(capacity: int) -> int:
    """Returns about twice ``capacity``: one bit more for a number, twice the places for a
    length."""
    return 2 * capacity + capacity % 2


def maximum_bound(capacity: str) -> int:
    """Returns the bound beyond which ``capacity`` is not enlarged; instances of layers cost code,
    words of oracles cost branching, not bits."""
    if capacity == WORDS:
        return MOST_WORDS
    return LARGEST_FAMILY if capacity.startswith(FAMILY) else LARGEST_CAPACITY


def limit_text(capacity: str, size: int) -> str:
    """Returns why nothing more is known where ``size`` of ``capacity`` is too small and no larger
    one is tried."""
    outgrown = f"`{capacity}` outgrew {size:,}"
    if capacity == WORDS:
        return f"{outgrown}: a property of the oracle's interface can say how often it indicates"
    return f"{outgrown}: give it a bound"
