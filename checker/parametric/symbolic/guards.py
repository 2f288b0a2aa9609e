"""Computes when a process can have the receipts that a guard demands, as comparisons of the numbers
of sent messages.

A guard speaks of receipts: it may be taken where *some* receipts satisfy it that the process can
have had.  The possible receipts of a kind lie between two terms over the numbers of sent messages,
so that most of these existential quantifiers can be eliminated: a receipt that is only bounded from
below is as large as possible, one that is only bounded from above as small as possible, and where
one alone is bounded from both sides by terms without factors, each lower bound is compared with
each upper one (Fourier and Motzkin; exact for integers where all factors are 1).  What is left is a
:class:`Choice`.

Terms count sent messages by two names for each kind: ``sent_name(k)`` and
``correct_senders_name(k)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from msgspec import Struct

from checker.parametric.automaton.arithmetic import (
    comparisons,
    conjunction,
    names,
    plus,
    rewritten,
    substitute,
    times,
    to_nnf,
)
from checker.parametric.automaton.automaton import (
    And,
    AtLeast,
    Automaton,
    Condition,
    Linear,
    Location,
    Not,
    Or,
    Receipt,
    Rule,
    sent_name,
)


class Choice(Struct, frozen=True):
    """There are receipts that satisfy ``condition``, of a process that has sent ``own`` to others.

    ``reliable``: reliable delivery applies: they include all messages that correct processes have
    sent.
    """

    condition: Condition
    own: frozenset[int]
    reliable: bool


class All(Struct, frozen=True):
    """A conjunction; true where it has no parts."""

    parts: tuple[Counted, ...] = ()


class Any(Struct, frozen=True):
    """A disjunction; false where it has no parts."""

    parts: tuple[Counted, ...] = ()


Leaf = AtLeast | Choice
Counted = Leaf | All | Any
"""A formula over parameters and over the numbers of sent messages."""


def correct_senders_name(kind: int) -> str:
    """Returns the name of the number of correct processes that have sent messages of ``kind``."""
    return f"!{kind}"


def possible(automaton: Automaton, rule: Rule) -> Counted:
    """Returns when some process in the rule's source can have receipts with which the rule is
    enabled.

    The known receipts of the source are left out where they only bound receipts from below: they
    were possible then, and more can be received now. (Leaving them out allows more executions,
    never fewer.)
    """
    source = automaton.locations[rule.source]
    eliminator = Eliminator(automaton, source, reliable=False)
    grown = _receipt_names(automaton)
    guard = to_nnf(rule.guard)
    seen = [known for known in source.known if not _grows(to_nnf(known), grown)]
    if _bounds_above(guard, grown):
        seen = list(source.known)
    return eliminator.of(to_nnf(And((guard, *seen))))


def stuck_condition(automaton: Automaton, location: Location, rules: Iterable[Rule]) -> Counted:
    """Returns when a correct process can stay in ``location`` forever, which ``rules`` leave: it
    has received all that correct processes have sent, and no guard is true.
    """
    eliminator = Eliminator(automaton, location, reliable=True)
    refused = [Not(rule.guard) for rule in rules]
    return eliminator.of(to_nnf(And((*refused, *location.known))))


def leaves(formula: Counted) -> Iterator[Leaf]:
    """Yields the comparisons and choices in the formula."""
    match formula:
        case AtLeast() | Choice():
            yield formula
        case All(parts) | Any(parts):
            for part in parts:
                yield from leaves(part)
        case _:
            assert_never(formula)


def counts(leaf: Leaf) -> frozenset[str]:
    """Returns the numbers of sent messages in it, by name; for a choice all possible receipts."""
    condition = leaf.condition if isinstance(leaf, Choice) else leaf
    return names(condition)


def _receipt_names(automaton: Automaton) -> frozenset[str]:
    return frozenset(receipt.name for receipt in automaton.receipts)


def _grows(condition: Condition, grown: frozenset[str]) -> bool:
    """Returns whether it is monotonic: it stays true as receipts grow (it is without ``Not``)."""
    return all(
        by > 0 for term in comparisons(condition) for name, by in term.terms if name in grown
    )


def _bounds_above(condition: Condition, grown: frozenset[str]) -> bool:
    return not _grows(condition, grown)


class Eliminator(Struct, frozen=True):
    """Eliminates receipts of processes in ``location``; ``reliable``: they include all that correct
    processes sent.
    """

    automaton: Automaton
    location: Location
    reliable: bool

    def of(self, condition: Condition) -> Counted:
        """Returns when there are receipts that satisfy ``condition`` (it is without ``Not``)."""
        match condition:
            case Or(parts):
                return Any(tuple(self.of(part) for part in parts))
            case AtLeast():
                return self._all((condition,))
            case And(parts):
                return self._all(parts)
            case Not():
                raise ValueError("a negation that was not pushed inwards")
            case _:
                assert_never(condition)

    def highest(self, receipt: Receipt) -> Linear:
        """Returns the largest possible number of receipts."""
        sent = (plus(Linear(((sent_name(kind), 1),)), self._mine(kind)) for kind in receipt.kinds)
        return plus(*sent, *byzantine_senders(self.automaton, receipt).values())

    def lowest(self, receipt: Receipt) -> Linear:
        """Returns the least possible number of receipts."""
        if not self.reliable:
            return Linear()
        sent = (
            plus(Linear(((correct_senders_name(kind), 1),)), self._mine(kind))
            for kind in receipt.kinds
        )
        return plus(*sent)

    def _mine(self, kind: int) -> Linear:
        return Linear((), -1 if kind in self.location.own else 0)

    def _all(self, parts: tuple[Condition, ...]) -> Counted:
        used = {name for part in parts for name in names(part)}
        receipts = [receipt for receipt in self.automaton.receipts if receipt.name in used]
        free = self._free(parts, receipts)
        bounds = self._extremes(parts, [each for each in receipts if each not in free])
        kept = [rewritten(part, bounds) for part in parts]
        result: list[Counted] = []
        for receipts_of, together in _components(kept, free):
            if not receipts_of:
                result.extend(_plain(part) for part in together)
            elif len(together) == 1 and isinstance(together[0], Or):
                result.append(self.of(together[0]))
            else:
                result.append(self._eliminate_choice(receipts_of, together))
        return result[0] if len(result) == 1 else All(tuple(result))

    def _free(self, parts: tuple[Condition, ...], receipts: list[Receipt]) -> list[Receipt]:
        """Returns the receipts for which neither the highest nor the lowest number is optimal."""
        signs: dict[int, set[bool]] = {}
        by_name = {receipt.name: receipt for receipt in receipts}
        for part in parts:
            for term in comparisons(part):
                for name, by in term.terms:
                    if name in by_name:
                        for kind in by_name[name].kinds:
                            signs.setdefault(kind, set()).add(by > 0)
        mixed = {kind for kind, found in signs.items() if len(found) > 1}
        while True:  # what shares a kind with a free receipt is free
            free = [receipt for receipt in receipts if mixed & set(receipt.kinds)]
            more = {kind for receipt in free for kind in receipt.kinds}
            if more <= mixed:
                return free
            mixed |= more

    def _extremes(
        self, parts: tuple[Condition, ...], receipts: list[Receipt]
    ) -> Mapping[str, Linear]:
        by_name = {receipt.name: receipt for receipt in receipts}
        found: dict[str, Linear] = {}
        for part in parts:
            for term in comparisons(part):
                for name, by in term.terms:
                    if name in by_name:
                        best = self.highest if by > 0 else self.lowest
                        found[name] = best(by_name[name])
        return found

    def _eliminate_choice(self, receipts: list[Receipt], parts: list[Condition]) -> Counted:
        condition = conjunction(list(parts))
        if len(receipts) == 1:
            compared = self._eliminate_bounds(receipts[0], condition)
            if compared is not None:
                return compared
        kinds = {kind for receipt in receipts for kind in receipt.kinds}
        return Choice(condition, self.location.own & kinds, self.reliable)

    def _eliminate_bounds(self, receipt: Receipt, condition: Condition) -> Counted | None:
        """Compares each lower bound with each upper one, where there are only such bounds."""
        terms = list(condition.parts) if isinstance(condition, And) else [condition]
        lower, upper = [self.lowest(receipt)], [self.highest(receipt)]
        result: list[Counted] = []
        for part in terms:
            if not isinstance(part, AtLeast):
                return None
            by = dict(part.linear.terms).get(receipt.name, 0)
            rest = substitute(part.linear, {receipt.name: Linear()})
            match by:
                case 0:
                    result.append(part)
                case 1:
                    lower.append(times(rest, -1))
                case -1:
                    upper.append(rest)
                case _:
                    return None
        for low in lower:
            for high in upper:
                result.append(_plain(to_nnf(AtLeast(plus(high, times(low, -1))))))
        return All(tuple(result))


def byzantine_senders(
    automaton: Automaton, receipt: Receipt
) -> dict[tuple[str | None, Linear], Linear]:
    """Returns how many Byzantine processes may have sent some kind of ``receipt``: the parts of a
    sum, by sender: the same processes forge all kinds that have the same sender and number.
    """
    found: dict[tuple[str | None, Linear], Linear] = {}
    for kind in receipt.kinds:
        of = automaton.kinds[kind]
        found[of.sender, of.forged] = of.forged
    return found


def _plain(condition: Condition) -> Counted:
    match condition:
        case AtLeast():
            return condition
        case And(parts):
            return All(tuple(_plain(part) for part in parts))
        case Or(parts):
            return Any(tuple(_plain(part) for part in parts))
        case Not():
            raise ValueError("a negation that was not pushed inwards")
        case _:
            assert_never(condition)


def _components(
    parts: list[Condition], free: list[Receipt]
) -> list[tuple[list[Receipt], list[Condition]]]:
    """Groups the conditions that have to be satisfied by the same receipts; others stay alone."""
    groups: list[tuple[list[Receipt], list[Condition]]] = []
    for part in parts:
        used = names(part)
        receipts = [receipt for receipt in free if receipt.name in used]
        kinds = {kind for receipt in receipts for kind in receipt.kinds}
        together = [part]
        apart: list[tuple[list[Receipt], list[Condition]]] = []
        for others, conditions in groups:
            if kinds & {kind for receipt in others for kind in receipt.kinds}:
                receipts = others + [each for each in receipts if each not in others]
                together = conditions + together
                kinds |= {kind for receipt in others for kind in receipt.kinds}
            else:
                apart.append((others, conditions))
        groups = [*apart, (receipts, together)]
    return groups
