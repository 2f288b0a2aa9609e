"""Definitions and locals that change, of sequences and records: entries are assigned one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.instantiate.tables import WAYS, run, words

LOG = """
type Entry = record { term: 0..3, cmd: 0..3 }
define last_term(q: seq<Entry>): 0..3 = if #q == 0 then 0 else last(q).term
protocol P {
  state log : seq<Entry, max 3> = []
  state out : seq<0..3, max 3> = []
  state t : 0..3 = 0
  upon condition #log < 2 {
    var y = log
    y := y + record(term = 1, cmd = 0)
    y[0].term := 2
    y[#y - 1].cmd := 3
    log := y
    var z = [e.term for e in log]
    z[0] := 1
    out := z
    t := last_term(log)
  }
  property a "set" : always forall p in Proc: #p.log > 0 => (p.log[0].term == 2 and p.out[0] == 1)
  property b "low" : always forall p in Proc: p.t <= 1
}
check c of P { n = 1  prove a  expect b violated }
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
def test_entries_of_a_local(engine: str, fine: bool, tmp_path: Path) -> None:
    report = run(tmp_path, LOG, engine, fine)
    assert words(report) == {"a": "holds", "b": "violated"}
    assert report.distinct_states == 3  # no entry, one, two
