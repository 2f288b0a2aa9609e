"""What commands write as JSON is what the schemas that travel with the tool say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from checker.cli.schema import schema_of
from checker.resources import specs
from tests.documents import validator

LIBRARY = specs()
ERRING = """
protocol Counting {
  state x : 0..3 = 0
  upon condition true { x := x + 1 }
  property small : always forall p in Proc: p.x <= 3
}
check counting of Counting { n = 2 prove small }
"""


def at(path: str) -> str:
    return str(LIBRARY / path)


@pytest.mark.parametrize(
    "words",
    [
        ["check", at("oracles/two_phase.bcast::three")],
        ["check", at("links/alternating_bit.bcast::reordering"), "--coverage", "--explain", "20"],
        ["check", at("links/alternating_bit.bcast")],
        ["check", at("oracles/ping_pong.bcast"), at("oracles/two_phase.bcast::three")],
        ["check", at("broadcast/eager_reliable_without_relay.bcast"), "--all", "3"],
        ["check", at("broadcast/best_effort.bcast"), "--engine", "reference"],
        ["check", at("time/leases.bcast"), "--fine-steps", "--max-states", "2000"],
        ["check", at("oracles/two_phase.bcast::three"), "--audit-reductions"],
        ["check", at("broadcast/eager_reliable.bcast::crash_one"), "--compact"],
        ["check", at("oracles/ewd840.bcast"), "--engine", "symbolic", "--max-depth", "3"],
        ["check", "ERRING", "--max-depth", "2"],
        ["check", "ERRING"],
        ["check", at("exactly_once/winch.bcast")],
        ["prove", at("for_every_n/one_step_consensus.bcast::half")],
        ["prove", at("oracles/two_phase.bcast::three")],
        pytest.param(["prove", at("for_every_n/folklore_broadcast.bcast")], marks=pytest.mark.slow),
    ],
    ids=lambda words: " ".join(word.removeprefix(f"{LIBRARY}/") for word in words),
)
def test_reports(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "erring.bcast").write_text(ERRING, "utf-8")
    words = [str(tmp_path / "erring.bcast") if word == "ERRING" else word for word in words]
    out = tmp_path / "report.json"
    assert main([*words, "-q", "--json", str(out)]) in (0, 1, 3, 4)
    document = json.loads(out.read_text("utf-8"))
    validator("report").validate(document)
    for report in document["reports"]:
        for verdict in report["verdicts"]:
            for trace in [verdict.get("trace"), *verdict.get("others", ())]:
                if trace is not None:
                    validator("trace").validate(trace)


def test_one_report_and_several_have_the_same_document(tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    path = at("links/alternating_bit.bcast")
    main(["check", path, "-q", "--json", str(out)])
    document = json.loads(out.read_text("utf-8"))
    assert len(document["reports"]) > 1
    assert {report["file"] for report in document["reports"]} == {path}
    assert not validator("report").is_valid([])
    assert not validator("report").is_valid({**document, "surprise": 1})


@pytest.mark.parametrize(
    ("words", "schema"),
    [
        (["check", "FILE"], "report"),
        (["check", "FILE::one"], "report"),
        (["prove", "FILE"], "report"),
        (["simulate", "FILE"], "report"),
        (["test", "FILE"], "report"),
        (["audit", "MISSING", "--as", "ReliableBroadcast"], "report"),
        (["conform", "FILE::one", "MISSING"], "conformance"),
        (["valence", "FILE::one"], "valence"),
        (["sweep", "FILE::one", "--grid", "n=1..2"], "sweep"),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else words,
)
def test_what_can_not_be_used_is_a_document_with_its_diagnostics(
    words: list[str], schema: str, tmp_path: Path
) -> None:
    """Nothing in it can be taken for a verdict."""
    spec, out = tmp_path / "wrong.bcast", tmp_path / "out.json"
    spec.write_text(ERRING.replace("p.x", "p.y"), "utf-8")
    named = {"FILE": str(spec), "MISSING": str(tmp_path / "no.ndjson")}
    words = [re.sub("FILE|MISSING", lambda found: named[found[0]], word) for word in words]
    assert main([*words, "--json", str(out)]) == 2
    document = json.loads(out.read_text("utf-8"))
    validator(schema).validate(document)
    assert document.get("reports", document.get("cells")) == []
    (problem,) = document["diagnostics"]
    assert problem["severity"] == "error" and re.fullmatch(r"[A-Z]\d+", problem["code"])
    assert "FILE" not in words[1] or (problem["file"], problem["line"]) == (str(spec), 5)


def test_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace.json"
    check = at("links/alternating_bit.bcast::reordering")
    main(["check", check, "-q", "--trace-out", str(trace)])
    documents = [json.loads(trace.read_text("utf-8"))]

    def said(*words: str) -> Any:
        capsys.readouterr()
        main([*words])
        return json.loads(capsys.readouterr().out)

    documents.append(said("export", str(trace), "--to", "json"))
    documents.append(said("explain", str(trace), "--json"))
    for document in documents:
        validator("trace").validate(document)


def test_the_schemas_are_called_by_their_formats() -> None:
    from checker.formats.forms import DOCUMENT_FORMAT
    from checker.results.trace import FORMAT

    assert schema_of("report")["$id"] == f"bivalence:reports:{DOCUMENT_FORMAT}"
    assert schema_of("trace")["$id"] == f"bivalence:trace:{FORMAT}"


def test_rows_are_the_steps_of_the_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line for each, also where a run goes on forever."""
    trace = tmp_path / "trace.json"
    for path in ("links/alternating_bit.bcast::reordering", "detectors/heartbeat.bcast"):
        main(["check", at(path), "-q", "--trace-out", str(trace)])
        document = json.loads(trace.read_text("utf-8"))
        steps = [*document["steps"], *filter(None, [document["closing"]])]
        capsys.readouterr()
        main(["export", str(trace), "--to", "csv"])
        _, *rows = capsys.readouterr().out.splitlines()
        assert [row.split(",")[0] for row in rows] == [str(step["number"]) for step in steps]
