"""Watches the instances of ``always`` formulas that the next event of a run can make false.

Only the instances that read the changed history at the new item are evaluated, as semi-naive
evaluation does for rules and new facts (F. Bancilhon and R. Ramakrishnan, SIGMOD 1986).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from checker.audit.compiled import One, compiled
from checker.audit.formulas import CRASHES, Change, changes_of
from checker.audit.recorded_runs import Event, Meaning
from checker.instantiate.protocol.expressions import Env, bind_domain, lower
from checker.language.syntax import typed
from checker.language.syntax.walk import nodes_of
from checker.model import ir
from checker.model.build import belongs, conj, negation
from checker.model.evaluate import Scope
from checker.model.types import BOOL, SeqT
from checker.properties.premises import Binders
from checker.properties.safety_parts import PremiseGoal

OWNER, ITEM = "@its process", "@its item"
"""The names of a scope that have the process of an event and its item, as sequences of one."""


def instances(
    binders: Binders,
    premise: typed.Expr | None,
    goal: typed.Expr,
    env: Env,
    only: Mapping[int, str] | None = None,
) -> ir.Expr:
    """Returns the formula that there is an instance whose premise is true, and not its goal.

    ``only``: binders, by number, that have one value, which is in the scope under a name.
    """
    only = only or {}

    def nest(at: int, env: Env) -> ir.Expr:
        if at == len(binders):
            false = negation(lower(goal, env))
            return false if premise is None else conj(lower(premise, env), false)
        one = binders[at]
        name, domain, where, inner = bind_domain(one.pattern, one.domain, one.where, env)
        if at in only:
            item = ir.domain_item(domain)
            where = conj(belongs(ir.Local(item, name), domain), where)
            domain = ir.Members(ir.Local(SeqT(item, 1), only[at]), item)
        whole = conj(where, nest(at + 1, inner))
        return ir.Quant(ir.Quantifier.EXISTS, name, domain, whole, BOOL)

    return nest(0, env)


class Watch:
    """Decides whether ``always`` formulas are true, in a state or after one more event."""

    def __init__(self, meaning: Meaning, parts: tuple[PremiseGoal, ...]) -> None:
        self._meaning, self._parts = meaning, parts
        self._false = [self._instances(part, {}) for part in parts]
        self._after: dict[str, list[One]] = {}

    def _instances(self, part: PremiseGoal, only: Mapping[int, str]) -> One:
        env = self._meaning.env
        return compiled(instances(part.binders, part.premise, part.goal, env, only))

    def holds(self, scope: Scope) -> bool:
        """Tells whether all are true in ``scope``."""
        return not any(is_false(scope) for is_false in self._false)

    def still_holds(self, scope: Scope, process: int, event: Event) -> bool:
        """Tells whether all are true after ``event``, before which they were."""
        if event.op not in self._after:
            self._after[event.op] = [*self._watched(event.op)]
        item = event.arguments[0] if len(event.arguments) == 1 else event.arguments
        inner = Scope(scope.state, {OWNER: (process,), ITEM: (item,)})
        return not any(is_false(inner) for is_false in self._after[event.op])

    def _watched(self, op: str) -> list[One]:
        """Returns formulas; one is true after each event ``op`` that makes a part false."""
        found = []
        for part, whole in zip(self._parts, self._false, strict=True):
            changes = [c for c in changes_of(part) if c.op == op and c.sign is not True]
            only = [_only(part, change) for change in changes]
            if all(only):
                found += [self._instances(part, each) for each in only]
            elif changes:
                found.append(whole)
        return found


def _only(part: PremiseGoal, change: Change) -> dict[int, str]:
    """Returns the binders of ``part`` that have one value in the instances that ``change``
    concerns; empty where it may concern all."""
    bound = Counter(n.name for n in nodes_of(_tree(part)) if isinstance(n, typed.Bind))
    numbers = {
        binder.pattern.name: at
        for at, binder in enumerate(part.binders)
        if isinstance(binder.pattern, typed.Bind) and bound[binder.pattern.name] == 1
    }
    match change.owner:
        case typed.Local(_, name, _) if name in numbers:
            only = {numbers[name]: OWNER}
        case _:
            return {}
    if change.op == CRASHES:
        return only
    match change.item:
        case typed.Local(_, name, _) | typed.Bind(_, name) if name in numbers:
            only.setdefault(numbers[name], ITEM)
        case typed.Parts() as pattern:
            at = next((n for n, b in enumerate(part.binders) if b.pattern is pattern), None)
            if at is not None:
                only[at] = ITEM
    return only


def _tree(part: PremiseGoal) -> tuple[object, ...]:
    return (part.binders, part.premise, part.goal)
