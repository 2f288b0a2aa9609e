"""Replays accelerated executions step by step, without a solver, to check a solver's models.

Each burst is taken by as many processes as it says, one after the other, each with receipts that it
can have had; all possible receipts are tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import assert_never

from msgspec import Struct

from checker.parametric.automaton.arithmetic import comparisons, holds, names, value
from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    AllOf,
    And,
    AnyOf,
    Automaton,
    Burst,
    Condition,
    Counts,
    Mode,
    Not,
    NotState,
    Question,
    Receipt,
    Somebody,
    StateFormula,
    sent_name,
)

TOO_MANY = 2_000_000
"""Combinations of receipts that are tried at most."""


class NotARun(Exception):
    """Why something is no execution of an automaton, or none that answers a question: a
    sentence."""


class Configuration(Struct, frozen=True):
    """The number of processes in each location (``where``), and how many ``correct`` and
    ``crashing`` ones have sent each kind of message."""

    where: tuple[int, ...]
    correct: tuple[int, ...]
    crashing: tuple[int, ...]


def require_run(
    automaton: Automaton,
    run: AcceleratedRun,
    question: Question,
    resilience: Condition | None = None,
) -> Configuration:
    """Returns the last configuration of ``run``, where it is an execution of ``automaton`` under
    ``resilience`` (its own if ``None``) that violates ``question``.

    Raises ``NotARun`` where it is not.
    """
    values = dict(run.values)
    if not holds(automaton.resilience if resilience is None else resilience, values):
        raise NotARun("its sizes are outside the query")
    found = list(configurations(automaton, run))
    last = found[-1]
    if not satisfies(found[0], question.begins, automaton, values):
        raise NotARun(f"it does not begin as {question.property} demands")
    at = 0
    for formula in question.before:
        while at < len(found) and not satisfies(found[at], formula, automaton, values):
            at += 1
    if at == len(found) or not satisfies(last, question.violated, automaton, values):
        raise NotARun(f"it does not violate {question.property}")
    if question.at_end:
        restless = next(unstable_locations(automaton, values, last), None)
        if restless is not None:
            raise NotARun(f"processes in {automaton.locations[restless].name} must move on")
    return last


def configurations(automaton: Automaton, run: AcceleratedRun) -> Iterator[Configuration]:
    """Yields the configurations of ``run``: the first one, and one behind each burst.

    Raises ``NotARun`` where it is no execution of ``automaton`` (its ``resilience`` is not
    checked).
    """
    configuration = start(automaton, run)
    values = dict(run.values)
    yield configuration
    for segment in run.segments:
        for burst in segment:
            if automaton.exact:
                for _ in range(burst.times):
                    step = Burst(burst.rule, 1)
                    configuration = _after(automaton, values, configuration, step)
            else:
                configuration = _after(automaton, values, configuration, burst)
            yield configuration


def start(automaton: Automaton, run: AcceleratedRun) -> Configuration:
    """Returns the first configuration of ``run``; raises ``NotARun`` where there is none such."""
    values = dict(run.values)
    quotients = {quotient.name for quotient in automaton.quotients}
    for name in (*automaton.parameters, *automaton.hidden, *quotients):
        if name not in values:
            raise NotARun(f"{name} has no number")
        if values[name] < 0 and name not in quotients:
            raise NotARun(f"{name} is negative")
    for quotient in automaton.quotients:
        if values[quotient.name] != value(quotient.numerator, values) // quotient.divisor:
            raise NotARun(f"{quotient.name} has a wrong value")
    if not all(holds(constraint, values) for constraint in automaton.constraints):
        raise NotARun("its sizes are impossible")
    if len(run.begin) != len(automaton.locations):
        raise NotARun("it lacks the initial count of a location")
    there = [0] * len(automaton.groups)
    for number, location in zip(run.begin, automaton.locations, strict=True):
        if number < 0 or (number > 0 and not location.initial):
            raise NotARun(f"{number} processes can't begin in {location.name}")
        there[location.group] += number
    for number, group in zip(there, automaton.groups, strict=True):
        if number != value(group.size, values):
            raise NotARun(f"{number} processes are not the size of {group.name}")
    named = {each.name: run.begin[at] for at, each in enumerate(automaton.locations)}
    if not all(holds(condition, {**values, **named}) for condition in automaton.begins):
        raise NotARun("no execution begins with these numbers of processes in locations")
    nothing = (0,) * len(automaton.kinds)
    return Configuration(run.begin, nothing, nothing)


def _after(
    automaton: Automaton, values: Mapping[str, int], before: Configuration, burst: Burst
) -> Configuration:
    rule = automaton.rules[burst.rule]
    source = automaton.locations[rule.source]
    if burst.times <= 0 or before.where[rule.source] < burst.times:
        raise NotARun(f"{burst.times} processes can't leave {source.name}")
    if not can_take(automaton, values, before, burst.rule):
        raise NotARun(
            f"no process in {source.name} can have received the messages that {rule.label} needs"
        )
    return step(automaton, before, burst.rule, burst.times)


def step(automaton: Automaton, before: Configuration, index: int, times: int = 1) -> Configuration:
    """Returns the configuration behind rule ``index``, taken ``times`` times."""
    rule = automaton.rules[index]
    source = automaton.locations[rule.source]
    where = list(before.where)
    where[rule.source] -= times
    where[rule.target] += times
    crashing = automaton.groups[source.group].mode is Mode.CRASHING
    sent = list(before.crashing if crashing else before.correct)
    for kind in rule.resets:
        sent[kind] = 0
    for kind in rule.sends:
        sent[kind] += times
    if crashing:
        return Configuration(tuple(where), before.correct, tuple(sent))
    return Configuration(tuple(where), tuple(sent), before.crashing)


def can_take(automaton: Automaton, values: Mapping[str, int], at: Configuration, rule: int) -> bool:
    """Returns whether a process in the rule's source can have received what its guard needs."""
    taken = automaton.rules[rule]
    if automaton.exact:
        return holds(taken.guard, {**values, **_sent(at)})
    needed = And((taken.guard, *automaton.locations[taken.source].known))
    return _receivable(automaton, values, at, taken.source, needed, reliable=False)


def unstable_locations(
    automaton: Automaton, values: Mapping[str, int], at: Configuration
) -> Iterator[int]:
    """Yields the locations of correct processes that will have to move on, whatever they
    received."""
    for index, location in enumerate(automaton.locations):
        correct = automaton.groups[location.group].mode is Mode.CORRECT
        if not at.where[index] or location.crashed or not correct:
            continue
        fair = [rule for rule in automaton.rules if rule.source == index and rule.is_fair]
        leaving = [Not(rule.guard) for rule in fair]
        stays = And((*leaving, *location.known))
        if leaving and not _receivable(automaton, values, at, index, stays, reliable=True):
            yield index


def _sent(at: Configuration) -> dict[str, int]:
    """Returns the numbers of sent messages of an exact automaton by name."""
    return {sent_name(kind): number for kind, number in enumerate(at.correct)}


def satisfies(
    at: Configuration, formula: StateFormula, automaton: Automaton, values: Mapping[str, int]
) -> bool:
    """Returns whether the formula is true of the configuration."""
    match formula:
        case Somebody(locations, least):
            return sum(at.where[location] for location in locations) >= least
        case Counts(condition):
            names = [location.name for location in automaton.locations]
            named = dict(zip(names, at.where, strict=True))
            return holds(condition, {**values, **_sent(at), **named})
        case NotState(part):
            return not satisfies(at, part, automaton, values)
        case AllOf(parts):
            return all(satisfies(at, part, automaton, values) for part in parts)
        case AnyOf(parts):
            return any(satisfies(at, part, automaton, values) for part in parts)
        case _:
            assert_never(formula)


def _receivable(
    automaton: Automaton,
    values: Mapping[str, int],
    at: Configuration,
    location: int,
    condition: Condition,
    *,
    reliable: bool,
) -> bool:
    """Returns whether some receipts satisfy ``condition``; ``reliable``: with all from correct
    processes."""
    used = names(condition)
    receipts = [receipt for receipt in automaton.receipts if receipt.name in used]
    own = automaton.locations[location].own
    told: dict[int, range] = {}
    for kind in sorted({kind for receipt in receipts for kind in receipt.kinds}):
        mine = 1 if kind in own else 0
        least = max(0, at.correct[kind] - mine) if reliable else 0
        told[kind] = range(least, at.correct[kind] + at.crashing[kind] - mine + 1)
    return any(
        holds(condition, {**values, **heard})
        for heard in _receipt_counts(automaton, values, receipts, told, condition)
    )


def _receipt_counts(
    automaton: Automaton,
    values: Mapping[str, int],
    receipts: list[Receipt],
    told: Mapping[int, range],
    condition: Condition,
) -> Iterator[dict[str, int]]:
    """Yields all receipts, or enough of them: numbers of one that is compared alone are tried only
    where a comparison changes."""
    shared = [kind for receipt in receipts for kind in receipt.kinds]
    alone = [
        receipt
        for receipt in receipts
        if len(receipt.kinds) == 1 and shared.count(receipt.kinds[0]) == 1
    ]
    lies = {kind: value(automaton.kinds[kind].forged, values) for kind in told}
    choices: list[list[dict[str, int]]] = []
    for receipt in alone:
        (kind,) = receipt.kinds
        low, high = told[kind].start, told[kind].stop - 1 + lies[kind]
        numbers = _telling(receipt.name, condition, values, low, high)
        choices.append([{receipt.name: number} for number in numbers])
    others = [receipt for receipt in receipts if receipt not in alone]
    kinds = sorted({kind for receipt in others for kind in receipt.kinds})
    ways = 1
    for kind in kinds:
        ways *= len(told[kind]) * (lies[kind] + 1)
    for part in choices:
        ways *= len(part)
    if ways > TOO_MANY:
        raise NotARun("too many receptions to search")
    pairs = [list(product(told[kind], range(lies[kind] + 1))) for kind in kinds]
    for found in product(*pairs):
        heard = dict(zip(kinds, found, strict=True))
        sums = [_sums(automaton, values, receipt, heard) for receipt in others]
        for parts in product(*choices, *sums):
            yield {name: number for part in parts for name, number in part.items()}


def _telling(
    name: str, condition: Condition, values: Mapping[str, int], low: int, high: int
) -> list[int]:
    found = {low, high}
    for term in comparisons(condition):
        by = dict(term.terms).get(name, 0)
        if not by:
            continue
        if any(other != name and other not in values for other, _ in term.terms):
            return list(range(low, high + 1))
        change = value(term, {**values, name: 0}) // -by
        found |= {change - 1, change, change + 1}
    return sorted(number for number in found if low <= number <= high)


def _sums(
    automaton: Automaton,
    values: Mapping[str, int],
    receipt: Receipt,
    heard: Mapping[int, tuple[int, int]],
) -> list[dict[str, int]]:
    """Returns how many senders there may be: the same Byzantine ones may have sent several
    kinds."""
    told = sum(heard[kind][0] for kind in receipt.kinds)
    unions: Iterable[int] = [0]
    sources = {
        (automaton.kinds[kind].sender, automaton.kinds[kind].forged) for kind in receipt.kinds
    }
    for sender, forged in sources:
        lied = [
            heard[kind][1]
            for kind in receipt.kinds
            if (automaton.kinds[kind].sender, automaton.kinds[kind].forged) == (sender, forged)
        ]
        most = min(sum(lied), value(forged, values))
        unions = {before + here for before in unions for here in range(max(lied), most + 1)}
    return [{receipt.name: told + union} for union in unions]
