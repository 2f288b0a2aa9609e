"""Calls between layers are function calls: what they do stands where the call stands.

Each spec is worked out by hand from the page on the language.  Where a protocol is written twice,
once over a layer and once with the layer's body in its place, both must get the same verdicts.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.instantiate.tables import WAYS, Case, compare, run, words

LINKS = """
interface Net { request put(m: Msg)  indication got(p: Proc, m: Msg) }
protocol Plain implements Net {
  message COPY(m: Msg)
  upon request put(m) { send COPY(m) to all }
  upon receive COPY(m) from p { got(p, m) }
}
"""

MIRROR = """
interface Low { request put(m: Msg)  indication got(m: Msg) }
protocol Mirror implements Low { upon request put(m) { got(m) } }
"""

CASES = [
    Case(
        "what a layer sends is sent before what the caller sends next",
        LINKS
        + """
        protocol P implements Out {
          uses net : Net
          message D  message X
          state d = false
          upon init { net.put(D)  send X to all }
          upon net.got(p, D) { d := true }
          upon receive X { note(if d then 1 else 0) }
          property first : always forall p in Proc: 0 not in noted(p)
          property there : always forall p in Proc: 1 not in noted(p)
        }
        check c of P { n = 2  links fifo  given net as Plain  prove first, there }
        """,
        "first holds, there violated",
    ),
    Case(
        "a handler that is entered again while it runs is complete before the outer one goes on",
        MIRROR
        + """
        protocol P implements Out {
          uses low : Low
          message A(k: 0..9)
          state k : 0..9 = 3
          upon condition k == 3 { k := 2  low.put(A(2))  note(k) }
          upon low.got(A(x)) {
            let mine = k
            if x > 0 { k := k - 1  low.put(A(x - 1)) }
            note(5 + mine)
          }
          property order : always forall p in Proc: #noted(p) > 0 => noted(p) == [5, 6, 7, 0]
        }
        check c of P { n = 1  prove order }
        """,
        "order holds",
        2,
    ),
    Case(
        "calls that form a cycle are a run-time error",
        MIRROR
        + """
        protocol P implements Out {
          uses low : Low
          message A
          state go = true
          upon condition go { go := false  low.put(A) }
          upon low.got(A) { low.put(A) }
          property p : always forall p in Proc: noted(p) == []
        }
        check c of P { n = 1  prove p }
        """,
        "p error",
    ),
    Case(
        "a request that no handler of the layer takes is gone, and its caller goes on",
        """
        interface Low { request put(m: Msg)  indication got(m: Msg) }
        protocol Shy implements Low {
          state open = false
          upon request put(m) when open { got(m) }
          upon condition not open { open := true }
        }
        protocol P implements Out {
          uses low : Low
          message A
          state go = true
          upon condition go { go := false  low.put(A)  note(1) }
          upon low.got(A) { note(2) }
          property on : forall p in Proc: eventually 1 in noted(p)
          property gone : forall p in Proc: eventually 2 in noted(p)
          property early : always forall p in Proc: #noted(p) == 2 => noted(p) == [2, 1]
        }
        check c of P { n = 1  given low as Shy  prove on, gone, early }
        """,
        "on holds, gone violated, early holds",
    ),
    Case(
        "layers begin from the bottom of the stack up",
        """
        interface Low { request put(m: Msg)  indication got(m: Msg) }
        protocol Counts implements Low {
          state epoch : 0..2 = 0
          upon init { epoch := 1 }
          upon recover { epoch := 2 }
          upon request put(m) { if epoch > 0 { got(m) } }
        }
        protocol P implements Out {
          uses low : Low
          message A
          stable state started = false
          upon init { low.put(A) }
          upon recover { low.put(A) }
          upon low.got(A) { started := true  note(1) }
          property begins : always forall p in Proc: not crashed(p) => p.started
        }
        check c of P { n = 1  faults crash <= 1, recover  given low as Counts  prove begins }
        """,
        "begins holds",
    ),
    Case(
        "what is called in an atomic block belongs to it",
        LINKS
        + """
        protocol P implements Out {
          uses net : Net
          message D
          stable state log = false
          state go = true
          upon condition go and not log { go := false  atomic { net.put(D)  log := true } }
          upon net.got(p, D) { note(1) }
          property sent_once : always forall p in Proc: #noted(p) <= 1
        }
        check c of P { n = 1  faults crash <= 1, recover  given net as Plain  prove sent_once }
        """,
        "sent_once holds",
    ),
    Case(
        "without the atomic block it is sent twice",
        LINKS
        + """
        protocol P implements Out {
          uses net : Net
          message D
          stable state log = false
          state go = true
          upon condition go and not log { go := false  net.put(D)  log := true }
          upon net.got(p, D) { note(1) }
          property sent_once : always forall p in Proc: #noted(p) <= 1
        }
        check c of P { n = 1  faults crash <= 1, recover  given net as Plain  prove sent_once }
        """,
        "sent_once violated",
    ),
    Case(
        "who has called what yields goes on when that has come to its end",
        """
        interface Low { request put(m: Msg)  indication got(m: Msg) }
        protocol Slow implements Low {
          state k : 0..3 = 0
          upon request put(m) { k := 1  yield  k := 2  yield  got(m) }
        }
        protocol P implements Out {
          uses low : Low
          message A(x: 0..9)
          state go = true
          upon condition go { go := false  let x = 7  low.put(A(3))  note(x)  yield  note(8) }
          upon low.got(A(x)) { note(x) }
          property order : always forall p in Proc: noted(p) in
            { [], [3], [3, 7], [3, 7, 8] }
          property ends : forall p in Proc: eventually noted(p) == [3, 7, 8]
        }
        check c of P { n = 1  given low as Slow  prove order, ends }
        """,
        "order holds, ends holds",
    ),
    Case(
        "an oracle may speak before the statement behind the request",
        """
        protocol P implements Out {
          uses beb : BestEffortBroadcast
          message D
          state told = false
          upon init at p { beb.broadcast(D)  told := true }
          upon beb.deliver(q, D) { note(if told then 1 else 0) }
          property early : always forall q in Proc: 0 not in noted(q)
        }
        """.replace("protocol P implements", "protocol P(p: Proc) implements")
        + "check c of P { n = 1  given beb as oracle  prove early }",
        "early violated",
    ),
    Case(
        "an oracle says nothing to a process that crashed before it asked",
        """
        protocol P(p: Proc) implements Out {
          uses beb : BestEffortBroadcast
          message D
          state done = false
          upon condition not done at p { done := true  note(1)  beb.broadcast(D)  note(2) }
          upon beb.deliver(q, D) { note(3) }
          property asked : always forall q in Proc: 3 in noted(q) => 1 in noted(q)
          property later : always forall q in Proc: 3 in noted(q) => 2 in noted(q)
        }
        check c of P { n = 1  faults crash <= 1  given beb as oracle  prove asked, later }
        """,
        "asked holds, later violated",
    ),
    Case(
        "a handler takes no message of another kind, be it known before anything runs",
        MIRROR
        + """
        protocol P implements Out {
          uses low : Low
          message A(k: 0..9)  message B
          state done = false
          upon condition not done { done := true  low.put(B)  low.put(A(1)) }
          upon low.got(A(k)) when k > 0 { note(k) }
          property taken : forall p in Proc: eventually 1 in noted(p)
          property alone : always forall p in Proc, k in noted(p): k == 1
        }
        check c of P { n = 1  given low as Mirror  prove taken, alone }
        """,
        "taken holds, alone holds",
    ),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_calls(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)


TWINS = """
protocol P implements Out {
  USES
  message D(m: Msg)
  stable state todo : set<Msg> = {}
  stable state log : set<Msg> = {}
  upon request go(m) { todo += m }
  upon condition todo minus log != {} {
    choose m in todo minus log
    FIRST
    SECOND
  }
  upon ARRIVAL { deliver(p, m) }
  property once : always forall p, q in Proc, m in Msg: not repeated(delivered(p), (q, m))
}
check c of P { n = 2  faults crash <= 1, recover  clients { p1 go a }  prove once }
"""


def _twin(layered: bool, send_first: bool) -> str:
    call = "net.put(D(m))" if layered else "send D(m) to all"
    first, second = (call, "log += m") if send_first else ("log += m", call)
    text = TWINS.replace("USES", "uses net : Net" if layered else "")
    arrival = "net.got(p, D(m))" if layered else "receive D(m) from p"
    text = text.replace("FIRST", first).replace("SECOND", second).replace("ARRIVAL", arrival)
    if layered:
        text = LINKS + text.replace("clients", "given net as Plain  clients")
    return text


@pytest.mark.parametrize("send_first", [True, False], ids=["sends first", "logs first"])
def test_a_layer_can_not_be_told_from_its_body(send_first: bool, tmp_path: Path) -> None:
    direct = words(run(tmp_path, _twin(False, send_first)))
    layered = words(run(tmp_path, _twin(True, send_first)))
    assert direct == layered
    assert direct["once"] == ("violated" if send_first else "holds")
