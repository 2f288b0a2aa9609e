"""A check that is not decided kills within the levels that its original was searched to, and no
mutant survives it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from checker import kept, resources
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.language.load import Spec
from checker.mutate import levels, mutant_tasks, shares
from checker.mutate.levels import levels_of
from checker.mutate.shares import ask_originals
from checker.proving import dispatch_check
from tests.mutate.test_mutate_command import SPEC, fates, judged, spec_in

ONLY = SPEC.replace("check one", "check late")
BOTH = SPEC.replace("expect small holds expect done holds", "prove done")
BOTH += "check late of Counter { n = 1 prove small }\n"
DEEP = "one less: `x < 2`"
"""It leaves the range of `small` in the third step."""


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The checks that their share of the time does not decide."""
    names = {"late"}

    def without_them(checks: Sequence[str], seconds: float | None, ask: Any) -> Any:
        first = [each for each in checks if each not in names]
        return ask_originals(first, seconds, ask)[0], {c: None for c in checks if c in names}

    monkeypatch.setattr(shares, "ask_originals", without_them)
    return names


def within(path: Path, *words: str) -> dict[str, Any]:
    return judged(path, "--budget", "900", *words)


def result(report: dict[str, Any], what: str) -> dict[str, Any]:
    return next(each for each in report["mutants"] if each["what"] == what)


def test_a_violation_within_the_levels_kills(
    tmp_path: Path, late: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    report = within(spec_in(tmp_path, ONLY))
    assert (report["searched"], report["undecided"]) == ({"late": 3}, [])
    found = result(report, DEEP)
    kill = {"check": "late", "property": "small", "verdict": "violated", "steps": 3}
    assert (found["fate"], found["kills"]) == ("killed", [kill])
    assert "first steps  3 of late; not decided" in capsys.readouterr().out


def test_nothing_survives_it_and_nothing_is_vacuous(tmp_path: Path, late: set[str]) -> None:
    """Not even a mutant that does nothing: `done` is not asked, and nothing else is sure."""
    report = within(spec_in(tmp_path, ONLY))
    assert {*fates(report).values()} <= {"killed", "unknown", "stillborn"}
    said = "no check decides otherwise in the first steps: 3 of late"
    assert (fates(report)["without `x := x + 1`"], said) == (
        "unknown",
        result(report, "without `x := x + 1`")["reason"],
    )


@pytest.mark.parametrize(("states", "depth", "fate"), [(100, 3, "killed"), (3, 1, "unknown")])
def test_a_deeper_violation_is_not_known(
    states: int,
    depth: int,
    fate: str,
    tmp_path: Path,
    late: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The original may have one there, too."""
    monkeypatch.setattr(levels, "STATES", states)
    report = within(spec_in(tmp_path, ONLY))
    assert report["searched"] == {"late": depth}
    assert result(report, DEEP)["fate"] == fate


def test_what_a_decided_check_leaves_is_unknown(tmp_path: Path, late: set[str]) -> None:
    """And what it kills is killed."""
    report = within(spec_in(tmp_path, BOTH), "--every-check")
    every = judged(spec_in(tmp_path, BOTH))
    for what, fate in fates(report).items():
        assert fate in ("unknown", fates(every)[what])
    assert {"one", "late"} == {k["check"] for each in report["mutants"] for k in each["kills"]}


def test_the_same_code_is_equivalent(
    tmp_path: Path, late: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For any number of states: no search is needed for that."""
    monkeypatch.setattr(mutant_tasks, "same_but_for_order", lambda *given: True)
    report = within(spec_in(tmp_path, ONLY))
    assert {*fates(report).values()} == {"equivalent here"}
    monkeypatch.setattr(levels, "ask_levels", lambda *given: [])
    report = within(spec_in(tmp_path, BOTH))
    assert {*fates(report).values()} == {"unknown"}, "`late` was not asked"


@pytest.mark.parametrize(
    "some", [("--sample", "6", "--seed", "1"), pytest.param((), marks=pytest.mark.slow)]
)
def test_each_kill_is_one_of_the_whole_check(
    some: tuple[str, ...], tmp_path: Path, late: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is said with levels is what is said without limits, or unknown."""
    path = tmp_path / "fifo.bcast"
    shutil.copy(resources.specs() / "broadcast" / "eager_reliable.bcast", path)
    whole = fates(judged(path, *some))
    late |= {*Spec(path.read_text("utf-8"), str(path)).names}
    for states in (20, 300):
        monkeypatch.setattr(levels, "STATES", states)
        found = fates(within(path, *some))
        assert "killed" in found.values()
        assert all(fate in ("unknown", whole[what]) for what, fate in found.items())


def test_a_check_that_is_red_within_the_levels_is_refused() -> None:
    text = ONLY.replace("p.x <= 2 ", "p.x <= 1 ").replace("p.x <= 2\n", "p.x <= 1\n")
    with pytest.raises(SpecError) as refused:
        levels_of(Spec(text, "counter.bcast"), "late", Options())
    assert refused.value.diagnostics[0].code == "E127"


def test_what_is_about_whole_runs_has_no_levels() -> None:
    text = ONLY.replace("expect small holds ", "").replace("n = 1", "n = 1 prove done")
    assert levels_of(Spec(text, "counter.bcast"), "late", Options()).depth == -1
    assert levels_of(Spec(ONLY, "counter.bcast"), "late", Options()).safe == ("small",)


def test_what_a_view_hides_is_not_known() -> None:
    text = ONLY.replace("n = 1", "n = 1 view p1.seen")
    text = text.replace("expect small holds expect done holds", "expect small holds within")
    assert levels_of(Spec(text, "counter.bcast"), "late", Options()).depth == -1


class Answered(Struct):
    """As much of an answer as is asked for."""

    judged: int = 7
    restarts: tuple[str, ...] = ()
    endless: bool = False


@pytest.mark.parametrize(
    ("answer", "depth"),
    [(Answered(), 7), (Answered(restarts=("m",)), 6), (Answered(endless=True), 6)],
)
def test_a_level_in_which_a_guess_failed_is_not_known(answer: Any, depth: int) -> None:
    assert levels._depth(answer) == depth


def test_the_depth_is_part_of_what_is_stored(
    tmp_path: Path, late: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first step does not show, the third may; and nothing is searched twice."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept.use()
    try:
        path = spec_in(tmp_path, ONLY)
        monkeypatch.setattr(levels, "STATES", 3)
        assert result(within(path), DEEP)["fate"] == "unknown"
        monkeypatch.setattr(levels, "STATES", 100)
        first = within(path)
        assert result(first, DEEP)["fate"] == "killed"
        ran: list[str] = []
        monkeypatch.setattr(dispatch_check, "answer_check", lambda *given: ran.append("again"))
        monkeypatch.setattr(levels, "levels_of", lambda *given: ran.append("again"))
        assert within(path)["mutants"] == first["mutants"] and not ran
    finally:
        kept.use(False)
    assert mutant_tasks.WITH_RUNS == ("violated", "error")
