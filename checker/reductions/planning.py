"""Makes the plan from the user's wishes and the check's queries; :mod:`checker.reductions.table`
decides what may be used when.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from checker.model import ir
from checker.model.ir import Block, PropertyKind, TransitionSystem
from checker.model.large_sets import adds_to_itself
from checker.model.memo import an_analysis
from checker.model.tree import nodes, placeless
from checker.properties.persistence import monitored, needs_automaton
from checker.records import replace
from checker.reductions.choose import SideQuestions
from checker.reductions.contract import MONITORED, Ask
from checker.reductions.modes import AUTO
from checker.reductions.reduction_plan import PlanPart, ReductionPlan, Unused
from checker.reductions.registry import REDUCTIONS, admitted
from checker.reductions.table import against

UNSEEN = "an event never occurred with it; only the full state space can confirm that"
"""The reason when events that a reduction has not shown are searched for."""

WHERE_MANY = ", so symmetry is used only if there are many states and no cycle"
"""The end of the reason why a search begins without symmetry."""

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
    if system.view is not None:
        yield Ask.VIEW, ""
    for prop in system.properties:
        if prop.kind is PropertyKind.INVARIANT:
            yield Ask.EVERY, prop.asked
        else:
            yield (Ask.FOLLOWED if needs_automaton(prop) else Ask.END), prop.asked
            yield Ask.FAIR, prop.asked


@an_analysis()
def chosen(system: TransitionSystem, mode: str, question: SideQuestions) -> ReductionPlan:
    """The plan for ``system``, without what is not proven for the queries, which it lists with the
    reasons.
    """
    questions = questions_of(system, question)
    parts, unused = list[PlanPart](), list[Unused]()
    for reduction in admitted(mode):
        part, reasons = None, tuple(against(reduction, questions))
        if question.unseen and not reduction.shows_all:
            reasons = (UNSEEN,)
        if not reasons:
            part, reasons = reduction.analyse(system)
        if part is not None and (clash := _clash(system, part, parts)):
            part, reasons = None, (clash,)
        parts += [] if part is None else [part]
        unused += [Unused(reduction.name, why) for why in reasons]
    plan = ReductionPlan(tuple(parts), unused=tuple(unused))
    live = any(p.kind is PropertyKind.LIVENESS for p in system.properties)
    plan = _with_fallback(plan) if live else plan
    return _begun_without_symmetry(system, plan) if mode == AUTO else plan


def _begun_without_symmetry(system: TransitionSystem, plan: ReductionPlan) -> ReductionPlan:
    """``plan``; where it is given up because of a cycle, and some formula is monitored from the
    initial states, only for many states: for few, a second program takes longer than it saves.
    """
    names = [prop.asked for prop in monitored(system)]
    if plan.symmetry is None or not plan.acyclic or not names:
        return plan
    careful, kind = plan.careful, next(p.reduction for p in plan.parts if p.symmetry is not None)
    why = MONITORED.format(name=names[0]) + WHERE_MANY
    return replace(careful, unused=(*plan.unused, Unused(kind, why)), larger=plan)


def _clash(system: TransitionSystem, part: PlanPart, others: Iterable[PlanPart]) -> str:
    """Why ``part`` can't be used together with ``others``, in words, or nothing.

    Statements of two reductions commute, and so are idempotent together, where neither mentions
    what the other one writes.  Steps that go first are on no cycle where those of one reduction
    take nothing from what those of the other add to.
    """
    for other in others:
        if part.symmetry is not None and other.symmetry is not None:
            return f"another symmetry is used, {REDUCTIONS[other.reduction].title}"
        for one, two in ((part, other), (other, part)):
            if shared := sorted(_written(one.resets) & _mentioned(two.resets)):
                return f"{REDUCTIONS[other.reduction].title} already covers `{shared[0]}`"
            if taken := sorted(_taken(system, one) & _added(two)):
                return f"an eager step reads from or writes to `{taken[0]}`"
    return ""


def _added(part: PlanPart) -> set[str]:
    return {name for one in part.ample_actions for name in one.adds}


def _taken(system: TransitionSystem, part: PlanPart) -> set[str]:
    """What its steps that go first assign to in another way than adding to it, where they are not
    restricted to that.
    """
    steps = (system.actions[one.action] for one in part.ample_actions if not one.adds)
    stores = (n for step in steps for n in nodes(placeless((step.body, system.monitor))))
    return {
        one.target.name for one in stores if isinstance(one, ir.Assign) and not adds_to_itself(one)
    }


def _written(block: Block) -> set[str]:
    return {node.name for node in nodes(block) if isinstance(node, ir.Target) and node.is_state}


def _mentioned(block: Block) -> set[str]:
    return _written(block) | {n.variable for n in nodes(block) if isinstance(n, ir.Read)}


def _with_fallback(plan: ReductionPlan) -> ReductionPlan:
    """``plan``, with fallback plans for systems with cycles, if it needs them: first without what
    can't be unfolded, then without everything that is not proven there.
    """
    used = [REDUCTIONS[name] for name in plan.used]
    lost = {reduction.name for reduction in used if reduction.needs_acyclic}
    if not lost:
        return plan
    careful = _without(plan, lost)
    given_up = {name for name in lost if not REDUCTIONS[name].unfolds}
    if given_up and given_up != lost:
        careful = replace(_without(plan, given_up), acyclic=True, fallback=careful)
    return replace(plan, acyclic=True, fallback=careful)


def _without(plan: ReductionPlan, lost: Collection[str]) -> ReductionPlan:
    """``plan`` without the reductions of these names, because of a cycle."""
    kept = tuple(part for part in plan.parts if part.reduction not in lost)
    names = [name for name in plan.used if name in lost]
    more = (Unused(name, REDUCTIONS[name].column[Ask.ROUND].why) for name in names)
    return ReductionPlan(kept, unused=(*plan.unused, *more))
