"""What a step by chance does, by the interpreter; the native engine agrees."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest

from checker.language.load import load_text
from checker.model import interpreter
from checker.model.distributions import Branch, ImproperChance, choices
from checker.results.answer import Unsupported
from tests.chance.graphs import graph_by, plainly, system_of

ROOT = Path(__file__).resolve().parents[2]


def spec(body: str, n: int = 1, more: str = "", faults: str = "") -> str:
    return f"""
message M
protocol P {{
  message HI(b: bool)
  state x : 0..9 = 0
  state heard : 0..3 = 0
  upon condition x == 0 as draws {{ {body} }}
  {more}
}}
check c of P {{ n = {n} {faults} allow unused }}
""".replace("message M\n", "")


def sorted_items(distribution: dict[int, Fraction]) -> list[tuple[int, Fraction]]:
    return sorted(distribution.items())


def outcomes(body: str) -> list[dict[int, Fraction]]:
    """The adversary's choices in the initial state: how likely each value of ``x`` is."""
    system = system_of(load_text(spec(body), "a.bcast").checks[0])
    place = [v.name for v in system.variables].index("x")
    (start,) = interpreter.initial_states(system)

    def shares(branches: tuple[Branch, ...]) -> dict[int, Fraction]:
        found: dict[int, Fraction] = {}
        for branch in branches:
            value = branch.successor[place][0]  # type: ignore[index]
            found[value] = found.get(value, Fraction(0)) + branch.probability
        return found

    return [shares(choice.branches) for choice in choices(system, start)]


HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x := if flip() then 1 else 2", [{1: HALF, 2: HALF}]),
        ("choose y in (1..3) by chance x := y", [{1: THIRD, 2: THIRD, 3: THIRD}]),
        ("choose y in (1..9) by chance when y > 7 x := y", [{8: HALF, 9: HALF}]),
        ("choose y by chance { 1: 1/3, 2: 2/3 } x := y", [{1: THIRD, 2: 2 * THIRD}]),
        ("choose y by chance { 1: 1, 2: 0, 3: 2 } x := y", [{1: THIRD, 3: 2 * THIRD}]),
        ("choose y by chance { 1: 1/6, 1: 1/6, 2: 2/3 } x := y", [{1: THIRD, 2: 2 * THIRD}]),
        ("choose y in (1..2) x := y", [{1: Fraction(1)}, {2: Fraction(1)}]),
        # The adversary first: a choice for each of its values.
        (
            "choose y in (0..1) if flip() { x := 1 + y } else { x := 4 + y }",
            [{1: HALF, 4: HALF}, {2: HALF, 5: HALF}],
        ),
        # Chance first: the adversary sees the coin, so a choice is a value for each side.
        (
            "let c = flip() choose y in (0..1) x := if c then 1 + y else 4 + y",
            [{1: HALF, 4: HALF}, {1: HALF, 5: HALF}, {2: HALF, 4: HALF}, {2: HALF, 5: HALF}],
        ),
        # A second coin on one side only.
        (
            "if flip() { if flip() { x := 1 } else { x := 2 } } else { x := 3 }",
            [{1: HALF / 2, 2: HALF / 2, 3: HALF}],
        ),
        ("for i in (1..3) { if flip() { x := x + 1 } }", [{0: Fraction(1, 8), 1: Fraction(3, 8),
                                                           2: Fraction(3, 8), 3: Fraction(1, 8)}]),
    ],
)  # fmt: skip
def test_a_step_has_the_distributions_that_its_text_says(
    body: str, expected: list[dict[int, Fraction]]
) -> None:
    assert sorted(outcomes(body), key=sorted_items) == sorted(expected, key=sorted_items)


@pytest.mark.parametrize(
    "body",
    [
        "let c = flip() require c x := 1",
        "let c = flip() choose y in (1..2) when c x := y",
        "choose y in (1..2) by chance choose z in (1..2) by chance when z > y x := z",
    ],
)
def test_what_a_coin_shows_is_not_taken_back(body: str) -> None:
    with pytest.raises(ImproperChance, match=r"removes an outcome"):
        outcomes(body)


# ---- the engines ------------------------------------------------------------------------------

BODIES = [
    "x := if flip() then 1 else 2",
    "if flip() { send HI(true) to all } x := 1",
    "choose y in (0..1) if flip() { x := 1 + y } else { x := 4 + y }",
    "let c = flip() choose y in (0..1) x := if c then 1 + y else 4 + y",
    "choose q in Proc by chance send HI(flip()) to q x := 3",
    "choose S in subsets(Proc) by chance send HI(true) to S x := 1 + #S",
    "choose y by chance { 1: 1/6, 2: 2/3, 3: 1/6 } if y == 2 { if flip() { x := 9 } }",
    "either { x := 1 } or { if flip() { x := 2 } }",
]
MORE = [
    "",
    "upon receive HI(b) from p { if b and heard < 3 { heard := heard + 1 } }",
    "upon receive HI(b) from p { if b and flip() and heard < 3 { heard += 1 } }",
    "may upon condition x == 1 { if flip() { x := 0 } }",
]
WORLDS = ["", "faults crash <= 1", "links lossy", "faults crash <= 1 links fifo"]


def agree(text: str, *, fine: bool = False) -> None:
    system = system_of(load_text(text, "a.bcast").checks[0], fine=fine)
    native, reference = graph_by("native", system), graph_by("reference", system)
    if reference.answer.fault is not None:  # what is in flight grows without end
        assert native.answer.fault is not None
        return
    assert plainly(native) == plainly(reference)


@pytest.mark.parametrize("seed", range(12))
def test_engines_agree_on_random_specs(seed: int) -> None:
    draw = random.Random(seed)
    body, more, world = (draw.choice(of) for of in (BODIES, MORE, WORLDS))
    agree(spec(body, draw.choice((1, 2)), more, world), fine=draw.random() < 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("world", WORLDS)
def test_engines_agree_on_all_of_them(body: str, more: str, world: str) -> None:
    for fine in (False, True):
        agree(spec(body, 2, more, world), fine=fine)


def test_a_loop_with_coins_is_left_to_the_reference() -> None:
    text = spec("for i in (1..3) { if flip() { x := x + 1 } }")
    system = system_of(load_text(text, "a.bcast").checks[0])
    with pytest.raises(Unsupported, match="a loop makes choices"):
        graph_by("native", system)
