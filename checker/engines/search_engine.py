"""The contract of an engine that keeps states: it uses reductions, keeps runs, goes on in a larger
system, and makes tables."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING

from checker.engines.capabilities import Ability, Can
from checker.engines.engine import Engine, Problem
from checker.reductions.reduction_plan import NOTHING, ReductionPlan
from checker.results.answer import Answer, Listener

if TYPE_CHECKING:
    from checker.engines.native.checkpoint.checkpoint import Checkpoint
    from checker.engines.native.checkpoint.run_folder import RunFolder
    from checker.engines.native.search.capacity_growth import Carry
    from checker.engines.native.tables.tables import MapParts
    from checker.engines.options import Options

REGISTERS = Ability(
    Can.PARTLY,
    "rejects values that do not fit its registers, and reports unknown where it can't decide",
)
"""The support of large values by machine code."""


FEW = 1000
"""A search that has found a cycle among fewer states is done again without anything that is not
proven for cycles: another attempt would take longer than it saves."""


class SearchAgain(Exception):
    """The system is explored again with another plan; ``states``: how many were found."""

    def __init__(self, states: int) -> None:
        super().__init__()
        self.states = states

    @abstractmethod
    def next_plan(self, plan: ReductionPlan) -> ReductionPlan:
        """The plan with which a search under ``plan`` is done again."""


class Cyclic(SearchAgain):
    """Some step does not lead to the next level, where the plan of reductions is proven only for
    acyclic systems: explore again with a fallback plan.
    """

    def next_plan(self, plan: ReductionPlan) -> ReductionPlan:
        assert plan.fallback is not None
        return plan.careful if self.states < FEW else plan.fallback


class Outgrown(SearchAgain):
    """There are many states, and no cycle so far: explore again with the plan for large systems."""

    def next_plan(self, plan: ReductionPlan) -> ReductionPlan:
        assert plan.larger is not None
        return plan.larger


class HandedOver(Exception):
    """The search continues elsewhere, from what its folder holds; ``seconds``: the time it took
    here.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class SearchProblem(Problem, frozen=True):
    """A problem with the means of a search.

    ``plan``: the reductions to use; ``run``: where states are kept (``None``: nowhere); ``carry``:
    what an exploration with smaller capacities has left, and what this one leaves.
    """

    plan: ReductionPlan = NOTHING
    run: Checkpoint | None = None
    carry: Carry | None = None


class SearchEngine(Engine):
    """Explores states, which it keeps."""

    @abstractmethod
    def search(self, problem: SearchProblem, listener: Listener | None) -> Answer:
        """Does the same as :meth:`explore` with the means of ``problem``.

        Raises :class:`SearchAgain` where the system is to be searched with another plan, and
        :class:`HandedOver` where the search is to go on elsewhere, from what the run holds.
        """

    def explore(self, problem: Problem, listener: Listener | None) -> Answer:
        """Searches as the system is, without a place for the states."""
        return self.search(SearchProblem(problem.system, problem.options), listener)

    def map_parts(self, options: Options, folder: RunFolder) -> MapParts:
        """Returns where tables are made of the states in ``folder``, which the engine has found:
        in processes of this machine."""
        from checker.engines.native.sharding.process_pool import parallel_map

        return partial(parallel_map, processes=options.threads)
