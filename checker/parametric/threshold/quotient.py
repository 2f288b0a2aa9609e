"""Merges locations that a question does not distinguish, before it is asked.

Two locations are merged if the question counts them alike, and they have the same rules: with the
same guards and messages, to locations that are merged.  (Rules that stay and send nothing do not
matter, nor do messages that no guard that is left compares, nor rules that another one covers.)
That is a bisimulation, so that the question has the same answer; :meth:`Quotient.lift` makes a run
of the original of each run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from checker.parametric.automaton.arithmetic import FALSE, comparisons, names, rewritten
from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    AllOf,
    AnyOf,
    Automaton,
    Burst,
    Condition,
    Counts,
    Linear,
    NotState,
    Question,
    Rule,
    Somebody,
    StateFormula,
    sent_name,
)
from checker.parametric.threshold.simplify import implies
from checker.records import replace

Sends = tuple[int, ...]
Moves = dict[tuple[Sends, Sends, int], list[int]]
"""By what is sent, what is reset, and the class that is reached: the guards of rules by number,
none of which implies another."""


class Quotient(Struct, frozen=True):
    """``automaton`` and ``question`` after merging; ``classes``: the class of each location of the
    ``original``; ``kinds``: what is still counted."""

    original: Automaton
    automaton: Automaton
    question: Question
    classes: tuple[int, ...]
    kinds: frozenset[int]

    def lift(self, run: AcceleratedRun) -> AcceleratedRun:
        """Returns a run of the original that does the same."""
        begin = [0] * len(self.classes)
        for number, there in enumerate(run.begin):
            if there:
                begin[self._first(number)] = there
        where = list(begin)
        segments = []
        for segment in run.segments:
            bursts: list[Burst] = []
            for burst in segment:
                self._lift_burst(burst, where, bursts)
            segments.append(tuple(bursts))
        return AcceleratedRun(run.values, tuple(begin), tuple(segments))

    def _first(self, number: int) -> int:
        locations = self.original.locations
        return next(
            at for at, each in enumerate(self.classes) if each == number and locations[at].initial
        )

    def _lift_burst(self, burst: Burst, where: list[int], bursts: list[Burst]) -> None:
        rule = self.automaton.rules[burst.rule]
        left = burst.times
        while left:
            source = next(
                at for at, each in enumerate(self.classes) if each == rule.source and where[at]
            )
            index = self._like(rule, source)
            taken = self.original.rules[index]
            times = min(left, where[source])
            where[source] -= times
            where[taken.target] += times
            left -= times
            bursts.append(Burst(index, times))

    def _like(self, rule: Rule, source: int) -> int:
        naturals = frozenset(self.original.parameters)
        return next(
            index
            for index, each in enumerate(self.original.rules)
            if each.source == source
            and self.classes[each.target] == rule.target
            and _counted(each.sends, self.kinds) == rule.sends
            and _counted(each.resets, self.kinds) == rule.resets
            and implies(rule.guard, each.guard, naturals)
        )


def quotient(automaton: Automaton, question: Question) -> Quotient:
    """Returns the quotient of an exact automaton by what ``question`` distinguishes."""
    question = replace(question, begins=_at_first(question.begins, automaton))
    formulas = (question.begins, *question.before, question.violated)
    observed = frozenset(name for formula in formulas for name in _names(formula))
    kinds = frozenset(at for at in range(len(automaton.kinds)) if sent_name(at) in observed)
    first = [_observation(automaton, at, formulas) for at in range(len(automaton.locations))]
    rules = Rules(automaton)
    while True:
        classes = _refine(rules, first, kinds)
        moves = _moves_of_classes(rules, classes, kinds)
        used = {name for each in moves for guards in each.values() for g in guards
                for name in names(rules.guards[g])}  # fmt: skip
        more = {at for at in range(len(automaton.kinds)) if sent_name(at) in used}
        if more <= kinds:
            return _made(automaton, rules, question, classes, moves, kinds)
        kinds |= more


def _counted(sends: Sends, kinds: frozenset[int]) -> Sends:
    return tuple(kind for kind in sends if kind in kinds)


def _observation(
    automaton: Automaton, at: int, formulas: Iterable[StateFormula]
) -> tuple[object, ...]:
    """Returns what is seen of a location in one configuration."""
    location = automaton.locations[at]
    begins = tuple(
        dict(term.terms).get(location.name, 0)
        for condition in automaton.begins
        for term in comparisons(condition)
    )
    seen = tuple(weight for formula in formulas for weight in _weights(formula, at, location.name))
    return location.initial, begins, seen


def _weights(formula: StateFormula, at: int, name: str) -> list[int]:
    match formula:
        case Somebody(locations, _):
            return [int(at in locations)]
        case Counts(condition):
            return [dict(term.terms).get(name, 0) for term in comparisons(condition)]
        case NotState(part):
            return _weights(part, at, name)
        case AllOf(parts) | AnyOf(parts):
            return [weight for part in parts for weight in _weights(part, at, name)]


def _at_first(formula: StateFormula, automaton: Automaton) -> StateFormula:
    """Returns the formula of the first configuration, in which other locations are empty."""
    match formula:
        case Somebody(locations, least):
            initial = frozenset(at for at in locations if automaton.locations[at].initial)
            return Somebody(initial, least)
        case Counts(condition):
            empty = {each.name: Linear() for each in automaton.locations if not each.initial}
            return Counts(rewritten(condition, empty))
        case NotState(part):
            return NotState(_at_first(part, automaton))
        case AllOf(parts):
            return AllOf(tuple(_at_first(part, automaton) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(_at_first(part, automaton) for part in parts))


def _names(formula: StateFormula) -> frozenset[str]:
    match formula:
        case Somebody():
            return frozenset()
        case Counts(condition):
            return names(condition)
        case NotState(part):
            return _names(part)
        case AllOf(parts) | AnyOf(parts):
            return frozenset(name for part in parts for name in _names(part))


def _refine(rules: Rules, first: list[tuple[object, ...]], kinds: frozenset[int]) -> list[int]:
    """Returns the coarsest classes of locations that are seen alike and have the same rules."""
    classes = _numbered(first)
    while True:
        moves = _moves(rules, classes, kinds)
        finer = _numbered(
            [
                (classes[at], frozenset((to, frozenset(guards)) for to, guards in each.items()))
                for at, each in enumerate(moves)
            ]
        )
        if len({*finer}) == len({*classes}):
            return classes
        classes = finer


def _numbered(keys: Iterable[object]) -> list[int]:
    numbers: dict[object, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _moves(rules: Rules, classes: list[int], kinds: frozenset[int]) -> list[Moves]:
    """Returns the rules of each location, up to classes."""
    found: list[Moves] = [{} for _ in classes]
    for rule, guard in rules.numbered:
        sends, resets = _counted(rule.sends, kinds), _counted(rule.resets, kinds)
        target = classes[rule.target]
        if not sends and not resets and target == classes[rule.source]:
            continue
        guards = found[rule.source].setdefault((sends, resets, target), [])
        if any(rules.implies(guard, other) for other in guards):
            continue
        guards[:] = [other for other in guards if not rules.implies(other, guard)]
        guards.append(guard)
    return found


class Rules:
    """The rules of an automaton that can be taken, each with the number of its guard."""

    def __init__(self, automaton: Automaton) -> None:
        self.naturals = frozenset(automaton.parameters)
        numbers: dict[Condition, int] = {}
        self.numbered = [
            (rule, numbers.setdefault(rule.guard, len(numbers)))
            for rule in automaton.rules
            if rule.guard != FALSE
        ]
        self.guards = list(numbers)
        self._implied: dict[tuple[int, int], bool] = {}

    def implies(self, one: int, other: int) -> bool:
        """Returns whether a guard implies another, both by number."""
        if (one, other) not in self._implied:
            found = implies(self.guards[one], self.guards[other], self.naturals)
            self._implied[one, other] = found
        return self._implied[one, other]


def _moves_of_classes(rules: Rules, classes: list[int], kinds: frozenset[int]) -> list[Moves]:
    moves: dict[int, Moves] = {}
    for at, each in enumerate(_moves(rules, classes, kinds)):
        moves.setdefault(classes[at], each)
    return [moves[number] for number in range(len(moves))]


def _made(
    automaton: Automaton,
    rules: Rules,
    question: Question,
    classes: list[int],
    moves: list[Moves],
    kinds: frozenset[int],
) -> Quotient:
    members: dict[int, list[int]] = {}
    for at, number in enumerate(classes):
        members.setdefault(number, []).append(at)
    locations = tuple(automaton.locations[members[number][0]] for number in range(len(members)))
    named = {
        automaton.locations[at].name: Linear() for others in members.values() for at in others[1:]
    }
    merged = tuple(
        Rule(source, target, rules.guards[guard], sends, "", is_fair=False, resets=resets)
        for source, each in enumerate(moves)
        for (sends, resets, target), guards in each.items()
        for guard in guards
    )
    made = replace(
        automaton,
        locations=locations,
        rules=merged,
        begins=tuple(rewritten(each, named) for each in automaton.begins),
    )
    asked = replace(
        question,
        violated=_over_classes(question.violated, classes, named),
        begins=_over_classes(question.begins, classes, named),
        before=tuple(_over_classes(each, classes, named) for each in question.before),
    )
    return Quotient(automaton, made, asked, tuple(classes), kinds)


def _over_classes(
    formula: StateFormula, classes: list[int], named: Mapping[str, Linear]
) -> StateFormula:
    match formula:
        case Somebody(locations, least):
            return Somebody(frozenset(classes[at] for at in locations), least)
        case Counts(condition):
            return Counts(rewritten(condition, named))
        case NotState(part):
            return NotState(_over_classes(part, classes, named))
        case AllOf(parts):
            return AllOf(tuple(_over_classes(part, classes, named) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(_over_classes(part, classes, named) for part in parts))
