"""The contract of engines that compute valence (Fischer, Lynch and Paterson 1985).

The valence of a state is the set of values that some state reachable from it has decided.  Without
a process *p* it is the same over the steps that are not *p*'s (Völzer 2004).  Both are the least
fixpoint, over the whole state graph, of what is decided in a state or open in a successor.

A state has a *word*: ``values`` bits for what is open, as many for what is open without each
process, in order, and as many for what is decided.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from msgspec import Struct

from checker.engines.engine import Problem
from checker.model.ir import Expr
from checker.results.answer import Answer, Path, State

WIDEST = 64
"""The largest number of bits of a word."""
MOST_VALUES = 15
"""The largest number of values: see
:data:`checker.engines.native.codegen.state_predicates.FEW`."""
USUAL = "decide"
"""The indication that is meant where the user names none."""


class WordLayout(Struct, frozen=True):
    """The bits of words for so many ``values`` and ``processes``."""

    values: int
    processes: int

    @property
    def bits(self) -> int:
        """The bits of a word."""
        return self.values * (self.processes + 2)

    @property
    def whole(self) -> int:
        """A set of all values, as bits."""
        return (1 << self.values) - 1

    def begin(self, decided: int) -> int:
        """Returns the word of a state in which ``decided`` is decided, before anything else is
        known."""
        return sum(decided << self.values * plane for plane in range(self.processes + 2))

    @property
    def decided_at(self) -> int:
        """The first bit of what is decided."""
        return self.values * (self.processes + 1)

    def open(self, word: int) -> int:
        """Returns the values that can still be decided, or are."""
        return word & self.whole

    def without(self, word: int, process: int) -> int:
        """Returns the same where ``process`` (from 0) takes no further step."""
        return word >> self.values * (process + 1) & self.whole

    def decided(self, word: int) -> int:
        """Returns the values that are decided."""
        return word >> self.decided_at & self.whole

    def kept(self, actor: int | None) -> int:
        """Returns the bits that a state takes over from its successor by a step of ``actor``
        (``None``: of no process)."""
        every = (1 << self.decided_at) - 1
        return every if actor is None else every & ~(self.whole << self.values * (actor + 1))

    def is_bivalent(self, word: int) -> bool:
        """Returns whether more than one value is open."""
        found = self.open(word)
        return bool(found & (found - 1))


class ValenceUnknown(Exception):
    """A query about a graph is undecided; the message says why."""


class ValenceProblem(Problem, frozen=True):
    """A system, and the closed conditions that say, for each value, that it is decided."""

    decided: tuple[Expr, ...] = ()

    @property
    def layout(self) -> WordLayout:
        """The bits of the words of its states."""
        return WordLayout(len(self.decided), len(self.system.processes))


class ValenceGraph(ABC):
    """The state graph of a system, with the word of each state; the same for every engine.

    ``answer``: of the search; where it is not exhaustive, or a run meets an error, nothing else is
    defined.  ``missing``: why there is no graph although the search is exhaustive, or empty.
    ``edges``: how many there are; ``bytes_per_state``: of the words; ``seconds``: for the graph,
    and for the words.  ``levels``: for each level, how many states have each word.
    """

    answer: Answer
    missing: str = ""
    edges: int = 0
    bytes_per_state: int = 0
    seconds: tuple[float, float] = (0.0, 0.0)
    levels: tuple[Mapping[int, int], ...] = ()

    @abstractmethod
    def word(self, state: State) -> int | None:
        """Returns the word of a state; ``None`` where it can't be reached.  This and the queries
        below raise :class:`ValenceUnknown`."""

    @abstractmethod
    def nearest(self, wanted: Callable[[int], bool]) -> Path | None:
        """Returns a shortest execution to a state whose word is ``wanted``."""

    @abstractmethod
    def critical(self, most: int) -> tuple[int, tuple[Path, ...]]:
        """Returns how many states are critical, and shortest executions to ``most`` of them.

        A state is critical where nothing is decided, more than one value is open, and after each
        step to another state no more than one is.
        """

    @abstractmethod
    def undecided_run(self, *, bivalent: bool) -> Path | None:
        """Returns a fair execution, as a lasso, in whose loop nothing is decided, and in each state
        of it more than one value is open (where ``bivalent``); ``None``: there is none."""
