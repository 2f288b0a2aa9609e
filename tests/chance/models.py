"""Markov decision processes from publications, built directly from their definitions."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from checker.chance.decision_process import NO_CONSTRAINT, DecisionProcess

Choice = Mapping[Any, int]
"""A distribution: each state that follows, with its weight."""


@dataclass(frozen=True, slots=True)
class Model:
    """A process with the states that its numbers stand for."""

    process: DecisionProcess
    states: tuple[Any, ...]

    def where(self, holds: Callable[[Any], bool]) -> frozenset[int]:
        """Returns the numbers of the states in which something holds."""
        return frozenset(i for i, state in enumerate(self.states) if holds(state))


def explore(initial: Iterable[Hashable], choices: Callable[[Any], Sequence[Choice]]) -> Model:
    """Builds the process of all states that can be reached."""
    numbers = {state: i for i, state in enumerate(dict.fromkeys(initial))}
    count, states = len(numbers), list(numbers)
    first_choice, first_branch, target, weight = [0], [0], [], []
    for state in states:  # the list grows while it is read: breadth first
        for choice in choices(state):
            for successor, share in choice.items():
                if successor not in numbers:
                    numbers[successor] = len(states)
                    states.append(successor)
                target.append(numbers[successor])
                weight.append(share)
            first_branch.append(len(target))
        first_choice.append(len(first_branch) - 1)
    process = DecisionProcess(
        array("q", first_choice),
        array("q", first_branch),
        array("q", target),
        array("q", weight),
        tuple(range(count)),
        array("q", [NO_CONSTRAINT]) * (len(first_branch) - 1),
        array("q", [0]) * len(states),
    )
    return Model(process, tuple(states))


FLIP, WRITE, CHECK, FINISHED = range(4)


def shared_coin(n: int, k: int) -> Model:
    """The shared coin of Aspnes and Herlihy, Fast randomized consensus using shared memory (1990),
    as modelled by Kwiatkowska, Norman and Segala (CAV 2001).

    A state: the counter, and for each process what it does next and its coin.  The counter is
    bounded; a process that reads a value at or beyond ``k * n`` decides by its sign.
    """
    middle, left, right, top = (k + 1) * n, n, 2 * (k + 1) * n - n, 2 * (k + 1) * n

    def choices(state: tuple[int, ...]) -> list[Choice]:
        counter, found = state[0], []
        for i in range(n):
            does, coin = divmod(state[i + 1], 2)

            def after(what: int, side: int, count: int = counter, i: int = i) -> tuple[int, ...]:
                return (count, *state[1 : i + 1], 2 * what + side, *state[i + 2 :])

            if does == FLIP:
                found.append({after(WRITE, 0): 1, after(WRITE, 1): 1})
            elif does == WRITE:
                moved = counter + (1 if coin else -1)
                if 0 <= moved <= top:
                    found.append({after(CHECK, 0, moved): 1})
            elif does == CHECK and counter <= left:
                found.append({after(FINISHED, 0): 1})
            elif does == CHECK and counter >= right:
                found.append({after(FINISHED, 1): 1})
            elif does == CHECK:
                found.append({after(FLIP, 0): 1})
        if all(does // 2 == FINISHED for does in state[1:]):
            found.append({state: 1})
        return found

    return explore([(middle, *[0] * n)], choices)


def trap(n: int, up: int = 7, of: int = 10) -> Model:
    """The chain in which value iteration stops much too early (Haddad and Monmege 2018): from the
    middle to ``2 n`` with probability ``up / of``, otherwise to 0, each after ``n - 1`` heads in a
    row, and back to the middle with tails."""

    def choices(state: int) -> list[Choice]:
        if state in (0, 2 * n):
            return [{state: 1}]
        if state == n:
            return [{n + 1: up, n - 1: of - up}]
        return [{state + (1 if state > n else -1): 1, n: 1}]

    return explore([n], choices)


def herman(n: int) -> Model:
    """Herman's ring of ``n`` processes, Probabilistic self-stabilization (1990): a process with the
    same bit as its left neighbour has a token and draws its bit, the others copy; all states are
    initial."""

    def choices(state: tuple[int, ...]) -> list[Choice]:
        drawing = [i for i in range(n) if state[i] == state[i - 1]]
        found: dict[tuple[int, ...], int] = {}
        for drawn in range(1 << len(drawing)):
            bits = [state[i - 1] for i in range(n)]
            for j, i in enumerate(drawing):
                bits[i] = drawn >> j & 1
            found[tuple(bits)] = found.get(tuple(bits), 0) + 1
        return [found]

    return explore(product((0, 1), repeat=n), choices)


def tokens(state: tuple[int, ...]) -> int:
    """Returns how many processes of Herman's ring have a token."""
    return sum(state[i] == state[i - 1] for i in range(len(state)))
