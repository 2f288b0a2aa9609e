"""The benchmark of single reductions: parts of plans, and what counts as wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import ablation
from benchmarks.ablation import ALONE, LACKING, Explorer, Measured, Run, measured, part_of
from benchmarks.comparing import WrongAnswer
from checker.engines.native import engine as native
from checker.model import ir
from checker.reductions.reduction_plan import AmpleAction, PlanPart, ReductionPlan
from checker.resources import specs
from checker.results.answer import Answer
from checker.results.answer import Path as Execution
from tests.reductions.test_table import BLOCK, GROUP, SAFE, system

SYMMETRY = PlanPart("symmetry", symmetry=GROUP)
RESETS = PlanPart("dead", resets=(*BLOCK, ir.If(ir.TRUE, BLOCK)))
AMPLE = PlanPart("por", ample_actions=(AmpleAction(0, ir.TRUE), AmpleAction(1, ir.FALSE)))
PLAN = ReductionPlan((SYMMETRY, RESETS, AMPLE), True, ReductionPlan((RESETS,)))


def test_a_reduction_alone() -> None:
    left = {title: part_of(PLAN, system(SAFE), keeps).used for title, keeps in ALONE.items()}
    assert left == {
        "symmetry": ("symmetry",),
        "dead values": ("dead",),
        "partial order": ("por",),
        "dominance": (),
    }
    alone = part_of(PLAN, system(SAFE), ALONE["symmetry"])
    assert alone.careful is not alone and alone.careful.parts == ()


@pytest.mark.parametrize(
    ("lacking", "left"),
    [
        ("symmetry", (RESETS, AMPLE)),
        ("dead values: values cleared", (SYMMETRY, AMPLE)),
        ("dead values: messages removed", (SYMMETRY, RESETS, AMPLE)),
        ("dead values: conditional resets", (SYMMETRY, PlanPart("dead", resets=BLOCK), AMPLE)),
        (
            "partial order: conditional ample sets",
            (SYMMETRY, RESETS, PlanPart("por", ample_actions=AMPLE.ample_actions[:1])),
        ),
    ],
)
def test_all_but_a_part(lacking: str, left: tuple[PlanPart, ...]) -> None:
    assert part_of(PLAN, system(SAFE), LACKING[lacking]).parts == left


def answer(violated: bool, states: int = 5) -> Answer:
    violations = {"safe": Execution(((),))} if violated else {}
    return Answer("native", states, 1, True, 0.1, violations=violations)


def test_what_differs_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = Explorer("it", system(SAFE), answer(violated=True))
    found = [answer(violated=True, states=3), answer(violated=False)]
    monkeypatch.setattr(native, "explore", lambda *_, **__: found.pop(0))
    assert explorer.run(ReductionPlan()).states == 5, "it is known"
    for _ in range(2):
        assert explorer.run(ReductionPlan((RESETS,))).states == 3, "explored once"
    with pytest.raises(WrongAnswer, match="it: "):
        explorer.run(ReductionPlan((SYMMETRY,)))


def test_tables() -> None:
    full, half, tenth = (Run(n, 3 * n, 1.0, ("symmetry",)) for n in (100, 50, 10))
    lacking = dict.fromkeys(LACKING, tenth) | {"symmetry": full}
    planning = dict.fromkeys(ALONE, 0.5)
    row = Measured("it", full, tenth, dict.fromkeys(ALONE, half), lacking, planning)
    lines = ablation.alone([row]).markdown()
    assert "| symmetry | 1 | 1 | 2.00x | 2.0x | 2.00x | 50 | 1 | 0.500 |" in lines
    assert "| all | 1 | 1 | 10.00x | 10.0x | 10.00x | 10 | 1 | 2 |" in lines
    lines = ablation.lacking([row]).markdown()
    assert "| symmetry | 1 | 0 | 10.00x | 10.0x | 10.00x | 100 | 1 |" in lines
    assert "| dead values | 0 | 0 | 1.00x | 1.0x | 1.00x | 10 | 1 |" in lines
    assert "| it | 100 | 50 | 50 | 50 | 50 | 10 |" in ablation.largest([row]).markdown()


def test_a_check_of_the_library() -> None:
    row = measured(Path(specs()) / "oracles" / "two_phase.bcast", "three")
    assert row is not None and row.full.states == 288
    assert row.alone["symmetry"].states == 80, "published, as orbits by theory"
    assert row.reduced.states <= min(run.states for run in row.alone.values())
