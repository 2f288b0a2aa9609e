"""Liveness under fine steps: a run is read where no handler is under way.

What a handler does becomes visible together, so an automaton moves only when it reads an idle
state, and stays where it is in the midst of handlers.  A run with no idle moments from some time
on has no meaning of its own: the same handlers could have run one after the other, and that run is
judged.
"""

from __future__ import annotations

from dataclasses import replace

from checker.system.ir import (
    Automaton,
    AutomatonEdge,
    Connective,
    Expr,
    Formula,
    Holds,
    Modal,
    Property,
)


def read_when_idle(prop: Property, idle: Expr) -> Property:
    """The ``LIVENESS`` property ``prop``, asked of the states of a run in which ``idle`` holds."""
    assert prop.formula is not None and prop.automaton is not None
    number = len(prop.propositions)
    return replace(
        prop,
        propositions=(*prop.propositions, idle),
        formula=_formula(prop.formula, Holds(number)),
        automaton=_automaton(prop.automaton, number),
    )


def _formula(formula: Formula, idle: Formula) -> Formula:
    busy = Connective("not", (idle,))
    never_again = Modal("eventually", Modal("always", busy))
    return Connective("or", (never_again, _relative(formula, idle, busy)))


def _relative(formula: Formula, idle: Formula, busy: Formula) -> Formula:
    match formula:
        case Holds():
            return formula
        case Connective(op, parts):
            return Connective(op, tuple(_relative(part, idle, busy) for part in parts))
        case Modal("always", part):
            inner = _relative(part, idle, busy)
            return Modal("always", Connective("or", (busy, inner)))
        case Modal(_, part):
            inner = _relative(part, idle, busy)
            return Modal("eventually", Connective("and", (idle, inner)))


def _automaton(automaton: Automaton, idle: int) -> Automaton:
    """Each state twice: entered by reading (2 q), and waiting since then (2 q + 1)."""
    edges: list[AutomatonEdge] = []
    for edge in automaton.edges:
        for source in (2 * edge.source, 2 * edge.source + 1):
            yes = edge.yes | {idle}
            edges.append(AutomatonEdge(source, 2 * edge.target, yes, edge.no))
    for q in range(automaton.states):
        for source in (2 * q, 2 * q + 1):
            edges.append(AutomatonEdge(source, 2 * q + 1, frozenset(), frozenset((idle,))))
    everything = frozenset(range(automaton.states))
    accepting = automaton.accepting or (everything,)
    read = tuple(frozenset(2 * q for q in one) for one in accepting)
    return Automaton(2 * automaton.states, tuple(edges), read)
