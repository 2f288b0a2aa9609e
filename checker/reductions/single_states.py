"""What a search is asked in place of liveness properties, so that single states decide more.

``eventually b, or c again and again`` is violated by an execution in which ``b`` is never true, and
``c`` only finitely often.  Where ``b``, once true, stays true, ``b`` and ``c`` are both false in it
eventually always: the automaton need not watch from the initial states that ``b`` is false.

A premise that eventually always holds in an execution becomes a property of its own, of which an
execution that satisfies the premise is the violation.
"""

from __future__ import annotations

from collections.abc import Collection

from checker.model.ir import (
    TRUE,
    Automaton,
    AutomatonEdge,
    Connective,
    Formula,
    Holds,
    Modal,
    Property,
    PropertyKind,
    TransitionSystem,
)
from checker.model.memo import an_analysis
from checker.model.tree import placeless
from checker.properties.persistence import needs_automaton, persistence
from checker.records import replace
from checker.reductions.dead_variables.monotone_variables import trends
from checker.reductions.dead_variables.monotonicity import Direction, Trend, Trends
from checker.reductions.dead_variables.program_points import program_points
from checker.results.answer import Answer

PREMISE = ".premise"
"""What the names of properties that stand for a premise end with."""


@an_analysis()
def by_single_states(system: TransitionSystem) -> TransitionSystem:
    """Returns ``system`` with other properties in place of those that single states decide then; it
    is ``system`` itself where there are none.  :func:`translated` translates the answer back."""
    found = list[Property]()
    moves: Trends | None = None
    for prop in system.properties:
        if prop.kind is PropertyKind.LIVENESS and needs_automaton(prop):
            eased = _without_watch(prop)
            if eased is not None:
                moves = moves or _lasting_trends(system)
                prop = eased if _stays_refuted(prop, moves) else prop
            found += _with_premise_apart(prop)
        else:
            found.append(prop)
    properties = tuple(found)
    return system if properties == system.properties else replace(system, properties=properties)


def translated(system: TransitionSystem, asked: TransitionSystem, answer: Answer) -> Answer:
    """Returns the answer about ``system`` for one about ``asked``, which
    :func:`by_single_states` has made of it."""
    apart = {p.name for p in asked.properties} - {p.name for p in system.properties}
    if not apart:
        return answer
    undecided = {name: why for name, why in answer.undecided.items() if name not in apart}
    unmet = set(answer.unmet)
    for name in [p.name for p in system.properties if p.name + PREMISE in apart]:
        premise = name + PREMISE
        if name in answer.violations or name in undecided or premise in answer.violations:
            continue
        if premise in answer.undecided:
            undecided[name] = answer.undecided[premise]
        elif answer.exhaustive:
            unmet.add(name)
    violations = {name: path for name, path in answer.violations.items() if name not in apart}
    return replace(
        answer,
        violations=violations,
        undecided=undecided,
        unmet=frozenset(unmet),
        premises=answer.premises - apart,
        reduced=replace(answer.reduced, unused=_about(answer.reduced.unused, apart)),
    )


def _about(
    unused: tuple[tuple[str, str], ...], apart: Collection[str]
) -> tuple[tuple[str, str], ...]:
    """The reasons against reductions; what is said of a premise is said of its property."""
    for premise in apart:
        whole = premise.removesuffix(PREMISE)
        unused = tuple((kind, why.replace(premise, whole)) for kind, why in unused)
    return tuple(dict.fromkeys(unused))


def _with_premise_apart(prop: Property) -> tuple[Property, ...]:
    """``prop`` and a property for its premise, where single states decide both."""
    if prop.given is None or persistence(prop) is None:
        return (prop,)
    premise = replace(
        prop,
        name=prop.name + PREMISE,
        part_of="",
        premise=TRUE,
        given=None,
        ways=(),
        automaton=prop.given.automaton,
        formula=_again(prop.given.automaton),
    )
    if persistence(premise) is None:
        return (prop,)
    return replace(prop, given=None), premise


def _without_watch(prop: Property) -> Property | None:
    """``prop`` with an automaton that waits whatever it reads, where it waits now as long as a
    condition holds that holds forever after the wait too."""
    automaton = prop.automaton
    if automaton is None or (wait := _wait(automaton)) is None:
        return None
    free = AutomatonEdge(0, 0, frozenset(), frozenset())
    edges = tuple(free if edge is wait else edge for edge in automaton.edges)
    lasts = [edge for edge in edges if edge.source == 1]
    if not all(wait.yes <= edge.yes and wait.no <= edge.no for edge in lasts):
        return None
    eased = replace(automaton, edges=edges)
    found = replace(prop, automaton=eased, formula=_again(eased))
    return None if persistence(found) is None else found


def _wait(automaton: Automaton) -> AutomatonEdge | None:
    """The only edge from the initial state to itself."""
    waits = [edge for edge in automaton.edges if edge.source == edge.target == 0]
    return waits[0] if automaton.states == 2 and len(waits) == 1 else None


def _again(automaton: Automaton) -> Formula:
    """The formula that executions violate by staying in state 1 of ``automaton``."""
    ways = [
        Connective("and", (*map(Holds, sorted(edge.yes)), *map(_fails, sorted(edge.no))))
        for edge in automaton.edges
        if edge.source == edge.target == 1
    ]
    lasts = Connective("or", tuple(ways))
    return Modal("always", Modal("eventually", Connective("not", (lasts,))))


def _fails(proposition: int) -> Formula:
    return Connective("not", (Holds(proposition),))


# ---- what stays true -----------------------------------------------------------------------------


def _lasting_trends(system: TransitionSystem) -> Trends:
    """The directions of variables in whole executions: one that moves until something happens, or
    from then on, counts as one that moves in any direction."""
    plain = placeless(system)
    found = trends(plain, program_points(plain)).variables
    always = {
        name: trend if trend.until is None and trend.once is None else Trend(Direction.ANY)
        for name, trend in found.items()
    }
    return Trends(always)


def _stays_refuted(prop: Property, moves: Trends) -> bool:
    """Whether what ``prop``'s automaton waits by never holds again once it does not."""
    assert prop.automaton is not None
    wait = _wait(prop.automaton)
    assert wait is not None
    rising = [placeless(prop.propositions[i]) for i in wait.no]
    falling = [placeless(prop.propositions[i]) for i in wait.yes]
    return all(moves.way(e) in (Direction.STILL, Direction.UP) for e in rising) and all(
        moves.way(e) in (Direction.STILL, Direction.DOWN) for e in falling
    )
