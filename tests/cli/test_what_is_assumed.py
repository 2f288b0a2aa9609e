"""From a spec's text to what a person sees: loops, vacuous verdicts, coverage."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from checker.cli.main import main
from tests.documents import only_report, validator

Out = pytest.CaptureFixture[str]


POLLING = """
protocol Polling {
  message ASK
  message NOT_YET
  state asked = false
  state ready = false
  upon condition rank(self) == 1 and not asked { asked := true  send ASK to Proc minus {self} }
  upon receive ASK from p { send NOT_YET to p }
  upon receive NOT_YET from p {
    if ready { skip } else { send ASK to p }
  }
  property answered "Somebody is eventually ready." : eventually exists p in Proc: p.ready
  property nobody "Nobody is ever ready." : always forall p in Proc: not p.ready
}
check two of Polling { n = 2  prove answered }
check crashing of Polling { n = 2  faults crash <= 1  expect answered violated }
check safe of Polling { n = 2  expect nobody holds }
"""


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "polling.bcast"
    path.write_text(POLLING, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_run_that_goes_round_is_shown_written_and_replayed(
    spec: str, engine: str, tmp_path: Path, capsys: Out
) -> None:
    trace, itf = tmp_path / "t.json", tmp_path / "t.itf.json"
    outputs = ["--trace-out", str(trace), "--itf-out", str(itf)]
    assert main(["check", f"{spec}::two", "--engine", engine, *outputs]) == 1
    out = capsys.readouterr().out
    assert "answered  VIOLATED  holds     (in a lasso: after 1 step it repeats forever)" in out
    shown = out[out.index("answered: VIOLATED") : out.index("property  verdict")].rstrip() + "\n"
    assert "steps 2 to 3 repeat" in shown
    assert re.search(r"┃ 3  ●◄─+ NOT_YET ─+┤", shown)
    assert "ASK from p1 to p2 is received, while both are correct" in shown
    document = json.loads(trace.read_text())
    validator("trace").validate(document)
    assert (document["loop"], len(document["steps"])) == (1, 3)
    assert json.loads(itf.read_text())["loop"] == 1
    assert main(["view", str(trace)]) == 0
    replayed, taken = "accepted by an independent replay", "as recorded in the trace file"
    viewed = capsys.readouterr().out
    assert viewed.startswith("Recorded, not replayed:")
    viewed = viewed[viewed.index("answered: VIOLATED") :]
    assert " ".join(viewed.split()) == " ".join(shown.split()).replace(replayed, taken)
    assert main(["replay", str(trace)]) == 1
    again = capsys.readouterr().out
    assert again.startswith("Replayed: the interpreter accepts all 3 steps, and answered is viol")
    assert "forever: steps 2 to 3 repeat" in again
    assert "ASK from p1 to p2 is received, while both are correct" in again


def test_a_loop_that_was_tampered_with_is_refused(spec: str, tmp_path: Path, capsys: Out) -> None:
    trace = tmp_path / "t.json"
    main(["check", f"{spec}::two", "--trace-out", str(trace)])
    document = json.loads(trace.read_text())
    trace.write_text(json.dumps({**document, "loop": 0}))
    capsys.readouterr()
    assert main(["replay", str(trace)]) == 2
    assert "E009" in capsys.readouterr().err


def test_an_end_comes_before_a_loop(spec: str, capsys: Out) -> None:
    assert main(["check", f"{spec}::crashing", "--no-explain"]) == 0
    out = capsys.readouterr().out
    assert "in a run that ends after 1 step" in " ".join(out.split())
    assert "✕ crashes" in out
    assert "The run is over" in out


def test_coverage_of_branches(spec: str, tmp_path: Path, capsys: Out) -> None:
    report = tmp_path / "r.json"
    assert main(["check", f"{spec}::safe", "--coverage", "--json", str(report)]) == 0
    out = capsys.readouterr().out
    assert "Coverage: 3 of 3 handlers and 1 of 2 branches reached" in out
    branches = [line.split() for line in out.splitlines() if "branch:" in line]
    assert branches == [[":10", "NO", "branch:", "then"], [":10", "yes", "branch:", "else"]]
    text = report.read_text()
    validator("report").validate(json.loads(text))
    document = only_report(text)
    assert [c["reached"] for c in document["coverage"] if c["kind"] == "branch"] == [False, True]


VACUOUS = """
interface Service { request ask(m: Msg)  indication answer(m: Msg)
  property honest "Only what was asked is answered." :
    always forall p in Proc, m in answered(p): m in asked(p)
}
protocol P implements Service {
  message DATA(m: Msg)
  message SPARE
  state asked_once = false
  upon request ask(m) { if asked_once { send SPARE to all } else { answer(m) } }
  upon receive DATA(m) from p { skip }
}
"""


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        ("clients { p1 asks a }  prove honest", "message DATA is never sent (line 7)"),
        ("prove honest", "the check has no `clients`, so nothing is ever requested"),
        ("allow unused  expect honest vacuous", ""),
        ("clients { p1 asks a }  allow unused  prove honest", ""),
    ],
)
def test_what_never_happens_is_said(check: str, reason: str, tmp_path: Path, capsys: Out) -> None:
    path = tmp_path / "a.bcast"
    path.write_text(f"{VACUOUS}check c of P {{ n = 2  {check} }}\n", encoding="utf-8")
    code = main(["check", str(path)])
    out = " ".join(capsys.readouterr().out.split())
    assert code == (4 if reason else 0)
    assert reason in out


@pytest.mark.parametrize("links", ["fair_loss", "fifo", "fifo, lossy"])
def test_copies_that_pile_up_make_no_verdict(links: str, tmp_path: Path, capsys: Out) -> None:
    path = tmp_path / "a.bcast"
    text = """protocol P {
      message AGAIN
      state got = false
      upon timeout { send AGAIN to all }
      upon receive AGAIN from p { got := true }
      property comes "It comes." : eventually exists p in Proc: p.got
    }
    """
    check = f"check c of P {{ n = 2  timing asynchronous  links {links}  prove comes }}\n"
    path.write_text(text + check, encoding="utf-8")
    assert main(["check", str(path), "--timeout", "60"]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "copies of one message are in flight, without a bound" in said
    assert "time limit" not in said
