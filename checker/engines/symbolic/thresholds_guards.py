"""When a process can have what a guard asks for, as comparisons of what has been sent.

A guard speaks of receipts: it may be taken where *some* receipts satisfy it that the process can
have had.  What can be received of a kind lies between two terms over what was sent, so that most
of these "some" go away: a receipt that only has to be large is as large as it can be, one that only
has to be small as small as it can be, and where one alone is bounded from both sides by terms
without factors, each lower bound is compared with each upper one (Fourier and Motzkin; exact for
integers where all factors are 1).  What is left is a :class:`Choice`.

Terms count what was sent by two names for each kind: ``everybody(k)`` and ``correct(k)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from checker.threshold.arithmetic import (
    comparisons,
    conjunction,
    names,
    plus,
    rewritten,
    substitute,
    times,
    to_nnf,
)
from checker.threshold.automaton import (
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
)


@dataclass(frozen=True, slots=True)
class Choice:
    """There are receipts that satisfy ``condition``, of a process that has sent ``own`` to others.

    ``owed``: they have at least what correct processes have sent.
    """

    condition: Condition
    own: frozenset[int]
    owed: bool


@dataclass(frozen=True, slots=True)
class All:
    """True where it has no parts."""

    parts: tuple[Counted, ...] = ()


@dataclass(frozen=True, slots=True)
class Any:
    """False where it has no parts."""

    parts: tuple[Counted, ...] = ()


Leaf = AtLeast | Choice
Counted = Leaf | All | Any
"""A formula over parameters and over what has been sent."""


def senders_name(kind: int) -> str:
    """The name of how many processes have sent messages of ``kind``."""
    return f"#{kind}"


def correct_senders_name(kind: int) -> str:
    """The name of how many correct processes have sent messages of ``kind``."""
    return f"!{kind}"


def possible(automaton: Automaton, rule: Rule) -> Counted:
    """When some process in the rule's source can have receipts that it may be taken with.

    What the process has seen before is left out where it only bounds receipts from below: it was
    possible then, and more can be received now.  (Left out it allows more runs, never fewer.)
    """
    source = automaton.locations[rule.source]
    eliminator = Eliminator(automaton, source, owed=False)
    grown = _receipt_names(automaton)
    guard = to_nnf(rule.guard)
    seen = [known for known in source.known if not _grows(to_nnf(known), grown)]
    if _bounds_above(guard, grown):
        seen = list(source.known)
    return eliminator.of(to_nnf(And((guard, *seen))))


def stuck_condition(automaton: Automaton, location: Location, rules: Iterable[Rule]) -> Counted:
    """When a correct process can stay in ``location`` for ever, which ``rules`` leave: it has got
    all that correct processes have sent, and no guard is true."""
    eliminator = Eliminator(automaton, location, owed=True)
    refused = [Not(rule.guard) for rule in rules]
    return eliminator.of(to_nnf(And((*refused, *location.known))))


def leaves(formula: Counted) -> Iterator[Leaf]:
    """The comparisons and choices in it."""
    match formula:
        case AtLeast() | Choice():
            yield formula
        case All(parts) | Any(parts):
            for part in parts:
                yield from leaves(part)
        case _:
            assert_never(formula)


def counts(leaf: Leaf) -> frozenset[str]:
    """What it counts of what was sent, by name; for a choice all that may be received."""
    condition = leaf.condition if isinstance(leaf, Choice) else leaf
    return names(condition)


def _receipt_names(automaton: Automaton) -> frozenset[str]:
    return frozenset(receipt.name for receipt in automaton.receipts)


def _grows(condition: Condition, grown: frozenset[str]) -> bool:
    """Whether it stays true as receipts grow (it is without ``Not``)."""
    return all(
        by > 0 for term in comparisons(condition) for name, by in term.terms if name in grown
    )


def _bounds_above(condition: Condition, grown: frozenset[str]) -> bool:
    return not _grows(condition, grown)


@dataclass(frozen=True, slots=True)
class Eliminator:
    """What processes in ``location`` can have received; ``owed``: all that correct ones sent."""

    automaton: Automaton
    location: Location
    owed: bool

    def of(self, condition: Condition) -> Counted:
        """When there are receipts that satisfy ``condition`` (it is without ``Not``)."""
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
        """As much as can be received."""
        sent = (
            plus(Linear(((senders_name(kind), 1),)), self._mine(kind)) for kind in receipt.kinds
        )
        return plus(*sent, *byzantine_senders(self.automaton, receipt).values())

    def lowest(self, receipt: Receipt) -> Linear:
        """As little as can have been received."""
        if not self.owed:
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
        """Receipts for which neither the highest nor the lowest number is best."""
        signs: dict[int, set[bool]] = {}
        by_name = {receipt.name: receipt for receipt in receipts}
        for part in parts:
            for term in comparisons(part):
                for name, by in term.terms:
                    if name in by_name:
                        for kind in by_name[name].kinds:
                            signs.setdefault(kind, set()).add(by > 0)
        mixed = {kind for kind, found in signs.items() if len(found) > 1}
        while True:  # what shares a kind with what is free is free
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
        return Choice(condition, self.location.own & kinds, self.owed)

    def _eliminate_bounds(self, receipt: Receipt, condition: Condition) -> Counted | None:
        """Each lower bound with each upper one, where there are only such."""
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
    """How many Byzantine processes may have sent some kind of ``receipt``: the parts of a sum, by
    who they are: the same ones forge all kinds that have the same sender and number."""
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
    """Parts that have to be satisfied by the same receipts, together; the others one by one."""
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
