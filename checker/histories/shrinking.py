"""Leaves out what is not needed."""

from __future__ import annotations

from collections.abc import Callable


def smallest(
    items: list[int],
    suffices: Callable[[list[int]], bool],
    goes_on: Callable[[], bool] = lambda: True,
    needed: int | None = None,
) -> list[int]:
    """Returns some of ``items`` that suffice, with the one that is ``needed``; none of the others
    can be left out alone, as long as it ``goes_on``.  Larger parts are tried before smaller ones.
    """
    kept = list(items)
    size = max(1, len(kept) // 2)
    while True:
        at = 0
        while at < len(kept) and goes_on():
            some = {each for each in kept[at : at + size] if each != needed}
            rest = [each for each in kept if each not in some]
            if some and suffices(rest):
                kept = rest
            else:
                at += size
        if size == 1:
            return kept
        size //= 2
