"""Logs of a check with Byzantine processes: a forged message is received like any other one."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from checker.conform import conform_log, native_steps
from checker.conform.conform_log import Asked, conform
from checker.engines.options import Options
from checker.logs.mapping import LogMapping
from checker.model.ir import MarkKind
from checker.results.answer import Unsupported
from checker.results.conformance import Conformance
from checker.results.verdict import Word
from checker.session.pipeline import open_check
from tests.conform.projection import draw_run, logs_of, write
from tests.conform.test_step_groups import EVERY

ECHO = Path(__file__).resolve().parents[2] / "specs" / "byzantine" / "consistent_echo.bcast"

POST = """
protocol Post {
  message DATA(m: 1..2)
  role writer(1) {
    state s = false
    upon condition not s as go { s := true  send DATA(1) to reader }
  }
  role reader(2) { state got : 0..2 = 0  upon receive DATA(m) from p { got := m } }
  property fine "" : always true
}
check lies of Post { faults byzantine <= 1  allow unused  prove fine }
check named of Post { faults byzantine <= 1  links authenticated  allow unused  prove fine }
check honest of Post { allow unused  prove fine }
"""
FORGED = {"kind": "receive", "message": "DATA", "from": "w1", "fields": {"m": 2}}
END = {"kind": "end"}


def judged(
    folder: Path, check: str, engine: str = "reference", **logs: list[dict[str, Any]]
) -> Conformance:
    spec = folder / "spec.bcast"
    spec.write_text(POST, encoding="utf-8")
    paths = []
    for process, rows in logs.items():
        path = folder / f"{process}.ndjson"
        lines = [{"process": process, "pos": n, **row} for n, row in enumerate(rows, 1)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        paths.append(str(path))
    return conform(Asked(str(spec), check, Options(engine=engine), windows=True), paths)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_forged_message_is_a_reception(engine: str, tmp_path: Path) -> None:
    received = {**FORGED, "state": {"got": 2}}
    report = judged(tmp_path, "lies", engine, r1=[received, END])
    assert report.word is Word.HOLDS
    assert report.windows is not None
    assert [each.explained for each in report.windows.handlers] == [1]
    assert report.trace is not None
    assert judged(tmp_path, "honest", engine, r1=[received, END]).word is Word.VIOLATED


def test_what_was_received_has_its_effect(tmp_path: Path) -> None:
    wrong = {**FORGED, "state": {"got": 1}}
    report = judged(tmp_path, "lies", r1=[wrong, END])
    assert report.word is Word.VIOLATED
    assert report.windows is not None
    assert [each.red for each in report.windows.handlers] == [1]


def test_a_forged_message_without_a_line_did_not_arrive(tmp_path: Path) -> None:
    """Receptions are logged, so a state that only a forged message leads to needs its line."""
    one = {**FORGED, "fields": {"m": 1}, "state": {"got": 1}}
    two = {**FORGED, "fields": {"m": 1}, "state": {"got": 2}}
    assert judged(tmp_path, "lies", r1=[one, END]).word is Word.HOLDS
    assert judged(tmp_path, "lies", r1=[one, two, END]).word is Word.VIOLATED


def test_a_liar_uses_the_names_of_others_only_if_links_do_not_authenticate(tmp_path: Path) -> None:
    """With one liar and authenticated links, only one of these two messages can be forged."""
    both = [FORGED, {**FORGED, "from": "r2"}, END]
    assert judged(tmp_path, "named", r1=[FORGED, END]).word is Word.HOLDS
    assert judged(tmp_path, "named", r1=both).word is Word.VIOLATED
    assert judged(tmp_path, "lies", r1=both).word is Word.HOLDS


def test_a_check_without_a_native_form_is_searched_by_the_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise Unsupported("a type is too large")

    monkeypatch.setattr(native_steps, "NativeStepper", none)
    monkeypatch.setattr(conform_log, "FEW", 1)
    report = judged(tmp_path, "lies", "native", r1=[FORGED, FORGED, END])
    assert report.word is Word.HOLDS
    assert report.engine == "reference"
    assert any("a type is too large" in note for note in report.notes)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_a_run_with_forged_messages_is_a_run(seed: int, tmp_path: Path) -> None:
    options = Options(engine="reference")
    system = open_check(str(ECHO), "four", options).system
    _, run = draw_run(system, random.Random(seed), 14)
    files = write(tmp_path, logs_of(system, run, EVERY))
    asked = Asked(str(ECHO), "four", options, LogMapping(logged=EVERY), windows=True)
    report = conform(asked, files)
    assert report.word is Word.HOLDS
    assert report.windows is not None
    assert report.windows.handlers
    assert not any(each.red for each in report.windows.handlers)
    forged = [e for step in run for e in step.events if system.marks[e.mark].kind is MarkKind.FORGE]
    assert forged
