"""All conditions of rules that may change as messages are sent: with them nothing is abstracted."""

from __future__ import annotations

from checker.parametric.automaton.automaton import sent_name
from checker.parametric.symbolic.guards import Counted, correct_senders_name, counts, leaves
from checker.parametric.symbolic.refinement import Refining
from checker.parametric.symbolic.segments import units


def everything(refining: Refining) -> frozenset[Counted]:
    automaton = refining.automaton
    kinds = {kind for rule in refining.guards for kind in automaton.rules[rule].sends}
    counted = {sent_name(kind) for kind in kinds} | {correct_senders_name(kind) for kind in kinds}
    counted |= {each.name for each in automaton.receipts if kinds & set(each.kinds)}
    return frozenset(
        unit
        for guard in refining.guards.values()
        for unit in units(automaton, guard)
        if any(counts(leaf) & counted for leaf in leaves(unit))
    )
