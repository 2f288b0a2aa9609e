"""A property that no run could violate is told: by what it reads, or by what was seen of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.engines.options import Options
from checker.results.verdict import UNFALSIFIABLE, Report, Word
from checker.session.pipeline import run_check

TEXT = """protocol P {
  role a(1) {
    state x : 0..2 = 0
    state done = false
    state kept : 0..3 = 1
    state start : 0..3
    init choose start
    state large : Nat = 0
    upon condition large < 2 as enlarges { large += 1 }
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
    "always forall p in a: p.large <= 3",
    "always forall p in a: p.large <= 7",
    "always forall p in a: p.large <= 15",
    "always forall p in a: p.start <= 3 and p.x + p.kept <= 4",
    "(always forall p in a: p.x <= 2) and (eventually forall p in a: p.done)",
)


def report(folder: Path, formula: str, rest: str = "", **how: Any) -> Report:
    spec = folder / "p.bcast"
    text = TEXT.replace("FORMULA", formula).replace("REST", f"{rest}  allow unused")
    spec.write_text(text, "utf-8")
    return run_check(str(spec), None, Options(**how))


def said(found: Report) -> list[str]:
    return [note for note in found.notes if note.startswith(UNFALSIFIABLE)]


@pytest.mark.every
@pytest.mark.parametrize("formula", ANYWAY)
def test_a_tautology_is_told(formula: str, tmp_path: Path) -> None:
    found = report(tmp_path, formula)
    assert said(found) == ["no run could violate asked: it is true whatever happens"]


@pytest.mark.every
@pytest.mark.parametrize("formula", FIXED)
def test_a_property_of_what_never_changed_is_told(formula: str, tmp_path: Path) -> None:
    """An action assigns it, and the search has never taken that action; a search that may hide
    that says nothing."""
    found = report(tmp_path, formula, reduce="none")
    assert said(found) == ["no run could violate asked: nothing that it reads ever changes"]
    for rest in ("bound p.x <= 1", "view p.x"):
        assert not said(report(tmp_path, formula, rest))


@pytest.mark.every
@pytest.mark.parametrize("formula", OPEN)
def test_a_property_that_might_fail_is_not(formula: str, tmp_path: Path) -> None:
    found = report(tmp_path, formula)
    assert found.verdicts[0].word is Word.HOLDS and not said(found)


def test_a_choice_at_the_start_is_a_change(tmp_path: Path) -> None:
    """What no action assigns may still differ from run to run."""
    assert not said(report(tmp_path, "always forall p in a: p.start + p.kept <= 4", reduce="none"))


def test_a_proof_of_nothing_is_told(tmp_path: Path) -> None:
    from checker.proving.finite import prove_check

    report(tmp_path, ANYWAY[1])
    found = prove_check(str(tmp_path / "p.bcast"), None, Options())
    assert found.verdicts[0].word is Word.PROVED and said(found)
    report(tmp_path, OPEN[0])
    assert not said(prove_check(str(tmp_path / "p.bcast"), None, Options()))
