"""Variants of a system without the fairness of some actions.

A twin has one more variable, which no action changes: which of several groups of actions, counted
from 1, is promised nothing; 0: none.  It is an initial value, so that all questions that a twin is
asked are answered by the same machine code.  Nothing that happens is different, only what has to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from checker.system import build, ir
from checker.system.build import conj, equal, negation
from checker.system.ir import Action, Property, TransitionSystem
from checker.system.types import IntT
from checker.system.verify import verify

UNPROMISED = "@unpromised"
"""The variable that says which group it is."""


@dataclass(frozen=True, slots=True)
class WithoutFairness:
    """``system``, in which each of ``groups``, names of actions, can be one that nothing is
    promised of."""

    system: TransitionSystem
    groups: tuple[frozenset[str], ...]

    def without(self, group: int) -> TransitionSystem:
        """The twin in which nothing is promised of the group with this number, from 0 on."""
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
    """The twin of ``system`` in which only ``properties`` are asked about."""
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
