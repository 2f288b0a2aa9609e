"""Restricts properties to some states and to some executions."""

from __future__ import annotations

from typing import assert_never

from checker.model import ir
from checker.model.build import conj, negation
from checker.model.ir import Automaton, AutomatonEdge, Expr, Formula, Property, PropertyKind
from checker.records import replace


def restrict_observations(prop: Property, looking: Expr, spoilt: Expr | None) -> Property:
    """Returns ``prop`` over those states only in which ``looking`` holds, and over those executions
    only in which ``spoilt``, which is stable once true, never holds.

    Of a ``LIVENESS`` property, which needs ``spoilt``, the automaton waits in other states: each of
    its states has a copy, never accepting, that has observed nothing since.  Such a wait ends
    eventually, since a fairness constraint makes a begun handler finish.
    """
    if prop.reading is not None:
        reading = replace(prop.reading, looking=(*prop.reading.looking, looking))
        prop = replace(prop, reading=reading)
    counts = looking if spoilt is None else conj(looking, negation(spoilt))
    premise = conj(counts, prop.premise)
    if prop.kind is not PropertyKind.LIVENESS:
        return replace(prop, bad=conj(counts, prop.bad), premise=premise)
    assert spoilt is not None
    seen = len(prop.propositions)
    over = seen + 1
    formula, automaton, given = prop.formula, prop.automaton, prop.given
    return replace(
        prop,
        premise=premise,
        propositions=(*prop.propositions, looking, spoilt),
        formula=None if formula is None else _unless(over, _relative(formula, seen)),
        automaton=None if automaton is None else _patient(automaton, seen, over),
        given=given and replace(given, automaton=_patient(given.automaton, seen, over)),
    )


def _unless(spoilt: int, formula: Formula) -> Formula:
    """Returns that ``formula`` holds, or proposition ``spoilt`` becomes true."""
    return ir.Connective("or", (ir.Modal("eventually", ir.Holds(spoilt)), formula))


def _relative(formula: Formula, looking: int) -> Formula:
    """Relativises ``formula`` to the states in which proposition ``looking`` holds."""
    match formula:
        case ir.Holds():
            return formula
        case ir.Connective(op, parts):
            return ir.Connective(op, tuple(_relative(p, looking) for p in parts))
        case ir.Modal("always", part):
            unseen = ir.Connective("not", (ir.Holds(looking),))
            return ir.Modal("always", ir.Connective("or", (unseen, _relative(part, looking))))
        case ir.Modal(op, part):
            seen = (ir.Holds(looking), _relative(part, looking))
            return ir.Modal(op, ir.Connective("and", seen))
        case _:
            assert_never(formula)


def _patient(automaton: Automaton, looking: int, spoilt: int) -> Automaton:
    """Builds an automaton in which state ``n + q`` waits for ``q``; ``spoilt`` executions have no
    path."""
    n, never = automaton.states, frozenset({spoilt})
    edges: list[AutomatonEdge] = []
    for edge in automaton.edges:
        for source in (edge.source, n + edge.source):
            yes, no = edge.yes | {looking}, edge.no | never
            edges.append(replace(edge, source=source, yes=yes, no=no))
    for state in range(n):
        for source in (state, n + state):
            edges.append(AutomatonEdge(source, n + state, frozenset(), never | {looking}))
    return Automaton(2 * n, tuple(edges), automaton.accepting)
