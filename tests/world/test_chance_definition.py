"""Probabilities and expected steps of small specs, against going through every strategy.

The decision processes are drawn, written as specs, and judged by the checker as a whole; what they
are worth is said by :mod:`tests.world.chains`, from the definitions alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path

import pytest

import checker
from tests.selection import first_by_default
from tests.world import chains
from tests.world.chains import Chain, Move, Moves, State

Local = list[list[list[tuple[int, int]]]]
"""For each place of a process its choices; of each choice the weights of the next places."""
MOST = 600
"""So many strategies are gone through at most."""


def drawn(rng: random.Random, places: int, choices: int) -> Local:
    """A process at random; a place without a choice is an end."""

    def weights() -> list[tuple[int, int]]:
        there = rng.sample(range(places), rng.randint(1, min(3, places)))
        return [(t, rng.randint(1, 4)) for t in there]

    counts = [rng.choice([0, 1, 1, choices]) for _ in range(places)]
    counts[0] = counts[0] or 1
    return [[weights() for _ in range(count)] for count in counts]


def spec_of(local: Local, n: int, asked: list[str]) -> str:
    """The processes as a spec: one handler for each place, which chooses, and then draws."""
    lines = ["protocol Drawn {", f"  state at : 0..{len(local) - 1} = 0"]
    for place, choices in enumerate(local):
        if not choices:
            continue
        lines.append(f"  upon condition at == {place} as leaves_{place} {{")
        lines.append(f"    choose c in {{{', '.join(map(str, range(len(choices))))}}}")
        for number, weights in enumerate(choices):
            shown = ", ".join(f"{t}: {w}" for t, w in weights)
            lines.append(f"    if c == {number} {{ choose s by chance {{ {shown} }}  at := s }}")
        lines.append("  }")
    lines += ["}", "check c of Drawn {", f"  n = {n}", *(f"  prove {a}" for a in asked)]
    return "\n".join([*lines, "  allow unused", "}"]) + "\n"


def moves_of(local: Local, n: int) -> Moves:
    """What an adversary may do in each state."""
    moves: dict[State, list[Move]] = {}
    for state in product(range(len(local)), repeat=n):
        found = []
        for who, place in enumerate(state):
            for weights in local[place]:
                whole = sum(w for _, w in weights)
                shares: dict[State, Fraction] = {}
                for there, weight in weights:
                    next_ = (*state[:who], there, *state[who + 1 :])
                    shares[next_] = shares.get(next_, Fraction(0)) + Fraction(weight, whole)
                found.append(Move(who, shares))
        moves[state] = found or [Move(-1, {state: Fraction(1)})]
    start = (0,) * n
    every = {s: {t: Fraction(1) for m in ms for t in m.shares} for s, ms in moves.items()}
    reached = chains.after(every, [start])
    return {s: ms for s, ms in moves.items() if s in reached}


def said(path: Path, text: str, engine: str) -> list[Fraction | None]:
    """What the checker says each value is; ``None``: infinite."""
    path.write_text(text, encoding="utf-8")
    found = []
    for verdict in checker.check(str(path), "c", engine=engine).verdicts:
        assert verdict.chance is not None, (text, verdict.reason)
        infinite = verdict.chance.upper == "infinite"
        found.append(None if infinite else Fraction(verdict.chance.exact))
    return found


def is_small(moves: Moves) -> bool:
    return prod(len(ms) for ms in moves.values()) <= MOST


def of_chains(moves: Moves, value: Callable[[Chain], Fraction], largest: bool) -> Fraction:
    found = [value(chains.chain_of(strategy)) for strategy in chains.strategies(moves)]
    return max(found) if largest else min(found)


def _asked(moves: Moves, goal: set[State]) -> Mapping[str, Fraction | None]:
    """Questions about one process, and the values of what they ask."""
    start, others = (0,), moves.keys() - goal
    holds = " or ".join(f"p1.at == {s[0]}" for s in sorted(goal))
    kinds: dict[str, Callable[[Chain], Fraction]] = {
        f"eventually ({holds})": lambda c: chains.reaches(c, start, goal),
        f"always ({holds})": lambda c: 1 - chains.reaches(c, start, {*others}),
        f"always eventually ({holds})": lambda c: chains.forever(c, start, goal, False),
        f"eventually always ({holds})": lambda c: chains.forever(c, start, goal, True),
    }
    found: dict[str, Fraction | None] = {}
    for formula, value in kinds.items():
        found[f"chance of {formula} at most 0"] = of_chains(moves, value, True)
        found[f"chance of {formula} at least 1"] = of_chains(moves, value, False)
    for largest, bound in ((True, "at most 0"), (False, "at least 1")):
        inside = chains.within(moves, start, goal, 3, largest)
        found[f"chance of eventually ({holds}) within 3 steps {bound}"] = inside
        steps = chains.expected(moves, start, goal, largest)
        found[f"expected steps until {holds} {bound}"] = steps
    return found


@pytest.mark.parametrize("seed", first_by_default(range(150), 6))
def test_values_are_what_all_strategies_attain(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    local = drawn(rng, rng.randint(2, 5), 2)
    moves = moves_of(local, 1)
    goal = {s for s in moves if rng.random() < 0.4} or {max(moves)}
    asked = _asked(moves, goal)
    text = spec_of(local, 1, [*asked])
    found = said(tmp_path / "drawn.bcast", text, ("native", "reference")[seed % 2])
    wrong = {q: (f, v) for f, (q, v) in zip(found, asked.items(), strict=True) if f != v}
    assert wrong == {}, text


@pytest.mark.parametrize("seed", first_by_default(range(120), 6))
def test_fair_adversaries_are_what_their_definition_says(seed: int, tmp_path: Path) -> None:
    """Two processes; each that can always take a step takes one again and again."""
    rng = random.Random(seed)
    local, moves = [], dict[State, list[Move]]()
    while not moves or not is_small(moves):
        local = drawn(rng, 3, 2)
        moves = {**moves_of(local, 2)}  # type: ignore[arg-type]
    goal = {s for s in moves if s[0] == 2 or s == (1, 1)}
    holds = "p1.at == 2 or (p1.at == 1 and p2.at == 1)"
    questions = [f"chance of eventually ({holds}) {b}" for b in ("at least 1", "at most 0")]
    text = spec_of(local, 2, questions)
    least, most = said(tmp_path / "drawn.bcast", text, ("native", "reference")[seed % 2])
    assert least == chains.least_fairly(moves, (0, 0), goal), text
    assert most == of_chains(moves, lambda c: chains.reaches(c, (0, 0), goal), True), text
