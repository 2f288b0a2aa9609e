"""Objectives: the queries about an execution."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from enum import Enum

from msgspec import Struct


class Kind(Enum):
    """An objective about a set of states."""

    EVENTUALLY = "eventually"
    ALWAYS = "always"
    INFINITELY_OFTEN = "infinitely often"
    PERSISTENTLY = "eventually always"


_OPPOSITE = {
    Kind.EVENTUALLY: Kind.ALWAYS,
    Kind.ALWAYS: Kind.EVENTUALLY,
    Kind.INFINITELY_OFTEN: Kind.PERSISTENTLY,
    Kind.PERSISTENTLY: Kind.INFINITELY_OFTEN,
}


class Objective(Struct, frozen=True):
    """``kind`` of a set of ``states``."""

    kind: Kind
    states: AbstractSet[int]

    @property
    def is_lost_outside(self) -> bool:
        """Whether it is missed as soon as another state is reached."""
        return self.kind is Kind.ALWAYS

    def negation(self, count: int) -> Objective:
        """Returns what an execution does that misses this; ``count``: of all states."""
        return Objective(_OPPOSITE[self.kind], frozenset(range(count)) - self.states)
