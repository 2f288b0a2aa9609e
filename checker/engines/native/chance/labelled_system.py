"""Systems whose fairness constraints also say which choices led to a step.

As in :mod:`checker.engines.attribution` every instance has a constraint, so that each edge of the
graph of steps says which action it is of, the fairness constraint of the original, and, where
chance has a part in the action, the values of all its parameters and choices.
"""

from __future__ import annotations

from msgspec import Struct

from checker.engines.attribution import where_promised
from checker.model import ir
from checker.model.evaluate import Scope, evaluate
from checker.model.interpreter import Constraint
from checker.model.ir import Action, Expr, Fairness, TransitionSystem, fairness_of
from checker.model.transforms.hoist_choices import Hoisted, hoisted
from checker.model.types import Value
from checker.records import replace


class Label(Struct, frozen=True):
    """What an edge says: the number of its ``action``, its fairness constraint, and, where chance
    has a part, the instance and the ``picks`` of its choices (``None``: it has none)."""

    action: int
    constraint: tuple[Constraint, bool] | None
    instance: tuple[Value, ...] = ()
    picks: tuple[Value, ...] | None = None


class LabelledSystem:
    """``system``: with labels as constraints; ``original``: the one that it is made from.

    Raises :class:`checker.model.transforms.hoist_choices.CannotHoist`.
    """

    def __init__(self, original: TransitionSystem) -> None:
        self.original = original
        self.hoisted = tuple(hoisted(action) for action in original.actions)
        self._numbers = {action.name: i for i, action in enumerate(original.actions)}
        actions = tuple(_labelled(each) for each in self.hoisted)
        self.system = replace(original, actions=actions)
        self._weights: dict[tuple[int, int, Value], int] = {}

    def label(self, constraint: Constraint) -> Label:
        """Returns the label that a constraint of ``system`` stands for."""
        number = self._numbers[constraint.group]
        made, action = self.hoisted[number], self.original.actions[number]
        key = constraint.key
        shown = len(made.action.params) if made.choices else 0
        values, rest = key[:shown], key[shown:]
        taken = None
        if action.promised != ir.FALSE and rest[0]:
            fairness = fairness_of(action)
            strong = fairness.kind is ir.FairnessKind.STRONG
            taken = Constraint(fairness.group, rest[1:]), strong
        if not made.choices:
            return Label(number, taken)
        return Label(number, taken, values[: made.own], values[made.own :])

    def weight(self, action: int, choice: int, value: Value) -> int:
        """Returns the weight of a value of a choice by chance; 0 for a choice of the adversary."""
        key = action, choice, value
        if key not in self._weights:
            stmt = self.hoisted[action].choices[choice]
            scope = Scope({}, {stmt.name: value})
            self._weights[key] = 0 if stmt.weight is None else int(evaluate(stmt.weight, scope))
        return self._weights[key]


def _labelled(made: Hoisted) -> Action:
    action = made.action
    key: tuple[Expr, ...] = ()
    if made.choices:
        key = tuple(ir.Local(ir.domain_item(p.domain), p.name) for p in action.params)
    if action.promised != ir.FALSE:
        fairness = fairness_of(replace(action, params=action.params[: made.own]))
        key += (action.promised, *(where_promised(action.promised, part) for part in fairness.key))
    return replace(action, promised=ir.TRUE, fairness=Fairness(action.name, key))
