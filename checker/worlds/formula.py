"""Fits ``a * x > b * y + c`` to points that hold and points that fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

MOST = 9
"""The largest factor that is tried; and the largest summand, of either sign."""
SHOWN = 3
"""The largest number of other formulas that are named."""


class Formula(Struct, frozen=True):
    """``a * x > b * y + c``, where ``a`` and ``b`` are positive."""

    a: int
    b: int
    c: int

    def holds(self, x: int, y: int) -> bool:
        """Returns whether it is true of the numbers ``x`` and ``y``."""
        return self.a * x > self.b * y + self.c

    def text(self, x: str, y: str) -> str:
        """Returns it with names for the numbers: ``n > 3 * f``."""
        left, right = _times(self.a, x), _times(self.b, y)
        if self.c:
            right += f" {'+' if self.c > 0 else '-'} {abs(self.c)}"
        return f"{left} > {right}"


def _times(factor: int, name: str) -> str:
    return name if factor == 1 else f"{factor} * {name}"


def fits(holding: Iterable[tuple[int, int]], failing: Iterable[tuple[int, int]]) -> list[Formula]:
    """Returns the formulas with the least integers (by their sum, then without a summand) that are
    true of all points ``(x, y)`` that hold and of none that fails; none where no formula is, or
    where points of one kind only are known.

    Behind the first come others of nearly the same size, which the points do not tell from it.
    """
    good, bad = list(holding), list(failing)
    if not good or not bad:
        return []
    found: list[Formula] = []
    for each in sorted(_formulas(), key=lambda f: (_size(f), abs(f.c), f.a)):
        if found and _size(each) > _size(found[0]) + 1:
            break
        if all(each.holds(*p) for p in good) and not any(each.holds(*p) for p in bad):
            found.append(each)
    return found[: SHOWN + 1]


def _size(formula: Formula) -> int:
    return formula.a + formula.b + abs(formula.c)


def _formulas() -> Iterator[Formula]:
    for a in range(1, MOST + 1):
        for b in range(1, MOST + 1):
            for c in range(-MOST, MOST + 1):
                yield Formula(a, b, c)
