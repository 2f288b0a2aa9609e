"""Processes that crash and come back: what they remember, what was done before, what is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.instantiate.network import losses
from tests.instantiate.tables import WAYS, Case, compare, run

JOBS = """
interface Jobs { request submit(m: Msg)  indication done(m: Msg) }
protocol P implements Jobs {
  stable state todo : set<Msg> = {}
  stable state log : set<Msg> = {}
  upon request submit(m) { todo += m }
  upon condition exists m in todo: m not in log { choose m in todo when m not in log  ACT }
}
check c of P {
  n = 1  faults crash <= 1, recover  clients { p1 submits a }
  prove at_most_once over processings, at_most_once over effects, at_least_once over effects
}
"""


def _job(name: str, act: str, processings: str, effects: str, arrives: str) -> Case:
    expected = (
        f"at_most_once over processings {processings},at_most_once over effects {effects},"
        f"at_least_once over effects {arrives}"
    )
    return Case(name, JOBS.replace("ACT", act), expected)


JOB_CASES = [
    _job("act, then log", "perform m  log += m", "violated", "violated", "holds"),
    _job("log, then act", "log += m  perform m", "holds", "holds", "violated"),
    _job("act and log together", "atomic { log += m  perform m }", "holds", "holds", "holds"),
    _job(
        "together the other way round", "atomic { perform m  log += m }", "holds", "holds", "holds"
    ),
    _job("idempotent, then log", "perform idempotent m  log += m", "violated", "holds", "holds"),
    _job(
        "plain and idempotent",
        "perform m  perform idempotent m  log += m",
        "violated",
        "violated",
        "holds",
    ),
    _job(
        "together, then again",
        "atomic { log += m  perform m }  perform m",
        "violated",
        "violated",
        "holds",
    ),
    _job("a yield between", "perform m  yield  log += m", "violated", "violated", "holds"),
    _job("a yield, then all", "yield  atomic { perform m  log += m }", "holds", "holds", "holds"),
]

CASES = [
    Case(
        "what was left open is chosen anew, what is stored stays",
        """
        protocol P {
          state v : 0..1 = 0
          init choose v
          stable state s : 0..1 = 0
          init choose s
          stable state first : option<(0..1, 0..1)> = none
          stable state again = false
          upon init { first := some((v, s)) }
          upon recover { again := true }
          property stored: always forall p in Proc, a, b in (0..1):
            p.first == some((a, b)) => p.s == b
          property kept: always forall p in Proc, a, b in (0..1):
            p.first == some((a, b)) => p.v == a
          property kept_until_then: always forall p in Proc, a, b in (0..1):
            p.first == some((a, b)) and not p.again => p.v == a or crashed(p)
        }
        check c of P {
          n = 1  faults crash <= 1, recover  prove stored, kept, kept_until_then
        }
        """,
        "stored holds, kept violated, kept_until_then holds",
    ),
    Case(
        "init chooses once, with what was chosen before",
        """
        protocol P {
          stable state s : 0..2 = 0
          init choose s
          state v : 0..2 = 0
          init choose v when v != s
          stable state again = false
          upon recover { again := true }
          property apart: always forall p in Proc: not crashed(p) => p.v != p.s
          property anew: always forall p in Proc: p.again and not crashed(p) => p.v != p.s
        }
        check c of P { n = 1  faults crash <= 1, recover  prove apart, anew }
        """,
        "apart holds, anew holds",
    ),
    Case(
        "a crash right behind what is done together",
        """
        protocol P(a: Proc) implements Out {
          stable state s = false
          upon request go(m) { atomic { s := true }  note(1) }
          upon recover { if s { note(2) } }
          property told: always 2 in noted(a) => 1 in noted(a)
        }
        check c of P { n = 1  a = p1  faults crash <= 1, recover  clients { p1 go a }  prove told }
        """,
        "told violated",
    ),
    Case(
        "volatile state is gone, stable state is kept",
        """
        protocol P implements Out {
          state v = false
          stable state s = false
          upon condition not s { v := true  s := true }
          upon recover { if s and not v { note(1) }  if v { note(2) }  if not s { note(3) } }
          property kept: always forall p in Proc: 1 not in noted(p)
          property memory: always forall p in Proc: 2 not in noted(p)
          property early: always forall p in Proc: 3 not in noted(p)
        }
        check c of P { n = 1  faults crash <= 1, recover  prove kept, memory, early }
        """,
        "kept violated, memory holds, early violated",
    ),
    Case(
        "initial values come back, and what was written before the crash",
        """
        protocol P implements Out {
          state v : 0..9 = 5
          stable state s : 0..9 = 5
          upon condition s == 5 { v := 6  note(0)  s := 7  note(1)  s := 8  note(2) }
          upon recover { note(v)  note(s) }
          property five: always forall p in Proc: 6 not in noted(p)
          property seven: always forall p in Proc: 7 not in noted(p)
          property eight: always forall p in Proc: 8 in noted(p) => 1 in noted(p)
          property fives: always forall p in Proc: 5 in noted(p) => 0 in noted(p)
        }
        check c of P {
          n = 1  faults crash <= 1, recover  prove five, seven, eight, fives  allow unused
        }
        """,
        "five holds, seven violated, eight holds, fives violated",
    ),
    Case(
        "a write is there when what follows it is",
        """
        protocol P implements Out {
          stable state s = false
          upon condition not s { s := true  note(1) }
          upon recover { if not s and 1 == 1 { note(2) } }
          property in_order: always forall p in Proc: not (1 in noted(p) and 2 in noted(p) and
            noted(p)[0] == 1)
        }
        check c of P { n = 1  faults crash <= 1, recover  prove in_order }
        """,
        "in_order holds",
    ),
    Case(
        "a write in the midst of two sends",
        """
        interface Notes { indication note(k: 0..9) }
        protocol P(a: Proc, b: Proc) implements Notes {
          message A  message B
          stable state s = false
          upon condition not s at a { send A to b  s := true  send B to b }
          upon receive A { note(1) }
          upon receive B { note(2) }
          property once: always forall p in Proc: not repeated(p, 1)
          property never_b: always forall p in Proc: not repeated(p, 2)
          property b_after: forall p in Proc: 1 in noted(p) ~> 2 in noted(p)
        }
        check c of P {
          n = 2  a = p1  b = p2  faults crash <= 1, recover  prove once, never_b, b_after
        }
        """,
        # A is sent and not noted down, so sent again; B can be lost, its sender being down
        "once violated, never_b holds, b_after violated",
    ),
    Case(
        "init is not run again; a request that a crash cut off at once is still to be made",
        """
        interface Asked { request ask(m: Msg)  indication note(k: 0..9) }
        protocol P implements Asked {
          stable state asked = false
          upon init { note(0) }
          upon request ask(m) { note(1)  asked := true }
          upon recover { note(2) }
          property init_once: always forall p in Proc: not repeated(p, 0)
          property asked_once: always forall p in Proc: not repeated(p, 1)
          property asked_at_all: forall p in Proc: correct(p) ~> 1 in noted(p)
        }
        check c of P {
          n = 1  faults crash <= 1, recover  clients { p1 asks a }
          prove init_once, asked_once, asked_at_all
        }
        """,
        "init_once holds, asked_once holds, asked_at_all holds",
    ),
    Case(
        "crashes are counted, not processes",
        """
        protocol P implements Out {
          stable state ups : 0..3 = 0
          upon recover { ups += 1  note(ups) }
          property twice: always forall p in Proc: p.ups < 2
          property thrice: always forall p in Proc: p.ups < 3
          property down: always forall p in Proc: crashed(p) => p.ups < 2
          property up: always forall p in Proc: p.ups == 0 or not crashed(p)
        }
        check c of P { n = 2  faults crash <= 2, recover  prove twice, thrice, down, up }
        """,
        "twice violated, thrice holds, down holds, up violated",
    ),
    Case(
        "the handler of a recovery is cut as well",
        """
        protocol P implements Out {
          stable state s = 0..2
          upon recover { note(1)  note(2) }
          property both: always forall p in Proc: 1 in noted(p) => 2 in noted(p)
        }
        check one of P { n = 1  faults crash <= 1, recover  prove both }
        """.replace("          stable state s = 0..2\n", ""),
        "both holds",
    ),
    Case(
        "the handler of a recovery is cut by a second crash",
        """
        protocol P implements Out {
          upon recover { note(1)  note(2) }
          property both: always forall p in Proc: 1 in noted(p) => 2 in noted(p)
        }
        check two of P { n = 1  faults crash <= 2, recover  prove both }
        """,
        "both violated",
    ),
    Case(
        "what is received is forgotten, and what is under way can get lost while an end is down",
        """
        protocol P(a: Proc, b: Proc) implements Out {
          message A
          upon init at a { send A to b }
          upon condition #received(A) == 1 at b { note(1) }
          upon receive A { note(2) }
          property arrives: correct(b) ~> 2 in noted(b)
          property arrives_up: forall p in Proc: correct(b) and correct(a) ~> 2 in noted(b)
        }
        check c of P {
          n = 2  a = p1  b = p2  faults crash <= 1, recover  prove arrives, arrives_up
        }
        """,
        "arrives violated, arrives_up violated",
    ),
    Case(
        "a stubborn link sends again what its receiver has missed",
        """
        protocol P(a: Proc, b: Proc) implements Out {
          message A
          state back = false
          upon init at a { send A to b }
          upon receive A { note(2) }
          upon recover { back := true }
          property arrives: correct(b) ~> 2 in noted(b) or a.back or crashed(a)
        }
        check c of P {
          n = 2  a = p1  b = p2  links stubborn  faults crash <= 1, recover  prove arrives
        }
        """,
        "arrives holds",
    ),
    Case(
        "fifo: one of two messages is cut off, and a third comes after the return",
        """
        interface Notes { indication note(k: 0..9) }
        protocol P(a: Proc, b: Proc) implements Notes {
          message A(k: 0..9)
          stable state s = false
          upon condition not s at a { s := true  send A(1) to b  send A(2) to b }
          upon recover { if s and self == a { send A(3) to b } }
          upon receive A(k) { note(k) }
          property gap: always 3 in noted(b) and 1 in noted(b) => 2 in noted(b)
          property first: always 3 in noted(b) => 1 in noted(b)
          property order: always 3 in noted(b) and 2 in noted(b) => before(b, 2, 3)
        }
        check c of P {
          n = 2  a = p1  b = p2  links fifo  faults crash <= 1, recover  prove gap, first, order
        }
        """,
        "gap violated, first violated, order holds",
    ),
    Case(
        "without recovery a property sees what was written before the crash",
        """
        protocol P implements Out {
          stable state s = false
          state v = false
          upon condition not v { v := true  note(1)  s := true }
          property written: always forall p in Proc: 1 in noted(p) => p.s
          property known: always forall p in Proc: 1 in noted(p) => p.v
        }
        check c of P { n = 1  faults crash <= 1  prove written, known }
        """,
        "written violated, known holds",
    ),
    Case(
        "two roles with stable state",
        """
        protocol P implements Out {
          role server(1) {
            stable state s = false
            upon receive A { note(1)  s := true }
          }
          role client(1) {
            stable state t = false
            upon condition not t { t := true  send A to server }
            upon recover { if t { note(2) }  if not t { note(3) } }
          }
          message A
          property written: always forall p in server: 1 in noted(p) => p.s
          property kept: always forall p in client: not (2 in noted(p) and 3 in noted(p))
        }
        check c of P { faults crash <= 1, recover  prove written, kept }
        """,
        "written violated, kept holds",
    ),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_recovery(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", JOB_CASES, ids=lambda c: c.name)
def test_acts(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)


KEPT = """
protocol P(asks: Proc, told: Proc) {
  message ASK(k: 0..1)
  message TOLD(k: 0..1)
  stable state best : 0..1 = 0
  state heard : set<0..1> = {}
  upon condition self == asks { choose k in (0..1)  send ASK(k) to told }
  upon receive ASK(k) from p { best := max({best, k})  send TOLD(best) to p }
  upon receive TOLD(k) { heard += k }
  property shrinks : always forall p in Proc: p.heard == {} or 1 in p.heard
  property falls : always forall p in Proc: 1 not in p.heard or 0 not in p.heard
  property known : always forall p, q in Proc: 1 in p.heard => exists r in Proc: r.best == 1
  property arrives : forall p in Proc: eventually 0 in p.heard
}
check c of P {
  n = 2  asks = p1  told = p2  faults crash <= 1, recover  links persistent
  prove known  expect shrinks violated  expect falls violated  expect arrives violated
}
"""


@pytest.mark.parametrize("fine", [False, True])
def test_what_need_not_arrive_need_not_be_lost(
    fine: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On persistent links verdicts and the lengths of shortest runs are the same without losses."""
    found = []
    for lost in (False, True):
        if lost:
            monkeypatch.setattr(losses, "need_not_arrive", lambda link: False)
        found.append(run(tmp_path, KEPT, fine=fine, reduce="none"))
    without, with_losses = found
    assert [v.word for v in without.verdicts] == [v.word for v in with_losses.verdicts]
    for one, other in zip(without.verdicts, with_losses.verdicts, strict=True):
        if one.trace is not None and other.trace is not None and one.trace.loop is None:
            assert len(one.trace.steps) == len(other.trace.steps)
    assert 2 * without.distinct_states < with_losses.distinct_states


UNMADE = """
interface Going { request go() indication went() }
protocol Notes implements Going {
  state heard = false
  stable state noted = false
  upon request go() { heard := true  noted := true  went() }
  property with_note : always forall p in Proc: p.heard => p.noted
}
check c of Notes { n = 1  FAULTS  clients { p1 goes }  prove with_note }
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("faults", ["", ", recover"])
def test_of_a_request_that_was_not_made_nothing_is_seen(
    tmp_path: Path, faults: str, engine: str, fine: bool
) -> None:
    """A cut before the first effect is a crash before the handler, with recovery and without it."""
    text = UNMADE.replace("FAULTS", f"faults crash <= 1{faults}")
    compare(tmp_path, Case("", text, "with_note holds"), engine, fine)
