"""Reductions as the shell sees them: what is said, what is looked for again, what is refused."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from checker.engines.native import engine as native
from checker.engines.options import Options
from checker.records import replace
from checker.reductions.registry import modes
from checker.results.answer import DECIDED, Answer
from checker.results.verdict import Report, Word
from checker.session import exploring
from checker.session.pipeline import run_check
from tests.documents import only_report

FILE, CHECK = "specs/oracles/two_phase.bcast", "three"
TWO_PHASE = f"{FILE}::{CHECK}"
FIVE = ["check", TWO_PHASE, "--set", "n=5"]
ORBITS, STATES = 314, 8_832
"""Of two-phase commit with five participants, by theory and by other checkers."""
Out = pytest.CaptureFixture[str]


def test_modes_are_those_of_the_table(capsys: Out) -> None:
    assert main([*FIVE, "--reduce", "some"]) == 2
    said = capsys.readouterr().err
    assert all(f"'{mode}'" in said for mode in modes())


def test_what_was_done_is_said_and_audited(capsys: Out, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    assert main([*FIVE, "--reduce", "symmetry", "--audit-reductions", "--json", str(out)]) == 0
    said = capsys.readouterr().out
    assert f"searched {ORBITS} distinct states" in said
    assert "reduced  by symmetry" in said
    assert f"the same verdicts without reductions ({STATES:,} states" in " ".join(said.split())
    report = only_report(out.read_text())
    assert report["reduce"] == "symmetry"
    assert report["reduced"]["used"] == ["symmetry"]
    assert report["distinct_states"] == ORBITS
    assert report["audit"]["complete"]
    assert report["audit"]["distinct_states"] == STATES


def test_numbers_of_states_are_of_all_of_them(capsys: Out) -> None:
    assert main(["check", TWO_PHASE]) == 0
    said = capsys.readouterr().out
    assert "searched 288 distinct states" in said and "expected states: 288" in said
    assert main(["check", TWO_PHASE, "--reduce", "all"]) == 0
    said = capsys.readouterr().out
    assert "searched 80 distinct states" in said, "who asks by name gets it"
    assert "expected states" not in said
    assert main(["check", TWO_PHASE, "--audit-reductions"]) == 0
    said = capsys.readouterr().out
    assert "nothing to compare: no reduction was used" in said
    assert "asked for" not in said, "nobody wonders about a small search"


def test_a_reduced_number_is_marked(capsys: Out) -> None:
    assert main(FIVE) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "distinct states (reduced: `--reduce none` counts all) to depth" in said
    assert main([*FIVE, "-v"]) == 0
    said = capsys.readouterr().out
    assert "counts all" not in said and "reduced  by " in said


def test_none_is_none(capsys: Out) -> None:
    assert main([*FIVE, "--reduce", "none"]) == 0
    said = capsys.readouterr().out
    assert "searched 8,832 distinct states" in said
    assert "reduced" not in said


def test_the_reference_engine_says_that_it_does_not_reduce(capsys: Out) -> None:
    words = ["check", TWO_PHASE, "--engine", "reference"]
    assert main([*words, "--reduce", "symmetry"]) == 0
    assert "the reference engine applies no reductions" in capsys.readouterr().out
    assert main(words) == 0
    assert "as it is" not in capsys.readouterr().out


# ---- engines that are wrong on purpose ---------------------------------------------------------


def spoiled(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Answer], Answer], *, always: bool = False
) -> list[bool]:
    """Changes what is answered under reductions (``always``: whatever is answered); gives for each
    answer whether it was under reductions."""
    explore, reduced = native.explore, list[bool]()

    def explored(*given: Any, **how: Any) -> Answer:
        answer = explore(*given, **how)
        reduced.append(bool(answer.reduced.used))
        return change(answer) if always or answer.reduced.used else answer

    monkeypatch.setattr(native, "explore", explored)
    return reduced


def test_a_violation_that_is_lost_is_a_fault_of_the_tool(
    monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    reduced = spoiled(monkeypatch, lambda answer: replace(answer, violations={}))
    words = ["check", "specs/byzantine/bracha.bcast::three", "--no-explain"]
    assert main(words) == 1, "nobody has compared"
    capsys.readouterr()
    assert main([*words, "--audit-reductions"]) == 70
    said = capsys.readouterr().err
    assert "internal error: Disagreement: results differ with and" in said
    assert "validity is holds with, violated without" in said
    assert reduced == [True, True, False]


def test_an_audit_that_reaches_a_limit_says_how_far_it_came(
    monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    words = [*FIVE, "--reduce", "symmetry", "--max-states", "2000", "--audit-reductions"]
    assert main(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "audit incomplete: no different verdict in 2,000 states to depth" in said
    assert "without reductions; the limit of 2,000 states was reached" in said


def forgets(answer: Answer) -> Answer:
    return replace(answer, premises=frozenset(), reached_marks=frozenset())


def forgets_marks(answer: Answer) -> Answer:
    return replace(answer, reached_marks=frozenset())


RELAYED = "specs/broadcast/eager_reliable.bcast", "crash_one"


def relayed() -> Report:
    return run_check(*RELAYED, Options(reduce="por"))


def test_a_limit_in_the_search_for_what_never_happened_leaves_what_was_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = run_check(*RELAYED, Options(reduce="none"))
    monkeypatch.setattr(exploring, "LEAST_FOR_UNSEEN", 100)
    monkeypatch.setattr(exploring, "TIMES_FOR_UNSEEN", 0)
    reduced = spoiled(monkeypatch, forgets, always=True)
    report = relayed()
    assert reduced == [True, False]
    assert report.exhaustive and report.reduced.used
    assert report.distinct_states < whole.distinct_states
    *held, violated = report.verdicts
    assert violated.word is Word.VIOLATED, "which is found by both"
    for verdict in held:
        assert verdict.word is Word.UNKNOWN, "what is vacuous would be no success"
        assert re.match(
            "it holds in every (reachable|fair) .*, but perhaps vacuously: ", verdict.reason
        )
        assert "the limit of 100 states was reached" in verdict.reason
    assert not report.never, "it is not known"


def test_what_never_happened_is_looked_for_among_all_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reduced = spoiled(monkeypatch, forgets)
    report = relayed()
    assert {v.word for v in report.verdicts} == {Word.HOLDS, Word.VIOLATED}
    assert reduced == [True, False]
    assert report.distinct_states == run_check(*RELAYED, Options(reduce="none")).distinct_states
    assert report.reduced.used == ()
    kinds = [kind for kind, why in report.reduced.unused if "never occurred" in why]
    assert kinds and "symmetry" not in kinds


def test_the_search_for_what_never_happened_ends_where_all_has_happened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reduced = spoiled(monkeypatch, forgets_marks)
    seen = list[Answer]()
    explored = native.explore

    def watched(*words: Any, **named: Any) -> Answer:
        seen.append(explored(*words, **named))
        return seen[-1]

    monkeypatch.setattr(native, "explore", watched)
    report = relayed()
    assert {v.word for v in report.verdicts} == {Word.HOLDS, Word.VIOLATED}
    assert reduced == [True, False]
    first, second = seen
    assert report.reduced.used and report.exhaustive
    assert report.distinct_states == first.distinct_states
    assert second.stopped == DECIDED and second.distinct_states < 100
    assert not any("perhaps" in v.reason for v in report.verdicts)


def test_what_symmetry_does_not_see_never_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is proven to see all, and nothing is looked for again."""
    reduced = spoiled(monkeypatch, forgets)
    report = run_check(FILE, CHECK, Options(settings={"n": "5"}, reduce="symmetry"))
    assert reduced == [True]
    assert [v.word for v in report.verdicts] == [Word.VACUOUS]


# ---- runs that are kept -----------------------------------------------------------------------


def stopped(folder: Path, *more: str) -> None:
    begin = [*FIVE, "--checkpoint", str(folder), "--max-depth", "6", *more]
    assert main(begin) == 3


@pytest.mark.parametrize(
    "engine",
    [
        ("--engine", "native"),
        pytest.param(
            ("--engine", "spark", "--master", "local[2]"),
            marks=[pytest.mark.cluster, pytest.mark.slow],
        ),
    ],
    ids=lambda words: words[1],
)
def test_a_run_is_gone_on_with_as_it_was_begun(
    engine: tuple[str, ...], tmp_path: Path, capsys: Out
) -> None:
    folder = tmp_path / "run"
    stopped(folder, "--reduce", "symmetry")
    (line,) = [x for x in capsys.readouterr().err.splitlines() if x.startswith("resume with: ")]
    command = shlex.split(line.removeprefix("resume with: "))
    assert "--reduce symmetry" in " ".join(command)
    assert main([*command[1:], *engine]) == 0
    assert f"searched {ORBITS} distinct states" in capsys.readouterr().out


def test_another_mode_is_another_run(tmp_path: Path, capsys: Out) -> None:
    folder = tmp_path / "run"
    stopped(folder, "--reduce", "symmetry")
    assert main([*FIVE, "--resume", str(folder), "--reduce", "none"]) == 2
    said = capsys.readouterr().err
    assert "E013" in said
    assert "--reduce, from symmetry to none" in said


def test_all_states_are_not_in_a_run_that_was_begun_with_reductions(
    tmp_path: Path, capsys: Out
) -> None:
    folder = tmp_path / "run"
    stopped(folder, "--reduce", "symmetry")
    more = ["--reduce", "symmetry", "--states-out", str(tmp_path / "tables")]
    assert main([*FIVE, "--resume", str(folder), *more]) == 2
    said = capsys.readouterr().err
    assert "uses reductions, and this needs all states" in said


def test_a_run_that_was_begun_without_may_be_gone_on_with_so(tmp_path: Path, capsys: Out) -> None:
    folder = tmp_path / "run"
    stopped(folder, "--reduce", "symmetry", "--states-out", str(tmp_path / "tables"))
    assert main([*FIVE, "--resume", str(folder), "--reduce", "symmetry"]) == 0
    said = capsys.readouterr().out
    assert f"searched {STATES:,} distinct states" in said
    assert "reduced  not by symmetry: the run was begun so" in said


# ---- what was not finished --------------------------------------------------------------------


def test_a_search_that_was_cut_short_foretells_its_end(tmp_path: Path, capsys: Out) -> None:
    out = tmp_path / "report.json"
    words = ["check", TWO_PHASE, "--set", "n=7", "--reduce", "none", "--max-states", "150000"]
    assert main([*words, "--json", str(out)]) == 3
    said = capsys.readouterr().out
    assert "forecast about" in said
    assert "multiplies the states by about" in said
    report = only_report(out.read_text())
    assert report["forecast"]["low"] <= 296_448 <= report["forecast"]["high"]
    assert report["weights"]
