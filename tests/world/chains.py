"""Chance by its plainest definition: every positional strategy is a finite Markov chain.

For what is asked here the best and the worst adversaries are positional (Puterman 1994; Baier and
Katoen 2008, 10.6), so going through all of them is enough.  Nothing is taken from the checker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

State = tuple[int, ...]
Shares = dict[State, Fraction]
Chain = Mapping[State, Shares]


@dataclass(frozen=True)
class Move:
    """What an adversary may do: who takes a step (-1: nobody can), and where that leads."""

    who: int
    shares: Shares


Moves = Mapping[State, Sequence[Move]]


def strategies(moves: Moves) -> Iterator[dict[State, Move]]:
    """Every way to pick one move in each state."""
    for picked in product(*moves.values()):
        yield dict(zip(moves, picked, strict=True))


def chain_of(strategy: Mapping[State, Move]) -> Chain:
    return {state: move.shares for state, move in strategy.items()}


def after(chain: Chain, start: Iterable[State]) -> set[State]:
    """The states that are reached, those of ``start`` included."""
    found, todo = set(start), [*start]
    while todo:
        new = chain[todo.pop()].keys() - found
        found |= new
        todo.extend(new)
    return found


def solved(rows: list[list[Fraction]]) -> list[Fraction]:
    """Gauss and Jordan; the right side is the last column."""
    size = len(rows)
    for i in range(size):
        pivot = next(j for j in range(i, size) if rows[j][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(size):
            factor = rows[j][i]
            if j != i and factor != 0:
                rows[j] = [x - factor * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


def accumulated(
    chain: Chain, start: State, goal: set[State], counted: Mapping[State, Fraction]
) -> Fraction:
    """The expected sum until ``goal``, and the probability of reaching it where ``counted`` is that
    of doing so in one step."""
    asked = [s for s in after(chain, [start]) if s not in goal and after(chain, [s]) & goal]
    if start not in asked:
        return Fraction(0)
    rows = []
    for state in asked:
        row = [Fraction(state == t) - chain[state].get(t, Fraction(0)) for t in asked]
        rows.append([*row, counted[state]])
    return solved(rows)[asked.index(start)]


def reaches(chain: Chain, start: State, goal: set[State]) -> Fraction:
    """The probability of reaching ``goal``."""
    if start in goal:
        return Fraction(1)
    into = {
        s: sum((p for t, p in shares.items() if t in goal), Fraction(0))
        for s, shares in chain.items()
    }
    return accumulated(chain, start, goal, into)


def stays(chain: Chain) -> list[set[State]]:
    """The bottom strongly connected components: one of them is visited in whole, forever, with
    probability 1."""
    found = []
    for state in chain:
        here = after(chain, [state])
        if all(after(chain, [s]) == here for s in here) and here not in found:
            found.append(here)
    return found


def forever(chain: Chain, start: State, goal: set[State], every: bool) -> Fraction:
    """How probable it is that what is visited forever is in ``goal``, all of it or some of it."""
    good = (s for s in stays(chain) if (s <= goal if every else s & goal))
    return reaches(chain, start, set[State]().union(*good))


def expected(moves: Moves, start: State, goal: set[State], largest: bool) -> Fraction | None:
    """The expected number of steps until ``goal``, those not counted that surely change nothing;
    ``None``: it is infinite."""
    finite = []
    for strategy in strategies(moves):
        chain = chain_of(strategy)
        counted = {s: Fraction(chain[s].keys() != {s}) for s in chain}
        if reaches(chain, start, goal) == 1:
            finite.append(accumulated(chain, start, goal, counted))
        elif largest:
            return None
    return (max if largest else min)(finite, default=None)


def within(moves: Moves, start: State, goal: set[State], steps: int, largest: bool) -> Fraction:
    """The probability of reaching ``goal`` by so many steps."""
    if start in goal or steps == 0:
        return Fraction(start in goal)
    every = [
        sum(
            (p * within(moves, t, goal, steps - 1, largest) for t, p in m.shares.items()),
            Fraction(0),
        )
        for m in moves[start]
    ]
    return max(every) if largest else min(every)


# ---- fairness ---------------------------------------------------------------------------------


def fair_places(moves: Moves, outside: set[State]) -> set[State]:
    """The states of all sets without ``outside`` in which an adversary can stay, visit everything,
    and let each process step that is always able to: by trying every set."""
    inside, found = [s for s in moves if s not in outside], set[State]()
    for size in range(1, len(inside) + 1):
        for states in combinations(inside, size):
            place = set(states)
            kept = {s: [m for m in moves[s] if m.shares.keys() <= place] for s in states}
            union = {s: {t: Fraction(1) for m in kept[s] for t in m.shares} for s in states}
            able = set.intersection(*({m.who for m in moves[s]} for s in states)) - {-1}
            taken = {m.who for s in states for m in kept[s]}
            if all(kept.values()) and all(after(union, [s]) == place for s in states):
                found |= place if able <= taken else set()
    return found


def least_fairly(moves: Moves, start: State, goal: set[State]) -> Fraction:
    """The smallest probability of reaching ``goal`` under weakly fair adversaries."""
    missed = fair_places(moves, goal)
    stopped = {s: [Move(-1, {s: Fraction(1)})] if s in goal else ms for s, ms in moves.items()}
    return 1 - max(reaches(chain_of(c), start, missed) for c in strategies(stopped))
