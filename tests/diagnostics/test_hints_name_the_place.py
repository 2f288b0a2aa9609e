"""A hint names the place where what is missing is to be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main

PROCEDURE = """protocol Vote {
  state chosen : option<Proc> = none
  state over = false
  procedure settle(round: Nat, who) { chosen := who  over := true }
  upon condition not over { settle(1, none) }
  property calm : always forall p in Proc: not p.over or p.over
}
check one of Vote { n = 1  prove calm }
"""
ACTS = """interface Till {
  request pay(m: Msg)
  property once : always forall m in Msg: not repeated(performed, m)
}
"""
IDLE = """protocol Idle {
  state s = false
  upon condition not s { s := true }
  property once : always #performed <= 1
}
"""
ORDER = """protocol Print {
  state s : 0..2 = 0
  upon condition s < 2 { perform s  s := s + 1 }
  property rising : always forall i, j in (0..2): before(performed, i, j) => i < j
}
"""


@pytest.mark.every
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PROCEDURE, ["5:39", "procedure settle(round, who: T)"]),
        (ACTS, ["3:56", "an interface performs nothing", "move the property to the protocol"]),
        (IDLE, ["4:27", "no handler of `Idle` performs anything", "write `perform e` in a"]),
        (ORDER, ["4:58", "expected: a process, or a history", "compare positions"]),
    ],
    ids=["a parameter", "an interface", "no act", "an order of acts"],
)
def test_a_hint(
    text: str, said: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "a.bcast"
    spec.write_text(text, "utf-8")
    assert main(["check", str(spec)]) == 2
    shown = capsys.readouterr().err
    for part in said:
        assert part in shown, shown


STEPS = """protocol Pair {
  message DATA(k: 0..3, who: Proc)
  state sent = false
  state got = false
  upon condition not sent as sends { sent := true  send DATA(2, self) to all }
  upon receive DATA(k, w) from p { got := true }
  property calm : always forall p in Proc: not p.got or p.got
}
check one of Pair {
  n = 2
  prove calm
  scenario s {
    p1: sends
    p2 receives DATA from p1
  }
}
"""


def test_arguments_that_are_left_out_are_written_as_an_ellipsis(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "a.bcast"
    spec.write_text(STEPS, "utf-8")
    assert main(["check", str(spec), "-q"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "write `…` for omitted arguments: `p2 receives DATA … from p1`" in shown
    spec.write_text(STEPS.replace("DATA from", "DATA … from"), "utf-8")
    assert main(["check", str(spec), "-q"]) == 0
