"""Computes what else could have happened at each step of an execution."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, zip_longest

from checker.model.ir import TransitionSystem
from checker.results.alternatives import Alternative, Alternatives
from checker.results.narrate import narrate_step
from checker.results.rerun import Moment
from checker.simulate.choices import Choice, choices, starts

MOST = 12
"""The largest number of alternatives to one step that are described."""


def alternatives_of(
    system: TransitionSystem, taken: Sequence[Choice], most: int, number: int
) -> Alternatives:
    """Returns the alternatives to step ``number`` of the steps ``taken``, the start first: at most
    ``most`` of them.
    """
    others = other_choices(system, taken, number)
    ways = tuple(_described(system, taken, number, other) for other in others[:most])
    return Alternatives(ways, len(others) - len(ways))


def all_alternatives(
    system: TransitionSystem, taken: Sequence[Choice], most: int = MOST
) -> tuple[Alternatives, ...]:
    """Returns the alternatives to each of the steps ``taken``: at most ``most`` to each."""
    return tuple(alternatives_of(system, taken, most, number) for number in range(len(taken)))


def other_choices(
    system: TransitionSystem, taken: Sequence[Choice], number: int
) -> tuple[Choice, ...]:
    """Returns the choices that there were in place of number ``number`` of those ``taken``, from
    all processes in turn.
    """
    ways = starts(system) if not number else choices(system, taken[number - 1].successor).ways
    return tuple(_in_turn([way for way in ways if way.text != taken[number].text]))


def _in_turn(ways: Sequence[Choice]) -> list[Choice]:
    """Puts the first choice of each process first, then the second ones, and so on."""
    own: dict[str, list[Choice]] = defaultdict(list)
    for way in ways:
        own[way.process].append(way)
    rows = zip_longest(*(own[process] for process in sorted(own, key=lambda p: (not p, p))))
    return [way for way in chain.from_iterable(rows) if way is not None]


def _described(
    system: TransitionSystem, taken: Sequence[Choice], number: int, other: Choice
) -> Alternative:
    before = taken[max(number - 1, 0)].successor  # a start is compared with the one of the run
    moment = Moment(other.successor, other.transition, other.events)
    step = narrate_step(system, number, before, moment)
    return Alternative(other.text, step, other.successor == taken[number].successor)
