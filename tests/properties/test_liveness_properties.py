"""What happens in the end, on lassos, and what is owed in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.instantiate.tables import WAYS, Case, compare

TOGGLE = """
protocol P {
  state v = false
  state done = false
  upon condition true { v := not v }
  upon condition v when not done { done := true }
  property FORMULA
}
check c of P { n = SIZE  CRASH  prove asked }
"""


def toggle(formula: str, verdict: str, size: int = 1, crash: str = "") -> Case:
    text = TOGGLE.replace("FORMULA", f"asked: {formula}").replace("SIZE", str(size))
    return Case(f"{formula} {crash}", text.replace("CRASH", crash), f"asked {verdict}")


COUNTER = """
protocol P {
  state v : 0..3 = 0
  upon condition v < 3 { v += 1 }
  property asked: FORMULA
}
check c of P { n = SIZE  CRASH  prove asked }
"""


def counter(formula: str, verdict: str, size: int = 2, crash: str = "") -> Case:
    text = COUNTER.replace("FORMULA", formula).replace("SIZE", str(size))
    return Case(f"{formula} {crash}", text.replace("CRASH", crash), f"asked {verdict}")


CRASH = "faults crash <= 1"
PING = """
protocol P {
  role busy(1) {
    state waiting = false
    state got = false
    upon condition not waiting { waiting := true  send PING to self }
    upon receive PING { waiting := false }
    upon receive OTHER { got := true }
  }
  role quiet(1) {
    state sent = false
    upon condition not sent { sent := true  send OTHER to all busy }
  }
  message PING
  message OTHER
  property asked: eventually forall b in busy: b.got
}
check c of P { links LINKS  prove asked }
"""

HEARTBEAT = """
protocol P {
  state on = false
  state done = false
  state now_and_then = false
  upon init { send BEAT to self }
  upon receive BEAT { on := not on  send BEAT to self }
  upon condition not done { done := true }
  upon condition on and done when not now_and_then { now_and_then := true }
  message BEAT
  property in_the_end: forall p in Proc: eventually p.done
  property meanwhile: forall p in Proc: eventually p.now_and_then
}
check c of P { n = 1  prove in_the_end, meanwhile }
"""

CASES = [
    # What a process sends again and again takes it time, and is no excuse either.
    Case("heartbeats", HEARTBEAT, "in_the_end holds, meanwhile violated"),
    # A run may stay where it is only where nothing is owed.
    toggle("forall p in Proc: eventually p.v", "holds"),
    toggle("forall p in Proc: always eventually p.v", "holds"),
    toggle("forall p in Proc: eventually always p.v", "violated"),
    # The conditions of a process are one promise: it may always take the other one.
    toggle("forall p in Proc: eventually p.done", "violated"),
    toggle("forall p in Proc: p.v ~> not p.v", "holds"),
    toggle("forall p in Proc: p.v ~> p.done", "violated"),
    # Each process has its own.
    toggle("forall p in Proc: always eventually p.v", "holds", 2),
    toggle("always eventually (forall p in Proc: p.v)", "violated", 2),
    # Nothing is owed to one that has crashed.
    toggle("forall p in Proc: always eventually p.v", "violated", 2, CRASH),
    toggle("forall p in Proc: correct(p) => always eventually p.v", "holds", 2, CRASH),
    toggle("exists p in Proc: always eventually p.v", "holds", 2, CRASH),
    toggle("exists p in Proc: always eventually p.v", "holds", 2),
    toggle("not forall p in Proc: eventually p.done", "violated"),
    counter("forall p in Proc: eventually always p.v == 3", "holds"),
    counter("forall p in Proc: eventually always p.v == 3", "violated", 2, CRASH),
    counter("forall p in Proc: correct(p) => eventually always p.v == 3", "holds", 2, CRASH),
    counter("exists p in Proc: eventually always p.v == 3", "holds", 2, CRASH),
    counter("forall p in Proc: (p.v == 1 ~> p.v == 2) and (p.v == 2 ~> p.v == 3)", "holds"),
    counter("forall p in Proc: (p.v == 1 ~> p.v == 2) and (p.v == 2 ~> p.v == 1)", "violated"),
    counter("forall p in Proc: always (p.v == 2 => always p.v >= 2)", "holds"),
    counter("forall p in Proc: always (p.v == 2 => always p.v == 2)", "violated"),
    counter(
        "(always forall p in Proc: p.v < 4) and (forall p in Proc: eventually p.v == 3)", "holds"
    ),
    counter(
        "(always forall p in Proc: p.v < 3) and (forall p in Proc: eventually p.v == 3)", "violated"
    ),
    counter("forall p, q in Proc when p != q: eventually p.v + q.v == 6", "holds"),
    counter("forall p in Proc, k in (1..3): eventually p.v >= k", "holds"),
    counter("forall p in Proc: exists k in (0..3): eventually always p.v == k", "holds", 2, CRASH),
    counter(
        "exists k in (0..3): forall p in Proc: eventually always p.v == k", "violated", 2, CRASH
    ),
    # `correct` anywhere.
    counter("eventually always forall p in Proc: correct(p) => p.v == 3", "holds", 2, CRASH),
    counter(
        "eventually always #{p for p in Proc when correct(p) and p.v == 3} >= 1", "holds", 2, CRASH
    ),
    counter(
        "eventually always #{p for p in Proc when correct(p) and p.v == 3} >= 2",
        "violated",
        2,
        CRASH,
    ),
    counter("forall p in Proc: p.v == 1 ~> p.v == 3 or not correct(p)", "holds", 2, CRASH),
    # A receiver that is busy with other things again and again is no excuse for a link.
    Case("busy, perfect links", PING.replace("LINKS", "perfect"), "asked holds"),
    Case("busy, fifo links", PING.replace("LINKS", "fifo"), "asked holds"),
    Case("busy, lossy links", PING.replace("LINKS", "lossy"), "asked violated"),
    Case(
        "busy, sent once on fair-loss links", PING.replace("LINKS", "fair_loss"), "asked violated"
    ),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name[:70])
def test_in_the_end(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)
