"""Systems of linear equations of Markov chains, solved exactly.

The equations are solved modulo a prime once, by elimination: edges to an eliminated state lead to
its successors instead (Daws 2004; the order, the state with the fewest pairs of edges first, is
that of Markowitz, 1957).  From that follow as many digits of the solution in base of the prime as
are wanted (Dixon 1982), from these the fractions (Wang 1981).  Fractions are returned only after
they have been substituted in the equations, so neither the prime nor the number of digits matters
to what is found.  No fraction is computed with in between: those of an elimination in rationals
have thousands of digits.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction
from math import gcd, isqrt, lcm
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from checker.polling import poll

T = TypeVar("T", bound=Hashable)

PRIMES = (2**61 - 1, 2**89 - 1, 2**107 - 1)
"""A system that has one solution may have another number of them modulo a prime; then the next one
is used."""


class Equation(Struct, Generic[T]):
    """``x = constant + sum coefficient * y``."""

    constant: Fraction
    terms: dict[T, Fraction] = msgspec.field(default_factory=dict)


class _Eliminated(Struct):
    """The elimination of an unknown from its equation: divided by 1 minus its own coefficient
    (``factor`` is the inverse), its right side replaced it in the equations of ``sources``;
    ``terms``: that right side."""

    number: int
    factor: int
    sources: list[tuple[int, int]]
    terms: list[tuple[int, int]]


class _Modular:
    """The equations ``x = b + sum rows[x][y] * y`` modulo ``prime``, solved for every ``b``.

    Raises ``ZeroDivisionError`` where there is no solution, or more than one.
    """

    def __init__(self, rows: list[dict[int, int]], prime: int) -> None:
        self._prime, self._rows = prime, rows
        self._before: list[set[int]] = [set() for _ in rows]
        for number, row in enumerate(rows):
            for other in row:
                self._before[other].add(number)
        self._done = [self._eliminate(number) for number in self._order()]

    def _order(self) -> Iterator[int]:
        """Yields the unknowns, one that makes few terms first."""

        def cost(number: int) -> int:
            return len(self._before[number]) * len(self._rows[number])

        queue = [(cost(number), number) for number in range(len(self._rows))]
        heapq.heapify(queue)
        while queue:
            poll()
            known, number = heapq.heappop(queue)
            now = cost(number)
            if now > known and queue and now > queue[0][0]:
                heapq.heappush(queue, (now, number))
            else:
                yield number

    def _eliminate(self, number: int) -> _Eliminated:
        """Substitutes the right side for an unknown wherever that occurs."""
        prime, rows, before = self._prime, self._rows, self._before
        own = rows[number]
        factor = pow(1 - own.pop(number, 0), -1, prime) if own.get(number) != 1 else 0
        if not factor:
            raise ZeroDivisionError("the chain does not leave these states")
        before[number].discard(number)
        terms = [(other, share * factor % prime) for other, share in own.items()]
        sources = [(source, rows[source].pop(number)) for source in before[number]]
        for source, share in sources:
            row = rows[source]
            for other, more in terms:
                row[other] = (row.get(other, 0) + share * more) % prime
                before[other].add(source)
        for other, _ in terms:
            before[other].discard(number)
        return _Eliminated(number, factor, sources, terms)

    def solve(self, constants: list[int]) -> list[int]:
        """Returns the solution for these constants."""
        prime, values = self._prime, [constant % self._prime for constant in constants]
        for one in self._done:
            value = values[one.number] = values[one.number] * one.factor % prime
            if value:
                for source, share in one.sources:
                    values[source] += share * value
        for one in reversed(self._done):
            later = sum(share * values[other] for other, share in one.terms)
            values[one.number] = (values[one.number] + later) % prime
        return values


def solve(equations: Mapping[T, Equation[T]]) -> dict[T, Fraction]:
    """Returns the solution; each unknown on a right side has an equation.

    Raises ``ZeroDivisionError`` where there is none, or more than one.
    """
    if all(not equation.terms for equation in equations.values()):
        return {unknown: equation.constant for unknown, equation in equations.items()}
    numbers = {unknown: number for number, unknown in enumerate(equations)}
    system = _Integers(
        [{numbers[other]: share for other, share in e.terms.items()} for e in equations.values()],
        [equation.constant for equation in equations.values()],
    )
    return dict(zip(equations, system.solution(), strict=True))


class _Integers:
    """The equations multiplied by common denominators: ``whole[x] * x = right[x] / below + sum
    weights[x][y] * y``."""

    def __init__(self, terms: list[dict[int, Fraction]], constants: list[Fraction]) -> None:
        self.whole = [lcm(*(share.denominator for share in row.values())) for row in terms]
        self.weights = [
            [(other, int(share * whole)) for other, share in row.items()]
            for row, whole in zip(terms, self.whole, strict=True)
        ]
        scaled = [c * whole for c, whole in zip(constants, self.whole, strict=True)]
        self.below = lcm(*(constant.denominator for constant in scaled))
        self.right = [int(constant * self.below) for constant in scaled]

    def solution(self) -> list[Fraction]:
        """Returns the solution."""
        for prime in PRIMES:
            try:
                return self._lifted(prime)
            except (ValueError, ZeroDivisionError):  # no inverse modulo this prime
                continue
        raise ZeroDivisionError("the chain does not leave these states")

    def _lifted(self, prime: int) -> list[Fraction]:
        inverses = {whole: pow(whole, -1, prime) for whole in set(self.whole)}
        rows = [
            {other: weight * inverses[whole] % prime for other, weight in row}
            for row, whole in zip(self.weights, self.whole, strict=True)
        ]
        modular = _Modular(rows, prime)
        left, power, next_try = self.right, 1, 1
        found = [0] * len(left)
        for count in range(1, 2**63):
            poll()
            scaled = [r * inverses[w] for r, w in zip(left, self.whole, strict=True)]
            digits = modular.solve(scaled)
            found = [value + power * digit for value, digit in zip(found, digits, strict=True)]
            power *= prime
            left = [r // prime for r in self._residues(left, digits)]
            if count == next_try:
                next_try += 1 + count // 4
                values = _fractions(found, power)
                if values is not None and self._are_right(values):
                    return [value / self.below for value in values]
        raise AssertionError

    def _residues(self, right: list[int], values: list[int]) -> Iterator[int]:
        """Yields by how much the two sides differ."""
        for r, whole, value, row in zip(right, self.whole, values, self.weights, strict=True):
            yield r - whole * value + sum(weight * values[other] for other, weight in row)

    def _are_right(self, values: list[Fraction]) -> bool:
        """Tells whether these values, times ``below``, solve the equations."""
        denominator = lcm(*(value.denominator for value in values))
        whole = [value.numerator * (denominator // value.denominator) for value in values]
        return not any(self._residues([r * denominator for r in self.right], whole))


def _fractions(residues: list[int], modulus: int) -> list[Fraction] | None:
    """Returns the fractions that are congruent to ``residues``, whose parts are smaller than the
    root of half of the modulus; ``None`` where some have none.  Most have a denominator that was
    found already."""
    bound, denominator, found = isqrt(modulus // 2), 1, list[Fraction]()
    for residue in residues:
        poll()
        value = residue * denominator % modulus
        old, new, before, now = modulus, value, 0, 1
        if modulus - value <= bound:
            new, now = modulus - value, -1
        while new > bound:
            quotient = old // new
            old, new = new, old - quotient * new
            before, now = now, before - quotient * now
        if abs(now) * denominator > bound or gcd(new, now) != 1:
            return None
        found.append(Fraction(new if now > 0 else -new, abs(now) * denominator))
        denominator *= abs(now)
    return found
