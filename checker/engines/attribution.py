"""Systems whose fairness constraints also say whose step an instance is.

An engine's graph of steps has a constraint on each edge and nothing else.  In an attributed system
every instance has one, and from it follow the process that acts and the constraint of the original
system.  States and steps are the same.
"""

from __future__ import annotations

from msgspec import Struct

from checker.model import ir
from checker.model.interpreter import Constraint
from checker.model.ir import Action, Apply, Const, Expr, Fairness, Op, TransitionSystem, fairness_of
from checker.model.types import Value, default
from checker.records import replace


class Attributed(Struct, frozen=True):
    """``system``: the attributed one; ``groups``: for each group of its constraints, whether its
    key begins with a process, and the fairness of the original (``None``: there never is any)."""

    system: TransitionSystem
    groups: dict[str, tuple[bool, Fairness | None]]

    def actor(self, constraint: Constraint) -> int | None:
        """Returns the process that acts, from 0; ``None`` where it is no process's step."""
        has_actor, _ = self.groups[constraint.group]
        if not has_actor:
            return None
        actor = constraint.key[0]
        assert isinstance(actor, int)
        return actor

    def original(self, constraint: Constraint) -> tuple[Constraint, Fairness] | None:
        """Returns the constraint of the original system, with the fairness it comes from; ``None``
        where the instance is not subject to fairness."""
        has_actor, fairness = self.groups[constraint.group]
        key: tuple[Value, ...] = constraint.key[has_actor:]
        if fairness is None or not key[0]:
            return None
        return Constraint(fairness.group, key[1:]), fairness


def attributed(system: TransitionSystem) -> Attributed:
    """Returns the attributed system of ``system``."""
    groups: dict[str, tuple[bool, Fairness | None]] = {}
    actions = []
    for action in system.actions:
        fairness = None if action.promised == ir.FALSE else fairness_of(action)
        groups[action.name] = action.actor is not None, fairness
        actions.append(_attributed(action, fairness))
    return Attributed(replace(system, actions=tuple(actions)), groups)


def _attributed(action: Action, fairness: Fairness | None) -> Action:
    key: tuple[Expr, ...] = () if action.actor is None else (action.actor,)
    if fairness is not None:
        key += (action.promised, *(where_promised(action.promised, part) for part in fairness.key))
    constraint = Fairness(action.name, key)
    return replace(action, promised=ir.TRUE, fairness=constraint)


def where_promised(promised: Expr, key: Expr) -> Expr:
    """Returns ``key`` where ``promised`` holds, since it need not have a value elsewhere."""
    if promised == ir.TRUE:
        return key
    return Apply(key.type, Op.ITE, (promised, key, Const(key.type, default(key.type))))
