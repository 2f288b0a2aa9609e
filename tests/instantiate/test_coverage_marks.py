"""What a search tells of where it has been, and where in the spec something goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.instantiate.assemble import instantiate
from checker.language.load import load
from checker.model.ir import MarkKind, TransitionSystem
from checker.properties.formula import ask
from tests.instantiate.tables import run, words

SPEC = """
interface Out { request go(m: Msg)  indication note(k: 0..9) }
protocol P implements Out {
  message A(m: Msg)
  stable state s = false
  upon request go(m) { send A(m) to all }
  upon receive A(m) {
    if s { note(1) } else { note(2)  s := true }
    either { note(3) } or as quits { atomic { note(4)  perform 5 } }
    for q in Proc { note(6) }
  }
  property x: always true
}
check c of P { n = 1  faults crash <= 1, recover  clients { p1 goes a }  prove x }
""".replace("p1 goes", "p1 go")


def _system(folder: Path, fine: bool, coverage: bool) -> TransitionSystem:
    path = folder / "spec.bcast"
    path.write_text(SPEC, encoding="utf-8")
    (check,) = load(str(path)).checks
    return instantiate(check, {}, ask, fine=fine, coverage=coverage).system


def _texts(system: TransitionSystem, kind: MarkKind) -> list[str]:
    return [m.text for m in system.marks if m.kind is kind]


@pytest.mark.parametrize("fine", [False, True])
def test_nothing_is_marked_that_nobody_asks_for(fine: bool, tmp_path: Path) -> None:
    system = _system(tmp_path, fine, False)
    assert not _texts(system, MarkKind.BRANCH) and not _texts(system, MarkKind.POINT)
    assert _texts(system, MarkKind.MESSAGE) == ["A"]


@pytest.mark.parametrize("fine", [False, True])
def test_branches_and_crash_points(fine: bool, tmp_path: Path) -> None:
    system = _system(tmp_path, fine, True)
    branches = _texts(system, MarkKind.BRANCH)
    assert branches == ["then", "else", "alternative 1", "as quits", "for"]
    places = [m.place for m in system.marks if m.kind is MarkKind.BRANCH]
    assert [p.line for p in places if p is not None] == [8, 8, 9, 9, 10]
    points = set(_texts(system, MarkKind.POINT))
    if fine:
        assert {"before `note(…)`", "before `atomic`", "before the write of `s`"} <= points
    else:
        inside = ", inside `upon receive A(m)`"
        assert {f"before `{e}`{inside}" for e in ("note(…)", "atomic")} <= points
        assert f"before the write of `s`{inside}" in points
        assert not any("perform" in text for text in points)


UNSENT = """
protocol P {
  message A(k: 0..1)  message B  message C
  state queue : seq<0..1, max 2> = []
  state sent = false
  upon condition not sent { sent := true  send A(1) to all }
  upon receive A(k) when k == 0 { send B to all }
  upon receive A(k) when k == 1 { skip }
  property x: always true
}
check c of P { n = 1  prove x }
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_message_that_nobody_sends_makes_a_verdict_vacuous(engine: str, tmp_path: Path) -> None:
    report = run(tmp_path, UNSENT, engine)
    (verdict,) = report.verdicts
    assert verdict.word.value == "vacuous"
    assert "B" in verdict.reason and "C" in verdict.reason


FULL = """
protocol P(a: Proc, b: Proc) {
  message A
  state sent : 0..2 = 0
  upon condition sent < 2 at a { sent += 1  send A to b }
  property fits: always forall p in Proc: p.sent <= 2
}
check c of P { n = 2  a = p1  b = p2  links LINKS  prove fits }
"""


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("links", ["bounded 1", "fifo, bounded 1"])
def test_a_full_link_is_told_where_it_is_filled(links: str, fine: bool, tmp_path: Path) -> None:
    report = run(tmp_path, FULL.replace("LINKS", links), "native", fine)
    assert words(report) == {"fits": "error"}
    (verdict,) = report.verdicts
    assert verdict.trace is not None and verdict.trace.failure is not None
    failure = verdict.trace.failure
    text = (tmp_path / "spec.bcast").read_text(encoding="utf-8").splitlines()[failure.line - 1]
    assert "send A to b" in text


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ("crash <= 3", "crash <= 3 is impossible with 2 processes"),
        ("byzantine <= 3", "byzantine <= 3 is impossible with 2 processes"),
        ("omission <= 0 - 1", "omission <= -1"),
        ("crash <= 0 - 1, recover", "crash <= -1"),
    ],
)
def test_impossible_bounds_are_told_where_they_stand(
    faults: str, said: str, tmp_path: Path
) -> None:
    text = """
protocol P { state v = false  upon condition not v { v := true }  property x: always true }
check c of P { n = 2  faults FAULTS  prove x }
"""
    with pytest.raises(SpecError) as refused:
        run(tmp_path, text.replace("FAULTS", faults))
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "E003" and said in diagnostic.message
    assert diagnostic.span is not None and diagnostic.span.column > 20


MATCHES = """
protocol P(a: Proc) {
  message A(pair: (0..2, Proc))
  state v : 0..9 = 7
  state sent = false
  state seen = false
  upon condition not sent at a { sent := true  send A((1, self)) to all }
  upon condition #received(A((v, a))) > 0 { seen := true }
  upon receive A(_) { skip }
  property never: always forall p in Proc: not p.seen
}
check c of P { n = 2  a = p1  prove never  allow unused }
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_value_that_can_not_be_there_is_no_match(engine: str, tmp_path: Path) -> None:
    assert words(run(tmp_path, MATCHES, engine)) == {"never": "holds"}
