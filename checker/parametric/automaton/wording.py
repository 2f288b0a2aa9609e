"""Automata in words: conditions as a reader of the spec would write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from checker.parametric.automaton.arithmetic import to_nnf
from checker.parametric.automaton.automaton import (
    AllOf,
    And,
    AnyOf,
    AtLeast,
    Automaton,
    Condition,
    Counts,
    Linear,
    Location,
    Not,
    NotState,
    Or,
    Receipt,
    Somebody,
    StateFormula,
)

REQUESTS = "requests made"
"""The name of a value of locations: how many requests a process has made."""


class Words:
    """Writes the names of ``automaton``: receipts as ``#ECHO``, quotients as divisions."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.receipts = {r.name: self._receipt(r) for r in automaton.receipts}
        self.quotients: dict[str, str] = {}
        for quotient in automaton.quotients:
            whole = self.linear(quotient.numerator)
            whole = f"({whole})" if " " in whole else whole
            self.quotients[quotient.name] = f"{whole} div {quotient.divisor}"

    def _receipt(self, receipt: Receipt) -> str:
        kinds = [self.automaton.kinds[k].name for k in receipt.kinds]
        return f"#{kinds[0]}" if len(kinds) == 1 else f"#({' or '.join(kinds)})"

    def name(self, name: str) -> str:
        """Returns the text of a parameter, a quotient or a receipt."""
        return self.receipts.get(name) or self.quotients.get(name, name)

    def linear(self, linear: Linear) -> str:
        """Returns ``n - T + 1``."""
        return _sum([(self.name(n), by) for n, by in linear.terms], linear.constant)

    def condition(self, condition: Condition) -> str:
        """Returns ``#ECHO >= T + 1 and n > 3 * T``; ``true`` for the empty condition."""
        return self._of(to_nnf(condition), 0)

    def _of(self, condition: Condition, depth: int) -> str:
        match condition:
            case AtLeast(linear):
                return self._comparison(linear)
            case Not(part):
                return f"not ({self._of(part, 0)})"
            case And(parts) | Or(parts):
                conjunctive = isinstance(condition, And)
                if not parts:
                    return "true" if conjunctive else "false"
                if len(parts) == 1:
                    return self._of(parts[0], depth)
                word = " and " if conjunctive else " or "
                text = word.join(self._of(part, depth + 1) for part in parts)
                return f"({text})" if depth else text
            case _:
                assert_never(condition)

    def _comparison(self, linear: Linear) -> str:
        """Returns the text of ``linear >= 0``: receipts on the left, parameters on the right."""
        received = [(self.name(n), by) for n, by in linear.terms if n in self.receipts]
        sizes = [(self.name(n), by) for n, by in linear.terms if n not in self.receipts]
        if received and all(by < 0 for _, by in received):
            turned = [(n, -by) for n, by in received]
            return f"{_sum(turned, 0)} <= {_sum(sizes, linear.constant)}"
        if received:
            left = [(n, by) for n, by in received if by > 0]
            right = [(n, -by) for n, by in (*received, *sizes) if (n, by) not in left]
            return f"{_sum(left, 0)} >= {_sum(right, -linear.constant)}"
        more = [(n, by) for n, by in sizes if by > 0]
        less = [(n, -by) for n, by in sizes if by < 0]
        constant = linear.constant
        if not more:
            return f"{_sum(less, 0)} <= {constant}"
        if constant >= 0 and (len(less) == 1 or len(more) == 1) and _plain((*less, *more)):
            return f"{_sum(less, 0)} <= {_sum(more, constant)}"
        if constant < 0 and less:
            return f"{_sum(more, 0)} > {_sum(less, -constant - 1)}"
        if constant > 0:
            return f"{_sum(more, constant)} >= {_sum(less, 0)}"
        return f"{_sum(more, 0)} >= {_sum(less, -constant)}"

    def forged_count(self, kind: int) -> str:
        """Returns how many may send a kind of message without being in a location; empty: no
        process."""
        linear = self.automaton.kinds[kind].forged
        return self.linear(linear) if linear.terms or linear.constant else ""

    def question(self, formula: StateFormula, depth: int = 0) -> str:
        """Returns the text of a formula over a configuration: ``some in 4..7 and none in 1, 3``."""
        match formula:
            case Somebody(locations, least):
                some = "some" if least == 1 else f"at least {least}"
                return f"{some} in {numbers(locations)}"
            case Counts(condition):
                return self._of(condition, depth)
            case NotState(Somebody(locations, least)):
                few = "none" if least == 1 else f"fewer than {least}"
                return f"{few} in {numbers(locations)}"
            case NotState(part):
                return f"not ({self.question(part)})"
            case AllOf(parts) | AnyOf(parts):
                conjunctive = isinstance(formula, AllOf)
                if not parts:
                    return "true" if conjunctive else "false"
                if len(parts) == 1:
                    return self.question(parts[0], depth)
                word = " and " if conjunctive else " or "
                text = word.join(self.question(part, depth + 1) for part in parts)
                return f"({text})" if depth else text
            case _:
                assert_never(formula)


def _plain(terms: Iterable[tuple[str, int]]) -> bool:
    return all(by == 1 for _, by in terms)


def _sum(terms: Sequence[tuple[str, int]], constant: int) -> str:
    """Returns ``2 * n - T + 1``: positive terms come first."""
    if constant > 0 and all(by < 0 for _, by in terms):
        terms, constant = [(str(constant), 1), *terms], 0
    text = ""
    for name, by in sorted(terms, key=lambda term: term[1] < 0):
        size = name if abs(by) == 1 else f"{abs(by)} * {name}"
        if text:
            text += f" - {size}" if by < 0 else f" + {size}"
        else:
            text = f"-{size}" if by < 0 else size
    if constant or not text:
        if not text:
            return str(constant)
        text += f" - {-constant}" if constant < 0 else f" + {constant}"
    return text


def numbers(found: Iterable[int]) -> str:
    """Returns ``0, 4..7``."""
    parts: list[list[int]] = []
    for number in sorted(found):
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    shown = [
        f"{p[0]}..{p[-1]}" if len(p) > 2 else ", ".join(str(number) for number in p) for p in parts
    ]
    return ", ".join(shown) or "nothing"


def value_text(value: object) -> str:
    """Returns a value of a location, as the spec would write it."""
    match value:
        case bool():
            return "true" if value else "false"
        case None:
            return "none"
        case (one,):
            return value_text(one)
        case tuple():
            return f"({', '.join(value_text(part) for part in value)})"
        case frozenset():
            return f"{{{', '.join(sorted(value_text(part) for part in value))}}}"
        case _:
            return str(value)


def facts(location: Location, *, without: frozenset[str] = frozenset()) -> list[str]:
    """Returns what a process there knows: truths by their names, other values with theirs,
    histories entry by entry.  What is false, nothing, or has not happened is left out.

    ``without``: names that need not be mentioned.
    """
    found = []
    for name, value in location.values:
        if name in without or value is False or value is None or value == ():
            continue
        if name == REQUESTS:
            found += [name] if value else []
        elif isinstance(value, tuple):
            found += [f"{name} {value_text(entry)}" for entry in value]
        else:
            found.append(name if value is True else f"{name} = {value_text(value)}")
    return [*found, "crashed"] if location.crashed else found


def constant_names(automaton: Automaton, group: int) -> frozenset[str]:
    """Returns the names that have the same value in all locations of a group."""
    values: dict[str, set[object]] = {}
    for location in automaton.locations:
        if location.group == group:
            for name, value in location.values:
                values.setdefault(name, set()).add(value)
    return frozenset(name for name, found in values.items() if len(found) == 1)
