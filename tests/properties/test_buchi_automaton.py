"""Automata against the meaning of formulas, on all short runs that repeat themselves."""

from __future__ import annotations

import random
from itertools import product

import pytest

from checker.model.ir import Automaton, Connective, Formula, Holds, Modal
from checker.properties import buchi_automaton
from checker.properties.buchi_automaton import always, either, eventually, refuting

A, B, C = Holds(0), Holds(1), Holds(2)
Word = tuple[list[frozenset[int]], int]
"""What is true at each position, and the position that follows the last one."""


def opposite(formula: Formula) -> Formula:
    return Connective("not", (formula,))


def holds(formula: Formula, word: Word, at: int = 0) -> bool:
    """The definition, position by position."""
    letters, loop = word
    if isinstance(formula, Holds):
        return formula.index in letters[at]
    if isinstance(formula, Connective):
        found = [holds(part, word, at) for part in formula.parts]
        return {"not": not all(found), "and": all(found), "or": any(found)}[formula.op]
    future = [holds(formula.part, word, i) for i in range(min(at, loop), len(letters))]
    return all(future) if formula.op == "always" else any(future)


def accepts(machine: Automaton, word: Word) -> bool:
    """Whether some path reads ``word`` forever and comes by each accepting set: by the book."""
    letters, loop = word

    def after(node: tuple[int, int]) -> set[tuple[int, int]]:
        q, at = node
        follows = at + 1 if at + 1 < len(letters) else loop
        read = letters[at]
        return {
            (e.target, follows)
            for e in machine.edges
            if e.source == q and e.yes <= read and not e.no & read
        }

    def closure(starts: set[tuple[int, int]]) -> set[tuple[int, int]]:
        seen, todo = set(starts), list(starts)
        while todo:
            for target in after(todo.pop()) - seen:
                seen.add(target)
                todo.append(target)
        return seen

    for node in closure({(0, 0)}):
        reach = closure(after(node))
        if node in reach:
            cycle = {other for other in reach if node in closure(after(other))}
            if all(any(q in accepting for q, _ in cycle) for accepting in machine.accepting):
                return True
    return False


def words(propositions: int, longest: int) -> list[Word]:
    letters = [
        frozenset(i for i in range(propositions) if mask >> i & 1)
        for mask in range(1 << propositions)
    ]
    return [
        (list(chosen), loop)
        for length in range(1, longest + 1)
        for chosen in product(letters, repeat=length)
        for loop in range(length)
    ]


def random_formula(draw: random.Random, depth: int) -> Formula:
    kind = draw.randrange(7) if depth else 0
    if kind <= 1:
        return Holds(draw.randrange(2))
    part = random_formula(draw, depth - 1)
    if kind == 2:
        return opposite(part)
    if kind <= 4:
        return Modal("always" if kind == 3 else "eventually", part)
    return Connective("and" if kind == 5 else "or", (part, random_formula(draw, depth - 1)))


SHAPES = {
    "invariant": (always(A), 2),
    "eventually": (eventually(A), 1),
    "again and again": (always(eventually(A)), 2),
    "eventually forever": (eventually(always(A)), 2),
    "leads to": (always(either([opposite(A), eventually(B)])), 2),
    "once, then forever": (always(either([opposite(A), always(A)])), 3),
    "eventually some of three": (either(eventually(always(p)) for p in (A, B, C)), 6),
    "an invariant, and again and again": (
        buchi_automaton.both([always(opposite(A)), always(eventually(opposite(B)))]),
        3,
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_have_small_automata(name: str) -> None:
    formula, states = SHAPES[name]
    machine = refuting(formula)
    assert machine.states <= states
    for word in words(3, 3) if "three" in name else words(2, 4):
        assert accepts(machine, word) is not holds(formula, word)


@pytest.mark.parametrize("seed", range(300))
def test_automata_accept_what_formulas_deny(seed: int) -> None:
    draw = random.Random(seed)
    formula = random_formula(draw, 4)
    machine = refuting(formula)
    for word in draw.sample(words(2, 4), 40):
        assert accepts(machine, word) is not holds(formula, word), (formula, word)


def test_formulas_that_are_too_large_are_refused() -> None:
    parts = [
        either([Modal("always", Holds(i)), always(eventually(Holds(20 + i)))]) for i in range(14)
    ]
    with pytest.raises(buchi_automaton.AutomatonTooLarge):
        refuting(either(opposite(part) for part in parts))
