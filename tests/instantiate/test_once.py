"""At least once, where the work is done by a process that may crash and come back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.instantiate.tables import WAYS, Case, compare

QUEUE = """
protocol P implements Queue {
  message ORDER(m: Msg)
  role client(1) {
    upon request submit(m) { send ORDER(m) to worker }
  }
  role worker(1) {
    stable state log : set<Msg> = {}
    upon receive ORDER(m) when m not in log { BODY }
  }
}
check c of P {
  faults crash <= 1, recover
  links stubborn
  clients { c1 submits a }
  prove at_least_once over processings, at_most_once over processings, exactly_once over effects
}
"""

BODIES = [
    ("perform m  log += m", "holds", "violated", "violated"),
    ("log += m  perform m", "violated", "holds", "violated"),
    ("atomic { log += m  perform m }", "holds", "holds", "holds"),
    ("perform idempotent m  log += m", "holds", "violated", "holds"),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize(("body", "least", "most", "effects"), BODIES)
def test_act_and_log(
    tmp_path: Path, body: str, least: str, most: str, effects: str, engine: str, fine: bool
) -> None:
    expected = (
        f"at_least_once over processings {least}, at_most_once over processings {most},"
        f" exactly_once over effects {effects}"
    )
    compare(tmp_path, Case(body, QUEUE.replace("BODY", body), expected), engine, fine)


SECOND = """
protocol P(second: Proc = p2) {
  state here = false
  upon init at second { here := true }
  property there: always forall p in Proc: p.here => p == second
  property all: eventually exists p in Proc: p.here and p != second
}
check c of P { n = 3  GIVEN  prove there, all }
"""


@pytest.mark.parametrize("given", ["", "second = p3"])
def test_a_process_may_have_a_default(tmp_path: Path, given: str) -> None:
    text = SECOND.replace("GIVEN", given)
    compare(tmp_path, Case(given, text, "there holds, all violated"), "native", False)
