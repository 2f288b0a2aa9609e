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
