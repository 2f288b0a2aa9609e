"""Chooses the plan for a system, or takes the one that was chosen for the same system before."""

from __future__ import annotations

from msgspec import Struct

from checker import kept
from checker.model.ir import TransitionSystem
from checker.reductions.reduction_plan import ReductionPlan


class SideQuestions(Struct, frozen=True):
    """The queries besides the system's properties.

    ``states``: how many there are (or all of them, or what was reached in them); ``lengths``: of
    shortest executions; ``bounded``: what there is up to a depth; ``unseen``: whether what is not
    seen to happen never happens.
    """

    states: bool = False
    lengths: bool = False
    bounded: bool = False
    unseen: bool = False


VERDICTS = SideQuestions()
"""No query besides the properties."""


def choose(system: TransitionSystem, mode: str, question: SideQuestions) -> ReductionPlan:
    """The plan for ``system``, without what is not proven for the queries, which it lists with the
    reasons.
    """

    def made() -> ReductionPlan:
        from checker.reductions.planning import chosen

        return chosen(system, mode, question)

    return kept.result(made, "plan", system, mode, question)
