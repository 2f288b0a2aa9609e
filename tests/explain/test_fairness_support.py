"""Which handlers a liveness verdict rests on: those without whose promise it would be another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.explain import fairness_support
from checker.formats.json_format import report_to_json
from checker.render.terminal.canvas import as_text
from checker.render.terminal.report import report_view
from checker.results.verdict import Report, RestsOn
from checker.session.pipeline import run_check

# The leader may be gone before it has told anybody; then only the accident ends the waiting.
WAITING = """
protocol P {
  message GO
  role leader(1) {
    state told = false
    state gone = false
    WORD upon condition not gone { gone := true }
    upon condition not told and not gone { told := true  send GO to all follower }
  }
  role follower(1) {
    state done = false
    state dead = false
    upon receive GO { done := true }
    WORD upon condition not dead { dead := true }
  }
  property ends: eventually forall p in follower: p.done or p.dead
  property implied: forall p in follower: eventually (not p.dead => p.done)
  property dies: eventually forall p in follower: p.dead
}
check c of P { prove ends, implied, dies }
"""


def asked(folder: Path, text: str, seconds: float | None = 60.0) -> Report:
    path = folder / "spec.bcast"
    path.write_text(text, encoding="utf-8")
    return run_check(str(path), None, Options(explain=seconds))


def supports(report: Report) -> dict[str, list[tuple[str, int, str]] | None]:
    return {
        v.property: None
        if v.rests_on is None
        else [(s.handler, s.at.line, s.excuse) for s in v.rests_on.handlers]
        for v in report.verdicts
    }


def test_an_accident_that_has_to_happen_is_named(tmp_path: Path) -> None:
    report = asked(tmp_path, WAITING.replace("WORD", ""))
    death = ("upon condition not dead", 14)
    assert supports(report) == {
        "ends": [(*death, "p.dead")],
        "implied": [(*death, "p.dead")],
        "dies": [(*death, "")],
    }
    assert all(v.rests_on is not None and v.rests_on.complete for v in report.verdicts)


def test_what_holds_without_it_does_not_rest_on_it(tmp_path: Path) -> None:
    text = WAITING.replace("WORD", "may").replace("told and not gone", "told")
    report = asked(tmp_path, text)
    found = supports(report)
    assert found["dies"] is None and found["ends"] is None, "no owed handler could excuse it"
    owed = text.replace("may upon condition not dead", "upon condition not dead")
    found = supports(asked(tmp_path, owed))
    assert found["ends"] == [], "each of the two ways is enough"


def test_the_report_says_it(tmp_path: Path) -> None:
    report = asked(tmp_path, WAITING.replace("WORD", ""))
    text = " ".join(as_text(report_view(report), 200, False).split())
    assert "rests on ends: `upon condition not dead` (line 14) is eventually taken" in text
    assert "dies: `upon" not in text, "what a goal asks for is no excuse"
    document = json.loads(json.dumps(report_to_json(report)))
    (ends, *_) = document["verdicts"]
    assert [h["excuse"] for h in ends["rests_on"]["handlers"]] == ["p.dead"]


@pytest.mark.parametrize("seconds", [None, 0.0])
def test_nothing_is_asked_without_time(
    tmp_path: Path, seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("it was asked")

    monkeypatch.setattr(fairness_support, "explore_in_time", never)
    report = asked(tmp_path, WAITING.replace("WORD", ""), seconds)
    assert set(supports(report).values()) == {None}


def test_what_there_was_no_time_for_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        fairness_support, "explore_in_time", lambda *_: "the time of --explain, 5 s, is used up"
    )
    report = asked(tmp_path, WAITING.replace("WORD", ""))
    assert {v.rests_on for v in report.verdicts} == {RestsOn((), False)}
