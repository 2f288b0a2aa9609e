"""Rules that make cycles, within a segment: what can be taken, and in which order.

A process takes a rule, and nothing else of a configuration is used up, so that a segment is a run
of a communication-free Petri net.  Some numbers of rules can be taken, in some order, exactly if no
location ends below zero and every location that is left is *supplied*: it is occupied at the start,
or a rule leads there from one that is supplied.  Without cycles the first condition implies the
second.

Sources: J. Esparza: Petri nets, commutative context-free grammars, and basic parallel processes,
Fundamenta Informaticae 31, 1997 (the condition); K. N. Verma, H. Seidl, T. Schwentick: On the
complexity of equational Horn clauses, CADE 2005 (it as a formula of linear arithmetic, by the
distances from what is occupied).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import z3

from checker.graphs import components, reached
from checker.parametric.automaton.automaton import Automaton, Burst
from checker.parametric.symbolic.terms import all_of, any_of, zero


def ranks(automaton: Automaton) -> list[int]:
    """Returns a number for each location: rules lead to larger ones or, of an exact automaton,
    around a cycle of equal ones.  (Rules that reset variables are left out: they are alone in their
    segment.)

    Raises ``ValueError`` where rules make a cycle and the automaton is not exact: then the method
    would not be complete.
    """
    after: dict[int, list[int]] = {at: [] for at in range(len(automaton.locations))}
    for rule in automaton.rules:
        if not rule.resets:
            after[rule.source].append(rule.target)
    rank = [0] * len(after)
    for one in components(after, after.__getitem__):
        if not automaton.exact and any(target in one for at in one for target in after[at]):
            raise ValueError(f"rules of {automaton.name} make a cycle")
        height = max(rank[at] for at in one)
        for at in one:
            rank[at] = height
        for target in (target for at in one for target in after[at] if target not in one):
            rank[target] = max(rank[target], height + 1)
    return rank


def on_cycles(automaton: Automaton, rank: Sequence[int]) -> set[int]:
    """Returns the locations to which a process can come back, not counting rules that stay."""
    return {
        at
        for rule in automaton.rules
        if rule.source != rule.target and not rule.resets and rank[rule.source] == rank[rule.target]
        for at in (rule.source, rule.target)
    }


def comes_back(automaton: Automaton) -> bool:
    """Returns whether a configuration can occur again after another one."""
    resets = any(rule.resets for rule in automaton.rules)
    return resets or bool(on_cycles(automaton, ranks(automaton)))


def sort_key(automaton: Automaton, rank: Sequence[int], index: int) -> tuple[object, ...]:
    """Returns by what rules are sorted that are taken in one segment: those that do not leave a
    location precede those that do."""
    rule = automaton.rules[index]
    return rank[rule.source], rule.source, rule.source != rule.target, index


def supplied(
    automaton: Automaton,
    rank: Sequence[int],
    where: Sequence[z3.ArithRef],
    taken: Mapping[int, z3.ArithRef],
    distances: Mapping[int, z3.ArithRef],
) -> list[z3.BoolRef]:
    """Encodes that locations on cycles are supplied if they are left in a segment.

    ``where``: how many processes are in each location at its start; ``taken``: how often each rule
    is taken; ``distances``: an unknown for each location on a cycle.
    """
    found: list[z3.BoolRef] = []
    for at, distance in distances.items():
        leaving = [often for index, often in taken.items() if automaton.rules[index].source == at]
        if not leaving:
            continue
        ways = [where[at] > 0]
        for index, often in taken.items():
            rule = automaton.rules[index]
            if rule.target != at or rule.source == at:
                continue
            near = rank[rule.source] == rank[at]
            closer = [distances[rule.source] < distance] if near else []
            ways.append(all_of([often > 0, *closer]))
        found.append(any_of([all_of(zero(often) for often in leaving), *ways]))
    return found


def arranged(
    automaton: Automaton, rank: Sequence[int], where: list[int], times: Mapping[int, int]
) -> list[Burst]:
    """Returns ``times`` of rules in an order in which they can be taken, if there is one, and in
    any order otherwise; ``where`` becomes the numbers of processes behind them."""
    left = dict(times)
    bursts: list[Burst] = []
    while left:
        order = sorted(left, key=lambda index: sort_key(automaton, rank, index))
        able = next((b for index in order if (b := _burst(automaton, where, left, index))), None)
        for burst in [able] if able else [Burst(index, left[index]) for index in order]:
            bursts.append(burst)
            where[:], left = _taken(automaton, where, left, burst)
    return bursts


def _burst(
    automaton: Automaton, where: list[int], left: dict[int, int], index: int
) -> Burst | None:
    """Returns the rule ``index``, as often as it can be taken at once so that the others still can
    be."""
    rule = automaton.rules[index]
    most = left[index] if where[rule.source] and rule.source == rule.target else where[rule.source]
    often = min(left[index], most)
    while often:
        burst = Burst(index, often)
        if _all_supplied(automaton, *_taken(automaton, where, left, burst)):
            return burst
        often //= 2
    return None


def _taken(
    automaton: Automaton, where: list[int], left: dict[int, int], burst: Burst
) -> tuple[list[int], dict[int, int]]:
    rule = automaton.rules[burst.rule]
    there, rest = list(where), dict(left)
    there[rule.source] -= burst.times
    there[rule.target] += burst.times
    rest[burst.rule] -= burst.times
    if not rest[burst.rule]:
        del rest[burst.rule]
    return there, rest


def _all_supplied(automaton: Automaton, where: list[int], left: Mapping[int, int]) -> bool:
    rules = [automaton.rules[index] for index in left]
    occupied = [at for at, there in enumerate(where) if there > 0]
    found = {*reached(occupied, lambda at: [each.target for each in rules if each.source == at])}
    return all(rule.source in found for rule in rules)
