"""Finite Markov decision processes, explicitly: the input of the analysis of probabilities.

Puterman, Markov Decision Processes (1994); Baier and Katoen, Principles of Model Checking (2008),
chapter 10.
"""

from __future__ import annotations

from array import array

from msgspec import Struct

NO_CONSTRAINT = -1
"""Stands for the fairness constraint of a choice that satisfies none."""


class DecisionProcess(Struct, frozen=True):
    """A finite Markov decision process with fairness constraints.

    States are ``0 .. n-1``.  The choices of state ``s`` are ``first_choice[s] ..
    first_choice[s + 1] - 1``, the branches of choice ``c`` are ``first_branch[c] ..
    first_branch[c + 1] - 1``; every choice has a branch.  ``target`` is the state that a branch
    leads to, ``weight`` a positive integer: its probability is its weight over the sum of those of
    its choice.  All arrays have type code ``q``.  ``initial``: the states in which an execution
    begins, one of which the adversary picks.

    ``constraint``: for each choice the fairness constraint that taking it satisfies, or
    :data:`NO_CONSTRAINT`.  ``enabled``: for each state an index into ``constraint_sets``, which has
    the constraints that are enabled there.  An execution is fair when each constraint of ``strong``
    that is enabled infinitely often is taken infinitely often, and each other one that is enabled
    from some point on is.  A constraint that no choice takes says that an execution can't stay
    where it is enabled.

    A state without choices is an end: an execution stays there, and it is fair.
    """

    first_choice: array[int]
    first_branch: array[int]
    target: array[int]
    weight: array[int]
    initial: tuple[int, ...]
    constraint: array[int]
    enabled: array[int]
    constraint_sets: tuple[frozenset[int], ...] = (frozenset(),)
    strong: frozenset[int] = frozenset()

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.first_choice) - 1

    @property
    def choices(self) -> int:
        """The number of choices of all states."""
        return len(self.first_branch) - 1

    @property
    def branches(self) -> int:
        """The number of branches of all choices."""
        return len(self.target)

    def choices_of(self, state: int) -> range:
        """Returns the choices of a state."""
        return range(self.first_choice[state], self.first_choice[state + 1])

    def branches_of(self, choice: int) -> range:
        """Returns the branches of a choice."""
        return range(self.first_branch[choice], self.first_branch[choice + 1])

    def enabled_in(self, state: int) -> frozenset[int]:
        """Returns the fairness constraints that are enabled in a state."""
        return self.constraint_sets[self.enabled[state]]
