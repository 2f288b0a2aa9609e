"""A search that a limit ended says what multiplies the states, and what would make them fewer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli.main import main

SETS = """
protocol Sets {
  state held : set<0..9> = {}
  upon condition true { choose k in (0..9) held += k }
  property few : always forall p in Proc: #p.held <= 10
}
check c of Sets { n = 3  CLAUSES  prove few }
"""
NUMBERS = """
protocol Numbers {
  state top : Nat = 0
  upon condition top < 99 { top += 1 }
  property few : always forall p in Proc: p.top <= 99
}
check c of Numbers { n = 3  CLAUSES  prove few }
"""
MESSAGES = """
interface Store {
  request put(m: Msg)
}
protocol Copies implements Store {
  message COPY(m: Msg, k: 0..3)
  state got : set<0..3> = {}
  upon request put(m) { for k in (0..3) { send COPY(m, k) to all } }
  upon receive COPY(_, k) { got += k }
  property few : always forall p in Proc: #p.got <= 4
}
check c of Copies { n = 3  CLAUSES  prove few }
"""


def checked(folder: Path, text: str, clauses: str, *words: str) -> int:
    path = folder / "a.bcast"
    path.write_text(text.replace("CLAUSES", clauses), "utf-8")
    return main(["check", str(path), *words])


@pytest.mark.parametrize(
    ("text", "clauses", "advice", "taken"),
    [
        (
            SETS,
            "",
            "smaller  `bound #p.held <= k` limits `held`\n",
            "bound #p.held <= 1  expect few holds within",
        ),
        (
            NUMBERS,
            "",
            "smaller  `bound p.top <= k` limits `top`\n",
            "bound p.top <= 4  expect few holds within",
        ),
        (
            MESSAGES,
            "clients { p1 puts a  p1 puts b }",
            "smaller  fewer requests in `clients` put fewer messages in flight; `in flight` has ",
            "clients { p1 puts a }",
        ),
    ],
    ids=["a set", "a number", "messages"],
)
def test_advice_is_given_and_helps(
    text: str,
    clauses: str,
    advice: str,
    taken: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, limit = tmp_path / "report.json", ("--max-states", "30000")
    words = [*limit, "--reduce", "none", "--json", str(out)]
    assert checked(tmp_path, text, clauses, *words) == 3
    said = capsys.readouterr().out
    assert " ".join(advice.split()) in " ".join(said.split())
    (report,) = json.loads(out.read_text())["reports"]
    assert f"smaller {report['smaller'][0]}" in " ".join(said.split())
    assert checked(tmp_path, text, taken, *words) == 0
    said = capsys.readouterr().out
    assert "smaller  " not in said
