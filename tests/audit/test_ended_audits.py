"""An audit that is ended early says what is known: by a limit, or by Ctrl-C, in each phase."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.audit import audit as audits
from checker.audit.audit import Request, audit
from checker.audit.witnesses import Witnesses
from checker.engines import budgets
from checker.results.verdict import Word
from tests.audit.logs import write

LOG = "p1 0 broadcast a\np1 1 deliver a\np1 2 deliver a\np2 0 deliver a\n"


def ended(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def request(folder: Path, *only: str) -> Request:
    return Request((write(folder, LOG),), "ReliableBroadcast", only=only)


def test_a_limit_before_anything_was_read(tmp_path: Path) -> None:
    with budgets.within(0.0):
        found = audit(request(tmp_path))
    said = {(v.word, v.reason) for v in found.report.verdicts}
    assert said == {(Word.UNKNOWN, "the time limit of 0 s was reached")}
    assert found.report.exit_code == 3 and not found.report.exhaustive
    assert found.report.stopped == "the time limit of 0 s was reached"


@pytest.mark.parametrize("phase", ["load", "process_states"])
def test_ctrl_c_before_anything_was_asked(
    phase: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audits, phase, ended)
    found = audit(request(tmp_path, "no_duplication", "agreement"))
    assert [(v.property, v.reason) for v in found.report.verdicts] == [
        ("no_duplication", "interrupted"),
        ("agreement", "interrupted"),
    ]


def test_ctrl_c_between_two_properties(tmp_path: Path) -> None:
    def progress(what: str, rows: int) -> None:
        if what == "agreement":
            raise KeyboardInterrupt

    found = audit(request(tmp_path), progress)
    words = {v.property: v.word for v in found.report.verdicts}
    assert words["no_duplication"] is Word.VIOLATED and words["agreement"] is Word.UNKNOWN
    assert found.violations.num_rows == 1


def test_ctrl_c_while_what_was_found_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Witnesses, "of", ended)
    found = audit(request(tmp_path, "no_duplication"))
    (verdict,) = found.report.verdicts
    assert verdict.word is Word.VIOLATED and verdict.trace is None
    assert "some findings are not shown: interrupted" in found.report.notes


def test_ctrl_c_when_all_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is violated does not become unknown."""
    logged, calls = audits._logged, []

    def once(*given: Any) -> Any:
        calls.append(given)
        return ended() if len(calls) == 1 else logged(*given)

    monkeypatch.setattr(audits, "_logged", once)
    found = audit(request(tmp_path, "no_duplication"))
    assert [v.word for v in found.report.verdicts] == [Word.VIOLATED]
    assert found.violations.num_rows == 1
    assert "it was stopped after all checks: interrupted" in found.report.notes
