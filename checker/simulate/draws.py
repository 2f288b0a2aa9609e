"""What is drawn in a random walk, as a function of the seed, the walk, the step and the states.

Nothing depends on the order in which an engine finds successors, and nothing on other walks, so
each engine makes the same walk for the same seed and number, on any number of threads:

* a walk's *key* is a hash of the seed and its number; so are its first state, its rate of faults,
  and the weights of the actions in it, each a power of four.  Walks differ in what is frequent in
  them (swarm testing: Groce, Zhang, Eide, Chen, Regehr, ISSTA 2012);
* of an action's successors other than the state itself, the one is its candidate whose hash with
  the walk's key and the step is the smallest: each is as likely as the others;
* whether there is a fault, where one is enabled, is drawn with the rate, then an action among those
  of that kind that have a candidate, by weight.

Hashes are of 64 bits, of words (:mod:`checker.engines.native.codegen.layout`).  This is the plain
definition; :mod:`checker.engines.native.codegen.walk_loop` is the same in machine code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from hashlib import sha256

from msgspec import Struct

from checker.engines.native.codegen.layout import Layout, lay_out
from checker.engines.native.codegen.packing import TooWide
from checker.model.interpreter import State
from checker.model.ir import TransitionSystem
from checker.results.answer import Unsupported

FACTOR = 0xD6E8FEB86659FD93
BITS = (1 << 64) - 1

RATES = (0, 3277, 13107, 32768)
"""How often a fault is drawn where one is enabled, in 65,536: 0, 0.05, 0.2 and 0.5."""
POWERS = 4
"""An action's weight is 4 to the power of a number less than this."""


def mix(word: int) -> int:
    """Returns 64 well mixed bits; a bijection."""
    for _ in range(2):
        word = ((word ^ word >> 32) * FACTOR) & BITS
    return word ^ word >> 32


def joined(key: int, what: int) -> int:
    """Returns a hash of a key and a word."""
    return mix((key * FACTOR + what) & BITS)


def hash_of(words: Sequence[int]) -> int:
    """Returns a hash of the words of a state."""
    return reduce(joined, words[1:], mix(words[0]))


class Hashes:
    """Hashes of the states of a system."""

    def __init__(self, system: TransitionSystem) -> None:
        self._layout: Layout | None = None
        try:
            self._layout = lay_out(system)
        except (TooWide, Unsupported):
            pass  # no engine but the interpreter takes such a system

    def of(self, state: State) -> int:
        """Returns the hash of ``state``."""
        if self._layout is None:
            return int.from_bytes(sha256(repr(state).encode()).digest()[:8], "little")
        return hash_of(self._layout.pack(state))


class WalkDraws(Struct, frozen=True):
    """The draws of one walk."""

    key: int

    @staticmethod
    def of(seed: int, number: int) -> WalkDraws:
        """Returns those of walk ``number`` of ``seed``."""
        return WalkDraws(joined(seed, number))

    @property
    def rate(self) -> int:
        """The rate of faults, in 65,536."""
        return RATES[joined(self.key, 1) % len(RATES)]

    def start(self, count: int) -> int:
        """Returns which of ``count`` first states the walk has."""
        return joined(self.key, 2) % count

    def weight(self, action: int) -> int:
        """Returns the weight of an action, given by its number."""
        return 1 << 2 * (joined(self.key, (1 << 8) + action) % POWERS)

    def step_key(self, step: int) -> int:
        """Returns the key of step ``step``, counted from 0."""
        return joined(self.key, (1 << 32) + step)

    def action(self, step: int, enabled: Iterable[int], faults: Sequence[bool]) -> int | None:
        """Returns the action of step ``step``: one of ``enabled``, ascending numbers; ``faults``:
        which of all actions are faults.  ``None``: the walk is over.
        """
        key = self.step_key(step)
        totals = {True: 0, False: 0}
        drawn: dict[bool, int | None] = {True: None, False: None}
        for number in enabled:
            kind, weight = faults[number], self.weight(number)
            totals[kind] += weight
            if joined(key, number) % totals[kind] < weight:
                drawn[kind] = number
        wrong = totals[True] > 0 and joined(key, 1 << 32) & 0xFFFF < self.rate
        return drawn[wrong]

    def successor(self, step: int, among: Mapping[State, int]) -> State:
        """Returns the successor that is taken of ``among``, with their hashes."""
        key = self.step_key(step)
        return min(among, key=lambda state: joined(key, among[state]))
