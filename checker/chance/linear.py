"""Systems of linear equations of Markov chains, solved exactly.

States are eliminated one by one: edges to an eliminated state lead to its successors instead
(Daws 2004; the order, the state with the fewest pairs of edges first, is that of Markowitz, 1957).
No number is subtracted except, from 1, the probability to return.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from checker.polling import poll

T = TypeVar("T", bound=Hashable)


class Equation(Struct, Generic[T]):
    """``x = constant + sum coefficient * y``."""

    constant: Fraction
    terms: dict[T, Fraction] = msgspec.field(default_factory=dict)


@dataclass(slots=True)
class _Elimination(Generic[T]):
    equations: dict[T, Equation[T]]
    sources: dict[T, set[T]] = field(init=False)

    def __post_init__(self) -> None:
        self.sources = {unknown: set() for unknown in self.equations}
        for unknown, equation in self.equations.items():
            for other in equation.terms:
                self.sources[other].add(unknown)

    def cost(self, unknown: T) -> int:
        """Returns how many terms its elimination may make."""
        return len(self.sources[unknown]) * len(self.equations[unknown].terms)

    def eliminate(self, unknown: T) -> None:
        """Substitutes the right side for ``unknown`` wherever that occurs."""
        own = self.equations[unknown]
        returning = own.terms.pop(unknown, None)
        if returning is not None:
            if returning == 1:
                raise ZeroDivisionError("the chain does not leave these states")
            self.sources[unknown].discard(unknown)
            factor = 1 / (1 - returning)
            own.constant *= factor
            own.terms = {other: share * factor for other, share in own.terms.items()}
        for source in self.sources.pop(unknown):
            equation = self.equations[source]
            share = equation.terms.pop(unknown)
            equation.constant += share * own.constant
            for other, more in own.terms.items():
                before = equation.terms.get(other)
                equation.terms[other] = share * more if before is None else before + share * more
                self.sources[other].add(source)
        for other in own.terms:
            self.sources[other].discard(unknown)


def solve(equations: Mapping[T, Equation[T]]) -> dict[T, Fraction]:
    """Returns the solution; every unknown on a right side has an equation.  Changes ``equations``.

    Raises ``ZeroDivisionError`` where there is none, or more than one.
    """
    if len(equations) == 1:
        ((unknown, equation),) = equations.items()
        if not equation.terms:
            return {unknown: equation.constant}
    elimination = _Elimination(dict(equations))
    queue = [(elimination.cost(u), i, u) for i, u in enumerate(equations)]
    heapq.heapify(queue)
    done = list[T]()
    while queue:
        poll()
        cost, i, unknown = heapq.heappop(queue)
        now = elimination.cost(unknown)
        if now > cost and queue and now > queue[0][0]:
            heapq.heappush(queue, (now, i, unknown))
            continue
        elimination.eliminate(unknown)
        done.append(unknown)
    return _substituted(done, elimination.equations)


def _substituted(done: Sequence[T], equations: Mapping[T, Equation[T]]) -> dict[T, Fraction]:
    """Returns the values, those eliminated last first."""
    values: dict[T, Fraction] = {}
    for unknown in reversed(done):
        equation = equations[unknown]
        terms = (share * values[other] for other, share in equation.terms.items())
        values[unknown] = sum(terms, equation.constant)
    return values
