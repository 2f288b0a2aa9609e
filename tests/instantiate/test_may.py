"""Handlers that a process may run and never has to: nothing is promised of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.language.parser.parse import parse
from checker.language.syntax import ast_items
from checker.proving import parametric
from checker.session.pipeline import dump, load_check, run_check
from tests.instantiate.tables import WAYS, Case, compare, words

DEATH = """
protocol P {
  state dead = false
  state done = false
  MAY upon condition not dead { dead := true }
  upon condition not done and not dead { done := true }
  property dies: eventually forall p in Proc: p.dead
  property ends: eventually forall p in Proc: p.done or p.dead
}
check c of P { n = 2  allow unused  prove dies, ends }
"""

TIMER = """
protocol P {
  state late = false
  state other = false
  upon init { start t }
  MAY upon timeout t { late := true }
  OTHER
  property comes: eventually forall p in Proc: p.late
  property settles: eventually forall p in Proc: p.late or p.other
}
check c of P { n = 2  timing TIMING  prove comes, settles }
"""


def timer(verdicts: str, *, other: str = "", timing: str = "asynchronous") -> Case:
    text = TIMER.replace("MAY", "may").replace("OTHER", other).replace("TIMING", timing)
    return Case(f"{timing} {other}", text, verdicts)


OTHER = "upon timeout t { other := true }"
NAMELESS = """
protocol P {
  state late = false
  MAY upon timeout when not late { late := true }
  property comes: eventually forall p in Proc: p.late
}
check c of P { n = 2  timing asynchronous  prove comes }
"""
ROUNDS = """
protocol P {
  message PING
  state rounds : 0..2 = 0
  state extra = false
  upon timeout when rounds < 2 { rounds += 1  send PING to all }
  may upon condition rounds == 1 and not extra { extra := true }
  property time_goes_on: eventually forall p in Proc: p.rounds == 2
  property always_extra: eventually forall p in Proc: p.extra
}
check c of P { n = 2  timing synchronous  prove time_goes_on, always_extra }
"""
CASES = [
    Case("owed", DEATH.replace("MAY", ""), "dies holds, ends holds"),
    Case("may", DEATH.replace("MAY", "may"), "dies violated, ends holds", 16),
    timer("comes violated, settles violated"),
    timer("comes violated, settles violated", timing="synchronous"),
    timer("comes violated, settles violated", timing="clocks drift 1"),
    timer("comes violated, settles violated", timing="partial noise 1"),
    # Of two handlers that match one is taken, and one of them is owed.
    timer("comes violated, settles holds", other=OTHER),
    timer("comes violated, settles holds", other=OTHER, timing="synchronous"),
    Case("the nameless timer", NAMELESS.replace("MAY", "may"), "comes violated"),
    Case("the nameless timer, owed", NAMELESS.replace("MAY", ""), "comes holds"),
    Case("a round", ROUNDS, "time_goes_on holds, always_extra violated"),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_nothing_is_promised_of_it(tmp_path: Path, case: Case, engine: str, fine: bool) -> None:
    compare(tmp_path, case, engine, fine)


def test_a_dump_says_that_it_is_never_promised(tmp_path: Path) -> None:
    path = tmp_path / "p.bcast"
    for word, promised in (("may", 1), ("", 0)):
        path.write_text(DEATH.replace("MAY", word))
        assert dump(str(path), None, Options()).count("promised when false") == promised


def test_may_is_also_a_name() -> None:
    text = """
    protocol P {
      state may = false
      state when_may = may
      may upon condition not may { may := true }
      upon condition may { skip }
    }
    """
    (protocol,) = parse(text, "p.bcast").items
    assert isinstance(protocol, ast_items.Protocol)
    free, owed = (item for item in protocol.items if isinstance(item, ast_items.Handler))
    assert free.may is not None and owed.may is None
    assert free.label == "upon condition not may"


# ---- with everything else ---------------------------------------------------------------------

OWED_NOTHING = """
protocol P(a: Proc) {
  message PING
  state alive = true
  state asked = false
  state heard = false
  state turn = false
  may upon condition alive as dies { alive := false }
  may upon condition alive and not asked as asks { asked := true  send PING to all }
  may upon condition true at a as turns { turn := not turn }
  upon receive PING when alive { heard := true }
  property all_hear : eventually forall p in Proc: p.heard
  property answered : forall p in Proc: p.asked ~> p.heard or not p.alive
  property asked_for : (forall p in Proc: eventually p.asked) => all_hear
  property nobody_hears : always not exists p in Proc: p.heard
}
check c of P {
  n = 2
  expect answered holds
  expect asked_for violated
  expect all_hear violated
  expect nobody_hears violated

  scenario nothing_is_owed {
    then it ends
    then all_hear violated
  }
  scenario messages_are {
    p1: turns
    p1: asks
    p1: dies
    then it continues
  }
  scenario what_it_may_do {
    p1: asks
    p2: dies
    p1 receives PING from p1
    p2 receives PING
    then answered holds
    then all_hear violated
  }
}
"""


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("reduce", ["auto", "none"])
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_named_and_free(tmp_path: Path, engine: str, reduce: str, fine: bool) -> None:
    """A loop of steps that nothing is owed by keeps no other step from being taken, whatever is
    left out of the search; and it ends where nothing else is enabled."""
    path = tmp_path / "p.bcast"
    path.write_text(OWED_NOTHING)
    report = run_check(str(path), "c", Options(engine=engine, reduce=reduce, fine_steps=fine))
    assert all(e.met for e in report.expectations)
    assert [s.met for s in report.scenarios] == ([] if fine else [True] * 3)


def test_a_report_says_that_it_is_not_assumed(tmp_path: Path) -> None:
    path = tmp_path / "p.bcast"
    said = "no process ever has to take `dies`, `asks` or `turns`, which is written `may`"
    for text, found in ((OWED_NOTHING, True), (OWED_NOTHING.replace("may upon", "upon"), False)):
        path.write_text(text)
        report = run_check(str(path), "c", Options())
        told = {line for v in report.verdicts for line in v.assumptions}
        assert (said in told) is found


# ---- every n ----------------------------------------------------------------------------------

WISHES = """
protocol Wishes requires n > 0 {
  message ECHO
  state told = false
  state heard = false
  MAY upon condition not told { told := true  send ECHO to all }
  upon condition #received(ECHO) >= 1 and not heard { heard := true }
  property all_tell: eventually forall p in Proc: p.told
  property all_hear: (exists p in Proc: p.told) ~> (forall p in Proc: p.heard)
}
check every of Wishes { for all n  prove all_tell, all_hear }
check three of Wishes { n = 3  prove all_tell, all_hear }
"""


@pytest.mark.parametrize(
    ("word", "tell"), [("", ("proved", "holds")), ("may", ("violated", "violated"))]
)
def test_for_every_n_as_for_one(tmp_path: Path, word: str, tell: tuple[str, str]) -> None:
    path = tmp_path / "wishes.bcast"
    path.write_text(WISHES.replace("MAY", word))
    assert load_check(str(path), "every", {}).every
    report = parametric.prove_every(str(path), "every", Options(), tight=False)
    assert words(report) == {"all_tell": tell[0], "all_hear": "proved"}
    for engine in ("native", "reference"):
        found = run_check(str(path), "three", Options(engine=engine))
        assert words(found) == {"all_tell": tell[1], "all_hear": "holds"}
