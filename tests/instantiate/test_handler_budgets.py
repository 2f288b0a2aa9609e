"""How often handlers run: ``at most 2 elects``."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.instantiate.assemble import instantiate
from checker.language.load import load_text
from checker.properties.formula import ask
from checker.results.verdict import Report, Word
from checker.session.pipeline import open_check
from checker.simulate.session import SteppingSession
from checker.simulate.why_not import why_not
from tests.instantiate.small_checks import MODES, report

VOTES = """
protocol Votes(k: Nat) {
  message GO
  GHOSTS
  state term : Nat max 9 = 0
  state seen = false
  upon condition term < 9 NAMED { COUNTED term := term + 1  send GO to all }
  upon receive GO as hears { seen := true }
  property low : always forall p in Proc: p.term <= 2
  property one : always forall p in Proc: p.term <= 1
  property some : eventually exists p in Proc: p.term >= 1
  property all : eventually forall p in Proc: p.term >= 1
}
check c of Votes { n = 2  k = 2  FAULTS  CLAUSE  prove low, one, some, all  allow unused }
"""


IDLES = "  state idle = false\n  upon condition not idle as idles { idle := true }\n"


def votes(clause: str, named: str = "as elects", faults: str = "") -> str:
    text = VOTES.replace("CLAUSE", clause).replace("NAMED", named).replace("FAULTS", faults)
    return text.replace("GHOSTS", "").replace("COUNTED", "")


def held(found: Report) -> str:
    return "".join("-+"[verdict.word is Word.HOLDS] for verdict in found.verdicts)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("clause", "holds"),
    [
        ("at most 0 elects", "++--"),
        ("at most 1 elects", "+++-"),
        ("at most 2 elects", "+-+-"),
        ("at most k elects", "+-+-"),
        ("at most k + 1 elects", "--+-"),
        ("at most 1 elects per process", "++++"),
        ("at most 2 elects per process", "+-++"),
    ],
)
def test_it_happens_so_often(clause: str, holds: str, mode: str, tmp_path: Path) -> None:
    """With one left for both, one of the two never has its turn, and nothing makes it."""
    found = report(tmp_path, votes(clause), mode)
    assert held(found) == holds
    said = clause.replace("k + 1", "3").replace("k ", "2 ")
    for verdict in found.verdicts:
        assert (f"with {said}" in verdict.reason) == (verdict.word is Word.HOLDS)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("clause", "holds"),
    [
        ("at most 2 elects, 1 elects per process", "++++"),
        ("at most 1 elects, 2 elects per process", "+++-"),
        ("at most 2 elects, 0 idles, 2 elects per process", "+-+-"),
        ("at most 2 elects, 1 elects per process  at most 1 idles per process", "++++"),
    ],
)
def test_each_budget_of_a_clause_holds(clause: str, holds: str, mode: str, tmp_path: Path) -> None:
    text = votes(clause).replace("  upon receive GO", IDLES + "  upon receive GO")
    assert held(report(tmp_path, text, mode)) == holds


@pytest.mark.parametrize("bound", [0, 1, 2])
def test_it_is_a_guard_on_what_all_can_see(bound: int, tmp_path: Path) -> None:
    """Written out with shared state, where no crash can tell the difference."""
    written = votes("").replace("state term", "shared state taken : Nat max 9 = 0\n  state term")
    written = written.replace("condition term < 9", f"condition term < 9 and taken < {bound}")
    written = written.replace("{  term :=", "{ taken := taken + 1  term :=")
    assert "taken := taken + 1" in written
    out = report(tmp_path, written, "native plain")
    one = report(tmp_path, votes(f"at most {bound} elects"), "native plain")
    assert one.distinct_states == out.distinct_states and held(one) == held(out)


def test_a_budget_keeps_processes_interchangeable(tmp_path: Path) -> None:
    for clause in ("at most 2 elects", "at most 1 elects per process"):
        text = votes(clause).replace("low, one, some, all", "low, one")
        found = report(tmp_path, text, "native", audit=True)
        assert "symmetry" in found.reduced.used, found.reduced.unused
        assert found.audit is not None and found.audit.complete


CUT = """
interface Once { request go() indication decide(v: 0..1) }
protocol First implements Once {
  state done = false
  upon request go() { skip }
  upon condition not done as elects { done := true  decide(1) }
  property some : eventually exists p in Proc: 1 in decided(p)
}
check c of First { n = 2  faults crash <= 1  at most 1 elects  prove some  allow unused }
"""


@pytest.mark.parametrize("mode", MODES)
def test_what_a_crash_cuts_has_begun(mode: str, tmp_path: Path) -> None:
    """Who crashes before its first effect has used the budget up, and nobody else decides."""
    text = CUT.replace("n = 2 ", "n = 2  clients { p1 goes }")
    assert held(report(tmp_path, text, mode)) == "-"


@pytest.mark.parametrize("faults", ["", "faults crash <= 1", "faults crash <= 1, recover"])
@pytest.mark.parametrize("mode", MODES)
def test_what_stands_before_the_first_effect_is_done(
    mode: str, faults: str, tmp_path: Path
) -> None:
    """No crash uses the budget up and leaves the term as it was: one inside the handler falls at
    its send, behind the assignment."""
    assert held(report(tmp_path, votes("at most 1 elects", faults=faults), mode)) == "+++-"


TIMER = """
protocol Timer {
  state late : Nat max 9 = 0
  upon timeout when late < 9 as gives_up { late := late + 1 }
  property twice : always forall p in Proc: p.late <= 2
  property comes : eventually forall p in Proc: p.late == 2
}
check c of Timer { n = 1  timing asynchronous  at most 2 gives_up  prove twice, comes }
"""


@pytest.mark.parametrize("mode", MODES)
def test_a_timeout_has_a_budget(mode: str, tmp_path: Path) -> None:
    assert held(report(tmp_path, TIMER, mode)) == "++"


def refused(text: str) -> list[str]:
    def made() -> None:
        (check,) = load_text(text, "votes.bcast").checks
        instantiate(check, {}, ask)

    with pytest.raises(SpecError) as raised:
        made()
    return [f"{d.code} {d.message}" for d in raised.value.diagnostics]


def test_what_can_have_no_budget() -> None:
    assert refused(votes("at most 2 votes")) == ["C034 no handler is called `votes`"]
    assert refused(votes("at most 2 hears")) == [
        "C034 `hears` handles a message, request, indication or recovery, so it can't be limited"
    ]
    assert refused(votes("at most 1 elects  at most 2 elects")) == [
        "C009 `elects` already has a budget"
    ]
    assert refused(votes("at most 1 elects per process, 3 elects, 2 elects per process")) == [
        "C009 `elects` already has a budget per process"
    ]
    assert refused(votes("at most k - 3 elects")) == ["E003 invalid bound: at most -1 times"]
    assert refused(votes("at most true elects"))[0].startswith("N003")


def test_why_it_does_not_happen(tmp_path: Path) -> None:
    path = tmp_path / "votes.bcast"
    path.write_text(votes("at most 1 elects", faults="faults crash <= 1"), encoding="utf-8")
    session = SteppingSession(open_check(str(path), "c", Options()))
    for words in ("the start", "p1: elects"):
        session.say(words)
    assert session.state is not None
    said = why_not("p2: elects", session.system, session.state, session.trace())
    assert any("`elects` is used up (at most 1 time)" in reason.text for reason in said), said
