"""Verdicts on logs: what each word is for, and that clocks do not matter."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from checker.audit.audit import Request, audit
from checker.audit.manifest import Manifest, Told
from checker.audit.processes import Grace
from checker.audit.restrict import Restriction
from checker.audit.rules import NOT_ASKED, RULES
from checker.cli.main import main
from checker.language.library import prelude
from checker.results.verdict import Word
from checker.words.steps import headline
from tests.audit.logs import ask, rows, words, write
from tests.documents import only_report

RIGHT = """
p1 0 broadcast a
p1 1 deliver a from p1
p1 2 deliver b from p2
p2 0 broadcast b
p2 1 deliver a from p1
p2 2 deliver b from p2
"""


def test_every_property_of_the_library_is_asked_or_said_not_to_be() -> None:
    known = {(p.name, p.text) for i in prelude().interfaces.values() for p in i.properties}
    unasked = {name for name, text in known if text not in RULES}
    assert unasked == set(NOT_ASKED)
    assert set(RULES) <= {text for _, text in known}


def test_texts_are_those_of_the_library(tmp_path: Path) -> None:
    found = ask(tmp_path, RIGHT, "TotalOrderBroadcast")
    said = {v.property: v.definition for v in found.report.verdicts}
    for prop in prelude().interfaces["TotalOrderBroadcast"].properties:
        assert said[prop.name] == prop.document
    assert found.report.exit_code == 0


def test_an_empty_log_is_vacuous(tmp_path: Path) -> None:
    file = write(tmp_path, "p1 0 start")
    report = audit(Request((file,), "TotalOrderBroadcast")).report
    assert {v.label() for v in report.verdicts} == {"vacuous"} and report.exit_code == 4


def test_a_gap_makes_unknown_what_needs_completeness_and_nothing_else(tmp_path: Path) -> None:
    log = RIGHT.replace("p2 2 deliver b from p2", "p2 2 gap") + "p2 3 deliver a from p1\n"
    found = ask(tmp_path, log, "TotalOrderBroadcast")
    assert words(found) == {
        "validity": "unknown",
        "no_duplication": "violated",
        "no_creation": "holds within what is logged",
        "agreement": "unknown",
        "total_order": "holds within what is logged",
        "global_order": "holds within what is logged",
    }
    reasons = {v.property: v.reason for v in found.report.verdicts}
    assert "the log of p2 has a gap at position 2" in reasons["agreement"]


@pytest.mark.every
def test_who_has_a_gap_may_have_delivered_there_what_nobody_else_has(tmp_path: Path) -> None:
    """So agreement is not known, though nothing that is logged is missing anywhere."""
    assert words(ask(tmp_path, RIGHT, "ReliableBroadcast"))["agreement"] == "holds"
    found = words(ask(tmp_path, RIGHT + "p2 9 gap", "ReliableBroadcast"))
    assert (found["agreement"], found["no_creation"]) == ("unknown", "holds within what is logged")


def test_what_is_late_is_pending(tmp_path: Path) -> None:
    log = RIGHT.replace("p2 2 deliver b from p2\n", "")
    assert words(ask(tmp_path, log, "ReliableBroadcast"))["agreement"] == "violated"
    late = ask(tmp_path, log, "ReliableBroadcast", grace=Grace(rows=1))
    assert words(late)["agreement"] == "pending" and late.report.exit_code == 1
    assert words(late)["validity"] == "violated"


def test_pairwise_fine_and_globally_cyclic(tmp_path: Path) -> None:
    log = """
        p1 0 deliver a\np1 1 deliver b\np2 0 deliver b\np2 1 deliver c
        p3 0 deliver c\np3 1 deliver a
        p4 0 broadcast a\np4 1 broadcast b\np4 2 broadcast c"""
    found = ask(tmp_path, log, "UniformTotalOrderBroadcast")
    assert words(found)["uniform_total_order"] == "holds"
    assert words(found)["global_order"] == "violated"
    (reason,) = (v.reason for v in found.report.verdicts if v.property == "global_order")
    for said in ("a before b", "b before c", "c before a"):
        assert said in reason


def test_a_crash_excuses_the_process_that_crashed(tmp_path: Path) -> None:
    log = "p1 0 broadcast a\np1 1 deliver a\np1 2 crash\np2 0 start"
    found = words(ask(tmp_path, log, "ReliableBroadcast"))
    assert found["agreement"] == "holds" and found["validity"] == "vacuous"
    uniform = words(ask(tmp_path, log, "UniformReliableBroadcast"))
    assert uniform["uniform_agreement"] == "violated"
    back = ask(tmp_path, log + "\np1 3 recover", "ReliableBroadcast")
    assert words(back)["agreement"] == "violated"


def test_who_stops_without_a_word_may_have_crashed(tmp_path: Path) -> None:
    log = "p1 0 broadcast a\np1 1 deliver a\np1 2 end\np2 0 start"
    assert words(ask(tmp_path, log, "ReliableBroadcast"))["agreement"] == "unknown"
    told = Manifest({"p2": Told(crashed=True)}, file="m.toml")
    found = ask(tmp_path, log, "ReliableBroadcast", manifest=told)
    assert words(found)["agreement"] == "holds"


def test_a_process_of_the_manifest_without_rows_has_done_nothing(tmp_path: Path) -> None:
    told = Manifest({"p3": Told()}, file="m.toml")
    found = ask(tmp_path, RIGHT, "ReliableBroadcast", manifest=told)
    assert words(found)["agreement"] == "violated"


def test_clocks_never_matter(tmp_path: Path) -> None:
    draw = random.Random(1)
    log = rows(RIGHT) + rows("p2 9 deliver a from p1\np1 8 broadcast c")
    times = [float(at) for at in range(len(log))]
    said = []
    for _ in range(5):
        draw.shuffle(times)
        file = tmp_path / "log.ndjson"
        timed = [{**row, "ts": ts} for row, ts in zip(log, times, strict=True)]
        timed.sort(key=lambda row: (row["process"], row["pos"]))
        file.write_text("".join(json.dumps(row) + "\n" for row in timed), encoding="utf-8")
        report = audit(Request((str(file),), "CausalReliableBroadcast")).report
        said.append([(v.property, v.word, v.reason) for v in report.verdicts])
    assert all(one == said[0] for one in said)


def test_a_sample_keeps_whole_messages(tmp_path: Path) -> None:
    log = "".join(
        f"p1 {2 * i} broadcast m{i}\np1 {2 * i + 1} deliver m{i}\np2 {i} deliver m{i}\n"
        for i in range(200)
    )
    half = Restriction(sample=0.5)
    found = ask(tmp_path, log, "FifoReliableBroadcast", restriction=half)
    assert {v.label() for v in found.report.verdicts} == {
        "holds within a sample of 50 % of the messages"
    }
    assert found.report.exit_code == 3


def test_violations_say_where_they_are(tmp_path: Path) -> None:
    found = ask(tmp_path, RIGHT + "p2 5 deliver a from p1\n", "TotalOrderBroadcast")
    (row,) = found.violations.to_pylist()
    assert (row["property"], row["kind"], row["alias"]) == ("no_duplication",) + ("duplicate",) * 2
    assert (row["process"], row["sender"], row["message"]) == ("p2", "p1", "a")
    assert (row["pos"], row["row"], row["pos2"], row["row2"]) == (5, 7, 1, 5)
    assert row["file"] == row["file2"] == str(tmp_path / "log.ndjson")


@pytest.mark.every
@pytest.mark.parametrize(
    ("more", "code"), [("", 0), ("p2 7 deliver a from p1", 1), ("p2 7 gap", 3)]
)
def test_exit_codes_are_those_of_check(
    more: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, RIGHT + more)
    assert main(["audit", file, "--as", "TotalOrderBroadcast"]) == code
    said = capsys.readouterr().out
    assert ("no_duplication" in said and "7 rows" in said) or "6 rows" in said


def test_what_was_read_is_in_the_document(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    table = tmp_path / "all.parquet"
    arguments = ["audit", write(tmp_path, RIGHT), "--as", "Register", "--json", str(out)]
    main([*arguments, "--violations", str(table)])
    log = only_report(out.read_text())["log"]
    assert log["rows"] == 6 and log["violations"] == str(table)
    assert any(said.startswith("atomicity: ") for said in log["not_asked"])


def test_an_act_is_drawn_where_other_rows_name_a_sender(tmp_path: Path) -> None:
    log = tmp_path / "log.ndjson"
    log.write_text(
        '{"run": "r1", "process": "p2", "pos": 0, "kind": "perform", "msg": "m1"}\n'
        '{"run": "r1", "process": "p4", "pos": 0, "kind": "perform", "msg": "m1"}\n'
        '{"run": "r2", "process": "p2", "pos": 0, "kind": "deliver", "msg": "m4",'
        ' "sender": "p2"}\n',
        encoding="utf-8",
    )
    asked = "exactly_once over effects"
    found = audit(Request((str(log),), "Queue", (asked,), (asked,)))
    (verdict,) = found.report.verdicts
    assert verdict.word is Word.VIOLATED and verdict.trace is not None
    drawn = [headline(step) for step in verdict.trace.steps[1:]]
    assert drawn == ["p2 performs m1", "p4 performs m1"]
    assert found.violations.num_rows
