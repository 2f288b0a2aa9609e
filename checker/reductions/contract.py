"""The contract of reductions: what each of them has to provide.

A :class:`Reduction` is one object: its name, the column of what is proven for it, and its analysis,
which makes a :class:`checker.reductions.reduction_plan.PlanPart` of a system.  To be used it is
entered in the registry (:func:`checker.reductions.registry.register`); nothing else names it.

In the proofs ``G`` is the graph of all reachable states and their steps, where a step always leads
to another state (:mod:`checker.model.ir`), and ``N`` what is explored instead: orbits (symmetry),
states whose dead parts are reset (dead parts), the same states with fewer steps (partial order).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from msgspec import Struct

from checker.model.ir import TransitionSystem
from checker.reductions.reduction_plan import PlanPart


class Ask(Enum):
    """The queries; the value describes each in words."""

    EVERY = "safety (what must hold in every state)"
    LENGTH = "the length of a shortest run to a bad state, the depth"
    END = "liveness (`eventually`, `~>` over growing histories), no cycles"
    ROUND = "the same if the state graph has a cycle"
    FOLLOWED = "any other temporal formula, monitored from the initial states"
    FAIR = "whether any run is fair"
    PREMISE = "whether a premise ever holds"
    HAPPENS = "which handlers run and which messages are sent"
    FAULT = "run-time errors"
    STATES = "the number of states"
    COVERAGE = "coverage, tables of all states"
    VALENCE = "the values that can still be decided in each state"
    DEPTH = "verdicts up to `--max-depth`"
    BUDGET = "verdicts when another limit ends the run"
    VIEW = "verdicts with a view"


class Use(Enum):
    """Whether a reduction is used for a query."""

    PROVEN = "yes"
    ACYCLIC = "if the state graph is acyclic"
    UNFOLDED = "yes; cycles are unfolded"
    CONFIRMED = "yes; absence is confirmed without it"
    NO = "no"


class TableEntry(Struct, frozen=True):
    """``why``: the reason given where it is not used, or where there is a cycle; ``proof``: a
    sketch, or the argument that fails; ``where``: a further condition that is decided for each
    system; ``test``: what checks the cell, as ``file::function`` below ``tests/``.
    """

    use: Use
    proof: str
    source: str
    test: str
    why: str = ""
    where: str = ""


MONITORED = "`{name}` is monitored from the initial states"
"""How the reason begins where a formula that needs the product with an automaton forbids more."""

GOES_ROUND = "the state graph has a cycle"
"""The reason when a proof requires an acyclic state graph."""

Column = Mapping[Ask, TableEntry]
"""The proofs about a reduction: an entry for each query."""

Found = tuple[PlanPart | None, tuple[str, ...]]
"""The result of an analysis of a system: its part of the plan, and reasons in words why there is
none or why it is smaller than possible.
"""


class Reduction(Struct, frozen=True):
    """A way to explore less.

    ``name``: in documents; ``title``: in reports and tables; ``mode``: the choice of ``--reduce``
    that requests it by name, perhaps together with others; ``column``: what is proven for which
    query, complete; ``analyse``: is called where the column admits all queries.
    """

    name: str
    title: str
    mode: str
    column: Column
    analyse: Callable[[TransitionSystem], Found]

    def __post_init__(self) -> None:
        missing = [ask.name for ask in Ask if ask not in self.column]
        if missing:
            raise ValueError(f"{self.name} has no entry for {', '.join(missing)}")

    @property
    def keeps_lengths(self) -> bool:
        """Whether shortest executions are as long as without it."""
        return self.column[Ask.LENGTH].use is Use.PROVEN

    @property
    def shows_all(self) -> bool:
        """Whether events and premises that are not seen with it never occur or hold."""
        return all(self.column[ask].use is Use.PROVEN for ask in (Ask.HAPPENS, Ask.PREMISE))

    @property
    def needs_acyclic(self) -> bool:
        """Whether a plan with it is not proven, as it is, for liveness of a system with cycles."""
        return self.column[Ask.ROUND].use is not Use.PROVEN

    @property
    def unfolds(self) -> bool:
        """Whether such cycles can be unfolded; otherwise it is given up."""
        return self.column[Ask.ROUND].use is Use.UNFOLDED
