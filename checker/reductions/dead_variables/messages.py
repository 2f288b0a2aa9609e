"""Messages in flight that are dead: their reception changes nothing.

This applies to a collection that is only added to, taken from, and received from: an item is dead
where each step that takes it as its parameter does nothing but remove it (or nothing at all), now
and forever.
"""

from __future__ import annotations

from checker.model import ir
from checker.model.build import conj, disj, member, negation
from checker.model.ir import Apply, Expr, Op, TransitionSystem
from checker.model.names import free_in
from checker.model.run_errors import risky
from checker.model.tree import nodes
from checker.model.types import BoolT, IntT, SetT
from checker.records import replace
from checker.reductions.dead_variables.conditions import Blockers, Meeting, VariablePart
from checker.reductions.dead_variables.program_points import ProgramPoint
from checker.reductions.dead_variables.terms import conjuncts, same
from checker.reductions.dead_variables.uses import VariableUse, now


class MessageEffects:
    """The effects of steps besides taking an item from a collection.

    ``reached``: what of them is known of all collections, whatever is hidden.
    """

    def __init__(
        self,
        system: TransitionSystem,
        sites: list[ProgramPoint],
        blockers: Blockers,
        reached: dict[object, Meeting],
    ) -> None:
        self.system, self.sites, self.blockers = system, sites, blockers
        self._reached = reached
        self._groups: dict[str, list[ir.Action]] = {}
        for action in system.actions:
            if action.promised != ir.FALSE:
                group = ir.fairness_of(action).group
                self._groups.setdefault(group, []).append(action)

    def clauses(self, cell: VariablePart, reading: VariableUse) -> list[list[Expr]] | None:
        """The clauses that all have to hold for an item that a parameter is taken from to be dead;
        ``None``: never.
        """
        action = reading.site.action
        if action is None or cell.item is None or reading.item is None:
            return None
        gone = self.blockers.of(Meeting(cell, reading))
        if self.system.monitor or not self._own_promise(
            self.system.actions[action], reading.item, cell
        ):
            return [gone] if gone else None
        found: list[list[Expr]] = []
        for site in self.sites:
            if site.action != action:
                continue
            if isinstance(site.node, ir.Universe | ir.Members | ir.Subsets):
                if risky(site.node, site.path):
                    return [gone] if gone else None
                continue
            if self._harmless(site, cell, reading.item):
                continue
            for way in site.ways or ((),):
                found.append([*gone, *self._blocking_conditions(site, way, cell, reading)])
        return found

    def _own_promise(self, action: ir.Action, item: ir.Local, cell: VariablePart) -> bool:
        """Whether a fairness constraint on receiving an item is a constraint on that item alone.

        Otherwise taking a dead item, which leaves no trace where it has been removed, could
        represent a step of an enabled fairness constraint.
        """
        if action.promised == ir.FALSE:
            return True
        for other in self._groups[ir.fairness_of(action).group]:
            fairness = ir.fairness_of(other)
            if fairness.kind is not ir.fairness_of(action).kind:
                return False
            if not any(says_all(fairness.key, param) for param in other.params if _of(param, cell)):
                return False
        return True

    def _harmless(self, site: ProgramPoint, cell: VariablePart, item: ir.Local) -> bool:
        """Whether it changes nothing but the item, and can't cause an error."""
        node = site.node
        match node:
            case ir.Assign(target=target, value=value):
                if not target.is_state:
                    return not risky(value, site.path) and not target.path
                return self._takes(site, node, cell, item)
            case ir.Declare(value=value):
                return not risky(value, site.path) and value.type == node.type
            case ir.Mark(args=args):
                return not any(risky(arg, site.path) for arg in args)
            case ir.For(domain=domain):
                return not risky(domain, site.path)
            case ir.Assume(condition=condition):
                return self._unpromised(site) and not risky(condition, site.path)
            case ir.Choose():
                return has_a_way(node) and not risky(node.where, site.path)
            case ir.While() | ir.Fault() | ir.Emit() | ir.If():
                return False
            case _:
                return not risky(node, site.path)

    def _unpromised(self, site: ProgramPoint) -> bool:
        """Whether it makes no difference whether the step exists that changes nothing."""
        return site.action is not None and self.system.actions[site.action].promised == ir.FALSE

    def _takes(
        self, site: ProgramPoint, stmt: ir.Assign, cell: VariablePart, item: ir.Local
    ) -> bool:
        here = now(stmt.target)
        if here is None or risky(here, site.path) or stmt.target.name != cell.variable:
            return False
        match stmt.value:
            case Apply(op=Op.REMOVE | Op.BAG_REMOVE, args=(base, what)):
                return same(base, here) and same(what, item)
            case _:
                return False

    def _blocking_conditions(
        self,
        site: ProgramPoint,
        way: tuple[Expr, ...],
        cell: VariablePart,
        reading: VariableUse,
    ) -> list[Expr]:
        """Conditions under which a statement is never again reached in this ``way``, or never again
        changes anything.
        """
        path = (*reading.path, *site.path, *way, *(negation(test) for test in self._idle(site)))
        at = id(reading), site.body, *map(id, path)  # the meeting keeps what is in its path
        if at not in self._reached:
            there = replace(reading, path=path, around=(), site=site)
            self._reached[at] = Meeting(cell, there)
        return self.blockers.of(self._reached[at])

    def _idle(self, site: ProgramPoint) -> tuple[Expr, ...]:
        """The condition that an assignment stores the value that is there already."""
        if not isinstance(site.node, ir.Assign):
            return ()
        here = now(site.node.target)
        if here is None or risky(here, site.path):
            return ()
        value = site.node.value
        if isinstance(here.type, BoolT) and value == ir.TRUE:
            return (here,)
        match value:
            case Apply(op=Op.INSERT, args=(base, what)) if same(base, here):
                return (member(what, here),) if isinstance(here.type, SetT) else ()
            case _:
                return ()


def alone(system: TransitionSystem, action: ir.Action) -> bool:
    """Whether each instance with a fairness constraint has a weak one of its own and a single way
    to go.

    Then a stuttering step of it represents no other: where it may be taken, all states with the
    same normal form have this step alone of the constraint, so the constraint is not enabled in the
    quotient.
    """
    fairness = ir.fairness_of(action)
    if fairness.kind is not ir.FairnessKind.WEAK:
        return False
    if any(isinstance(node, ir.Choose) for node in nodes((action.body, system.monitor))):
        return False
    promised = [a for a in system.actions if a.promised != ir.FALSE]
    if sum(ir.fairness_of(a).group == fairness.group for a in promised) > 1:
        return False
    return all(says_all(fairness.key, param) for param in action.params)


def has_a_way(stmt: ir.Choose) -> bool:
    """Whether a choice can always be made: nothing is asked of what is chosen; or a number has its
    condition each, and that of one is that those of the others do not hold.
    """
    if not isinstance(stmt.domain, ir.Universe):
        return False
    number = ir.Local(stmt.domain.item, stmt.name)
    if stmt.where == ir.TRUE or not isinstance(number.type, IntT):
        return stmt.where == ir.TRUE
    conditions: list[Expr] = []
    match stmt.where:
        case Apply(op=Op.OR, args=ways):
            pass
        case _:
            return False
    for way in ways:
        match conjuncts(way):
            case (Apply(op=Op.EQ, args=(left, ir.Const(value=int() as value))), *rest):
                if left != number or not number.type.lo <= value <= number.type.hi:
                    return False
                conditions.append(conj(*rest))
            case _:
                return False
    if any(number.name in free_in(condition) for condition in conditions):
        return False
    return conditions[-1] == negation(disj(*conditions[:-1]))


def _of(param: ir.Param, cell: VariablePart) -> bool:
    if not isinstance(param.domain, ir.Members):
        return False
    of = param.domain.of
    while isinstance(of, ir.Index):
        of = of.base
    return isinstance(of, ir.Read) and of.variable == cell.variable


def says_all(key: tuple[Expr, ...], param: ir.Param) -> bool:
    """Whether a constraint's key identifies the item that a parameter is."""
    item = ir.Local(ir.domain_item(param.domain), param.name)
    if any(same(k, item) for k in key):
        return True
    items = getattr(item.type, "items", ())
    parts = [ir.Item(t, item, i) for i, t in enumerate(items)]
    return bool(parts) and all(any(same(k, part) for k in key) for part in parts)
