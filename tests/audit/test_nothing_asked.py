"""An audit that asks nothing is no success: a typo, and what a log can't be asked, are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.audit.audit import Request, audit
from checker.diagnostics import SpecError
from checker.engines import budgets
from checker.render.terminal.report import conclusion_text
from checker.results.verdict import Word
from tests.audit.logs import ask

LOG = "p1 0 broadcast a\np1 1 deliver a"
APPENDED = "p1 0 append a\np1 1 commit a"


def test_a_property_that_there_is_not_is_told_before_anything_is_read(tmp_path: Path) -> None:
    request = Request((str(tmp_path / "none.ndjson"),), "BestEffortBroadcast", only=("validty",))
    with pytest.raises(SpecError) as caught:
        audit(request)
    (problem,) = caught.value.diagnostics
    assert problem.code == "E045" and "`validty`" in problem.message
    assert "validity" in problem.hint and "`no_duplication`" in problem.expected


def test_one_wrong_name_of_two_is_told(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="`nosuch`"):
        ask(tmp_path, LOG, "BestEffortBroadcast", only=("validity", "nosuch"))


def test_an_interface_that_logs_can_not_be_asked(tmp_path: Path) -> None:
    report = ask(tmp_path, LOG, "FailureDetector").report
    assert not report.verdicts and report.exit_code == 4
    assert conclusion_text(report) == "no property applies to this log"


@pytest.mark.parametrize(
    ("text", "interface", "name", "reason"),
    [
        (APPENDED, "ReplicatedLog", "log_agreement", "the log has no column `offset`"),
        (APPENDED, "ReplicatedLog", "no_lost_writes", "the log has no column `offset`"),
        (LOG, "ReliableBroadcast", "payload_integrity", "the log has no column `payload_hash`"),
        (LOG, "FailureDetector", "strong_accuracy", "only clocks show"),
    ],
)
def test_what_can_not_be_asked_is_unknown_where_it_is_wanted(
    text: str, interface: str, name: str, reason: str, tmp_path: Path
) -> None:
    report = ask(tmp_path, text, interface, only=(name,)).report
    (verdict,) = report.verdicts
    assert verdict.property == name and verdict.word is Word.UNKNOWN
    assert reason in verdict.reason and verdict.definition
    assert report.exit_code == 3


def test_it_is_unknown_beside_what_holds(tmp_path: Path) -> None:
    only = ("no_duplication", "payload_integrity")
    report = ask(tmp_path, LOG, "ReliableBroadcast", only=only).report
    assert [v.word for v in report.verdicts] == [Word.HOLDS, Word.UNKNOWN]
    assert report.exit_code == 3


def test_an_audit_that_was_ended_names_it_too(tmp_path: Path) -> None:
    with budgets.within(0.0):
        report = ask(tmp_path, LOG, "FailureDetector", only=("strong_accuracy",)).report
    assert [v.word for v in report.verdicts] == [Word.UNKNOWN] and report.exit_code == 3
