"""Restricts an automaton: a process that has to move on receives from correct processes only.

A location does not record what a process has received from faulty ones.  So at the end of an
execution of the automaton a correct process may be at rest that has received forged messages on its
way, or some of a process that has crashed, and that in the system counts them together with what
all correct processes have sent: there it has to move on.  Executions in which this happens to no
process can be concretized; where the others can't, one of these is searched.
"""

from __future__ import annotations

from checker.parametric.automaton.arithmetic import linear, rewritten
from checker.parametric.automaton.automaton import Automaton, Linear, Location, Mode, Rule
from checker.records import replace


def strengthen(automaton: Automaton) -> Automaton:
    """Returns ``automaton`` where a correct process that some rule may take further has come to
    where it is by what correct processes have sent; locations and rules have the same numbers.

    Each kind of message occurs twice, the second time as what correct processes send of it.
    """
    many = len(automaton.kinds)
    busy = {rule.source for rule in automaton.rules}
    instead = {r.name: linear({_from_correct(r.name): 1}) for r in automaton.receipts}

    def is_correct(place: Location) -> bool:
        return automaton.groups[place.group].mode is Mode.CORRECT

    def with_second(kinds: frozenset[int]) -> frozenset[int]:
        return kinds | {kind + many for kind in kinds}

    def of(rule: Rule) -> Rule:
        if not is_correct(automaton.locations[rule.source]):
            return rule
        guard = rewritten(rule.guard, instead) if rule.target in busy else rule.guard
        return replace(rule, guard=guard, sends=tuple(sorted(with_second(frozenset(rule.sends)))))

    def there(number: int, place: Location) -> Location:
        if not is_correct(place):
            return place
        known = place.known
        if number in busy:
            known = tuple(rewritten(condition, instead) for condition in known)
        return replace(place, own=with_second(place.own), known=known)

    return replace(
        automaton,
        kinds=automaton.kinds
        + tuple(
            replace(kind, name=_from_correct(kind.name), forged=Linear())
            for kind in automaton.kinds
        ),
        receipts=automaton.receipts
        + tuple(
            replace(r, name=_from_correct(r.name), kinds=tuple(kind + many for kind in r.kinds))
            for r in automaton.receipts
        ),
        rules=tuple(of(rule) for rule in automaton.rules),
        locations=tuple(there(number, place) for number, place in enumerate(automaton.locations)),
    )


def _from_correct(name: str) -> str:
    return f"{name}, of correct ones"
