"""What a finite run violates follows from the meaning of a formula: each row is one formula in
several ways, with the verdict worked out by hand.

A run climbs from 0 and may stop anywhere; within the bound it has at most 2, and 3 is one step
beyond.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.results.answer import Limits
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check
from tests.instantiate.tables import WAYS

CLIMBS = """
protocol Climbs {
  state x : 0..5 = 0
  state stopped = false
  state marked = false
  upon condition x < 5 and not stopped { x += 1 }
  may upon condition not stopped { stopped := true }
  may upon condition x == 1 and not marked { marked := true }
PROPERTIES
}
check c of Climbs { n = 1  WORLD  prove NAMES  allow unused }
"""
BOUND = "bound p.x <= 2"
CRASH = f"faults crash <= 1  {BOUND}"
ROWS = {
    "always": (BOUND, "violated", """
        always forall p in Proc: p.x <= 2
        not eventually exists p in Proc: p.x > 2
        forall p in Proc: not eventually p.x > 2
        forall p in Proc: (always p.x <= 2) and always p.x <= 5
        forall p in Proc: (always p.x <= 2) or (always p.x <= 1)
        (initially forall p in Proc: p.x == 0) => always forall p in Proc: p.x <= 2
        not ((initially forall p in Proc: p.x == 0) and eventually exists p in Proc: p.x > 2)
        forall p in Proc: (always p.x <= 2) or (initially p.x > 2) and eventually p.x <= 1
        forall p in Proc when p == p1: always p.x <= 2
    """),
    "as far as the bound": (BOUND, "within", """
        always forall p in Proc: p.x <= 3
        not eventually exists p in Proc: p.x > 3
        forall p in Proc: (always p.x <= 3) or (always p.x <= 1)
        (initially forall p in Proc: p.x == 0) => always forall p in Proc: p.x <= 3
    """),
    "what was true stays true": (BOUND, "violated", """
        always forall p in Proc: p.marked => always p.x <= 2
        forall p in Proc: always p.marked => always p.x <= 2
        not exists p in Proc: eventually p.marked and eventually p.x > 2
        forall p in Proc: always (not p.marked or not eventually p.x == 3)
    """),
    "what never happened": (BOUND, "within", """
        always forall p in Proc: p.marked => always p.x >= 1
        not exists p in Proc: eventually p.marked and eventually p.x == 0
    """),
    "it comes, and by then it can't": (BOUND, "violated", """
        forall p in Proc: (always not p.x == 4) and (p.x == 3 ~> p.x == 4)
        forall p in Proc: not ((eventually p.x == 4) or eventually p.x == 3 and always not p.x == 4)
        not exists p in Proc: (eventually p.x == 4) or eventually p.x == 3 and always not p.x == 4
    """),
    "who is correct": (CRASH, "violated", """
        always forall p in Proc: correct(p) => p.x <= 2
        forall p in Proc: correct(p) => always p.x <= 2
        not exists p in Proc: correct(p) and eventually p.x > 2
        forall p in Proc: (eventually p.x > 2) => not correct(p)
    """),
    "who has crashed is not correct": ("faults crash <= 1", "holds", """
        forall p in Proc: correct(p) => always not crashed(p)
        always forall p in Proc: correct(p) => not crashed(p)
        not exists p in Proc: correct(p) and eventually crashed(p)
    """),
    "without a bound": ("", "violated", """
        always forall p in Proc: p.marked => p.x <= 1
        not eventually exists p in Proc: p.marked and p.x > 1
        forall p in Proc: (always not p.marked) or always (p.marked => p.x <= 1)
    """),
    "only whole runs": (BOUND, "violated", """
        forall p in Proc: eventually p.x > 0
        forall p in Proc: not always p.x == 0
        forall p in Proc: true ~> p.x > 0
    """),
}  # fmt: skip


def formulas(text: str) -> list[str]:
    """The formulas of a row; one that is indented goes on."""
    lines = [line[8:] for line in text.splitlines() if line.strip()]
    found: list[str] = []
    for line in lines:
        if line.startswith(" "):
            found[-1] += f" {line.strip()}"
        else:
            found.append(line)
    return found


def run(folder: Path, world: str, written: list[str], **options: object) -> Report:
    properties = "\n".join(f"  property q{i} : {text}" for i, text in enumerate(written))
    names = ", ".join(f"q{i}" for i in range(len(written)))
    text = CLIMBS.replace("PROPERTIES", properties).replace("WORLD", world)
    path = folder / "climbs.bcast"
    path.write_text(text.replace("NAMES", names))
    return run_check(str(path), None, Options(explain=None, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("name", ROWS)
def test_equivalent_formulas_have_one_verdict(
    name: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    world, word, text = ROWS[name]
    written = formulas(text)
    report = run(tmp_path, world, written, engine=engine, fine_steps=fine)
    assert {
        q: v.word.value for q, v in zip(written, report.verdicts, strict=True)
    } == dict.fromkeys(written, word), [v.reason for v in report.verdicts]
    finite = {v.trace.length for v in report.verdicts if v.trace is not None}
    if name != "only whole runs":
        assert len(finite) <= 1


@pytest.mark.parametrize("limits", [{"max_depth": 3}, {"max_states": 10}])
def test_a_search_that_ends_early_has_one_verdict(limits: dict[str, int], tmp_path: Path) -> None:
    written = formulas(ROWS["always"][2])
    report = run(tmp_path, "", written, engine="reference", limits=Limits(**limits))
    assert {v.word for v in report.verdicts} == {Word.VIOLATED}
    kept = formulas(ROWS["as far as the bound"][2])
    report = run(tmp_path, "", kept, engine="reference", limits=Limits(**limits))
    assert {v.word for v in report.verdicts} == {Word.UNKNOWN}


def test_a_solver_that_unrolls_runs_has_one_verdict(tmp_path: Path) -> None:
    rows = [ROWS[name] for name in ("always", "as far as the bound", "what was true stays true")]
    written = [formula for _, _, text in rows for formula in formulas(text)]
    words = ["violated", "bounded", "violated"]
    wanted = [w for w, (_, _, text) in zip(words, rows, strict=True) for _ in formulas(text)]
    report = run(tmp_path, BOUND, written, engine="symbolic", limits=Limits(max_depth=4))
    assert [v.word.value for v in report.verdicts] == wanted


def test_a_view_refuses_what_is_about_whole_runs_however_it_is_written(tmp_path: Path) -> None:
    written = formulas(ROWS["always"][2])[:6]
    report = run(tmp_path, "view p.x", written)
    assert {v.word for v in report.verdicts} == {Word.VIOLATED}
    kept = [text.replace("<= 2", "<= 5").replace("> 2", "> 5") for text in written]
    report = run(tmp_path, "view p.x", kept)
    assert {v.word for v in report.verdicts} == {Word.WITHIN}
    for text in formulas(ROWS["only whole runs"][2]):
        with pytest.raises(SpecError) as caught:
            run(tmp_path, "view p.x", [text])
        assert caught.value.diagnostics[0].code == "C051"


def test_a_premise_that_no_run_satisfies_makes_safety_vacuous(tmp_path: Path) -> None:
    written = [
        "(initially forall p in Proc: p.x == 1) => always forall p in Proc: p.x <= 1",
        "(eventually forall p in Proc: p.x == 4) => always forall p in Proc: p.x <= 1",
    ]
    report = run(tmp_path, BOUND, written)
    assert [v.word for v in report.verdicts] == [Word.VACUOUS] * 2
    report = run(tmp_path, BOUND, [text.replace("== 1)", "== 0)") for text in written[:1]])
    assert report.verdicts[0].word is Word.VIOLATED


def test_a_formula_that_is_too_large_is_refused_within_a_bound(tmp_path: Path) -> None:
    atoms = [
        f"always forall p in Proc: p.x != {i} or p.x == {j}" for i in range(6) for j in range(6)
    ]
    large = " or ".join(f"({atom})" for atom in atoms)
    with pytest.raises(SpecError) as caught:
        run(tmp_path, BOUND, [large])
    assert caught.value.diagnostics[0].code == "N213"
