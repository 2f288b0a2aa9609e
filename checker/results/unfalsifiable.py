"""Properties that nothing could violate: they hold, and say nothing.

Two kinds are found.  What a property reads has one value in all states, as far as the search has
taken actions.  Or it is true for whatever values its variables have, and for any order of these:
all combinations are tried where they are few.  A property whose variables outgrow guessed
capacities is never called so, since larger values exist.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from checker import graphs
from checker.model import interpreter, ir
from checker.model.evaluate import RunFault
from checker.model.ir import Automaton, Expr, Property, PropertyKind, TransitionSystem
from checker.model.tree import nodes
from checker.model.types import BagT, cardinality_up_to, default, parts_of, universe
from checker.results.answer import Answer

MOST = 2_048
"""The most combinations of values that are tried."""
MOST_STARTS = 64
"""The most initial states that are looked at."""


def unfalsifiable(system: TransitionSystem, answer: Answer, prop: Property) -> str:
    """Returns why no run could violate ``prop``, in words; empty if some might."""
    return true_anyway(system, prop) or never_changes(system, answer, prop)


def never_changes(system: TransitionSystem, answer: Answer, prop: Property) -> str:
    """Returns that what ``prop`` reads has one value in all states; empty if it may have several.

    An action that was never taken changes nothing, unless a reduction may hide that it is taken.
    It is asked of what holds without limits only, since a bound or a view may hide that, too.
    """
    read = _read(prop)
    shows_all = answer.exhaustive and answer.reduced.shows_all
    taken = answer.reached_marks if shows_all else None
    if read.isdisjoint(_changed(system, taken)) and _is_single(system, read):
        return "nothing that it reads ever changes"
    return ""


def true_anyway(system: TransitionSystem, prop: Property) -> str:
    """Returns that ``prop`` is true for all values of what it reads; empty if some might violate
    it, or if there are more than :data:`MOST` combinations of values."""
    read = _read(prop)
    if read and not _is_tautology(system, prop, read):
        return ""
    return "it is true whatever happens"


def _read(prop: Property) -> set[str]:
    return {n.variable for n in nodes(_observed(prop)) if isinstance(n, ir.Read)}


def _observed(prop: Property) -> tuple[Expr, ...]:
    return (prop.bad,) if prop.kind is PropertyKind.INVARIANT else prop.propositions


# ---- one value --------------------------------------------------------------------------------


def _changed(system: TransitionSystem, seen: frozenset[int] | None) -> set[str]:
    """Returns the variables that monitors assign, and actions with a mark that was ``seen``, or
    with none; ``None``: any may have been seen."""
    found: set[str] = set()
    for block in (*(action.body for action in system.actions), system.monitor):
        inside = [n for n in nodes(block) if isinstance(n, ir.Mark | ir.Assign)]
        marks = {n.mark for n in inside if isinstance(n, ir.Mark)}
        if seen is None or not marks or not marks.isdisjoint(seen):
            found.update(n.target.name for n in inside if isinstance(n, ir.Assign))
    return found


def _is_single(system: TransitionSystem, read: set[str]) -> bool:
    """Returns whether variables have the same values in all initial states, if these are few."""
    at = [i for i, variable in enumerate(system.variables) if variable.name in read]
    starts = itertools.islice(interpreter.starts(system), MOST_STARTS + 1)
    values = [tuple(state[i] for i in at) for state, _ in starts]
    return not at or (len(values) <= MOST_STARTS and len(set(values)) == 1)


# ---- all values -------------------------------------------------------------------------------


def _is_tautology(system: TransitionSystem, prop: Property, read: set[str]) -> bool:
    variables = [v for v in system.variables if v.name in read]
    types = [*(v.type for v in variables), *(ir.domain_item(p.domain) for p in prop.params)]
    if any(_may_be_larger(part) for type_ in types for part in parts_of(type_)):
        return False
    number = 1
    for type_ in types:
        number *= cardinality_up_to(type_, MOST + 1)
    if number > MOST:
        return False
    states = _valuations(system, prop, read)
    try:
        if prop.kind is PropertyKind.INVARIANT:
            return not any(bad for (bad,) in states)
        assert prop.automaton is not None
        return not _accepts(prop.automaton, set(states))
    except RunFault:  # it has no value in some state
        return False


def _may_be_larger(type_: object) -> bool:
    return isinstance(type_, BagT) or getattr(type_, "grows", None) is not None


def _valuations(
    system: TransitionSystem, prop: Property, read: set[str]
) -> Iterator[tuple[bool, ...]]:
    """Yields the values of the propositions of ``prop``, for all values of the variables."""
    of_variables = [
        tuple(universe(v.type)) if v.name in read else (default(v.type),) for v in system.variables
    ]
    names = [param.name for param in prop.params]
    of_params = [tuple(universe(ir.domain_item(param.domain))) for param in prop.params]
    for state in itertools.product(*of_variables):
        for values in itertools.product(*of_params):
            bound = dict(zip(names, values, strict=True))
            yield tuple(interpreter.holds(system, e, state, bound) for e in _observed(prop))


def _accepts(automaton: Automaton, letters: set[tuple[bool, ...]]) -> bool:
    """Returns whether an automaton accepts some sequence of ``letters``."""
    after: dict[int, set[int]] = {}
    for edge in automaton.edges:
        if any(
            all(letter[i] for i in edge.yes) and not any(letter[i] for i in edge.no)
            for letter in letters
        ):
            after.setdefault(edge.source, set()).add(edge.target)

    def following(node: int) -> set[int]:
        return after.get(node, set())

    found = graphs.reached([0], following)
    return any(
        all(not goal.isdisjoint(part) for goal in automaton.accepting)
        for part in graphs.cycles(found, following)
    )
