"""A second, direct encoding of the same executions, by which proofs are rechecked.

Nothing is eliminated here in advance: the receipts of a process are variables of their own for each
guard and segment, and another arithmetic solver of z3 searches.  What the two encodings share is
how processes move, how messages are counted, and which rules are tracked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import z3
from msgspec import Struct, field

from checker.parametric.automaton.arithmetic import (
    TRUE,
    comparisons,
    names,
    plus,
    times,
    to_nnf,
)
from checker.parametric.automaton.automaton import (
    And,
    AtLeast,
    Automaton,
    Condition,
    Linear,
    Not,
    Or,
    Rule,
    sent_name,
)
from checker.parametric.symbolic.guards import Choice
from checker.parametric.symbolic.queries import SolverQueries
from checker.parametric.symbolic.runs import ALL, Runs, Shape, advance, begin, reachable_rules
from checker.parametric.symbolic.terms import all_of, any_of, not_negative, total, zero


class Plain(Struct):
    """Formulas and solvers for the executions of ``automaton``, kept from query to query."""

    automaton: Automaton
    made: dict[tuple[frozenset[int], Shape], tuple[Runs, z3.Solver]] = field(default_factory=dict)

    def formula(
        self, asking: SolverQueries, tracked: frozenset[int], shape: Shape = ALL
    ) -> tuple[Runs, z3.Solver]:
        """Returns the formula for all executions of ``shape``, where the rules ``tracked`` are
        tracked, and a solver that asserts it.
        """
        if (tracked, shape) not in self.made:
            if self.automaton.exact:
                runs = PlainExact(self.automaton, tracked, shape).encode()
            else:
                runs = plain(self.automaton, tracked, shape)
            solver = asking.solver(runs.assertions, seed=1)
            solver.set("arith.solver", 2)  # the older simplex
            self.made[tracked, shape] = runs, solver
        return self.made[tracked, shape]


def plain(automaton: Automaton, tracked: frozenset[int], shape: Shape = ALL) -> Runs:
    """Encodes all executions of ``shape`` (without cuts and resets), and more where not all rules
    are ``tracked``: for these a segment begins where one of them becomes enabled; the others have
    to be enabled at the end of their segment only.
    """
    runs = begin(automaton, shape)
    rules = reachable_rules(automaton)
    waits = {rule: _waits(automaton, automaton.rules[rule]) for rule in rules}
    different = list(dict.fromkeys(waits[rule] for rule in sorted(tracked)))
    different = [each for each in different if each is not None]
    opened: dict[object, z3.BoolRef] = {}
    for segment in range(len(different) + 1):
        before = runs.moments[-1]
        taken = {rule: runs.natural("taken") for rule in rules}
        advance(runs, taken)
        news = []
        for at, each in enumerate(different):
            now = z3.Bool(f"news!{segment}!{at}")
            if segment:
                news.append(z3.And(now, z3.Not(opened[each])))
                runs.assertions.append(z3.Implies(opened[each], now))
            opened[each] = now
        if segment:
            nobody = z3.And(*(often == 0 for often in taken.values()))
            runs.assertions.append(z3.Or(nobody, *news))
        asked: dict[tuple[Choice, bool], z3.BoolRef] = {}
        for rule in rules:
            choice, first = _asks(automaton, automaton.rules[rule]), rule in tracked
            if (choice, first) not in asked:
                sent = before.sent if first else runs.moments[-1].sent
                asked[choice, first] = runs.choice(choice, sent)
            able = [asked[choice, first]]
            if first and waits[rule] is not None:
                able.append(opened[waits[rule]])
            runs.assertions.append(z3.Or(taken[rule] == 0, z3.And(*able)))
    return runs


class PlainExact:
    """All executions of an exact automaton, and more: the guard of a tracked rule has to be true at
    both ends of a segment, or at the start of one that has a single step; of other guards each
    comparison has to be true at either end, where it is sure to be, since it changes once.
    """

    def __init__(self, automaton: Automaton, tracked: frozenset[int], shape: Shape) -> None:
        self.runs = begin(automaton, shape)
        self.shape = shape
        reachable = reachable_rules(automaton)
        self.rules = [rule for rule in reachable if not automaton.rules[rule].resets]
        self.resetting = [rule for rule in reachable if automaton.rules[rule].resets]
        watched = [term for rule in tracked for term in comparisons(automaton.rules[rule].guard)]
        self.different = {max((term, _opposite(term)), key=repr) for term in watched}
        self.falling = any(_falls(automaton.rules[rule].guard) for rule in tracked)
        self.bounds = _bounds(automaton, self.rules)
        self.by_guard: dict[tuple[Condition, bool], list[int]] = {}
        for rule in self.rules:
            key = automaton.rules[rule].guard, rule in tracked
            self.by_guard.setdefault(key, []).append(rule)

    def encode(self) -> Runs:
        often = (2 if self.falling else 1) * len(self.different) + self.shape.cuts + 1
        for number in range(self.shape.resets + 1):
            if number:
                self._reset()
            if number < self.shape.resets or not self.shape.behind:
                for _ in range(often):
                    self._segment()
        return self.runs

    def _reset(self) -> None:
        sent = self.runs.moments[-1].sent
        taken = {rule: self.runs.natural("taken") for rule in self.resetting}
        advance(self.runs, taken)
        self.runs.assertions.append(total(list(taken.values())) == 1)
        for rule, once in taken.items():
            guard = self.runs.automaton.rules[rule].guard
            self.runs.assertions.append(z3.Implies(once == 1, self.runs.condition(guard, sent)))

    def _segment(self) -> None:
        runs, start = self.runs, self.runs.moments[-1].sent
        taken = {rule: runs.natural("taken") for rule in self.rules}
        advance(runs, taken)
        end = runs.moments[-1].sent
        single = total(list(taken.values())) <= 1
        for (guard, first), takers in self.by_guard.items():
            if first:
                last = runs.condition(guard, end)
                last = any_of((last, single)) if self.falling else last
                able = all_of((runs.condition(guard, start), last))
            else:
                able = _at_either_end(runs, to_nnf(guard), start, end)
            runs.assertions.append(any_of((_nobody(taken, takers), able)))
        for bound, takers in self.bounds:
            beyond = not_negative(runs.number(bound, end))
            runs.assertions.append(any_of((_nobody(taken, takers), beyond)))


def _nobody(taken: Mapping[int, z3.ArithRef], rules: Iterable[int]) -> z3.BoolRef:
    return all_of(zero(taken[rule]) for rule in rules)


def _falls(guard: Condition) -> bool:
    return any(
        by < 0 and name.startswith("#")
        for term in comparisons(to_nnf(guard))
        for name, by in term.terms
    )


def _opposite(term: Linear) -> Linear:
    return plus(times(term, -1), Linear((), -1))


def _at_either_end(
    runs: Runs,
    condition: Condition,
    start: Mapping[str, z3.ArithRef],
    end: Mapping[str, z3.ArithRef],
) -> z3.BoolRef:
    match condition:
        case And(parts):
            return all_of(_at_either_end(runs, part, start, end) for part in parts)
        case Or(parts):
            return any_of(_at_either_end(runs, part, start, end) for part in parts)
        case _:
            return z3.Or(runs.condition(condition, start), runs.condition(condition, end))


def _bounds(automaton: Automaton, rules: list[int]) -> list[tuple[Linear, list[int]]]:
    """Returns terms that are not negative behind any of some rules: all rules that lower a term
    require it to be at least 0, and so leave it above what one step lowers it by."""
    required = {rule: _conjuncts(to_nnf(automaton.rules[rule].guard)) for rule in rules}
    found = []
    for term in dict.fromkeys(term for terms in required.values() for term in terms):
        by = dict(term.terms)
        steps = {
            rule: sum(by.get(sent_name(kind), 0) for kind in automaton.rules[rule].sends)
            for rule in rules
        }
        takers = [rule for rule, step in steps.items() if step < 0]
        if takers and all(term in required[rule] for rule in takers):
            found.append((plus(term, Linear((), -min(steps.values()))), takers))
    return found


def _conjuncts(condition: Condition) -> list[Linear]:
    if isinstance(condition, AtLeast):
        return [condition.linear]
    if isinstance(condition, And):
        return [term for part in condition.parts for term in _conjuncts(part)]
    return []


def _asks(automaton: Automaton, rule: Rule) -> Choice:
    """Returns what the process has to have received, including its location's known receipts unless
    they are implied: they were possible before its processes came there, and all conditions only
    bound from below.
    """
    source = automaton.locations[rule.source]
    receipts = frozenset(receipt.name for receipt in automaton.receipts)
    asked = And((rule.guard, *source.known))
    if all(_only_below(part, receipts) for part in asked.parts):
        asked = And((rule.guard,))
    used = names(asked)
    kinds = {kind for each in automaton.receipts if each.name in used for kind in each.kinds}
    return Choice(asked, source.own & kinds, reliable=False)


def _waits(automaton: Automaton, rule: Rule) -> Choice | None:
    """Returns the condition that becomes true once for all rules that share it; ``None`` where the
    rule needs no receipts.
    """
    receipts = {receipt.name for receipt in automaton.receipts}
    return _asks(automaton, rule) if names(rule.guard) & receipts else None


def _only_below(condition: Condition, receipts: frozenset[str], negated: bool = False) -> bool:
    match condition:
        case Not(part):
            return _only_below(part, receipts, not negated)
        case _ if condition == TRUE or not hasattr(condition, "parts"):
            return all(
                (by > 0) != negated
                for term in comparisons(condition)
                for name, by in term.terms
                if name in receipts
            )
        case _:
            return all(_only_below(part, receipts, negated) for part in condition.parts)
