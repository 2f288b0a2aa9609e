"""Small decision processes at random, and what is true of them by going through everything."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, product

from hypothesis import strategies as st

from checker.chance.decision_process import NO_CONSTRAINT, DecisionProcess

INFINITE = None


@st.composite
def processes(
    draw: st.DrawFn, states: int = 5, constraints: int = 0, choices: int = 3
) -> DecisionProcess:
    """Draws a process with at most so many states, and choices of each of them."""
    n = draw(st.integers(1, states))
    first_choice, first_branch, target, weight = [0], [0], list[int](), list[int]()
    constraint: list[int] = []
    for _ in range(n):
        for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2, 2, choices]))):
            there = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3))
            target += there
            weight += [draw(st.integers(1, 3)) for _ in there]
            first_branch.append(len(target))
            constraint.append(draw(st.integers(NO_CONSTRAINT, constraints - 1)))
        first_choice.append(len(first_branch) - 1)
    sets = [frozenset[int]()]
    enabled = []
    for state in range(n):
        own = constraint[first_choice[state] : first_choice[state + 1]]
        sets.append(frozenset(own) - {NO_CONSTRAINT})
        enabled.append(len(sets) - 1)
    strong = draw(st.sets(st.integers(0, constraints - 1))) if constraints else set()
    return DecisionProcess(
        array("q", first_choice),
        array("q", first_branch),
        array("q", target),
        array("q", weight),
        (0,),
        array("q", constraint),
        array("q", enabled),
        tuple(sets),
        frozenset(strong),
    )


def subsets(n: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(n), size) for size in range(n + 1))


def schedulers(p: DecisionProcess) -> Iterator[tuple[int, ...]]:
    """Every memoryless scheduler: a choice for each state (an end: -1)."""
    return product(*(list(p.choices_of(s)) or [-1] for s in range(p.states)))


def steps(p: DecisionProcess, chosen: Sequence[int], state: int) -> dict[int, Fraction]:
    """The distribution of what follows on a state."""
    if chosen[state] < 0:
        return {state: Fraction(1)}
    branches = p.branches_of(chosen[state])
    total, found = sum(p.weight[b] for b in branches), dict[int, Fraction]()
    for b in branches:
        share = Fraction(p.weight[b], total)
        found[p.target[b]] = found.get(p.target[b], Fraction(0)) + share
    return found


def gauss(rows: list[list[Fraction]]) -> list[Fraction]:
    """Solves equations given as rows of coefficients, the right side last."""
    n = len(rows)
    for i in range(n):
        pivot = next(j for j in range(i, n) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(n):
            if j != i and rows[j][i]:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


def reached(p: DecisionProcess, chosen: Sequence[int], goal: set[int]) -> list[Fraction]:
    """The probability of reaching ``goal`` from each state, by one scheduler."""
    able = set(goal)
    while more := {s for s in range(p.states) if steps(p, chosen, s).keys() & able} - able:
        able |= more
    asked = sorted(able - goal)
    rows = []
    for s in asked:
        after = steps(p, chosen, s)
        row = [Fraction(int(s == t)) - after.get(t, Fraction(0)) for t in asked]
        rows.append([*row, sum((after.get(t, Fraction(0)) for t in goal), Fraction(0))])
    values = [Fraction(int(s in goal)) for s in range(p.states)]
    for s, value in zip(asked, gauss(rows), strict=True):
        values[s] = value
    return values


def end_components(p: DecisionProcess) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """Every end component, maximal or not, as its states and choices; ends have no choice."""
    owner = [s for s in range(p.states) for _ in p.choices_of(s)]
    for state in range(p.states):
        if not p.choices_of(state):
            yield frozenset([state]), frozenset()
    for choices in subsets(p.choices):
        states = frozenset(owner[c] for c in choices)
        edges = {
            s: {p.target[b] for c in choices if owner[c] == s for b in p.branches_of(c)}
            for s in states
        }
        if choices and all(there <= states for there in edges.values()) and _connected(edges):
            yield states, frozenset(choices)


def _connected(edges: dict[int, set[int]]) -> bool:
    for start in edges:
        found, todo = {start}, [start]
        while todo:
            new = edges[todo.pop()] - found
            found |= new
            todo.extend(new)
        if found != edges.keys():
            return False
    return True


def is_fair(p: DecisionProcess, states: frozenset[int], choices: frozenset[int]) -> bool:
    """Whether an execution is fair that visits just these states, and takes just these choices,
    again and again."""
    taken = {p.constraint[c] for c in choices}
    for constraint in {c for s in states for c in p.enabled_in(s)} - taken:
        where = [constraint in p.enabled_in(s) for s in states]
        if any(where) if constraint in p.strong else all(where):
            return False
    return True
