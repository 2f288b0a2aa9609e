"""Derives variants of a system without the fairness of some actions.

The instrumented system has one more variable, which no action changes: the number of the group of
actions, counted from 1, that is not subject to fairness; 0: none.  It is an initial value, so that
all checks of the instrumented system share the same machine code.  The transitions are the same,
only the fair executions differ.
"""

from __future__ import annotations

from msgspec import Struct

from checker.model import build, ir
from checker.model.build import conj, equal, negation
from checker.model.ir import Action, Property, TransitionSystem
from checker.model.types import IntT
from checker.model.verify import verify
from checker.records import replace

UNPROMISED = "@unpromised"
"""The variable that holds the number of the group."""


class WithoutFairness(Struct, frozen=True):
    """``system``, in which each of ``groups``, names of actions, can be exempted from fairness."""

    system: TransitionSystem
    groups: tuple[frozenset[str], ...]

    def without(self, group: int) -> TransitionSystem:
        """Returns the system in which the group with this number, from 0 on, is exempt from
        fairness."""
        variables = tuple(
            replace(v, initial=group + 1) if v.name == UNPROMISED else v
            for v in self.system.variables
        )
        return replace(self.system, variables=variables)


def drop_fairness(
    system: TransitionSystem,
    properties: tuple[Property, ...],
    groups: tuple[frozenset[str], ...],
) -> WithoutFairness:
    """Instruments ``system``; its only properties are ``properties``."""
    type_ = IntT(0, len(groups))
    variable = ir.Variable(UNPROMISED, type_, 0, ir.VariableKind.WORLD)
    which = ir.Read(type_, UNPROMISED)

    def keep_others(action: Action) -> Action:
        out = [number for number, group in enumerate(groups, 1) if action.name in group]
        kept = (negation(equal(which, build.integer(number))) for number in out)
        return replace(action, promised=conj(action.promised, *kept))

    twin = replace(
        system,
        variables=(*system.variables, variable),
        actions=tuple(map(keep_others, system.actions)),
        properties=tuple(replace(p, given=None, ways=()) for p in properties),
    )
    return WithoutFairness(verify(twin), groups)


def without_fairness(system: TransitionSystem, kinds: tuple[str, ...]) -> TransitionSystem:
    """Returns ``system`` without the fairness of all actions of these ``kinds``; itself where there
    are none."""
    if not kinds:
        return system
    actions = (
        replace(a, promised=ir.FALSE, fairness=None) if a.kind in kinds else a
        for a in system.actions
    )
    return replace(system, actions=tuple(actions))
