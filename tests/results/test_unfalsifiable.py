"""A property that no run could violate is vacuous: by what it reads, or by what was seen of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.results.verdict import Report
from checker.session.pipeline import run_check

TEXT = """protocol P {
  role a(1) {
    state x : 0..2 = 0
    state done = false
    state kept : 0..3 = 1
    state start : 0..3
    init choose start
    upon condition x < 2 as ups { x += 1 }
    upon condition x == 2 and not done as ends { done := true }
    upon condition x > 2 as odd { kept := 2 }
  }
  property asked : FORMULA
}
check c of P { REST  prove asked }
"""
ANYWAY = (
    "always forall p in a: p in a",
    "always forall p in a: p.x <= 2",
    "always forall p in a: p.x <= 1 => p.x <= 1",
    "forall p in a: p.done ~> p.done",
    "forall p in a: eventually (p.done or not p.done)",
    "always (forall p in a: p.x <= 2) and (always forall p in a: p.x >= 0)",
)
FIXED = ("always forall p in a: p.kept <= 1", "always forall p in a: p.kept < 2 or p.kept == 3")
OPEN = (
    "always forall p in a: p.done => p.x == 2",
    "eventually forall p in a: p.done",
    "always forall p in a: p.x <= 1 or p.kept == 1",
    "always forall p in a: p.start <= 3 and p.x + p.kept <= 4",
    "(always forall p in a: p.x <= 2) and (eventually forall p in a: p.done)",
)


def report(folder: Path, formula: str, rest: str = "") -> Report:
    spec = folder / "p.bcast"
    text = TEXT.replace("FORMULA", formula).replace("REST", rest)
    spec.write_text(text, "utf-8")
    return run_check(str(spec), None, Options())


def reason(found: Report) -> str:
    (verdict,) = found.verdicts
    return verdict.reason if verdict.word.value == "vacuous" else ""


@pytest.mark.every
@pytest.mark.parametrize("formula", ANYWAY)
def test_a_tautology_is_vacuous(formula: str, tmp_path: Path) -> None:
    found = report(tmp_path, formula)
    assert "it is true whatever happens: no run could violate it" in reason(found)
    assert found.exit_code == 4


@pytest.mark.every
@pytest.mark.parametrize("formula", FIXED)
def test_a_property_of_what_never_changed_is_vacuous(formula: str, tmp_path: Path) -> None:
    """An action assigns it, and the search has never taken that action."""
    assert "nothing that it reads ever changes: no run could violate" in reason(
        report(tmp_path, formula)
    )


@pytest.mark.every
@pytest.mark.parametrize("formula", OPEN)
def test_a_property_that_might_fail_is_not(formula: str, tmp_path: Path) -> None:
    said = reason(report(tmp_path, formula))
    assert "could violate" not in said and "odd" in said
    assert reason(report(tmp_path, formula, "allow unused")) == ""


@pytest.mark.every
@pytest.mark.parametrize("formula", [ANYWAY[1], FIXED[0]])
def test_allow_unused_accepts_it_and_a_note_remains(formula: str, tmp_path: Path) -> None:
    found = report(tmp_path, formula, "allow unused")
    assert found.exit_code == 0
    assert any(note.startswith("asked: ") and "could violate" in note for note in found.notes)
    fine = report(tmp_path, OPEN[0], "allow unused")
    assert not any("could violate" in note for note in fine.notes)


def test_a_choice_at_the_start_is_a_change(tmp_path: Path) -> None:
    """What no action assigns may still differ from run to run."""
    formula = "always forall p in a: p.start <= 3 or p.x == 2"
    found = report(tmp_path, formula.replace("<= 3", "< 3"), "allow unused")
    assert found.verdicts[0].word.value == "violated"


def test_what_a_bound_or_a_view_leaves_out_is_not_said_to_be_fixed(tmp_path: Path) -> None:
    text = TEXT.replace("x > 2", "done")
    for rest in ("bound p.x <= 1", "view p.x"):
        spec = tmp_path / "p.bcast"
        written = text.replace("REST", f"{rest}  allow unused").replace("FORMULA", FIXED[0])
        spec.write_text(written, "utf-8")
        found = run_check(str(spec), None, Options())
        assert not any("could violate" in note for note in found.notes)
