"""Translates formulas of linear temporal logic to generalised Büchi automata.

The construction is the tableau of Gerth, Peled, Vardi and Wolper (1995), restricted to `always` and
`eventually`: a state holds the literals that it reads now, the obligations for the next moment, and
the `eventually` formulas that it postpones.  States that no accepting execution needs are removed,
and states with the same future are merged.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from checker.graphs import cycles, predecessors, reached
from checker.model.ir import Automaton, AutomatonEdge, Connective, Formula, Holds, Modal
from checker.polling import poll

LARGEST = 256
"""Automata with more states than this are refused."""

TRUE: Formula = Connective("and", ())
FALSE: Formula = Connective("or", ())


class AutomatonTooLarge(Exception):
    """Raised when the automaton of a formula would have too many states."""


def always(part: Formula) -> Formula:
    """Returns `always part`, simplified."""
    match part:
        case Modal("always") | Connective(_, ()):
            return part
        case Modal("eventually", Modal("always")):
            return part
        case Connective("and", parts):
            again = [p for p in parts if isinstance(p, Modal) and p.op == "eventually"]
            rest = [p for p in parts if p not in again]
            if again and rest:
                return both([*(always(p) for p in again), Modal("always", both(rest))])
            return both(always(p) for p in again) if again else Modal("always", part)
        case _:
            return Modal("always", part)


def eventually(part: Formula) -> Formula:
    """Returns `eventually part`, simplified."""
    match part:
        case Modal("eventually") | Connective(_, ()):
            return part
        case Modal("always", Modal("eventually")):
            return part
        case _:
            return Modal("eventually", part)


def both(parts: Iterable[Formula]) -> Formula:
    """Returns the conjunction, flattened."""
    return _connective("and", TRUE, FALSE, parts)


def either(parts: Iterable[Formula]) -> Formula:
    """Returns the disjunction, flattened."""
    return _connective("or", FALSE, TRUE, parts)


def _connective(op: str, neutral: Formula, absorbing: Formula, parts: Iterable[Formula]) -> Formula:
    flat: dict[Formula, None] = {}
    for part in parts:
        if part == absorbing:
            return absorbing
        inner = part.parts if isinstance(part, Connective) and part.op == op else (part,)
        flat.update(dict.fromkeys(inner))
    flat.pop(neutral, None)
    merged = _merge_modals(op, tuple(flat))
    return merged[0] if len(merged) == 1 else Connective(op, merged)


def _merge_modals(op: str, parts: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """Merges operators of the same kind into one where that is equivalent.

    `always` distributes over `and`, `eventually` over `or`; one level deeper, `always eventually`
    distributes over `or`, `eventually always` over `and`.
    """
    outer, join = ("always", both) if op == "and" else ("eventually", either)
    inner = "eventually" if op == "and" else "always"
    plain: list[Formula] = []
    lasting: list[Formula] = []
    others: list[Formula] = []
    for part in parts:
        match part:
            case Modal(first, Modal(second, body)) if (first, second) == (inner, outer):
                lasting.append(body)
            case Modal("always", Modal("eventually")) if op == "and":
                others.append(part)
            case Modal(first, body) if first == outer:
                plain.append(body)
            case _:
                others.append(part)
    if plain:
        others.append(Modal(outer, join(plain)) if len(plain) > 1 else Modal(outer, plain[0]))
    if lasting:
        others.append(Modal(inner, Modal(outer, join(lasting))))
    return tuple(others)


class _Rounds(Struct, frozen=True):
    """Each of ``parts`` infinitely often, waited for in turn, so that one accepting set suffices
    (the degeneralisation of Büchi automata, after Emerson and Sistla)."""

    parts: tuple[Formula, ...]
    turn: int = 0


_Owed = Formula | _Rounds


def normal(formula: Formula, negated: bool = False) -> Formula:
    """Returns the negation normal form (``negated``: of the negation): `not` in front of
    propositions only."""
    match formula:
        case Holds():
            return Connective("not", (formula,)) if negated else formula
        case Connective("not", (part,)):
            return normal(part, not negated)
        case Connective(op, parts):
            return (both if (op == "and") != negated else either)(
                normal(part, negated) for part in parts
            )
        case Modal(op, part):
            return (always if (op == "always") != negated else eventually)(normal(part, negated))


def inverse(formula: Formula) -> Formula:
    """Returns the negation in negation normal form."""
    return normal(formula, negated=True)


def refuting(formula: Formula) -> Automaton:
    """Returns the automaton of the executions that violate ``formula``; raises
    :class:`AutomatonTooLarge`."""
    return accepting(inverse(formula))


def accepting(formula: Formula) -> Automaton:
    """Returns the automaton of the executions that satisfy ``formula``; raises
    :class:`AutomatonTooLarge`."""
    found: dict[_State, int] = {}
    order: list[_State] = []
    edges: list[list[_Edge]] = [[]]
    start: frozenset[_Owed] = frozenset((normal(formula),))
    todo = [(0, start)]
    while todo:
        poll()
        source, obligations = todo.pop()
        for state in _covers(obligations):
            if state not in found:
                if len(found) >= LARGEST:
                    raise AutomatonTooLarge
                found[state] = len(found) + 1
                order.append(state)
                edges.append([])
                todo.append((found[state], state.later))
            edges[source].append((found[state], state.yes, state.no))
    promises = sorted({p for s in order for p in s.put_off}, key=repr)
    sets = [{i + 1 for i, s in enumerate(order) if p not in s.put_off} for p in promises]
    return _small(_Draft(edges, sets))


# ---- the tableau ------------------------------------------------------------------------------


class _State(Struct, frozen=True):
    yes: frozenset[int]
    no: frozenset[int]
    later: frozenset[_Owed]
    put_off: frozenset[_Owed]


def _covers(obligations: frozenset[_Owed]) -> list[_State]:
    """Returns the ways to satisfy all of ``obligations``: what must hold now and what later."""
    found: dict[_State, None] = {}
    empty: frozenset[_Owed] = frozenset()
    start = tuple(sorted(obligations, key=repr))
    stack = [(start, empty, _State(frozenset(), frozenset(), empty, empty))]
    while stack:
        poll()
        new, done, state = stack.pop()
        if not new:
            found[state] = None
            if len(found) > LARGEST:
                raise AutomatonTooLarge
            continue
        first, rest = new[0], new[1:]
        if first in done:
            stack.append((rest, done, state))
            continue
        done |= {first}
        for more, following in _split(first, state):
            if not following.yes & following.no:
                stack.append(((*more, *rest), done, following))
    return _least(list(found))


def _split(first: _Owed, state: _State) -> list[tuple[tuple[_Owed, ...], _State]]:
    yes, no, later, put_off = state.yes, state.no, state.later, state.put_off
    match first:
        case Holds(index):
            return [((), _State(yes | {index}, no, later, put_off))]
        case Connective("not", (Holds(index),)):
            return [((), _State(yes, no | {index}, later, put_off))]
        case Connective("and", parts):
            return [(_in_turn(parts), state)]
        case Connective("or", parts):
            return [((part,), state) for part in parts]
        case Modal("always", part):
            return [((part,), _State(yes, no, later | {first}, put_off))]
        case Modal("eventually", part):
            waiting = _State(yes, no, later | {first}, put_off | {first})
            return [((part,), state), ((), waiting)]
        case _Rounds(parts, turn):
            waiting = _State(yes, no, later | {first}, put_off | {_Rounds(parts)})
            following = _Rounds(parts, (turn + 1) % len(parts))
            return [
                ((parts[turn],), _State(yes, no, later | {following}, put_off)),
                ((), waiting),
            ]
        case _:
            raise AssertionError("not in normal form")


def _in_turn(parts: tuple[Formula, ...]) -> tuple[_Owed, ...]:
    """Replaces the members of ``parts`` that must hold infinitely often by a single obligation."""
    again: list[Formula] = []
    others: list[_Owed] = []
    for part in parts:
        match part:
            case Modal("always", Modal("eventually", body)):
                again.append(body)
            case _:
                others.append(part)
    if len(again) < 2:
        return parts
    return (_Rounds(tuple(again)), *others)


def _least(states: list[_State]) -> list[_State]:
    """Removes each state that demands at least as much as another one: now, later and for
    acceptance."""
    return [
        s
        for s in states
        if not any(
            t != s
            and t.yes <= s.yes
            and t.no <= s.no
            and t.later <= s.later
            and t.put_off <= s.put_off
            for t in states
        )
    ]


# ---- minimisation ------------------------------------------------------------------------------


_Edge = tuple[int, frozenset[int], frozenset[int]]


class _Draft(Struct):
    """A mutable automaton with edges by source; state 0 has read nothing yet, so its membership in
    accepting sets is irrelevant."""

    edges: list[list[_Edge]]
    sets: list[set[int]]


def _small(draft: _Draft) -> Automaton:
    after = {s: {t for t, _, _ in edges} for s, edges in enumerate(draft.edges)}
    around = cycles(after, after.__getitem__)
    repeated, cyclic = set[int]().union(*around), _on_cycles(draft, around)
    useful = set(reached(cyclic, predecessors(after).__getitem__))
    edges = [[e for e in found if e[0] in useful] for found in draft.edges]
    kept = [s for s in after if s in useful or s == 0]
    colours = {
        s: frozenset(i for i, one in enumerate(draft.sets) if s in one and s in cyclic)
        for s in kept
    }
    passing = [s for s in kept if s not in repeated]
    group = _equivalence_classes(kept, edges, colours, passing)
    number = {group[0]: 0}
    for s in kept:
        number.setdefault(group[s], len(number))
    found: dict[AutomatonEdge, None] = {}
    for s in sorted(kept, key=lambda s: (number[group[s]], s)):
        for target, yes, no in edges[s]:
            found[AutomatonEdge(number[group[s]], number[group[target]], yes, no)] = None
    looping = {number[group[s]] for s in kept if s in repeated}
    sets = [
        frozenset(number[group[s]] for s in kept if s in cyclic and s in one) for one in draft.sets
    ]
    demanding = [one for one in dict.fromkeys(sets) if not one >= looping]
    every = frozenset(range(len(number)))
    return Automaton(len(number), _weakest(found), tuple(demanding) or (every,))


def _on_cycles(draft: _Draft, around: list[set[int]]) -> set[int]:
    """Returns the states on a cycle through all accepting sets; elsewhere the sets are
    irrelevant."""
    return set().union(*(one for one in around if all(one & each for each in draft.sets)))


def _shape(edges: list[_Edge], group: dict[int, int]) -> frozenset[_Edge]:
    return frozenset((group[t], yes, no) for t, yes, no in edges)


def _equivalence_classes(
    states: list[int],
    edges: list[list[_Edge]],
    colours: dict[int, frozenset[int]],
    passing: list[int],
) -> dict[int, int]:
    """Numbers the states so that those with the same future have the same number.

    The accepting sets of ``passing`` states are irrelevant: an execution visits each at most once.
    """
    group = _refine(states, edges, colours)
    while True:
        known = {_shape(edges[s], group): group[s] for s in states if s not in passing}
        moved = {
            s: known[shape]
            for s in passing
            if (shape := _shape(edges[s], group)) in known and known[shape] != group[s]
        }
        if not moved:
            return group
        group |= moved


def _refine(
    states: list[int], edges: list[list[_Edge]], colours: dict[int, frozenset[int]]
) -> dict[int, int]:
    group = dict.fromkeys(states, 0)
    while True:
        keys = {s: (colours[s], _shape(edges[s], group), group[s]) for s in states}
        numbers: dict[object, int] = {}
        for s in states:
            numbers.setdefault(keys[s], len(numbers))
        refined = {s: numbers[keys[s]] for s in states}
        if len(numbers) == len(set(group.values())):
            return refined
        group = refined


def _weakest(edges: Iterable[AutomatonEdge]) -> tuple[AutomatonEdge, ...]:
    """Removes edges whose condition implies that of another edge between the same states."""
    all_ = list(edges)
    return tuple(
        e
        for e in all_
        if not any(
            o is not e
            and (o.source, o.target) == (e.source, e.target)
            and o.yes <= e.yes
            and o.no <= e.no
            for o in all_
        )
    )
