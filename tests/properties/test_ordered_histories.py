"""A history of an oracle is kept in order where a property of its interface asks for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.session.pipeline import Options, run_check

ORDERED = """
interface Log {
  request broadcast(m: Msg)
  indication deliver(m: Msg)
  property at_most LIMIT
  property prefix : always forall p, q in Proc, i in (0..1):
    i < #delivered(p) and i < #delivered(q) => delivered(p)[i] == delivered(q)[i]
}
protocol P implements Log {
  uses log : Log
  message M(m: Msg)
  upon request broadcast(m) { log.broadcast(M(m)) }
  upon log.deliver(M(m)) { deliver(m) }
}
check c of P {
  n = 2
  given log as oracle
  clients { p1 broadcasts a  p2 broadcasts b }
  allow unused
  prove prefix, at_most
}
"""


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("limit", ["#delivered(p) <= 1", "#delivered(p) <= 2"])
def test_an_index_into_a_history_of_an_oracle(tmp_path: Path, engine: str, limit: str) -> None:
    path = tmp_path / "log.bcast"
    path.write_text(ORDERED.replace("LIMIT", f": always forall p in Proc: {limit}"))
    report = run_check(str(path), "c", Options(engine=engine, explain=None))
    assert {v.property: v.word.value for v in report.verdicts} == {
        "prefix": "holds",
        "at_most": "holds",
    }


def test_what_is_said_twice_counts_twice(tmp_path: Path) -> None:
    """Nothing keeps the oracle from saying it again, so two deliveries of one message are two."""
    text = ORDERED.replace("LIMIT", ": always forall p in Proc: #delivered(p) <= 2")
    once = "property once : always forall p in Proc: #delivered(p) <= 1\n  message M"
    text = text.replace("  p2 broadcasts b", "").replace("message M", once)
    text = text.replace("prove prefix, at_most", "expect once violated")
    path = tmp_path / "log.bcast"
    path.write_text(text)
    report = run_check(str(path), "c", Options(explain=None))
    (verdict,) = report.verdicts
    assert verdict.word.value == "violated"
