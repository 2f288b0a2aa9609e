"""Handlers, calls between layers, what was received, capacities and run-time errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from tests.instantiate.tables import WAYS, Case, compare, run

LOWER = """
interface Low { request put(m: Msg)  indication got(m: Msg) }
protocol Lower implements Low { upon request put(m) { got(m) } }
"""


def _counting(body: str, expected: str) -> Case:
    """One process, one variable ``v``, one condition; ``body`` is the rest."""
    text = f"protocol P {{ {body} }} check c of P {{ n = 1  prove x }}"
    return Case(body, text, f"x {expected}")


CASES = [
    Case(
        "a call runs at its place, with the arguments and the state of that moment",
        LOWER
        + """
        protocol P implements Out {
          uses low : Low
          message A(k: 0..9)
          state k : 0..9 = 0
          upon condition k == 0 {
            k := 1  low.put(A(k))  note(1)  k := 2  low.put(A(k))  note(2)  k := 5
          }
          upon low.got(A(x)) { note(2 + x + k) }
          property order: always forall p in Proc: #noted(p) > 0 => noted(p) == [4, 1, 6, 2]
        }
        check c of P { n = 1  prove order }
        """,
        "order holds",
        2,
    ),
    Case(
        "calls of two layers run where they stand",
        LOWER
        + """
        protocol P implements Out {
          uses x : Low
          uses y : Low
          message A
          state go = true
          upon condition go { go := false  x.put(A)  y.put(A)  x.put(A)  note(0) }
          upon x.got(A) { note(1) }
          upon y.got(A) { note(2) }
          property order: always forall p in Proc: #noted(p) > 0 => noted(p) == [1, 2, 1, 0]
        }
        check c of P { n = 1  prove order }
        """,
        "order holds",
        2,
    ),
    Case(
        "several handlers match: any one of them; none matches: the message is gone",
        """
        protocol P(a: Proc, b: Proc) {
          message A(k: 0..3)
          state v : 0..9 = 0
          upon init at a { send A(2) to b  send A(0) to b }
          upon receive A(k) when k > 1 { v := k }
          upon receive A(2) from p when p == a { v := 4 }
          property not_two: always b.v != 2
          property not_four: always b.v != 4
          property taken: b.v == 0 ~> b.v > 0
        }
        check c of P { n = 2  a = p1  b = p2  prove not_two, not_four, taken }
        """,
        # both under way, then A(0) gone or not and v 0, 2 or 4
        "not_two violated, not_four violated, taken holds",
        6,
    ),
    Case(
        "received counts senders, not messages, and the message in hand",
        """
        protocol P(b: Proc) implements Out {
          message A(k: 0..2, l: 0..2)
          upon init when self != b { send A(0, 0) to b  send A(0, 0) to b  send A(1, 2) to b }
          upon receive A(x, y) {
            if #received(A(x, y)) == 1 { note(x) }
            if #received(A(0, _)) > 2 { note(7) }
            if #received(A(x, x)) > 0 { note(4) }
          }
          upon condition #received(A(k, k)) == 2 { note(5 + k) }
          upon condition #received(A(1, k)) == 2 { note(6 + k) }
          property n0: always 0 not in noted(b)
          property n4: always 4 not in noted(b)
          property n5: always 5 not in noted(b)
          property n6: always 6 not in noted(b)
          property n7: always 7 not in noted(b)
          property n8: always 8 not in noted(b)
        }
        check c of P { n = 3  b = p3  prove n0, n4, n5, n6, n7, n8 }
        """,
        "n0 violated, n4 violated, n5 violated, n6 holds, n7 holds, n8 violated",
    ),
    Case(
        "a name in received is any number that was sent, however large",
        """
        protocol P implements Out {
          message A(k: Nat)
          state go = true
          upon condition go { go := false  send A(9) to self }
          upon receive A(_) { skip }
          upon condition #received(A(k)) > 0 when k > 5 { note(k) }
          property small: always forall p in Proc: 9 not in noted(p)
        }
        check c of P { n = 1  prove small }
        """,
        # fresh, under way, received, noted
        "small violated",
        4,
    ),
    Case(
        "sequences of different lengths are joined",
        """
        protocol P {
          state q : seq<0..3, max 3> = [1]
          state r : seq<0..3, max 2> = [2]
          state t : seq<0..3, max 5> = []
          upon condition #t == 0 { let z = q + 3  t := z ++ r }
          property joined: always forall p in Proc: #p.t > 0 => p.t == [1, 3, 2]
        }
        check c of P { n = 1  prove joined }
        """,
        "joined holds",
        2,
    ),
    Case(
        "a set takes what another set and a comprehension give, or says that it can't",
        """
        protocol P {
          state s : set<Nat> = {}
          state t : set<Nat> = {}
          upon condition #s == 0 { s := s union {5, 9}  t := {x + 5 for x in (0..3)} }
          property nine: always forall p in Proc: 9 not in p.s
          property eight: always forall p in Proc: 8 not in p.t
        }
        check c of P { n = 1  prove nine, eight }
        """,
        "nine violated, eight violated",
        2,
    ),
    _counting(
        "state v : set<0..3> = {}  state w : set<0..9> = {9}  upon condition #v == 0 { v := w }"
        " property x: always forall p in Proc: 9 not in p.v",
        "error",
    ),
    Case(
        "a client's requests wait for each other",
        """
        protocol P implements Out {
          state gate : 0..2 = 0
          upon request go(m) when gate < 2 and gate > 0 { gate += 1  deliver(self, m) }
          upon condition gate == 0 { gate := 1 }
          property one: always forall p in Proc: #delivered(p) <= 1
          property two: forall p in Proc: correct(p) ~> #delivered(p) == 2
        }
        check c of P { n = 1  clients { all go a, b }  prove one, two }
        """,
        "one holds, two violated",
        3,
    ),
    _counting(
        "state v = 0  upon condition v < 40 { v += 1 }"
        " property x: always forall p in Proc: p.v < 40",
        "violated",
    ),
    _counting(
        "state v = 0  upon condition v < 40 { v += 1 }"
        " property x: always forall p in Proc: p.v < 41",
        "holds",
    ),
    _counting(
        "state v : 0..3 = 0  upon condition true { v += 1 }"
        " property x: always forall p in Proc: p.v < 9",
        "error",
    ),
    _counting(
        "state v : seq<bool, max 2> = []  upon condition true { v += true }"
        " property x: always forall p in Proc: #p.v < 9",
        "error",
    ),
    _counting(
        "state v : option<bool> = none  upon condition get(v) { v := none }"
        " property x: always forall p in Proc: not is_some(p.v)",
        "error",
    ),
    _counting(
        "state v : set<0..3> = {}  upon condition true { choose k in v  v -= k }"
        " property x: always forall p in Proc: #p.v == 0",
        "vacuous",
    ),
    _counting(
        "state v : set<0..3> = {1}  upon condition true { while some k in v { skip } }"
        " property x: always forall p in Proc: #p.v == 1",
        "error",
    ),
    _counting(
        "state v : 0..3 = 1  upon condition v == 1 { either when v == 2 { v := 3 } or { v := 2 } }"
        " property x: always forall p in Proc: p.v != 3",
        "holds",
    ),
    _counting(
        "state v : 0..3 = 1  upon condition v == 1 { v := 2  require v == 1 }"
        " property x: always forall p in Proc: p.v == 1",
        "vacuous",
    ),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name[:60])
def test_handlers(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_any_initial_number_needs_a_bound(engine: str, tmp_path: Path) -> None:
    """Which values a run starts with must not depend on what the tool has guessed."""
    text = """
    protocol P {
      state v = 0
      init choose v
      property small: always forall p in Proc: p.v < 9
    }
    check c of P { n = 1  prove small }
    """
    with pytest.raises(SpecError) as refused:
        run(tmp_path, text, engine)
    assert [d.code for d in refused.value.diagnostics] == ["C202"]


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_an_error_in_the_initial_state_is_reported(engine: str, tmp_path: Path) -> None:
    text = """
    protocol P {
      state v : 0..3 = 0
      upon init { v := v - 1 }
      property small: always forall p in Proc: p.v < 9
    }
    check c of P { n = 1  prove small  allow unused }
    """
    with pytest.raises(SpecError) as refused:
        run(tmp_path, text, engine)
    assert [d.code for d in refused.value.diagnostics] == ["R001"]
