"""Sets over several binders: what is in them, and that no inner set is built for each value."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.model.ir import Comprehension
from checker.model.tree import nodes
from checker.results.verdict import Word
from checker.session.pipeline import Options, open_check
from tests.instantiate.small_checks import report

SPEC = """
protocol Sets {
  state held : set<0..3> = {0, 2}
  state row : map<0..3, set<0..3>> = {}
  state pairs : set<(0..3, 0..3)> = {}
  state step : 0..2 = 0
  upon condition step == 0 as first {
    step := 1
    held := {1, 3}
    row[1] := {0, 2}
    row[3] := {3}
  }
  upon condition step == 1 as second {
    step := 2
    choose (a, b) in { (b, a) for a in held, b in row[a] } when b != 3
    pairs += (a, b)
  }
  property it : always forall p in Proc: p.step == STEP => SET == EXPECTED
}
check c of Sets { n = 1  prove it }
"""
HELD, ROW = (1, 3), {0: (), 1: (0, 2), 2: (), 3: (3,)}

SETS = {
    "all pairs": (
        "{ (a, b) for a in p.held, b in p.held }",
        {(a, b) for a in HELD for b in HELD},
    ),
    "the other way round": (
        "{ (b, a) for a in p.held, b in p.row[a] }",
        {(b, a) for a in HELD for b in ROW[a]},
    ),
    "with conditions": (
        "{ (a, b) for a in (0..3) when a > 0, b in (0..3) when a + b == 4 }",
        {(a, b) for a, b in product((1, 2, 3), range(4)) if a + b == 4},
    ),
    "a name twice": (
        "{ (a, b, a) for a in p.held, b in p.row[a] }",
        {(a, b, a) for a in HELD for b in ROW[a]},
    ),
    "one that is not in the item": (
        "{ (a, c) for a in p.held, b in p.row[a], c in (0..3) when c > b }",
        {(a, c) for a in HELD for b in ROW[a] for c in range(4) if c > b},
    ),
    "the last is not in the item": (
        "{ (a, b) for a in p.held, b in (0..3), c in p.row[a] when c > b }",
        {(a, b) for a in HELD for b in range(4) for c in ROW[a] if c > b},
    ),
    "something computed": (
        "{ (a, a + b) for a in p.held, b in p.row[a] }",
        {(a, a + b) for a in HELD for b in ROW[a]},
    ),
    "a part that is no name": (
        "{ (a, b, #p.held) for a in p.held, b in p.row[a] }",
        {(a, b, 2) for a in HELD for b in ROW[a]},
    ),
    "no tuples": (
        "{ a + b for a in p.held, b in p.row[a] }",
        {a + b for a in HELD for b in ROW[a]},
    ),
    "tuples taken apart": (
        "{ (x, y) for (x, _) in { (a, b) for a in p.held, b in p.row[a] }, y in p.held }",
        {(a, y) for a in HELD for _ in ROW[a] for y in HELD},
    ),
    "tuples as they are": (
        "{ t for a in p.held, t in { (a, b) for b in p.row[a] } }",
        {(a, b) for a in HELD for b in ROW[a]},
    ),
    "none": ("{ (a, b) for a in p.held, b in p.row[0] }", set()),
}


def written(members: set[object]) -> str:
    return "{" + ", ".join(str(member) for member in sorted(members, key=str)) + "}"


@pytest.mark.parametrize("mode", ["reference", "native"])
@pytest.mark.parametrize("name", SETS)
def test_what_is_in_it(name: str, mode: str, tmp_path: Path) -> None:
    text, members = SETS[name]
    spec = SPEC.replace("STEP", "1").replace("SET", text)
    found = report(tmp_path, spec.replace("EXPECTED", written(members)), mode)
    assert [v.word for v in found.verdicts] == [Word.HOLDS], found.verdicts[0].reason


@pytest.mark.parametrize("mode", ["reference", "native"])
def test_a_choice_from_it(mode: str, tmp_path: Path) -> None:
    """Of ``(0, 1)``, ``(2, 1)`` and ``(3, 3)`` two may be chosen, so there are four states."""
    spec = SPEC.replace("STEP", "2").replace("SET == EXPECTED", "p.pairs in {{(0, 1)}, {(2, 1)}}")
    found = report(tmp_path, spec, mode)
    assert [v.word for v in found.verdicts] == [Word.HOLDS]
    assert found.distinct_states == 4


@pytest.mark.parametrize("mode", ["reference", "native"])
@pytest.mark.parametrize(
    "text",
    [
        "{ (a, b) for a in p.held, b in {head(q) for q in {[], [1]}} }",
        "{ (a, b) for a in p.held, b in (0..3) when [1][b] == 1 }",
        "{ (a, [1][b]) for a in p.held, b in (0..3) }",
        "{ (a, b) for a in p.held, b in (0..3), c in (0..3) when [1][c] == 1 }",
    ],
)
def test_an_error_for_any_of_its_members_is_met(text: str, mode: str, tmp_path: Path) -> None:
    spec = SPEC.replace("STEP", "1").replace("SET == EXPECTED", f"(1, 1) in {text}")
    with pytest.raises(SpecError, match=r"there is no entry|sequence is empty"):
        report(tmp_path, spec, mode)


def test_a_set_of_tuples_of_names_has_no_set_inside(tmp_path: Path) -> None:
    """Else a choice from 720 tuples builds the inner sets 720 times."""
    path = tmp_path / "sets.bcast"
    path.write_text(
        """
protocol Calls {
  state free : set<0..19> = {3, 5}
  state last : 0..5 = 0
  upon condition last == 0 {
    choose (c, e, v) in { (c, e, v) for c in (0..19), e in (0..5), v in (0..5) } when c in free
    free -= c
    last := max({e, v})
  }
}
check c of Calls { n = 1 }
"""
    )
    system = open_check(str(path), None, Options()).made.system
    bodies = tuple(action.body for action in system.actions)
    (calls,) = (node for node in nodes(bodies) if isinstance(node, Comprehension))
    assert not [node for node in nodes(calls.where) if isinstance(node, Comprehension)]
