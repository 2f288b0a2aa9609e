"""Why a log does not conform: the true reason first, with the fewest faults, and as shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from checker.conform.conform_log import Asked, conform
from checker.engines.options import Options
from checker.results.conformance import Conformance
from tests.documents import only_report

SHOP = """
protocol Shop {
  message ORDER(o: 0..9)
  message PAID(o: 0..9)
  role till(1) {
    state left = 0
    upon condition left < 9 as rings {
      send ORDER(left) to bank
      left += 1
    }
    upon receive PAID(_) { skip }
  }
  role bank(1) {
    state paid : set<0..9> = {}
    upon receive ORDER(o) from t {
      if o not in paid {
        perform o
        paid += o
      }
      send PAID(o) to t
    }
    upon condition #paid > 1 as closes { paid := {} }
  }
  property once "" : always forall b in bank: #b.paid <= 10
}
check quiet of Shop { prove once }
check harsh of Shop {
  faults crash <= 1, recover
  links fair_loss, bounded 1
  prove once
}
"""

RINGS: list[dict[str, Any]] = [{"kind": "send", "message": "ORDER", "receivers": ["b1"]}]
PAYS: list[dict[str, Any]] = [
    {"kind": "receive", "message": "ORDER", "from": "t1", "fields": {"o": 0}},
    {"kind": "perform", "name": 0},
    {"kind": "send", "message": "PAID", "receivers": ["t1"]},
]


def asked(folder: Path, check: str, **logs: list[dict[str, Any]]) -> list[str]:
    spec = folder / "shop.bcast"
    spec.write_text(SHOP, encoding="utf-8")
    files = []
    for process, rows in logs.items():
        path = folder / f"{process}.ndjson"
        lines = [{"process": process, "pos": n, **row} for n, row in enumerate(rows, 1)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        files.append(str(path))
    return [f"{spec}::{check}", *files]


def judged(folder: Path, check: str, **logs: list[dict[str, Any]]) -> Conformance:
    name, *files = asked(folder, check, **logs)
    spec, _, check = name.partition("::")
    return conform(Asked(spec, check, Options()), files)


def test_handlers_that_one_role_logs_are_not_missed_in_the_log_of_another(tmp_path: Path) -> None:
    closes = [{"kind": "receive", "message": "ORDER"}, {"kind": "perform", "name": 0}]
    closes += [{"kind": "send", "message": "PAID", "receivers": ["t1"]}]
    closes += [*closes[:1], {"kind": "perform", "name": 1}, closes[2]]
    closes += [{"kind": "handler", "name": "closes"}]
    report = judged(tmp_path, "quiet", t1=RINGS * 2, b1=closes)
    assert report.exit_code == 0, report
    assert "handler by b1" in report.logged
    assert "handler by t1" in report.silent


def test_a_step_that_sends_too_late_in_its_handler_is_named(tmp_path: Path) -> None:
    rows = [*RINGS, {"kind": "handler", "name": "rings"}]
    report = judged(tmp_path, "quiet", t1=rows, b1=PAYS)
    first = report.obstacles[0]
    assert first.line.text == "t1 sends ORDER(_) to b1"
    assert "`t1: rings` is possible, and then the log should have `t1: rings` next" in " ".join(
        first.reasons
    )


def test_a_log_without_a_kind_that_its_role_logs_is_told(tmp_path: Path) -> None:
    spec = """
    protocol Pair {
      message HELLO
      state greeted = false
      upon condition not greeted as greets { greeted := true  send HELLO to all }
      upon receive HELLO { skip }
      property fine "" : always true
    }
    check two of Pair { n = 2  prove fine }
    """
    (tmp_path / "pair.bcast").write_text(spec, encoding="utf-8")
    lines = [
        {"process": "p1", "pos": 1, "kind": "handler", "name": "greets"},
        {"process": "p1", "pos": 2, "kind": "send", "message": "HELLO"},
        {"process": "p2", "pos": 1, "kind": "send", "message": "HELLO"},
    ]
    log = tmp_path / "log.ndjson"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    report = conform(Asked(str(tmp_path / "pair.bcast"), "two", Options()), [str(log)])
    assert report.exit_code == 1
    assert "the log of p2 has no `handler` line at all" in report.obstacles[0].reasons[0]


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_the_explanation_has_the_fewest_faults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], engine: str
) -> None:
    twice = [*PAYS, *PAYS]
    files = asked(tmp_path, "harsh", t1=[*RINGS, *RINGS, {"kind": "end"}], b1=twice)
    document = tmp_path / "out.json"
    assert main(["conform", *files, "--engine", engine, "--json", str(document)]) == 1
    report = only_report(document.read_text(encoding="utf-8"))
    events = [event for step in report["trace"]["steps"] for event in step["events"]]
    assert not [event for event in events if event["kind"] in ("lose", "crash")]
    first = report["obstacles"][0]
    assert first["line"]["process"] == "b1", "the line that waits for others comes later"
    assert "receives ORDER(1) from t1` is possible" in first["reasons"][0]
    capsys.readouterr()


def test_a_line_that_waits_for_an_unexplained_one_comes_last(tmp_path: Path) -> None:
    wrong = [PAYS[0], {"kind": "perform", "name": 3}, PAYS[2]]
    paid = {"kind": "receive", "message": "PAID", "from": "b1"}
    report = judged(tmp_path, "quiet", t1=[*RINGS, paid], b1=wrong)
    assert [obstacle.line.process for obstacle in report.obstacles] == ["b1", "t1"]
    assert (
        report.obstacles[1]
        .reasons[-1]
        .endswith("b1.ndjson:3 says that it is sent, after a line that is not explained")
    )


ANSWERS = """
interface Answers {
  indication question(k: 0..3)
  indication granted(k: 0..3)
  indication refused(k: 0..3)
}
protocol Gate implements Answers {
  state holder : option<0..3> = none
  state open : option<0..3> = none
  upon condition open == none as hears {
    choose k in (0..3)
    open := some(k)
    question(k)
  }
  upon condition is_some(open) as answers {
    let k = get(open)
    open := none
    if holder == none {
      holder := some(k)
      granted(k)
    } else {
      refused(k)
    }
  }
  property fine "" : always true
}
check one of Gate { n = 1  prove fine }
"""


def test_what_a_handler_indicates_instead_is_named(tmp_path: Path) -> None:
    (tmp_path / "gate.bcast").write_text(ANSWERS, encoding="utf-8")
    names = ["question", "granted", "question", "granted"]
    lines = [
        {"process": "p1", "pos": n, "kind": "indicate", "name": name, "arguments": [n // 3]}
        for n, name in enumerate(names, 1)
    ]
    log = tmp_path / "log.ndjson"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    report = conform(Asked(str(tmp_path / "gate.bcast"), "one", Options()), [str(log)])
    (obstacle,) = report.obstacles
    assert obstacle.line.text == "p1 indicates granted(1)"
    assert obstacle.reasons == (
        "`p1: answers` is possible, and then the log should have `p1 indicates refused(1)` next,"
        " and it has `p1 indicates granted(1)`",
    )


def test_a_cited_step_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = """
    protocol Ticks {
      message PING
      role source(1) {
        state ticks = 0
        upon condition ticks == 0 as pings { send PING to drain  ticks := 1 }
        upon condition ticks > 0 and ticks < 99 as counts { ticks += 1 }
      }
      role drain(1) {
        upon receive PING { skip }
      }
      property fine "" : always true
    }
    check two of Ticks { prove fine }
    """
    (tmp_path / "ticks.bcast").write_text(spec, encoding="utf-8")
    received = {"kind": "receive", "message": "PING", "from": "s1"}
    p1 = [{"kind": "handler", "name": name} for name in ["pings", *["counts"] * 60]]
    p2 = [received, received]
    lines = [
        {"process": name, "pos": n, **row}
        for name, rows in (("d1", p2), ("s1", p1))
        for n, row in enumerate(rows, 1)
    ]
    log = tmp_path / "log.ndjson"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert main(["conform", f"{tmp_path}/ticks.bcast::two", str(log)]) == 1
    shown = capsys.readouterr().out
    report = conform(Asked(str(tmp_path / "ticks.bcast"), "two", Options()), [str(log)])
    (cited,) = report.obstacles[0].steps
    assert f"was received in step {cited}" in report.obstacles[0].reasons[0]
    assert f"\n{cited:>8}  " in shown
