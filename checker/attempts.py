"""Attempts at one check, with larger and larger guesses: what they have come to together.

An attempt that finds a guessed capacity too small is followed by one in a larger system.  That one
goes on from there where it can (:mod:`checker.exploration.grown`), and begins again where it can't;
if it is then cut short, an earlier attempt may have come further.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from checker.exploration.grown import Carry
from checker.system.alike import alike
from checker.system.instantiate.assemble import Instantiated
from checker.witness.answer import Answer, Restart


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

        Where that is exhaustive it is all there is to say.  Otherwise the one is taken that came
        furthest, with the violations that others have found.
        """
        answer = replace(answer, restarts=tuple(self._restarts))
        if answer.exhaustive or not self._earlier:
            return made, answer
        there, best = max((*self._earlier, (made, answer)), key=lambda each: _reach(each[1]))
        if best is answer and not any(a.violations for _, a in self._earlier):
            return made, answer
        ending = {"fault": answer.fault, "stopped": answer.stopped, "restarts": answer.restarts}
        if not alike(there.system, made.system):
            return there, replace(best, **{**ending, "fault": None})
        found = dict(best.violations)
        for one, other in (*self._earlier, (made, answer)):
            if alike(one.system, made.system):
                found = other.violations | found
        return made, replace(best, violations=found, **ending)


def _reach(answer: Answer) -> tuple[int, int, int]:
    """How much is known: violations, complete levels, states."""
    levels = answer.judged if answer.up_to is None else answer.up_to
    return len(answer.violations), levels, answer.distinct_states
