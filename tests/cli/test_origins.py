"""Each report names where its properties come from, and which of the library's they hide."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.language.analysis import Analyst
from checker.language.typecheck.unasked import FAULTS
from tests.documents import only_report

Out = pytest.CaptureFixture[str]

HEAD = """protocol Relay implements {of} {{
  message DATA(from_whom: Proc, m: Msg)
  state seen : set<(Proc, Msg)> = {{}}
  upon request broadcast(m) {{ send DATA(self, m) to all }}
  upon receive DATA(s, m) from p when (s, m) not in seen {{
    seen += (s, m)
    deliver(s, m)
  }}
  {inside}
}}
check one of Relay {{
  n = 3
  faults crash <= 1
  clients {{ p1 broadcasts a }}
  {clause}
}}
"""
TRIVIAL = "forall s, p in Proc, m in Msg: (s, m) in delivered(p) ~> (s, m) in delivered(p)"
INTERFACE = (
    "interface {name} {{ request broadcast(m: Msg)  indication deliver(p: Proc, m: Msg)"
    " property agreement : {formula} }}\n"
)
SAME = (
    "forall a, b, c in Proc, x in Msg:"
    " correct(a) and correct(b) and (c, x) in delivered(a) ~> (c, x) in delivered(b)"
)

HIDING = {
    "protocol": HEAD.format(
        of="ReliableBroadcast",
        inside=f"property agreement : {TRIVIAL}",
        clause="prove agreement",
    ),
    "invariant": HEAD.format(
        of="ReliableBroadcast",
        inside="invariant agreement : forall p in Proc: p.seen == p.seen",
        clause="prove agreement",
    ),
    "check": HEAD.format(
        of="ReliableBroadcast",
        inside="",
        clause=f"property agreement : {TRIVIAL}\n  prove agreement",
    ),
    "interface": INTERFACE.format(name="ReliableBroadcast", formula=TRIVIAL)
    + HEAD.format(of="ReliableBroadcast", inside="", clause="prove agreement"),
    "interface of another name": INTERFACE.format(name="Mine", formula=TRIVIAL)
    + HEAD.format(of="Mine", inside="", clause="prove agreement"),
    "interface that the protocol does not name": INTERFACE.format(name="Mine", formula=TRIVIAL)
    + HEAD.format(of="BestEffortBroadcast", inside="", clause="prove agreement"),
}


def written(tmp_path: Path, text: str) -> Path:
    spec = tmp_path / "relay.bcast"
    spec.write_text(text, "utf-8")
    return spec


@pytest.mark.every
@pytest.mark.parametrize("text", HIDING.values(), ids=HIDING)
def test_a_hidden_property_is_a_warning_and_has_another_label(
    text: str, tmp_path: Path, capsys: Out
) -> None:
    spec = written(tmp_path, text)
    assert main(["check", str(spec), "--json", str(tmp_path / "r.json")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "agreement (not the library's) HOLDS" in shown
    assert "warning C053" in shown and "was not checked" in shown
    document = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert [problem["code"] for problem in document["diagnostics"]] == ["C053"]
    (verdict,) = document["reports"][0]["verdicts"]
    assert verdict["origin"]["hides"] == "ReliableBroadcast"
    assert not verdict["origin"]["library"]
    assert verdict["origin"]["line"] == document["diagnostics"][0]["line"]
    found = Analyst().analyse(text, spec).diagnostics
    assert "C053" in {each.code for each in found}


def test_the_library_finds_what_the_hiding_property_does_not(tmp_path: Path, capsys: Out) -> None:
    text = HEAD.format(of="ReliableBroadcast", inside="", clause="prove agreement")
    spec = written(tmp_path, text)
    assert main(["check", str(spec), "-q"]) == 1
    assert "agreement: library interface ReliableBroadcast" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        HEAD.format(
            of="ReliableBroadcast",
            inside=f"property agreement : {SAME}",
            clause="expect agreement violated",
        ),
        HEAD.format(
            of="ReliableBroadcast", inside=f"property mine : {TRIVIAL}", clause="prove mine"
        ),
    ],
    ids=["the same formula", "another name"],
)
def test_nothing_is_hidden(text: str, tmp_path: Path, capsys: Out) -> None:
    assert main(["check", str(written(tmp_path, text)), "-q"]) == 0
    shown = capsys.readouterr().out
    assert "C053" not in shown and "protocol Relay" in shown


def test_every_output_names_origins(tmp_path: Path, capsys: Out) -> None:
    spec = written(tmp_path, HIDING["protocol"].replace("prove agree", "prove validity, agree"))
    outputs = [str(tmp_path / name) for name in ("o.json", "o.xml", "o.sarif")]
    words = ["--json", outputs[0], "--junit", outputs[1], "--sarif", outputs[2], "--github"]
    assert main(["test", str(spec), "-q", *words]) == 0
    shown = capsys.readouterr().out
    assert "warning C053" in shown and "::warning file=" in shown
    assert "validity: library interface ReliableBroadcast" in shown
    report = only_report(Path(outputs[0]).read_text("utf-8"))
    assert [v["origin"]["library"] for v in report["verdicts"]] == [True, False]
    junit = Path(outputs[1]).read_text("utf-8")
    assert "agreement (not the library's)" in junit
    assert "validity: library interface ReliableBroadcast (interfaces/" in junit
    (result,) = json.loads(Path(outputs[2]).read_text("utf-8"))["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("C053", "warning")


def test_a_page_and_a_trace_have_the_origin(tmp_path: Path) -> None:
    text = HEAD.format(of="ReliableBroadcast", inside="", clause="prove agreement")
    spec, trace, page = written(tmp_path, text), tmp_path / "t.json", tmp_path / "t.html"
    assert main(["check", str(spec), "-q", "--trace-out", str(trace)]) == 1
    assert json.loads(trace.read_text("utf-8"))["origin"]["name"] == "ReliableBroadcast"
    assert main(["view", str(trace), "--html", str(page)]) == 0
    assert "library interface ReliableBroadcast" in page.read_text("utf-8")
    older = json.loads(trace.read_text("utf-8"))
    del older["origin"], older["digest"]
    trace.write_text(json.dumps(older), "utf-8")
    assert main(["view", str(trace), "--html", str(page)]) == 0


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("n = 2  prove validity", "a process that crashes (`faults crash <= 1`)"),
        ("n = 1  faults crash <= 1  prove validity", "more than one process (`n = 3`)"),
        ("n = 2  faults crash <= 1  prove validity", "a process that recovers (`faults crash"),
        (
            "n = 2  faults crash <= 1, recover, byzantine <= 1, partition, cut <= 1"
            "  links lossy, duplicating  property mine : always forall p in Proc: #p.seen <= 4"
            "  prove mine  allow unused",
            "",
        ),
    ],
)
def test_a_mild_world_is_named(clause: str, said: str, tmp_path: Path, capsys: Out) -> None:
    text = HEAD.format(of="ReliableBroadcast", inside="", clause="prove validity")
    text = text.replace("n = 3\n  faults crash <= 1", "").replace("prove validity", clause)
    assert main(["check", str(written(tmp_path, text)), "--json", str(tmp_path / "r")]) in (0, 4)
    shown = " ".join(capsys.readouterr().out.split())
    found = only_report((tmp_path / "r").read_text("utf-8"))["not_asked"]
    assert bool(found) == bool(said) and shown.count(" (`") <= 3
    assert said in shown and ("unasked" in shown) == bool(said)


def test_a_second_check_asks_for_the_first(tmp_path: Path, capsys: Out) -> None:
    text = HEAD.format(of="ReliableBroadcast", inside="", clause="prove validity")
    mild = text[text.index("check one") :].replace("faults crash <= 1", "").replace("one", "two")
    spec = written(tmp_path, text + mild)
    main(["check", f"{spec}::two"])
    assert "a process that crashes" not in capsys.readouterr().out


ALL = ["recovery", "loss", "partition", "cuts", "repetition", "lies"]


@pytest.mark.every
@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("", ALL),
        ("// not asked: lies: a closed network\n", ALL[:-1]),
        ("// not asked: lies, loss\n// not asked: partition, repetition\n", ["recovery", "cuts"]),
        ("// A relay.\n//\n// Faults:     crash (stop). Links: perfect.\n", []),
        ("// A relay.\n\n// Faults: later.\n", ALL),
    ],
)
def test_a_comment_leaves_faults_out(
    comment: str, left: list[str], tmp_path: Path, capsys: Out
) -> None:
    text = comment + HEAD.format(of="ReliableBroadcast", inside="", clause="prove validity")
    assert main(["check", str(written(tmp_path, text)), "--json", str(tmp_path / "r")]) == 0
    found = only_report((tmp_path / "r").read_text("utf-8"))["not_asked"]
    whats = {fault.what: fault.word for fault in FAULTS}
    assert [whats[each["what"]] for each in found if not each["excluded"]] == left
    assert len(found) == len(ALL)
    assert ("unasked" in capsys.readouterr().out) == bool(left)


def test_a_fault_that_can_t_be_left_out(tmp_path: Path, capsys: Out) -> None:
    text = "// not asked: lies, losses: why\n"
    text += HEAD.format(of="ReliableBroadcast", inside="", clause="prove validity")
    assert main(["check", str(written(tmp_path, text))]) == 2
    said = capsys.readouterr().err
    assert "E140" in said and ":1:21" in said and "did you mean `loss`" in said


def test_what_a_byzantine_interface_is_about_comes_first(tmp_path: Path) -> None:
    text = HEAD.format(of="ByzantineReliableBroadcast", inside="", clause="prove validity")
    main(["check", str(written(tmp_path, text)), "-q", "--json", str(tmp_path / "r")])
    found = only_report((tmp_path / "r").read_text("utf-8"))["not_asked"]
    assert found[0]["what"] == "a process that lies"


def test_an_audit_names_the_interfaces_of_the_library(tmp_path: Path, capsys: Out) -> None:
    log = tmp_path / "p1.ndjson"
    event = {"process": "p1", "pos": 1, "kind": "request", "name": "broadcast", "id": "a"}
    log.write_text(json.dumps(event) + "\n", "utf-8")
    main(["audit", str(log), "--as", "UniformReliableBroadcast", "--json", str(tmp_path / "o")])
    report = only_report((tmp_path / "o").read_text("utf-8"))
    assert report["verdicts"] and all(v["origin"]["library"] for v in report["verdicts"])
