"""Effects that are steps of their own show no more, and hide no more, than handlers of one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.instantiate.tables import WAYS, Case, compare

BESIDE = """
protocol P(worker: Proc, other: Proc) {
  message A
  state x : 0..2 = 0
  KIND told = false
  upon condition x < 2 at other { x := x + 1 }
  upon condition not told at worker { told := true  perform 1  send A to all  perform 2 }
  property asked : FORMULA
}
check c of P { n = 2  worker = p1  other = p2  FAULTS  prove asked }
"""
"""A process with several effects beside one that passes through a value."""

CRASH, RECOVER = "faults crash <= 1", "faults crash <= 1, recover"


def beside(formula: str, verdict: str, faults: str = "", kind: str = "state") -> Case:
    text = BESIDE.replace("FORMULA", formula).replace("FAULTS", faults).replace("KIND", kind)
    return Case(f"{formula} {faults}", text, f"asked {verdict}")


ONE = "not exists p in Proc: (always p.x != 1) and eventually p.x == 2"
ANY = (
    "not ((always forall p in Proc: p.x != 1) and "
    "(eventually exists p in Proc: p.x == 2) and eventually 2 in performed)"
)
TWO = (
    "not exists p, q in Proc: (always not (p.x == 1 and q.told)) and "
    "(always not (p.x == 1 and not q.told)) and eventually (p.x == 2 and q.told)"
)
SHOWN = (
    "not exists p in Proc: (always (p.x != 1 or 1 in performed)) and "
    "(always (p.x != 1 or 2 not in performed)) and eventually (p.x == 2 and 2 in performed)"
)
BOTH = "(eventually 1 in performed) => eventually 2 in performed"

CASES = [
    *(beside(f, "holds") for f in (ONE, TWO, ANY, SHOWN, BOTH)),
    *(beside(f, "holds", faults) for f in (ONE, TWO, ANY) for faults in (CRASH, RECOVER)),
    beside(SHOWN, "holds", CRASH),
    beside(SHOWN, "violated", RECOVER),  # who was cut between the acts performs both another time
    *(beside(f, "holds", RECOVER, "stable state") for f in (ONE, TWO, ANY, SHOWN)),
    beside("not exists p in Proc: eventually p.x == 1", "violated"),
    beside("always #performed != 1", "holds"),
    beside("always #performed != 1", "violated", CRASH),
    beside(BOTH, "violated", CRASH),
    beside("always forall p in Proc: p.told => 1 in performed", "holds"),
    beside("always forall p in Proc: p.told => 1 in performed", "violated", CRASH),
    beside("always forall p in Proc: p.told and not crashed(p) => 2 in performed", "holds", CRASH),
    Case(
        "what a process does between two handlers of its own",
        """
        protocol P {
          state x : 0..3 = 0
          upon condition x < 3 { x := x + 1  perform x  perform 0 }
          property asked : not exists p in Proc: (always p.x != 2) and eventually 3 in performed
        }
        check c of P { n = 1  FAULTS  prove asked }
        """.replace("FAULTS", ""),
        "asked holds",
    ),
    Case(
        "the acts of one handler come in one piece",
        """
        protocol P(a: Proc, b: Proc) {
          state done = false
          upon condition not done at a { done := true  perform 1  perform 2 }
          upon condition not done at b { done := true  perform 3 }
          property apart : always not (#performed == 3 and performed[1] == 3)
          property last : always not (#performed == 3 and performed[2] == 3)
        }
        check c of P { n = 2  a = p1  b = p2  prove apart, last }
        """,
        "apart holds, last violated",
    ),
    Case(
        "a client's request, and what is delivered in the midst of what handles it",
        """
        protocol P implements ReliableBroadcast {
          message DATA(m: Msg)
          state x : 0..2 = 0
          upon request broadcast(m) { send DATA(m) to all  deliver(self, m)  perform 1 }
          upon receive DATA(m) from p { if x < 2 { x := x + 1 } }
          upon condition x == 1 { x := 2 }
          property asked : not exists p, q in Proc, m in Msg: (always p.x != 1) and
            (eventually p.x == 2) and eventually (q, m) in delivered(q)
          property order : always forall p, q in Proc: p.x > 0 => exists m in Msg:
            (q, m) in delivered(q)
        }
        check c of P { n = 1  clients { p1 broadcasts a }  prove asked, order }
        """,
        "asked holds, order holds",
    ),
    Case(
        "nothing comes before what is done at the start",
        """
        protocol P {
          state told = false
          upon init { told := true  perform 1 }
          property always_told : always forall p in Proc: p.told
          property performs : forall p in Proc: correct(p) => eventually 1 in performed
          property at_once : always 1 in performed
        }
        check c of P { n = 1  faults crash <= 1  prove always_told, performs, at_once }
        """,
        "always_told holds, performs holds, at_once violated",
    ),
    Case(
        "who acts again and again excuses nobody from what is owed",
        """
        protocol P(busy: Proc, other: Proc) {
          state x = false
          state done = false
          upon condition true at busy { x := not x  perform idempotent 1 }
          upon condition not done at other { done := true }
          property asked : eventually exists p in Proc: p.done and 1 in performed
        }
        check c of P { n = 2  busy = p1  other = p2  prove asked }
        """,
        "asked holds",
    ),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name[:70])
def test_the_same_is_seen(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)


BURST = """
protocol P(from_: Proc, to_: Proc) {
  message M
  state sent = false
  state got : 0..2 = 0
  upon condition not sent at from_ { sent := true  send M to to_  send M to to_ }
  upon receive M { got := got + 1 }
  property once : always forall p in Proc: p.got < 2
}
check c of P { n = 2  from_ = p1  to_ = p2  links LINKS  FAULTS  prove once }
"""
"""Two copies of a message over a link that holds one."""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("faults", ["", CRASH])
@pytest.mark.parametrize(
    ("links", "verdict"),
    [
        ("lossy, bounded 1", "holds"),
        ("fair_loss, bounded 1", "holds"),
        ("lossy, fifo, bounded 1", "holds"),
        ("lossy, bounded 2", "violated"),
        ("bounded 1", "error"),
        ("bounded 2", "violated"),
    ],
)
def test_the_second_copy_meets_the_first(
    links: str, verdict: str, faults: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    """A handler is one step, so no copy has been received before all of them are sent."""
    text = BURST.replace("LINKS", links).replace("FAULTS", faults)
    compare(tmp_path, Case(links, text, f"once {verdict}"), engine, fine)
