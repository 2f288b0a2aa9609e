"""The contract of engines that tell chance from the adversary.

What they return is the state graph as a Markov decision process (:mod:`checker.model.distributions`
defines it), with these conventions:

* A choice whose only effect is to leave the state as it is, and that takes no fairness constraint,
  is left out.
* Where no constraint is enabled, and so an execution may stay, the adversary has the choice to stay
  (``STAY``), unless it has none at all.  So it has where constraints are enabled that no choice can
  take.
* Each condition of ``justice`` is a constraint that is enabled where it does not hold, and that no
  choice takes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Sequence

from msgspec import Struct, field

from checker.engines.engine import Problem
from checker.model.ir import Expr, TransitionSystem
from checker.results.answer import Answer, Path, State

STAY = -1
"""The action of a choice to stay."""
NONE = -1
"""The constraint of a choice that takes none."""


WEIGHTS = 1 << 62
"""The weights of a choice sum to less than this."""


class TooFine(Exception):
    """Raised where the weights of a choice have no room."""


class ChanceProblem(Problem, frozen=True):
    """A system, and the closed conditions of which it matters where they hold."""

    conditions: tuple[Expr, ...] = ()


class Steps(Struct):
    """The arrays of a Markov decision process, as :class:`checker.chance.DecisionProcess` has them,
    with the number of each choice's action in its system, or ``STAY``."""

    first_choice: array[int] = field(default_factory=lambda: array("q", [0]))
    first_branch: array[int] = field(default_factory=lambda: array("q", [0]))
    target: array[int] = field(default_factory=lambda: array("q"))
    weight: array[int] = field(default_factory=lambda: array("q"))
    constraint: array[int] = field(default_factory=lambda: array("q"))
    action: array[int] = field(default_factory=lambda: array("q"))
    enabled: array[int] = field(default_factory=lambda: array("q"))
    initial: tuple[int, ...] = ()
    constraint_sets: tuple[frozenset[int], ...] = (frozenset(),)
    strong: frozenset[int] = frozenset()

    def add(
        self, action: int, constraint: int, targets: Sequence[int], weights: Sequence[int]
    ) -> None:
        """Adds a choice to the state that is being written; raises :class:`TooFine`."""
        if len(weights) > 1 and sum(weights) >= WEIGHTS:
            raise TooFine("the coins of a step have probabilities that are finer than 1 in 2^62")
        self.target.extend(targets)
        self.weight.extend(weights)
        self.first_branch.append(len(self.target))
        self.constraint.append(constraint)
        self.action.append(action)

    def end_state(self, enabled: int) -> None:
        """Ends the choices of a state, in which a set of constraints is enabled."""
        self.first_choice.append(len(self.first_branch) - 1)
        self.enabled.append(enabled)


class ChanceGraph(ABC):
    """The state graph of a system with the distributions of its steps.

    ``answer``: of the search; where it is not exhaustive, or a run meets an error, nothing else is
    defined.  ``missing``: why there is no graph although the search is exhaustive, or empty.
    ``seconds``: what it took.
    """

    answer: Answer
    system: TransitionSystem
    missing: str = ""
    seconds: float = 0.0
    steps: Steps

    @abstractmethod
    def state(self, number: int) -> State:
        """Returns a state."""

    @abstractmethod
    def satisfying(self, condition: int) -> set[int]:
        """Returns the states in which a condition of the problem holds."""

    @abstractmethod
    def path_to(self, number: int) -> Path:
        """Returns a shortest execution to a state."""
