"""Tuple patterns of `choose` and `let`, parameters that are truth values, types that depend on
parameters, and requests without arguments: by every engine, with verdicts worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.language.load import load_text
from checker.session.pipeline import run_check
from tests.instantiate.tables import WAYS, Case, compare

COUNTER = """
interface Counter { request increment()  request add(k: 0..3, q: Proc)  indication notify() }
protocol Counting implements Counter {
  state c : 0..9 = 0
  upon request increment() { c += 1  notify() }
  upon request add(k, q) { c += k }
  property few: always forall p in Proc: p.c <= 2
  property told: forall p in Proc: correct(p) and incremented(p) != [] ~> notified(p) != []
}
"""

PAIRS = """
protocol P {
  type Pair = (Proc, 0..3)
  state pairs : set<Pair> = { (self, k) for k in (0..3) }
  state sum : 0..9 = 0
  upon condition pairs != {} and sum == 0 {
    choose (who, k) in pairs when k > 1 and who == self
    let (same, (_, next)) = (who, (k, k + 1))
    pairs -= (same, k)
    sum := next
  }
"""

CASES = [
    Case(
        "choose binds the parts of any member that satisfies its condition",
        PAIRS
        + "property p: always forall p in Proc: p.sum in {0, 3, 4} } check c of P { prove p }",
        "p holds",
        27,
    ),
    Case(
        "and of none that does not",
        PAIRS + "property p: always forall p in Proc: p.sum != 4 } check c of P { n = 1  prove p }",
        "p violated",
    ),
    Case(
        "where no member satisfies it, the handler can't run",
        """protocol P {
          state b = false
          upon condition not b { choose (x, y) in {(1, 2), (2, 2)} when x > y  b := true }
          property p: always forall p in Proc: not p.b
        }
        check c of P { n = 1  prove p  allow unused }""",
        "p holds",
        1,
    ),
    Case(
        "let evaluates once, before what is assigned later",
        """protocol P {
          state v : (0..9, 0..9) = (1, 2)
          upon condition v == (1, 2) { let (a, b) = v  v := (b, a)  v := (a + 4, b + 4) }
          property p: always forall p in Proc: p.v in {(1, 2), (5, 6)}
        }
        check c of P { n = 1  prove p }""",
        "p holds",
        2,
    ),
    Case(
        "a coin beside a pattern",
        """protocol P {
          state v : 0..9 = 0
          upon condition v == 0 { let (side, k) = (flip(), 3)  if side { v := k } else { v := 4 } }
          property p: always forall p in Proc: p.v in {0, 3, 4}
          property q: always forall p in Proc: p.v != 3
        }
        check c of P { n = 1  prove p, q }""",
        "p holds, q violated",
    ),
    Case(
        "a parameter that is a truth value",
        """protocol P(eager: bool, late: bool = not eager) {
          state k : 0..2 = 0
          state copy = eager
          upon condition eager and k < 2 { k := if late then 2 else k + 1 }
          property p: eventually forall p in Proc: p.k == 2 and p.copy == eager
        }
        check c of P { n = 1  eager = true  prove p }""",
        "p holds",
        3,
    ),
    Case(
        "sizes may depend on it, and so do types on parameters, whichever is written first",
        """protocol P(k: Small, wide: bool) {
          type Row = set<Place>
          type Place = 0..k + 1
          type Small = 0..3
          state row : Row = {}
          upon condition #row < 4 { choose x in Place when x not in row  row += x }
          property full: eventually forall p in Proc: p.row == (0..3)
        }
        check c of P { n = if wide then 2 else 1  wide = false  k = 2  prove full }""",
        "full holds",
        16,
    ),
    Case(
        "requests without arguments, before and behind others",
        COUNTER
        + """check c of Counting {
          n = 2
          clients {
            p1 increments   // once
            p1 increments
            p2 increments p2 adds (1, p1) all increments
          }
          expect few violated
          expect told holds
        }""",
        "few violated, told holds",
    ),
    Case(
        "requests without arguments only",
        COUNTER + "check c of Counting { n = 2 clients { all increments } prove few allow unused }",
        "few holds",
        4,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize(("engine", "fine"), WAYS)
def test_forms(tmp_path: Path, case: Case, engine: str, fine: bool) -> None:
    compare(tmp_path, case, engine, fine)


# ---- requests without arguments, where they are named -----------------------------------------


def test_a_scenario_names_a_request_without_arguments(tmp_path: Path) -> None:
    text = """check c of Counting {
      n = 1
      clients { p1 increments  p1 increments  p1 adds (3, p1) }
      expect few violated
      scenario three { p1 increments
        p1 increments
        p1 adds (3, p1)
        then few violated
      }
    }"""
    path = tmp_path / "a.bcast"
    path.write_text(COUNTER + text, encoding="utf-8")
    (scenario,) = run_check(str(path), "c", Options()).scenarios
    assert scenario.met


def test_a_payload_that_is_called_like_a_process_is_one() -> None:
    text = """protocol P implements ReliableBroadcast {
      upon request broadcast(m) { deliver(self, m) }
    }
    check c of P { clients { p1 broadcasts m1 p2 broadcasts p1, a  all broadcasts m2 } }"""
    made = load_text(text, "a.bcast").checks[0].clients
    assert [(c.process, c.args[0].name) for c in made] == [  # type: ignore[union-attr]
        ("p1", "m1"),
        ("p2", "p1"),
        ("p2", "a"),
        ("all", "m2"),
    ]


# ---- parameters that are truth values ----------------------------------------------------------

EAGER = """protocol P(eager: bool) {
  state k : 0..1 = 0
  upon condition eager and k == 0 { k := 1 }
  property p: eventually forall p in Proc: p.k == 1
}
check c of P { n = 1  eager = true  prove p }
"""


def run(folder: Path, value: str) -> tuple[str, object]:
    path = folder / "a.bcast"
    path.write_text(EAGER, encoding="utf-8")
    report = run_check(str(path), "c", Options(settings={"eager": value}))
    return report.verdicts[0].word.value, report.parameters["eager"]


def test_it_can_be_set_from_outside(tmp_path: Path) -> None:
    assert run(tmp_path, "true") == ("holds", "true")
    assert run(tmp_path, "false") == ("violated", "false")


def test_it_is_true_or_false(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        run(tmp_path, "1")
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E003", "`eager` is `true` or `false`, not `1`")


def test_one_name_is_of_one_kind_in_a_stack(tmp_path: Path) -> None:
    text = """interface Low { request ping()  indication pong() }
    protocol Lower(eager: Nat = 1) implements Low { upon request ping() { pong() } }
    protocol Top(eager: bool = true) { uses low : Lower  upon init { low.ping() }
      property p: always true }
    check c of Top { n = 1  prove p }"""
    path = tmp_path / "a.bcast"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        run_check(str(path), "c", Options())
    (found,) = caught.value.diagnostics
    assert found.message == "`eager` is a truth value in one protocol, a number in another"
