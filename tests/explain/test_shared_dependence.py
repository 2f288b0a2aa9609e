"""Steps depend on one another through what every process sees, without any message."""

from __future__ import annotations

from pathlib import Path

from checker.explain.slice import context
from checker.results.causality import causality
from tests.explain.violations import Violation, violation

DOOR = """
protocol P(opener: Proc, user: Proc) {
  shared state door = false
  shared state lamp = false
  state through = false
  upon condition not OTHER at opener { OTHER := true }
  upon condition WAITS not through at user { through := true }
  property nobody_through : always forall p in Proc: not p.through
  property both : always not (lamp and exists p in Proc: p.through)
}
check c of P { n = 2  opener = p1  user = p2  expect NAME violated  allow unused }
"""

DESK = """
protocol Desk(one: Proc) implements Consensus {
  uses tob : TotalOrderBroadcast
  message VALUE(v: 0..1)
  state done = false
  upon request propose(v) { tob.broadcast(VALUE(v)) }
  upon tob.deliver(p, VALUE(v)) when not done { done := true  decide(v) }
  property one_does_not_decide : always 1 not in decided(one)
}
check c of Desk {
  n = 2
  one = p1
  given tob as oracle
  clients { p2 proposes 1 }
  expect one_does_not_decide violated
  allow unused
}
"""


def found(tmp_path: Path, text: str, prop: str) -> Violation:
    path = tmp_path / "spec.bcast"
    path.write_text(text)
    return violation(path, "c", prop)


def sliced(case: Violation) -> tuple[int, ...]:
    return context(case.system, case.prop, case.run, case.trace)


def test_who_reads_what_another_wrote_depends_on_it(tmp_path: Path) -> None:
    text = DOOR.replace("OTHER", "door").replace("WAITS", "door and")
    case = found(tmp_path, text.replace("NAME", "nobody_through"), "nobody_through")
    assert causality(case.trace).causes == (frozenset(), {0}, {1})
    assert sliced(case) == ()


def test_who_does_not_read_it_does_not(tmp_path: Path) -> None:
    """Both have to happen; neither needs the other."""
    text = DOOR.replace("OTHER", "lamp").replace("WAITS", "")
    case = found(tmp_path, text.replace("NAME", "both"), "both")
    assert causality(case.trace).causes == (frozenset(), {0}, {0})
    assert sliced(case) == ()


def test_who_writes_depends_on_who_has_read_what_was_there(tmp_path: Path) -> None:
    text = DOOR.replace("OTHER", "lamp").replace("WAITS", "not lamp and")
    case = found(tmp_path, text.replace("NAME", "both"), "both")
    kinds = [step.process for step in case.trace.steps[1:]]
    assert kinds == ["p2", "p1"]
    assert causality(case.trace).causes == (frozenset(), {0}, {1})


def test_what_an_oracle_says_depends_on_what_it_was_asked(tmp_path: Path) -> None:
    case = found(tmp_path, DESK, "one_does_not_decide")
    assert sliced(case) == ()
    steps = case.trace.steps
    request = next(s.number for s in steps if s.kind == "request")
    spoken = next(s.number for s in steps if s.kind == "detect")
    assert request in causality(case.trace).past({spoken})
