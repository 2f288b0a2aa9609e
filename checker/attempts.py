"""Attempts at one check, with larger and larger guesses: what they have come to together.

An attempt that finds a guessed capacity too small is followed by one in a larger system.  That one
goes on from there where it can (:mod:`checker.exploration.grown`), and begins again where it can't;
if it is then cut short, an earlier attempt may have come further.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from checker.exploration.grown import Carry
from checker.kernels.image import MIN_LEVEL_BITS
from checker.kernels.layout import WORD, Layout, lay_out
from checker.scout import larger, largest
from checker.system.alike import alike
from checker.system.instantiate.assemble import Instantiated
from checker.system.ir import TransitionSystem
from checker.witness.answer import Answer, Restart, Unsupported

LONG = 100_000
"""After so many states it is worth guessing more than twice as much, where that costs nothing."""
TWICE = 3
"""Up to so many times more."""


class Attempts:
    """``carry``: what the last attempt has left to the next one."""

    def __init__(self) -> None:
        self.carry = Carry()
        self._earlier: list[tuple[Instantiated, Answer]] = []
        self._restarts: list[Restart] = []

    def answered(self) -> None:
        """The last attempt has come to its end."""
        if self._restarts:
            self._restarts[-1] = replace(self._restarts[-1], kept=self.carry.went_on)

    def outgrown(
        self, made: Instantiated, answer: Answer | None, larger: Mapping[str, int]
    ) -> None:
        """The last attempt needs ``larger`` capacities; there is no answer where there is not even
        an initial state."""
        if answer is not None:
            self._earlier.append((made, answer))
        names = tuple(name for name, size in larger.items() if size != made.capacities[name])
        self._restarts.append(
            Restart(
                tuple((name, made.capacities[name], larger[name]) for name in names),
                0 if answer is None else answer.distinct_states,
                0 if answer is None else answer.depth,
            )
        )

    def together(self, made: Instantiated, answer: Answer) -> tuple[Instantiated, Answer]:
        """The answer of all attempts; ``answer`` is the last one's.

        Where that is exhaustive, or has met an error, it is all there is to say.  Otherwise the one
        is taken that came furthest, with the violations that others have found.
        """
        answer = replace(answer, restarts=tuple(self._restarts))
        if answer.exhaustive or answer.fault is not None or not self._earlier:
            return made, answer
        there, best = max((*self._earlier, (made, answer)), key=lambda each: _reach(each[1]))
        if best is answer and not any(a.violations for _, a in self._earlier):
            return made, answer
        best = replace(best, fault=None, stopped=answer.stopped, restarts=answer.restarts)
        if not alike(there.system, made.system):
            return there, best
        found = dict(best.violations)
        for one, other in (*self._earlier, (made, answer)):
            if alike(one.system, made.system):
                found = other.violations | found
        return made, replace(best, violations=found)


def _reach(answer: Answer) -> tuple[int, int, int]:
    """How much is known: violations, complete levels, states."""
    levels = answer.judged if answer.up_to is None else answer.up_to
    return len(answer.violations), levels, answer.distinct_states


def enlarged(
    make: Callable[[Mapping[str, int]], Instantiated],
    capacities: Mapping[str, int],
    too_small: Sequence[str],
    states: int,
) -> dict[str, int]:
    """``capacities``, those that are too small about twice as large; more where that was found out
    after many ``states``, and no state takes more words for it.

    The number of states decides, not a time, so that what is explored is the same everywhere.
    """
    found = _twice(capacities, too_small)
    if states < LONG:
        return found
    system = make(found).system
    for _ in range(TWICE):
        more = _twice(found, too_small)
        if any(more[name] > largest(name) for name in too_small):
            break
        if not _is_free(system, make(more).system):
            break
        found = more
    return found


def _twice(capacities: Mapping[str, int], names: Sequence[str]) -> dict[str, int]:
    return {**capacities, **{name: larger(capacities[name]) for name in names}}


def _is_free(system: TransitionSystem, other: TransitionSystem) -> bool:
    """Whether states of the other system take no more words, and there is no more code to it."""
    try:
        here, there = lay_out(system), lay_out(other)
    except Unsupported:
        return False
    levels = _free(here) < MIN_LEVEL_BITS or _free(there) >= MIN_LEVEL_BITS
    return there.words == here.words and levels and alike(system, other)


def _free(layout: Layout) -> int:
    """Bits of a state's key in which a level may stand."""
    return WORD - 1 - layout.bits if layout.words == 1 else 0
