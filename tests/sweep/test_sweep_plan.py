"""Which cells there are, which can be run, and what is refused before anything runs."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.diagnostics.render import render
from checker.results.answer import Limits
from checker.session.pipeline import Options
from checker.sweep.cells import Status, run_cell
from checker.sweep.grid import grid_of
from checker.sweep.sweep_plan import SweepPlan, plan

SPEC = """protocol Counter(top: Nat = 2, first: Proc) requires n > 2 * f {
  message TICK
  state seen : Nat = 0
  upon init { if self == first { send TICK to all } }
  upon receive TICK when seen < top { seen += 1  send TICK to all }
  property small "Nobody counts far." : always forall p in Proc: p.seen < top
}
check c of Counter { n = 2  faults crash <= 1  expect small violated }
check other of Counter { n = 2  expect small violated }
"""


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "counter.bcast"
    path.write_text(SPEC, encoding="utf-8")
    return str(path)


def planned(spec: str, *grids: str, **options: object) -> SweepPlan:
    return plan(spec, "c", grid_of(grids), Options(engine="reference", **options))  # type: ignore[arg-type]


def test_a_task_for_each_cell_that_makes_sense(spec: str) -> None:
    made = planned(spec, "n=1..3,crash={0,2}")
    assert [c.number for c in made.cells] == [1, 2, 3, 4, 5, 6]
    assert [c.impossible for c in made.cells if c.impossible] == [
        "crash <= 2 is impossible with 1 processes"
    ]
    assert [t.cell for t in made.tasks] == [1, 3, 4, 5, 6]
    assert made.cells[2].parameters == {"n": 2, "crash": 0, "f": 0, "top": 2, "first": "p1"}
    assert made.parameter_names == ("n", "crash", "top", "f", "first")
    assert made.properties == ("small",)


def test_whether_what_is_required_holds(spec: str) -> None:
    made = planned(spec, "n=2..3,crash=1")
    assert [c.within for c in made.cells] == [False, True]


def test_worlds_that_contradict_themselves_are_impossible(spec: str) -> None:
    made = planned(spec, "links={fifo,fair_loss+perfect}")
    assert [bool(c.impossible) for c in made.cells] == [False, True]
    assert made.cells[1].parameters == {"links": "fair_loss+perfect"}


@pytest.mark.parametrize(
    ("grid", "code"),
    [
        ("m=1..2", "E003"),
        ("n={1,two}", "E003"),
        ("links={perfect,fi}", "C004"),
        ("links={perfect,bounded}", "C010"),
        ("crash={1,many}", "N002"),
        ("recover={yes,perhaps}", "E030"),
        ("top=1..2,n=2", "E031"),
    ],
)
def test_slips_are_refused_before_anything_runs(grid: str, code: str, spec: str) -> None:
    with pytest.raises(SpecError) as refused:
        planned(spec, grid, settings={"top": "1"})
    assert refused.value.diagnostics[0].code == code


def test_one_check_is_named(spec: str) -> None:
    with pytest.raises(SpecError) as refused:
        plan(spec, None, grid_of(["n=2"]), Options())
    assert refused.value.diagnostics[0].code == "E002"


def test_an_axis_that_changes_nothing_is_told(spec: str) -> None:
    (note,) = planned(spec, "f=0..1").notes
    assert "`f` has no effect in `c`" in note and "crash=0..1" in note
    assert planned(spec, "f=0..1,crash=f").notes == ()
    assert planned(spec, "n=1..2").notes == ()


def test_a_task_needs_no_file(spec: str) -> None:
    (task,) = planned(spec, "n=2").tasks
    Path(spec).unlink()
    outcome = run_cell(pickle.loads(pickle.dumps(task)))
    assert outcome.status is Status.DONE and outcome.report is not None
    (verdict,) = outcome.report.verdicts
    assert verdict.word.value == "violated" and verdict.trace is not None


@pytest.mark.parametrize(
    ("limits", "status", "reason"),
    [
        (Limits(max_states=2), Status.STOPPED, "the limit of 2 states was reached"),
        (Limits(timeout=1e-9), Status.TIMEOUT, "the time limit of 1e-09 s was reached"),
    ],
)
def test_limits_are_of_each_cell(limits: Limits, status: Status, reason: str, spec: str) -> None:
    (task,) = planned(spec, "n=3,top=9", limits=limits).tasks
    outcome = run_cell(task)
    assert (outcome.status, outcome.reason) == (status, reason)


def test_a_fault_of_ours_costs_one_cell(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from checker.session import pipeline

    def broken(*_: object) -> None:
        raise RuntimeError("oh")

    (task,) = planned(spec, "n=2").tasks
    monkeypatch.setattr(pipeline, "run_loaded", broken)
    outcome = run_cell(task)
    assert (outcome.status, outcome.reason) == (Status.FAILED, "RuntimeError: oh")


def test_a_check_about_all_sizes_is_swept_over_those_of_the_grid(tmp_path: Path) -> None:
    path = tmp_path / "counter.bcast"
    every = "check c of Counter { for all n, f when n > f  expect small violated }"
    path.write_text(SPEC.partition("check c")[0] + every, encoding="utf-8")
    made = planned(str(path), "n=1..2,f=0")
    assert [c.parameters["n"] for c in made.cells] == [1, 2] and len(made.tasks) == 2
    with pytest.raises(SpecError) as wrong:
        planned(str(path), "n=1..2")
    assert [d.code for d in wrong.value.diagnostics] == ["C205"]


@pytest.mark.parametrize(
    ("grid", "place"),
    [
        ("m=1..2", "--grid m=1"),
        ("n={1,two}", "--grid n=two"),
        ("links={perfect,fi}", "--grid links=fi"),
        ("recover={yes,perhaps}", "--grid recover=perhaps"),
    ],
)
def test_a_slip_is_shown_where_it_is(grid: str, place: str, spec: str) -> None:
    with pytest.raises(SpecError) as refused:
        planned(spec, grid)
    (found,) = refused.value.diagnostics
    head, shown, carets = render(found).split("\n")[:3]
    assert head.startswith(f"error[{found.code}]: ") and shown == f"  {place}"
    assert shown[carets.index("^") :] == place.removeprefix("--grid ")


@pytest.mark.parametrize("values", ["2-3", "2 to 3", "2:3"])
def test_what_looks_like_a_range_is_none(values: str) -> None:
    with pytest.raises(SpecError) as refused:
        grid_of([f"n={values}"])
    (found,) = refused.value.diagnostics
    assert (found.code, found.hint) == ("E031", "a range is written `2..3`")
