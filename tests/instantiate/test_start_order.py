"""What several processes do in ``upon init``: nothing says which of them is first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.instantiate.tables import WAYS, Case, compare

SHARED = """
protocol P {
  shared state first : set<Proc> = {}
  shared state line : seq<Proc, max 3> = []
  upon init {
    if first == {} { first := {self} }
    line := line + self
  }
  property is_one: always forall p in first: p == p1
  property is_last: always line != [p3, p2, p1]
  property is_alone: always #first == 1
  property is_there: always #line == 3
}
check c of P { n = 3  prove is_one, is_last, is_alone, is_there }
"""
ANSWERS = "is_one violated, is_last violated, is_alone holds, is_there holds"

ACTS = """
protocol P {
  upon init { perform self }
  property in_line: always performed != [p2, p1]
  property both: always #performed == 2
}
check c of P { n = 2  prove in_line, both }
"""

LAYERED = """
interface Shown { indication shown(p: Proc) }
protocol Low implements Shown {
  upon init { shown(self) }
}
protocol P {
  uses low : Shown
  shared state last : option<Proc> = none
  shared state calls : 0..2 = 0
  upon init { calls += 1 }
  upon low.shown(p) { last := some(p) }
  property is_two: always last == some(p2)
  property is_somebody: always calls == 2 => last != none
}
check c of P { n = 2  given low as Low  prove is_two, is_somebody }
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize(
    "case",
    [
        Case("what is shared", SHARED, ANSWERS),
        Case("acts", ACTS, "in_line violated, both holds"),
        Case("layers", LAYERED, "is_two violated, is_somebody holds"),
    ],
    ids=lambda case: case.name,
)
def test_any_process_may_be_first(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)
