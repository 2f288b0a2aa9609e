"""From what the user wants and what a check asks to a plan."""

from __future__ import annotations

from dataclasses import dataclass, replace

from checker.properties.steady import steady
from checker.reductions import dead, order, symmetry
from checker.reductions.plan import NOTHING, Kind, Plan, Unused
from checker.system.ir import PropertyKind, TransitionSystem

MODES = ("auto", "none", "symmetry", "por", "all")
"""What a user may want."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked beside the system's properties.

    ``states``: how many there are (or all of them, or what was reached in them); ``lengths``: of
    shortest runs.
    """

    states: bool = False
    lengths: bool = False


VERDICTS = Question()
"""Nothing beside the properties."""

_WANTED: dict[str, frozenset[Kind]] = {
    "none": frozenset(),
    "symmetry": frozenset({Kind.SYMMETRY}),
    "por": frozenset({Kind.DEAD, Kind.ORDER}),
    "auto": frozenset(Kind),
    "all": frozenset(Kind),
}


def choose(system: TransitionSystem, mode: str, question: Question) -> Plan:
    """The plan for ``system``; what is not proven for the question is not in it, and it says so."""
    wanted = _WANTED[mode]
    if not wanted:
        return NOTHING
    if question.states:
        why = "the number of states is asked for"
        return Plan(unused=tuple(Unused(kind, why) for kind in sorted(wanted)))
    live = [p for p in system.properties if p.kind is PropertyKind.LIVENESS]
    followed = [p.name for p in live if steady(p) is None]
    plan, unused = NOTHING, list[Unused]()
    if Kind.DEAD in wanted:
        if question.lengths:
            unused.append(Unused(Kind.DEAD, "the length of a shortest run is asked for"))
        else:
            found, why_not = dead.find(system)
            plan, unused = replace(plan, dead=found), [*unused, *why_not]
    cautious = plan
    reasons = [f"`{name}` is followed from where runs start" for name in followed]
    for kind in sorted(wanted - {Kind.DEAD}):
        if reasons:
            unused += [Unused(kind, why) for why in reasons]
        elif kind is Kind.SYMMETRY:
            group, why_not = symmetry.find(system)
            plan, unused = replace(plan, symmetry=group), [*unused, *why_not]
        elif question.lengths:
            unused.append(Unused(kind, "the length of a shortest run is asked for"))
        else:
            eager, why_not = order.find(system)
            plan, unused = replace(plan, eager=eager), [*unused, *why_not]
    if plan == cautious or not live:
        return replace(plan, unused=tuple(unused))
    cycle = "some run goes round for ever"
    lost = tuple(Unused(kind, cycle) for kind in plan.used if kind is not Kind.DEAD)
    careful = replace(cautious, unused=(*unused, *lost))
    return replace(plan, unused=tuple(unused), acyclic=True, cautious=careful)
