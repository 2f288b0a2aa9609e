"""Ample sets: steps that may precede all others, since they commute with all that could happen
before them.

An instance t of an action is *eager* in a state s when, for every sequence w of other steps that
can follow s, t and its fairness constraint are still enabled after w, and w is still possible after
t, and both orders lead to the same state; a step with the same effect as t may take the place of t.
Then only t is explored in s.  This is an ample set of one step; in the words of the literature: {t}
is a persistent set (Godefroid 1996), it satisfies C0 and C1 (Peled 1993; Clarke, Grumberg, Peled
1999) and D1 and D2 (Valmari 1991), t is a left and right mover (Lipton 1975) against what may
follow.

What is preserved, and why:

* *Ends.*  Let w lead from s to an end.  If t is in w it can be moved to its front: the end is
  reached from t(s), in fewer steps.  If it is not then t changes nothing there, or else its
  fairness constraint would be enabled at the end; so w leads from t(s) to the same state.  This
  needs that t's constraint stays enabled, and that no other step takes it and changes nothing: each
  step of an action of the same group makes progress (:meth:`_Search._staying`), unless t is a
  constraint of its own.
* *Bad states of invariants.*  Let w lead from s to a bad state, without t.  Then w leads from t(s)
  to t of that bad state, which is bad as well: what t writes stands in ``bad`` only where that can
  make it true (this is weaker than C2, invisibility).
* *Runtime errors.*  What a step reads for anything but its enabledness is not changed by t.
* *Infinite executions.*  They have a counterpart after t(s), so where there is one some infinite
  execution is explored, too, and is noticed; see ``ReductionPlan.acyclic``.
* C3 (nothing is postponed forever): no cycle consists of eager steps alone, since each of them
  either sets what no step ever sets back, or takes a message and sends none.
* *What was reached* (premises, marks) is no more than is reachable, but may be less: an engine
  that misses something searches again without this.

It is decided by pairs of accesses (:mod:`checker.reductions.partial_order.effects`) that do not
commute, and a condition over the state under which the other one can't happen any more.  A literal
that is false stays false unless a step that helps it can happen, see :class:`Future`.
"""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from checker.model import ir
from checker.model.build import conj, negation
from checker.model.ir import FALSE, TRUE, Apply, Expr, Op, PropertyKind, TransitionSystem
from checker.model.memo import an_analysis, by_identity
from checker.model.names import free_in
from checker.model.run_errors import can_fault
from checker.model.tree import placeless
from checker.model.types import BOOL
from checker.reductions.dead_variables.messages import alone
from checker.reductions.partial_order.access_sets import Access, AccessKind, accesses_of
from checker.reductions.partial_order.cycle_proviso import may_progress, progressing
from checker.reductions.partial_order.effects import Effects, effects
from checker.reductions.partial_order.equivalent_actions import are_equivalent
from checker.reductions.partial_order.logic import (
    Case,
    conjuncts,
    key_of,
    size,
    some,
)
from checker.reductions.partial_order.may_enable import (
    Future,
    Writes,
    clash,
    may_change,
    rename_bound,
)
from checker.reductions.reduction_plan import AmpleAction

LARGEST = 3_000
"""A condition of more nodes than this takes longer than it saves."""
MOST_CASES = 150
"""The maximum number of pairs of accesses of two actions that are examined; where there are more
they clash.
"""

PATIENCE = 1_200
"""The maximum number of cases for all actions together; the remaining actions are not eager."""


@an_analysis()
def find_ample(system: TransitionSystem) -> tuple[tuple[AmpleAction, ...], tuple[str, ...]]:
    """The eager actions; and why there are no more."""
    system = placeless(system)
    known = [effects(system, action) for action in system.actions]
    unclear = [e.action.name for e in known if not e.clear]
    if unclear:
        return (), (f"the effect of `{unclear[0]}` is unknown",)
    search = _Search(system, known)
    found: list[AmpleAction] = []
    reasons: list[str] = []
    for number in range(len(known)):
        when, why = search.eager(number)
        if when != FALSE:
            found.append(AmpleAction(number, when))
        elif why:
            reasons.append(why)
    going = progressing([known[one.action] for one in found])
    reasons += [
        f"`{known[one.action].action.name}` may be part of a cycle"
        for one, goes in zip(found, going, strict=True)
        if not goes
    ]
    found = [one for one, goes in zip(found, going, strict=True) if goes]
    if found:
        return tuple(found), ()
    why = reasons[0] if reasons else "no step is known to commute with all others"
    return (), (why,)


_Pair = tuple[Access, Access, tuple[Expr, ...]]
"""Accesses of two steps, and when they are to the same entry."""


class _Meeting(Struct, frozen=True):
    """The accesses of an instance and of one of ``theirs`` that do not commute, and when: ``apart``
    and the conditions of each pair.  ``cost``: the effort of deciding it.
    """

    theirs: Effects
    apart: tuple[Expr, ...]
    pairs: list[_Pair]
    cost: int


def _weakest(pairs: list[_Pair]) -> list[_Pair]:
    """``pairs`` without those whose conditions imply those of others."""
    kept: list[tuple[frozenset[object], _Pair]] = []
    for pair in pairs:
        a, b, overlap = pair
        literals = frozenset(key_of(part) for part in (*a.path, *overlap, *b.path))
        said: frozenset[object] = literals | {*a.binders, *b.binders}
        if any(less <= said for less, _ in kept):
            continue
        kept = [(more, other) for more, other in kept if not said <= more]
        kept.append((said, pair))
    return [pair for _, pair in kept]


class _Search:
    def __init__(self, system: TransitionSystem, known: list[Effects]) -> None:
        self.system, self.known = system, known
        self.live = any(p.kind is PropertyKind.LIVENESS for p in system.properties)
        bad = [p.bad for p in system.properties if p.kind is PropertyKind.INVARIANT]
        self.left = PATIENCE
        self.seen = [a for b in bad for a in accesses_of(b, None if can_fault(b) else True)]
        self.may_progress = by_identity(may_progress)

    @cached_property
    def others(self) -> list[Effects]:
        """All actions, with bound names of their own."""
        return [rename_bound(one, f"~{tag}") for tag, one in enumerate(self.known, 1)]

    @cached_property
    def writes(self) -> Writes:
        return Writes(self.known, self.others)

    def eager(self, number: int) -> tuple[Expr, str]:
        """The condition under which instances of an action are eager; and why they never are."""
        mine = self.known[number]
        name = f"`{mine.action.name}`"
        if self.live and mine.action.promised == FALSE:
            return FALSE, ""
        if self.live and (rival := self._staying(mine.action)) is not None:
            return (
                FALSE,
                f"`{rival}` may satisfy the fairness constraint of {name} without changing"
                " the state",
            )
        if not mine.single:
            return FALSE, f"{name} has a choice"
        if not self.may_progress(mine):
            return FALSE, f"{name} may be part of a cycle"
        for access in mine.accesses:
            if access.writes and any(may_change(look, access) for look in self.seen):
                return FALSE, f"{name} changes what an invariant reads"
        parts: list[Expr] = []
        if self.live:
            parts = conjuncts(mine.action.promised)
        accesses = [*mine.accesses, *self._promise(mine)]
        future = Future(self.system, self.writes, mine, accesses)
        others = [
            self._meeting(mine, accesses, theirs, other)
            for theirs, other in zip(self.known, self.others, strict=True)
        ]
        for other in sorted(others, key=lambda one: one.cost):
            if self.left <= 0:
                return FALSE, f"it takes too long to decide when {name} commutes with the others"
            before = future.left
            clashes = self._clashes(mine, other, future)
            self.left -= before - future.left
            if clashes == TRUE:
                text = f"{name} does not commute with `{other.theirs.action.name}`"
                return FALSE, text
            parts.append(negation(clashes))
        when = conj(*dict.fromkeys(parts))
        if free_in(when) - {param for param, _ in mine.binders}:
            return FALSE, f"the effect of {name} is unknown"
        if size(when) > LARGEST:
            return FALSE, f"it takes too long to decide when {name} commutes with the others"
        return when, ""

    def _staying(self, action: ir.Action) -> str | None:
        """The name of an action of the same group some step of which may leave the state as it is:
        an execution may stay there forever although an instance of ``action`` is enabled.

        An instance of ``action`` itself leads elsewhere, or it is not taken before others.
        """
        group = ir.fairness_of(action).group
        for one in self.known:
            other = one.action
            if other.promised == FALSE or ir.fairness_of(other).group != group:
                continue
            if other is action and alone(self.system, action):
                continue
            if not self.may_progress(one):
                return other.name
        return None

    def _promise(self, mine: Effects) -> list[Access]:
        if not self.live:
            return []
        found = []
        for part in conjuncts(mine.action.promised):
            for access in accesses_of(part, None if can_fault(part) else True, mine.binders):
                found.append(
                    Access(
                        access.variable,
                        AccessKind.TEST,
                        access.keys,
                        access.item,
                        access.up,
                        mine.enabling,
                        access.binders,
                    )
                )
        return found

    def _meeting(
        self, mine: Effects, accesses: list[Access], theirs: Effects, other: Effects
    ) -> _Meeting:
        """The accesses where an instance of ``theirs`` does not commute, however it is enabled;
        ``other``: ``theirs`` with names of its own."""
        apart: tuple[Expr, ...] = ()
        if theirs.action is mine.action or are_equivalent(mine, theirs):
            equal = [
                Apply(BOOL, Op.EQ, (ir.Local(t, n), ir.Local(u, m)))
                for (n, t), (m, u) in zip(mine.binders, other.binders, strict=True)
            ]
            apart = (negation(conj(*equal)),)
        pairs = ((a, b, clash(a, b, self.system)) for a in accesses for b in other.accesses)
        found = _weakest([(a, b, overlap) for a, b, overlap in pairs if overlap is not None])
        return _Meeting(theirs, apart, found, sum(len(b.path) for _, b, _ in found))

    def _clashes(self, mine: Effects, other: _Meeting, future: Future) -> Expr:
        """The condition that an instance may happen that does not commute."""
        if len(other.pairs) > MOST_CASES:
            return TRUE
        own = {name for name, _ in mine.binders}
        cases: list[Case] = []
        known: dict[tuple[int, ...], list[Case]] = {}
        for a, b, overlap in other.pairs:
            path = tuple(key_of(part) for part in b.path)
            if path not in known:
                known[path] = future.all(b.path)
            mine_only = tuple(x for x in a.binders if x[0] not in own)
            for case in known[path]:
                if len(cases) >= MOST_CASES:
                    return TRUE
                binders = (*mine_only, *b.binders, *case.binders)
                self.left -= 2
                cases.append(Case(binders, (*a.path, *overlap, *other.apart, *case.parts)))
        return some(cases, frozenset(key_of(fact) for fact in mine.enabling))
