"""The contract of an engine: what it is given, what it declares of itself, what it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from checker.engines.capabilities import Ability, Feature, undeclared
from checker.engines.options import Options
from checker.model.ir import TransitionSystem
from checker.results.answer import Answer, Listener, Unsupported

if TYPE_CHECKING:
    from checker.engines.chance import ChanceGraph, ChanceProblem
    from checker.engines.valence import ValenceGraph, ValenceProblem


class ClusterUse(Enum):
    """What an engine does with the options of a cluster."""

    REFUSED = "they are refused"
    IGNORED = "they are ignored"
    REQUIRED = "it runs on a cluster, by default on a local one"


class Problem(Struct, frozen=True):
    """A ``system`` to explore; ``options.limits`` is the budget."""

    system: TransitionSystem
    options: Options


class Engine(ABC):
    """Turns a transition system into an answer.

    ``name``: as ``--engine`` takes it; ``capabilities``: its support of each feature, where
    :func:`checker.engines.capabilities.undeclared` does not say it; ``cluster``: what it does with
    the options of a cluster; ``unrolls``: it writes steps one after the other into one formula, so
    that their number has a limit.
    """

    name: ClassVar[str]
    capabilities: ClassVar[Mapping[Feature, Ability]]
    cluster: ClassVar[ClusterUse] = ClusterUse.REFUSED
    unrolls: ClassVar[bool] = False

    @abstractmethod
    def explore(self, problem: Problem, listener: Listener | None) -> Answer:
        """Returns what is known of the properties of ``problem.system``, within its limits.

        Each violation comes with an execution, which is replayed.  ``listener`` is told how far the
        exploration came.  Raises :class:`checker.results.answer.Unsupported`, before any work
        starts, where the engine can't take the system, and
        :class:`checker.model.evaluate.RunFault` where no initial state, or a property, can be
        computed.
        """

    def valence(self, problem: ValenceProblem, listener: Listener | None) -> ValenceGraph:
        """Returns the valence of every state of ``problem.system``; only of an engine that declares
        :attr:`Feature.VALENCE`.  Raises what :meth:`explore` does.
        """
        raise Unsupported(f"the {self.name} engine does not compute valence")

    def chance(self, problem: ChanceProblem, listener: Listener | None) -> ChanceGraph:
        """Returns the steps of ``problem.system`` with their probabilities; only of an engine that
        declares :attr:`Feature.CHANCE`.  Raises what :meth:`explore` does.
        """
        raise Unsupported(f"the {self.name} engine does not compute probabilities")

    def ability(self, feature: Feature) -> Ability:
        """Returns the engine's support of ``feature``."""
        return self.capabilities.get(feature) or undeclared(feature)
