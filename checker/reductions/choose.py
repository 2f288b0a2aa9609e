"""Chooses the plan from the user's wishes and the check's queries; :mod:`checker.reductions.table`
decides what may be used when.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from checker.properties.persistence import needs_automaton
from checker.reductions import dead_variables, partial_order, symmetry
from checker.reductions.reduction_plan import NOTHING, Kind, ReductionPlan, Unused
from checker.reductions.table import TABLE, Ask, Use, against
from checker.system.ir import PropertyKind, TransitionSystem

MODES = ("auto", "none", "symmetry", "por", "all")
"""The modes that a user may choose."""
NAMED = ("symmetry", "por", "all")
"""The modes that explicitly request reductions."""


@dataclass(frozen=True, slots=True)
class SideQuestions:
    """The queries besides the system's properties.

    ``states``: how many there are (or all of them, or what was reached in them); ``lengths``: of
    shortest executions; ``bounded``: what there is up to a depth.
    """

    states: bool = False
    lengths: bool = False
    bounded: bool = False


VERDICTS = SideQuestions()
"""No query besides the properties."""

_WANTED: dict[str, frozenset[Kind]] = {
    "none": frozenset(),
    "symmetry": frozenset({Kind.SYMMETRY}),
    "por": frozenset({Kind.DEAD, Kind.ORDER}),
    "auto": frozenset(Kind),
    "all": frozenset(Kind),
}

Asked = tuple[tuple[Ask, str], ...]
"""Queries, each with the name of the property that makes it (or nothing)."""


def questions_of(system: TransitionSystem, question: SideQuestions) -> Asked:
    """All queries that apply as long as no cycle is known."""
    return tuple(_questions_of(system, question))


def _questions_of(system: TransitionSystem, question: SideQuestions) -> Iterator[tuple[Ask, str]]:
    if question.states:
        yield from ((Ask.STATES, ""), (Ask.COVERAGE, ""))
    if question.lengths:
        yield Ask.LENGTH, ""
    if question.bounded:
        yield Ask.DEPTH, ""
    yield from ((Ask.PREMISE, ""), (Ask.HAPPENS, ""), (Ask.FAULT, ""), (Ask.BUDGET, ""))
    for prop in system.properties:
        if prop.kind is PropertyKind.INVARIANT:
            yield Ask.EVERY, prop.name
        else:
            yield (Ask.FOLLOWED if needs_automaton(prop) else Ask.END), prop.name
            yield Ask.FAIR, prop.name


def choose(system: TransitionSystem, mode: str, question: SideQuestions) -> ReductionPlan:
    """The plan for ``system``, without what is not proven for the queries, which it lists with the
    reasons.
    """
    wanted = _WANTED[mode]
    questions = questions_of(system, question)
    plan, unused = NOTHING, list[Unused]()
    for kind in sorted(wanted):
        reasons = list(against(kind, questions))
        if reasons:
            unused += [Unused(kind, why) for why in reasons]
            continue
        plan, why_not = _with(plan, kind, system)
        unused += why_not
    live = any(p.kind is PropertyKind.LIVENESS for p in system.properties)
    plan = replace(plan, unused=tuple(unused))
    return _with_fallback(plan) if live and plan.used_kinds else plan


def _with(
    plan: ReductionPlan, kind: Kind, system: TransitionSystem
) -> tuple[ReductionPlan, tuple[Unused, ...]]:
    """``plan`` with the reductions of ``kind`` that are found; and why there is no more."""
    match kind:
        case Kind.SYMMETRY:
            group, why_not = symmetry.find_symmetry(system)
            return replace(plan, symmetry=group), why_not
        case Kind.DEAD:
            block, why_not = dead_variables.find_dead(system)
            return replace(plan, dead=block), why_not
        case Kind.ORDER:
            eager, why_not = partial_order.find_ample(system)
            return replace(plan, ample_actions=eager), why_not


def _with_fallback(plan: ReductionPlan) -> ReductionPlan:
    """``plan``, with a fallback plan for systems with cycles, if it needs one."""
    lost = {
        kind: TABLE[kind][Ask.ROUND].why
        for kind in plan.used_kinds
        if TABLE[kind][Ask.ROUND].use is not Use.PROVEN
    }
    if not lost:
        return plan
    more = [Unused(kind, why) for kind, why in lost.items()]
    careful = plan
    if Kind.SYMMETRY in lost:
        careful = replace(careful, symmetry=None)
    if Kind.ORDER in lost:
        careful = replace(careful, ample_actions=())
    careful = replace(careful, unused=(*plan.unused, *more))
    return replace(plan, acyclic=True, fallback=careful)
