"""Intervals that are certain to contain the value of a quotient.

Values are improved by sweeps (Gauss and Seidel), component after component, until they hardly
change; how wrong they may then be follows from a bound and not from how little they change (Haddad
and Monmege, Interval iteration algorithm for MDPs and IMDPs, 2018, have the example where it is
wrong).  After each sweep over all choices some go over the best ones only (modified policy
iteration: Puterman and Shin, 1978), which are fewer.

**The bound.**  Let ``B`` be the operator of optimality, ``x`` any values, and ``h`` a *rank*: 0 or
more, with ``h(s) >= 1 + sum p h(t)`` for every choice of every state in between.  If ``x - b <= B x
<= x + a`` everywhere, then the value is between ``x - b h`` and ``x + a h``.

*Proof.*  Let ``u = x + a h``.  For each choice, ``r + P u = r + P x + a P h <= (x + a) + a (h - 1)
= u``, so ``B u <= u``, and the value, the least fixpoint of ``B``, is at most ``u``.  Let ``l = x -
b h``, and take in each state the choice that attains ``B x``: ``r + P l = r + P x - b P h >= (x -
b) - b (h - 1) = l``.  The scheduler of these choices leaves the states in between with probability
1, or ``h`` would have no solution; so what it attains is the limit of its operator from ``l`` on,
at least ``l``, and at most the value.

A rank is found in the same way: sweeps that count 1 for each step, from 0 on, until ``B h <= h +
e`` with ``e < 1``; then ``h / (1 - e)`` is one, since ``1 + P h / (1 - e) <= (1 + P h - e) / (1 -
e) <= h / (1 - e)``.  It has a solution because the quotient has no end components.

All three conditions are checked in integers that are rounded outward
(:mod:`checker.chance.native_sweeps`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct

from checker.chance.kernels import kernels, numbers, words
from checker.chance.quotient import Quotient
from checker.polling import poll

RANK_SCALE = 20
"""A rank is a multiple of ``2**-20`` steps."""
QUOTA = 1 << 24
"""States visited, a second or less of them, between two looks at the clock."""
SMALL = 4096
"""The largest number of states of a quotient for which sweeps end early: rationals are faster."""
PATIENCE = 2
"""The largest number of quotas that are then spent on one query."""
REPEATS = 16
"""The number of sweeps over the best choices between two over all choices."""
LONG = 1 << 10
"""After so many quotas none do: value iteration is slower, and comes to an end from any values
(Bertsekas and Tsitsiklis 1991), which is not known of the other where a scheduler may stay."""
Progress = Callable[[int, int], None]
"""Is told how many components are done, and of how many."""


def silent(done: int, of: int) -> None:
    """Tells nobody."""


class StiffError(ArithmeticError):
    """Sweeps can't solve these equations in time: executions stay in them too long."""


class Interval(Struct, frozen=True):
    """Two rationals that surely have the value between them, the ends included."""

    lower: Fraction
    upper: Fraction

    @property
    def width(self) -> Fraction:
        """How far apart they are."""
        return self.upper - self.lower

    def complement(self) -> Interval:
        """Returns the interval of 1 minus the value."""
        return Interval(1 - self.upper, 1 - self.lower)


class Sweeps(Struct):
    """Values of the states of a quotient, and how they are improved.

    ``reward``: what each choice counts (``None``: nothing), times ``2**shift``; ``constant``: what
    each choice counts beside, in units of a value; ``repeats``: sweeps over the best choices behind
    each one over all (0: values that are below those that are sought stay there).
    """

    quotient: Quotient
    values: array[Any]
    reward: array[Any] | None = None
    constant: int = 0
    shift: int = 0
    spent: int = 0
    repeats: int = REPEATS

    @property
    def _given(self) -> tuple[array[Any] | None, ...]:
        return *self.quotient.arrays.given, self.reward, self.values

    def solve(self, sense: str, limit: int, progress: Progress = silent) -> None:
        """Sweeps until no value changes by more than ``limit``; ``sense``: ``max`` or ``min``.

        Raises :class:`StiffError` where the quotient is small, and that takes long.
        """
        q, run, at = self.quotient, kernels(), 0
        chosen = numbers(max(q.numbered, 1))
        while at < q.components:
            if q.numbered <= SMALL and self.spent >= PATIENCE:
                raise StiffError
            poll()
            run.stop.clear()
            repeats = self.repeats if self.spent < LONG else 0
            given = at, q.components, self.constant, self.shift, limit, repeats, QUOTA
            at = run(f"solve_{sense}", *self._given, chosen, q.bounds, *given)
            self.spent += at < q.components
            progress(at, q.components)

    def residual(self, sense: str) -> tuple[int, int]:
        """Returns by how much ``B x`` is larger than ``x`` at most, and by how much smaller;
        ``sense``: of the largest or the smallest values."""
        found = words(2)
        kernels()(f"residual_{sense}", *self._given, found, *self._all)
        return found[0], found[1]

    def greedy(self, sense: str) -> array[Any]:
        """Returns the best choice of each state (of the quotient)."""
        chosen = array("I", [0]) * max(self.quotient.numbered, 1)
        kernels()(f"greedy_{sense}", *self._given, chosen, *self._all)
        return chosen

    @property
    def _all(self) -> tuple[int, int, int, int]:
        return 0, self.quotient.numbered, self.constant, self.shift


class Rank(Struct, frozen=True):
    """A rank of each state, in steps: see the module."""

    values: array[Any]
    factor: Fraction

    def of(self, state: int) -> Fraction:
        """Returns the rank of a state of the quotient."""
        return int(self.values[state]) * self.factor

    def largest(self) -> Fraction:
        """Returns the rank of the highest."""
        return int(max(self.values)) * self.factor


def find_rank(quotient: Quotient, progress: Progress = silent) -> Rank:
    """Returns a rank of a quotient without end components."""
    unit = 1 << RANK_SCALE
    sweeps = Sweeps(quotient, words(quotient.numbered + 2), constant=unit)
    limit = unit >> 2
    while True:
        sweeps.solve("max", limit, progress)
        above, _ = sweeps.residual("max")
        if above <= unit >> 1:
            return Rank(sweeps.values, Fraction(1, unit - above))
        if not limit:
            raise StiffError
        limit >>= 1


class Approximation(Struct, frozen=True):
    """Values and how wrong they are at most, as multiples of the rank of a state.

    ``unit``: the meaning of a value of 1.  ``chosen``: the choice of each state.  ``exact``: the
    values, where they are known.
    """

    quotient: Quotient
    values: array[Any]
    rank: Rank
    unit: Fraction
    above: int
    below: int
    chosen: array[Any]
    exact: Sequence[Fraction] | None = None

    def interval(self, state: int) -> Interval:
        """Returns an interval that holds the value of a state of the process."""
        number = self.quotient.classes[state]
        if self.exact is not None:
            return Interval(self.exact[number], self.exact[number])
        value, rank = self.values[number], self.rank.of(number)
        if number >= self.quotient.numbered:
            return Interval(value * self.unit, value * self.unit)
        lower = (value - self.below * rank) * self.unit
        return Interval(max(lower, Fraction(0)), (value + self.above * rank) * self.unit)


SCALE = 60
"""A probability is a multiple of ``2**-60`` here."""


def approximate(
    quotient: Quotient, states: Iterable[int], width: Fraction, progress: Progress = silent
) -> Approximation:
    """Returns the maximal probability of reaching the target, for each state, so that the intervals
    of ``states`` are at most ``width`` wide, if numbers of 62 bits can be so exact."""
    sweeps = Sweeps(quotient, words(quotient.numbered + 2), shift=SCALE)
    sweeps.values[quotient.numbered] = 1 << SCALE
    return from_below(sweeps, find_rank(quotient, progress), states, width, progress)


def from_below(
    sweeps: Sweeps, rank: Rank, states: Iterable[int], width: Fraction, progress: Progress
) -> Approximation:
    """Returns the largest values, in units of ``2**-sweeps.shift``, as :func:`approximate` does."""
    quotient, scale = sweeps.quotient, 1 << sweeps.shift
    longest = max([Fraction(1), *(rank.of(quotient.classes[state]) for state in states)])
    limit, unit = int(width * scale / (2 * longest)), Fraction(1, scale)
    while True:
        sweeps.solve("max", limit, progress)
        above, below = sweeps.residual("max")
        if (above + below) * longest * unit <= width or not limit:
            chosen = sweeps.greedy("max")
            return Approximation(quotient, sweeps.values, rank, unit, above, below, chosen)
        limit >>= 2
