"""A formula gets the same verdict however it is written: with all runs, within bounds and views,
to a depth, and with a budget of states, by every engine."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.results.answer import Limits
from checker.results.verdict import PropertyVerdict, Word
from checker.session.pipeline import run_check
from tests.agreement.rewriting import Drawing

FEW, MANY = 12, 400 if os.environ.get("BIVALENCE_LONG") else 80
WAYS = 3
"""Other ways in which each formula is written."""

SPEC = """
protocol P {
  state x : 0..3 = 0
  init choose x in (0..1)
  state a = false
  state b = false
  upon condition x < 3 and not (a and b) { x := x + 1 }
  may upon condition not a { a := true }
  upon condition a and not b { b := true }
  may upon condition b and x > 1 { b := false }
PROPERTIES
}
check c of P { n = SIZE  WORLD  prove NAMES  allow unused }
"""
WORLDS: tuple[tuple[str, dict[str, int]], ...] = (
    ("", {}),
    ("bound p.x <= 2", {}),
    ("bound p.x <= 2", {}),
    ("bound p.x <= 2", {}),
    ("bound not p.a", {}),
    ("", {"max_depth": 3}),
    ("bound p.x <= 2", {"max_depth": 3}),
    ("", {"max_states": 30}),
)


def ask(
    folder: Path, seed: int, engine: str, fine: bool = False
) -> tuple[list[PropertyVerdict], str]:
    """The verdicts on one random formula in several ways, in a random world."""
    draw = random.Random(seed)
    size, crash = draw.choice((1, 1, 2)), draw.random() < 0.4
    world, limits = draw.choice(WORLDS)
    drawing = Drawing(draw, crash)
    formula = drawing.formula()
    written = [formula, *(drawing.rewritten(formula) for _ in range(WAYS))]
    properties = "\n".join(f"  property q{i} : {text}" for i, text in enumerate(written))
    names = ", ".join(f"q{i}" for i in range(len(written)))
    text = SPEC.replace("PROPERTIES", properties).replace("NAMES", names)
    faults = "faults crash <= 1" if crash else ""
    text = text.replace("SIZE", str(size)).replace("WORLD", f"{faults} {world}")
    path = folder / "formulas.bcast"
    path.write_text(text)
    options = Options(engine=engine, limits=Limits(**limits), explain=None, fine_steps=fine)
    return list(run_check(str(path), None, options).verdicts), text


def alike(verdicts: list[PropertyVerdict]) -> bool:
    """Whether all say the same.  An implication that is vacuously true may be written otherwise, as
    what has no premise."""
    words = {v.word for v in verdicts}
    premise = all("premise" in v.reason for v in verdicts if v.word is Word.VACUOUS)
    if premise and words & {Word.HOLDS, Word.WITHIN}:
        words -= {Word.VACUOUS}
    return len(words) == 1


def compare(folder: Path, seed: int, engine: str, fine: bool = False) -> PropertyVerdict:
    verdicts, text = ask(folder, seed, engine, fine)
    assert alike(verdicts), (seed, [(v.word, v.reason) for v in verdicts], text)
    return verdicts[0]


def test_however_a_formula_is_written_the_verdict_is_the_same(tmp_path: Path) -> None:
    words = [compare(tmp_path, seed, "reference").word for seed in range(FEW)]
    assert {Word.WITHIN, Word.VIOLATED} <= {*words}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "fine"),
    [("reference", False), ("native", False), ("native", True), ("symbolic", False)],
)
def test_many_formulas_have_one_verdict_however_they_are_written(
    engine: str, fine: bool, tmp_path: Path
) -> None:
    words = [compare(tmp_path, seed, engine, fine).word for seed in range(MANY)]
    assert {Word.VIOLATED} < {*words}
