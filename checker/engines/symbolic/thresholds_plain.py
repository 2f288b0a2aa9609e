"""The same runs written down a second time, as plainly as can be: to check proofs.

Nothing is worked out here in advance: what a process has received are numbers of their own for each
rule and segment, all that its location knows is asked for, and segments are cut wherever a whole
guard becomes true.  What the two forms share is how processes move and how messages are counted.
"""

from __future__ import annotations

from collections.abc import Mapping

import z3

from checker.engines.symbolic.thresholds_guards import Choice
from checker.engines.symbolic.thresholds_runs import Runs, advance, begin, used
from checker.threshold.arithmetic import TRUE, comparisons, names
from checker.threshold.automaton import And, Automaton, Condition, Not, Rule


def plain(automaton: Automaton, fixed: Mapping[str, int], resilience: Condition) -> Runs:
    """All runs; ``fixed``: numbers of some parameters; ``resilience``: what is assumed of them."""
    runs = begin(automaton, fixed, resilience)
    rules = used(automaton)
    different = {_waits(automaton, automaton.rules[rule]) for rule in rules} - {None}
    for segment in range(len(different) + 1):
        moment = runs.moments[-1]
        asked: dict[Choice, z3.BoolRef] = {}
        taken: dict[int, z3.ArithRef] = {}
        for rule in rules:
            taken[rule] = runs.natural(f"taken!{segment}!{rule}")
            choice = _asks(automaton, automaton.rules[rule])
            if choice not in asked:
                asked[choice] = runs.choice(choice, moment.sent)
            runs.assertions.append(z3.Or(taken[rule] == 0, asked[choice]))
        advance(runs, taken)
    return runs


def _asks(automaton: Automaton, rule: Rule) -> Choice:
    source = automaton.locations[rule.source]
    return Choice(And((rule.guard, *source.known)), source.own, owed=False)


def _waits(automaton: Automaton, rule: Rule) -> tuple[object, ...] | None:
    """What becomes true only once for all rules that have the same; ``None`` where it never does.

    What a location knows was possible before its processes came there, and stays so if it only
    bounds from below, as does the guard.
    """
    receipts = {receipt.name: receipt for receipt in automaton.receipts}
    if not names(rule.guard) & receipts.keys():
        return None
    source = automaton.locations[rule.source]
    asked = And((rule.guard, *source.known))
    kinds = {kind for name in names(asked) & receipts.keys() for kind in receipts[name].kinds}
    own = source.own & kinds
    if all(_only_below(part, frozenset(receipts)) for part in (rule.guard, *source.known)):
        return rule.guard, own
    return asked, own


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
