"""Properties that do not look while a process is in the midst of a handler."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from checker.system import ir
from checker.system.build import conj
from checker.system.ir import Automaton, AutomatonEdge, Expr, Formula, Property, PropertyKind


def blind(prop: Property, looking: Expr) -> Property:
    """``prop`` as it is when only the states count in which ``looking`` holds.

    Of a ``LIVENESS`` property the automaton waits in other states: for each of its states there is
    a second one, never accepting, in which it has not looked since.  Such a wait is over in the
    end, since what a handler has begun is promised.
    """
    if prop.reading is not None:
        reading = replace(prop.reading, looking=(*prop.reading.looking, looking))
        prop = replace(prop, reading=reading)
    if prop.kind is not PropertyKind.LIVENESS:
        return replace(prop, bad=conj(looking, prop.bad))
    index = len(prop.propositions)
    formula = None if prop.formula is None else _relative(prop.formula, index)
    automaton = None if prop.automaton is None else _patient(prop.automaton, index)
    given = prop.given
    if given is not None:
        given = replace(given, automaton=_patient(given.automaton, index))
    return replace(
        prop,
        given=given,
        premise=conj(looking, prop.premise),
        propositions=(*prop.propositions, looking),
        formula=formula,
        automaton=automaton,
    )


def _relative(formula: Formula, looking: int) -> Formula:
    """``formula`` over the states in which proposition ``looking`` holds."""
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


def _patient(automaton: Automaton, looking: int) -> Automaton:
    """States ``n + q`` wait where ``q`` would be."""
    n = automaton.states
    edges: list[AutomatonEdge] = []
    for edge in automaton.edges:
        for source in (edge.source, n + edge.source):
            edges.append(replace(edge, source=source, yes=edge.yes | {looking}))
    for state in range(n):
        for source in (state, n + state):
            edges.append(AutomatonEdge(source, n + state, frozenset(), frozenset({looking})))
    return Automaton(2 * n, tuple(edges), automaton.accepting)
