"""Loops over what has no order: any order may happen; over numbers and seqs they go in theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.instantiate.assemble import instantiate
from checker.language.load import load
from checker.model import ir
from checker.model.tree import nodes
from checker.properties.formula import ask
from tests.instantiate.tables import WAYS, Case, compare, run, words

LOOP = """
protocol P(a: Proc, b: Proc, d: Proc) {
  type Kind = enum { red, green }
  state all_of : set<Proc> = Proc
  state kinds : set<Kind> = { red, green }
  state numbers : set<1..3> = { 1, 2, 3 }
  state pairs : set<(1..2, 1..2)> = { (1, 2), (2, 1) }
  state line : seq<Proc, max 3> = []
  state colours : seq<Kind, max 2> = []
  state digits : seq<1..3, max 3> = []
  state couples : seq<(1..2, 1..2), max 2> = []
  state first : option<Proc> = none
  state done = false
  upon condition not done at b { done := true  BODY }
  property one: always not (b.done and ONE)
  property other: always not (b.done and OTHER)
}
check c of P { n = 3  a = p1  b = p2  d = p3  prove one, other }
"""

ORDERS = [
    ("processes", "for q in Proc { line := line + q }", "line == [a, b, d]",
     "line == [d, a, b]", "violated", "violated"),
    ("a set of processes", "for q in all_of { first := some(q) }", "first == some(a)",
     "first == some(d)", "violated", "violated"),
    ("labels", "for k in kinds { colours := colours + k }", "colours == [red, green]",
     "colours == [green, red]", "violated", "violated"),
    ("pairs of numbers", "for (i, j) in pairs { couples := couples + (i, j) }",
     "couples == [(1, 2), (2, 1)]", "couples == [(2, 1), (1, 2)]", "violated", "violated"),
    ("numbers", "for k in numbers { digits := digits + k }", "digits == [1, 2, 3]",
     "digits == [3, 2, 1]", "violated", "holds"),
    ("a range", "for k in (1..3) { digits := digits + k }", "digits == [1, 2, 3]",
     "digits == [2, 1, 3]", "violated", "holds"),
    ("a seq", "line := [d, a]  for q in line { first := some(q) }", "first == some(a)",
     "first == some(d)", "violated", "holds"),
    ("with a condition", "for q in Proc when q != a { line := line + q }", "line == [d, b]",
     "line == [a, b, d]", "violated", "holds"),
    ("with a condition that the loop changes",
     "for q in Proc when first == none { first := some(q) }", "first == some(d)",
     "first == none", "violated", "holds"),
]  # fmt: skip


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize(("name", "body", "one", "other", "first", "second"), ORDERS)
def test_which_orders_there_are(
    name: str,
    body: str,
    one: str,
    other: str,
    first: str,
    second: str,
    engine: str,
    fine: bool,
    tmp_path: Path,
) -> None:
    text = LOOP.replace("BODY", body)
    text = text.replace("ONE", f"b.{one}").replace("OTHER", f"b.{other}")
    compare(tmp_path, Case(name, text, f"one {first}, other {second}"), engine, fine)


SUBSET = """
protocol P(a: Proc, b: Proc) {
  state done = false
  upon condition not done at a {
    done := true
    for q in Proc { perform q }
  }
  property only_the_first: always crashed(a) and #performed == 1 => performed[0] == a
  property not_both: always not (crashed(a) and #performed == 2)
}
check c of P { n = 2  a = p1  b = p2  faults crash <= 1  prove only_the_first, not_both }
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
def test_a_crash_cuts_any_order(engine: str, fine: bool, tmp_path: Path) -> None:
    case = Case("cut", SUBSET, "only_the_first violated, not_both violated")
    compare(tmp_path, case, engine, fine)


SAME = """
protocol P {
  message NO(p: Proc)
  state heard : set<Proc> = {}
  state votes : map<Proc, 0..2> = 0
  state sum : 0..9 = 0
  state done = false
  upon condition not done {
    done := true
    for q in Proc { BODY }
  }
  upon receive NO(q) { skip }
  property some: always forall p in Proc: p.sum <= 9
}
check c of P { n = 3  links LINKS  prove some  allow unused }
"""


@pytest.mark.parametrize(
    ("body", "links", "kept"),
    [
        ("heard += q", "perfect", True),
        ("votes[q] := 1", "perfect", True),
        ("sum := sum + 1", "perfect", True),
        ("send NO(q) to q", "perfect", True),
        ("send NO(q) to all", "perfect", True),
        ("send NO(self) to q", "fifo", True),
        ("send NO(self) to q  votes[q] := 2  send NO(q) to q", "fifo", True),
        ("send NO(q) to all", "fifo", False),
        ("if q == self { sum := 9 } else { sum := rank(q) }", "perfect", False),
        ("if sum < 2 { heard += q }  sum := sum + 1", "perfect", False),
    ],
)
def test_a_loop_stays_where_the_order_makes_no_difference(
    body: str, links: str, kept: bool, tmp_path: Path
) -> None:
    path = tmp_path / "a.bcast"
    path.write_text(SAME.replace("BODY", body).replace("LINKS", links))
    (check,) = load(str(path)).checks
    system = instantiate(check, {}, ask).system
    (action,) = (a for a in system.actions if a.name.startswith("upon condition"))
    assert any(isinstance(n, ir.Choose) for n in nodes(action.body)) != kept


PARITY = """
protocol P {
  message HI
  state heard : set<Proc> = {}
  state before : 0..3 = 0
  state met = false
  state done = false
  upon init { send HI to all }
  upon receive HI from p { heard += p }
  upon condition #heard == 3 and not done {
    done := true
    for q in heard { if q == self { met := true }  if not met { before := before + 1 } }
  }
  property middle: always forall p in Proc: p.done => p.before != 1
  property distinct: always forall p, q in Proc:
    p.done and q.done and p != q => p.before != q.before
  property few: always forall p in Proc: p.before <= 2
}
check c of P { n = 3  prove middle, distinct, few }
"""


@pytest.mark.parametrize("reduce", ["auto", "none"])
@pytest.mark.parametrize("fine", [False, True])
def test_nobody_is_first(fine: bool, reduce: str, tmp_path: Path) -> None:
    report = run(tmp_path, PARITY, fine=fine, reduce=reduce)
    assert words(report) == {"middle": "violated", "distinct": "violated", "few": "holds"}
