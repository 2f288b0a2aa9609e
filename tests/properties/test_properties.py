"""What formulas mean: temporal operators, monitors, histories, correctness, emptiness."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from tests.instantiate.tables import WAYS, Case, compare, run

COUNT = """
protocol P {
  state v : 0..2 = 0
  upon condition v < 2 { v += 1 }
  property P1: PROPERTY
}
check c of P { n = 2  CRASH  prove P1 }
"""


def _count(formula: str, verdict: str, crash: str = "") -> Case:
    text = COUNT.replace("PROPERTY", formula).replace("CRASH", crash)
    return Case(f"{formula} {crash}", text, f"P1 {verdict}")


CRASH = "faults crash <= 1"
ROLES = """
protocol P {
  role boss(1) {
    state s : 0..3 = 0
    upon condition s == 0 { s := 1  send X to all worker }
    upon receive Y { s += 1 }
  }
  role worker(2) {
    state d = false
    upon receive X from b when not d { d := true  send Y to b }
  }
  message X
  message Y
  property all_done: forall b in boss, w in worker: correct(b) and correct(w) ~> b.s >= 2
  property both_done: forall b in boss: correct(b) ~> b.s == 3
  property never_three: always forall b in boss: b.s < 3
  property boss_starts: forall b in boss: eventually b.s > 0
}
check c of P { CRASH  prove all_done, both_done, never_three, boss_starts }
"""

CASES = [
    _count("forall p in Proc: eventually p.v == 1", "holds"),
    _count("forall p in Proc: true ~> p.v == 1", "violated"),
    _count("forall p in Proc: p.v == 1 ~> p.v == 2", "holds"),
    _count("forall p in Proc: p.v == 2 ~> p.v == 1", "violated"),
    _count("forall p, q in Proc: p.v == 1 ~> q.v == 1", "violated"),
    _count("forall p in Proc: p.v == 1 ~> p.v == 2", "violated", CRASH),
    _count("forall p in Proc: correct(p) and p.v == 1 ~> p.v == 2", "holds", CRASH),
    _count("forall p, q in Proc: p.v == 1 and correct(q) ~> q.v == 2", "holds", CRASH),
    _count("forall p in Proc: eventually p.v == 2", "violated", CRASH),
    _count("always forall p in Proc: correct(p) => p.v < 2", "violated", CRASH),
    _count("always forall p in Proc: crashed(p) => p.v < 2", "violated", CRASH),
    _count("always forall p, q in Proc: p != q => not (crashed(p) and crashed(q))", "holds", CRASH),
    _count("always forall p in Proc: crashed(p) => p.v < 3", "vacuous"),
    _count("forall p in Proc: not correct(p) => eventually p.v == 3", "vacuous"),
    _count("forall p in Proc: (eventually p.v > 3) => eventually p.v == 0", "vacuous"),
    _count("forall p in Proc: correct(p) and (eventually p.v > 3) => always p.v == 0", "vacuous"),
    _count("forall p in Proc: (eventually p.v == 2) => eventually p.v == 1", "holds"),
    Case(
        "roles: a premise about a role is about nobody else",
        ROLES.replace("CRASH", ""),
        "all_done holds, both_done holds, never_three violated, boss_starts holds",
    ),
    Case(
        "roles: with a crash",
        ROLES.replace("CRASH", CRASH),
        "all_done holds, both_done violated, never_three violated, boss_starts violated",
    ),
    Case(
        "a lasso",
        """
        protocol P {
          state v = false
          state done = false
          upon condition not done { v := not v }
          upon condition not done { done := true }
          property ends: forall p in Proc: eventually p.done
        }
        check c of P { n = 1  prove ends }
        """,
        "ends violated",
        4,
    ),
    Case(
        "a handler that never runs",
        """
        protocol P {
          state v = false
          upon condition not v { v := true }
          upon condition v when not v { v := false }
          property on: forall p in Proc: eventually p.v
        }
        check c of P { n = 1  prove on }
        """,
        "on vacuous",
        2,
    ),
    Case(
        "no initial state at all",
        """
        protocol P {
          shared state v : 0..3 = 0
          init choose v in (1..2) when v > 2
          property small: always v < 1
        }
        check c of P { n = 1  prove small }
        """,
        "small vacuous",
        0,
    ),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name[:60])
def test_properties(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)


LOGS = """
protocol P implements ReliableBroadcast {
  message A(m: Msg)
  upon request broadcast(m) { send A(m) to all }
  upon receive A(m) from p { deliver(p, m) }
}
check c of P { n = 2  links LINKS  clients { p1 broadcasts a, b }
  prove no_duplication, no_creation, fifo_order, causal_order }
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize(
    ("links", "duplication", "order"),
    [("perfect", "holds", "violated"), ("fifo", "holds", "holds")],
)
def test_histories(
    links: str, duplication: str, order: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    expected = (
        f"no_duplication {duplication}, no_creation holds, fifo_order {order}, causal_order {order}"
    )
    compare(tmp_path, Case(links, LOGS.replace("LINKS", links), expected), engine, fine)


@pytest.mark.parametrize(
    "formula",
    [
        "always forall p in Proc: p.v == 2 => correct(p)",
        "always forall p in Proc: not (correct(p) => p.v == 2)",
        "always exists p in Proc: correct(p)",
    ],
)
def test_where_correct_may_not_stand(formula: str, tmp_path: Path) -> None:
    text = COUNT.replace("PROPERTY", formula).replace("CRASH", CRASH)
    with pytest.raises(SpecError) as refused:
        run(tmp_path, text)
    assert {d.code for d in refused.value.diagnostics} == {"N212"}
