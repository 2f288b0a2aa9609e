"""Steps with their probabilities: the definition of what a step by chance does.

The adversary picks an instance of an action.  Its body is then a tree: where a choice is the
adversary's, it picks one of the values, and it knows what chance has chosen before; where a choice
is by chance, each value comes with its probability.  A *choice* of the adversary is the instance
with a rule for all of that, and leads to a distribution over successors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from msgspec import Struct

from checker.model import interpreter, ir
from checker.model.evaluate import RunFault
from checker.model.interpreter import Constraint, Event, Outcome, State
from checker.model.ir import Action, SourceLocation, TransitionSystem
from checker.model.tree import statements
from checker.model.types import Value

RULES = 4096
"""The largest number of choices that one instance of an action gives the adversary."""


class Branch(Struct, frozen=True):
    """What chance may do with a choice: its probability, the state it leads to, and the marks that
    are passed."""

    probability: Fraction
    successor: State
    events: tuple[Event, ...]


class Choice(Struct, frozen=True):
    """A choice of the adversary in a state; ``constraint``: the fairness constraint that it
    takes."""

    action: Action
    params: tuple[Value, ...]
    constraint: Constraint | None
    branches: tuple[Branch, ...]


class ImproperChance(Exception):
    """Raised where the outcomes of a step are no distribution; ``why``: what is wrong, in words,
    ``place``: the coin."""

    def __init__(self, why: str, place: SourceLocation | None) -> None:
        super().__init__(why)
        self.why, self.place = why, place


def is_by_chance(action: Action) -> bool:
    """Returns whether chance has a part in what ``action`` does."""
    return any(isinstance(s, ir.Choose) and s.weight is not None for s in statements(action.body))


def choices(system: TransitionSystem, state: State) -> Iterator[Choice]:
    """Yields the adversary's choices in ``state``, in canonical order.

    Raises :class:`RunFault` where an instance meets a runtime error, and :class:`ImproperChance`.
    """
    for action in system.actions:
        for scope in interpreter.instances(system, action, state):
            params = tuple(scope.names[p.name] for p in action.params)
            found = [*interpreter.outcomes(action.body + system.monitor, scope)]
            failed = next((o.fault for o in found if o.fault is not None), None)
            if failed is not None:
                raise RunFault(failed.code, failed.message, failed.place, failed.grows)
            requirement = interpreter.constraint(action, scope)
            for rule in _rules(found, 0):
                branches = tuple(
                    Branch(share, interpreter.state_of(system, outcome.scope), outcome.events)
                    for share, outcome in rule
                    if outcome.scope is not None
                )
                yield Choice(action, params, requirement, branches)


_Rule = tuple[tuple[Fraction, Outcome], ...]


def _rules(found: Sequence[Outcome], depth: int) -> list[_Rule]:
    """Returns the rules by which the adversary may pick in executions that have the first ``depth``
    choices in common, each with the outcomes that are left to chance; none where all of them are
    removed."""
    if len(found) == 1 and len(found[0].picks) == depth:
        return [] if found[0].scope is None else [((Fraction(1), found[0]),)]
    below: dict[int, list[Outcome]] = {}
    for outcome in found:
        below.setdefault(outcome.picks[depth].number, []).append(outcome)
    parts = [_rules(part, depth + 1) for part in below.values()]
    weights = [part[0].picks[depth].weight for part in below.values()]
    coin = found[0].picks[depth].place
    if weights[0] is None:
        return [rule for part in parts for rule in part]
    if not any(parts):
        return []
    if not all(parts):
        raise ImproperChance("a condition after a random choice removes an outcome", coin)
    total = sum(weight for weight in weights if weight is not None)
    count = 1
    for part in parts:
        count *= len(part)
    if count > RULES:
        raise ImproperChance(
            f"the adversary has more than {RULES:,} strategies after its coins", coin
        )
    return [
        tuple(
            (share * Fraction(weight or 0, total), outcome)
            for weight, rule in zip(weights, rules, strict=True)
            for share, outcome in rule
        )
        for rules in product(*parts)
    ]


Successor = tuple[str, tuple[Value, ...], State]
"""What a step leads to: the name of its action, its parameters, and the state."""


def odds(system: TransitionSystem, state: State) -> dict[Successor, Fraction]:
    """Returns how probable the successors of ``state`` are, once the adversary has picked the step
    and all that is its choice there; by the name of the action, its parameters and the successor.

    Only of actions in which chance has a part.  One that several picks of the adversary lead to,
    with different probabilities, is left out.
    """
    found: dict[Successor, Fraction | None] = {}
    for action in filter(is_by_chance, system.actions):
        for scope in interpreter.instances(system, action, state):
            params = tuple(scope.names[p.name] for p in action.params)
            shares: dict[tuple[State, tuple[int, ...]], Fraction] = {}
            outcomes = [*interpreter.outcomes(action.body + system.monitor, scope)]
            for outcome, share, picked in _tossed(outcomes, 0, Fraction(1), ()):
                if outcome.scope is not None:
                    key = interpreter.state_of(system, outcome.scope), picked
                    shares[key] = shares.get(key, Fraction(0)) + share
            for (successor, _), share in shares.items():
                name = action.name, params, successor
                found[name] = share if found.get(name, share) == share else None
    return {name: share for name, share in found.items() if share is not None}


def _tossed(
    found: Sequence[Outcome], depth: int, share: Fraction, picked: tuple[int, ...]
) -> Iterator[tuple[Outcome, Fraction, tuple[int, ...]]]:
    """Yields executions that have the first ``depth`` choices in common, each with the probability
    of its coins and with what the adversary picks."""
    if len(found) == 1 and len(found[0].picks) == depth:
        yield found[0], share, picked
        return
    below: dict[int, list[Outcome]] = {}
    for outcome in found:
        below.setdefault(outcome.picks[depth].number, []).append(outcome)
    weights = {number: part[0].picks[depth].weight for number, part in below.items()}
    total = sum(weight for weight in weights.values() if weight is not None)
    for number, part in below.items():
        weight = weights[number]
        if weight is None:
            yield from _tossed(part, depth + 1, share, (*picked, number))
        else:
            yield from _tossed(part, depth + 1, share * Fraction(weight, total), picked)
