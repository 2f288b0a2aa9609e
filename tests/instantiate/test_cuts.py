"""What a crash inside a handler leaves: what stands before it, and nothing else.

Each spec is worked out by hand from the page on the language, by every engine and step size.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.instantiate.tables import WAYS, Case, compare, run

ACKNOWLEDGES_FIRST = """
protocol P(ghost: Nat = 0) {{
  message PUT
  message ACK
  {shared}
  role client(1) {{
    state acked = false
    upon init {{ send PUT to server }}
    upon receive ACK {{ acked := true }}
  }}
  role server(1) {{
    stable state disk = false
    upon receive PUT from c {{
      send ACK to c
      disk := true
      {ghost}
    }}
  }}
  property durable : always forall c in client, s in server: c.acked => s.disk
}}
check c of P {{ faults crash <= 1, recover  {settings}  allow unused  prove durable }}
"""

LOGGED = """
protocol P {{
  message GO
  {kind} log : 0..1 = 0
  state commit : 0..1 = 0
  upon init {{ send GO to all }}
  upon receive GO when log == 0 {{ {body} }}
  property logged : always forall p in Proc: p.commit <= p.log
}}
check c of P {{ n = 2  faults {faults}  prove logged }}
"""


def _acknowledges(shared: str, ghost: str, settings: str = "") -> str:
    return ACKNOWLEDGES_FIRST.format(shared=shared, ghost=ghost, settings=settings)


def _logged(kind: str, body: str, faults: str) -> str:
    return LOGGED.format(kind=kind, body=body, faults=faults)


WRITES, MOVES = "log := 1  commit := 1", "commit := 1  log := 1"
COUNT = "shared state count : 0..3 = 0"

CASES = [
    Case("a stable write, then a volatile one", _logged("stable state", WRITES, "crash <= 1"),
         "logged holds"),
    Case("the same where processes come back",
         _logged("stable state", WRITES, "crash <= 1, recover"), "logged holds"),
    Case("a volatile write, then a stable one", _logged("stable state", MOVES, "crash <= 1"),
         "logged violated"),
    Case("no crash falls between two volatile writes", _logged("state", MOVES, "crash <= 1"),
         "logged holds"),
    Case("but one falls where a message is sent between them",
         _logged("state", "commit := 1  send GO to self  log := 1", "crash <= 1"),
         "logged violated"),
    Case("not where the message is sent before both",
         _logged("state", "send GO to self  commit := 1  log := 1", "crash <= 1"),
         "logged holds"),
    Case("what is in an atomic block is there together",
         _logged("stable state", "atomic { commit := 1  log := 1 }", "crash <= 1"),
         "logged holds"),
    Case("what stands behind an atomic block is not in it",
         _logged("stable state", "atomic { commit := 1  send GO to self }  log := 1", "crash <= 1"),
         "logged violated"),
    Case("acknowledged, then written", _acknowledges("", ""), "durable violated"),
    Case("a shared variable beside it hides nothing", _acknowledges(COUNT, "count := 1"),
         "durable violated"),
    Case("nor does one in dead code",
         _acknowledges(COUNT, "if ghost == 1 { count := 1 }", "ghost = 0"), "durable violated"),
    Case(
        "a write to shared state is an effect: a crash falls before it and after it",
        """
        protocol P {
          shared state before = false
          shared state after = false
          state go = true
          upon condition go { go := false  before := true  after := true }
          property both : always before => after
          property order : always after => before
        }
        check c of P { n = 1  faults crash <= 1  prove both, order }
        """,
        "both violated, order holds",
    ),
    Case(
        "two processes see a shared variable written at once",
        """
        protocol P {
          shared state count : 0..2 = 0
          state mine : 0..2 = 0
          upon condition mine == 0 { count := count + 1  mine := count }
          property apart : always forall p, q in Proc: p != q and p.mine > 0 => p.mine != q.mine
        }
        check c of P { n = 2  faults crash <= 1  prove apart }
        """,
        "apart holds",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_cuts(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)


@pytest.mark.parametrize("reduce", ["auto", "none"])
def test_a_crash_right_behind_an_assignment_is_one_step(reduce: str, tmp_path: Path) -> None:
    text = """
    protocol P {
      message A
      state told = false
      upon condition not told { told := true  send A to all }
      upon receive A { skip }
      property silent : always forall p in Proc: crashed(p) => not p.told
    }
    check c of P { n = 2  faults crash <= 1  prove silent  allow unused }
    """
    report = run(tmp_path, text, reduce=reduce)
    (verdict,) = report.verdicts
    assert verdict.trace is not None
    assert verdict.trace.steps[-1].number == 1
