"""Recognises persistence: liveness properties whose violations are decided by single states.

The automaton of the negation of ``always eventually p`` waits, then reads ``not p`` in every state
from some point on.  It can wait through any finite prefix; so a fair execution violates the
property exactly when it ends or cycles in states that satisfy one condition.
"""

from __future__ import annotations

from functools import reduce

from checker.model.ir import (
    TRUE,
    Apply,
    AutomatonEdge,
    Expr,
    Op,
    Property,
    PropertyKind,
    Quant,
    Quantifier,
    TransitionSystem,
)
from checker.model.types import BOOL

Guard = tuple[frozenset[int], frozenset[int]]


def persistence(prop: Property) -> Expr | None:
    """Returns the condition that eventually always holds in every execution that violates ``prop``.

    The parameters of ``prop`` are free in it.  ``None`` where the property is not of this kind.
    """
    automaton = prop.automaton
    if automaton is None or automaton.states != 2:
        return None
    waits = _guards(automaton.edges, 0, 0) == {(frozenset(), frozenset())}
    lasting = _guards(automaton.edges, 1, 1)
    enters = _guards(automaton.edges, 0, 1) == lasting
    accepts = all(1 in states for states in automaton.accepting)
    waiting = all(0 in states for states in automaton.accepting)
    if not (waits and enters and accepts) or waiting or _guards(automaton.edges, 1, 0):
        return None
    return _any([_all(prop, guard) for guard in sorted(lasting, key=_order)])


def needs_automaton(prop: Property) -> bool:
    """Tells whether deciding ``prop`` or its premise needs the product with an automaton."""
    return persistence(prop) is None or prop.given is not None


def monitored(system: TransitionSystem) -> list[Property]:
    """Returns the liveness properties of ``system`` that need the product with an automaton."""
    live = (prop for prop in system.properties if prop.kind is PropertyKind.LIVENESS)
    return [prop for prop in live if needs_automaton(prop)]


def persistence_for_some(prop: Property) -> Expr | None:
    """Returns the closed condition that :func:`persistence` holds for some values of the
    parameters."""
    condition = persistence(prop)
    if condition is None:
        return None
    for param in reversed(prop.params):
        inner = condition if param.where == TRUE else Apply(BOOL, Op.AND, (param.where, condition))
        condition = Quant(Quantifier.EXISTS, param.name, param.domain, inner, BOOL)
    return condition


def _guards(edges: tuple[AutomatonEdge, ...], source: int, target: int) -> set[Guard]:
    return {(e.yes, e.no) for e in edges if (e.source, e.target) == (source, target)}


def _order(guard: Guard) -> tuple[list[int], list[int]]:
    return sorted(guard[0]), sorted(guard[1])


def _all(prop: Property, guard: Guard) -> Expr:
    yes = [prop.propositions[i] for i in sorted(guard[0])]
    no = [Apply(BOOL, Op.NOT, (prop.propositions[i],)) for i in sorted(guard[1])]
    parts: list[Expr] = [*yes, *no]
    return reduce(lambda a, b: Apply(BOOL, Op.AND, (a, b)), parts) if parts else TRUE


def _any(parts: list[Expr]) -> Expr:
    if not parts:
        return Apply(BOOL, Op.NOT, (TRUE,))
    return reduce(lambda a, b: Apply(BOOL, Op.OR, (a, b)), parts)
