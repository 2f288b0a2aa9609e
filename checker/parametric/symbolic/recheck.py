"""A second, direct encoding of the same executions, by which proofs are rechecked.

Nothing is eliminated here in advance: the receipts of a process are variables of their own for each
guard and segment, and another arithmetic solver of z3 searches.  What the two encodings share is
how processes move, how messages are counted, and which rules are tracked.
"""

from __future__ import annotations

import z3
from msgspec import Struct, field

from checker.parametric.automaton.arithmetic import TRUE, comparisons, names
from checker.parametric.automaton.automaton import And, Automaton, Condition, Not, Rule
from checker.parametric.symbolic.guards import Choice
from checker.parametric.symbolic.queries import SolverQueries
from checker.parametric.symbolic.runs import Runs, advance, begin, reachable_rules


class Plain(Struct):
    """Formulas and solvers for the executions of ``automaton``, kept from query to query."""

    automaton: Automaton
    made: dict[frozenset[int], tuple[Runs, z3.Solver]] = field(default_factory=dict)

    def formula(self, asking: SolverQueries, tracked: frozenset[int]) -> tuple[Runs, z3.Solver]:
        """Returns the formula for all executions, where the rules ``tracked`` are tracked, and a
        solver that asserts it.
        """
        if tracked not in self.made:
            runs = plain(self.automaton, tracked)
            solver = asking.solver(runs.assertions, seed=1)
            solver.set("arith.solver", 2)  # the older simplex
            self.made[tracked] = runs, solver
        return self.made[tracked]


def plain(automaton: Automaton, tracked: frozenset[int]) -> Runs:
    """Encodes all executions, and more where not all rules are ``tracked``: for these a segment
    begins where one of them becomes enabled; the others have to be enabled at the end of their
    segment only.
    """
    runs = begin(automaton)
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
