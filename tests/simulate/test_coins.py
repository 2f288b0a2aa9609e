"""What coins show when runs are made by hand: offered with its probability, and named."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from checker.results.events import Drawn
from checker.results.verdict import Word
from checker.session.pipeline import Options, run_check
from checker.simulate.session import SteppingSession
from checker.words.events import assignment
from tests.simulate.opening import spec

COIN = """
protocol Coin {
  state side : enum { none_yet, heads, tails } = none_yet
  state seen : set<Proc> = {}
  upon condition side == none_yet as tosses {
    choose s by chance { heads: 1/3, tails: 2/3 }
    side := s
  }
  upon condition side == heads and seen == {} as looks { choose p in Proc  if flip() { seen += p } }
  property all_heads "All heads." : eventually forall p in Proc: p.side == heads
}
check c of Coin {
  n = 2
  expect all_heads violated
  scenario unlucky {
    p1: tosses, where p1 draws s = heads
    p1: looks … so that seen = {p1: {p1}, p2: {}}
    p2: tosses … s = tails
    then all_heads violated
  }
}
"""


def offered(session: SteppingSession) -> dict[str, Fraction | None]:
    odds = session.odds()
    return {way.text: odds.get(way.text) for way in session.choices.ways if way.process == "p1"}


def test_what_a_coin_may_show_is_offered_with_its_probability() -> None:
    session = SteppingSession(spec(COIN))
    heads, tails = "p1: tosses, where p1 draws s = heads", "p1: tosses, where p1 draws s = tails"
    assert offered(session) == {heads: Fraction(1, 3), tails: Fraction(2, 3)}
    session.pick(next(way for way in session.choices.ways if way.text == heads))
    # The adversary picks one of two processes; that nothing is seen does not depend on which.
    assert list(offered(session).values()) == [Fraction(1, 2)] * 3


def test_a_name_may_have_an_apostrophe() -> None:
    text = COIN.replace("choose s by", "choose s' by").replace("side := s\n", "side := s'\n")
    session = SteppingSession(spec(text))
    assert "p1: tosses, where p1 draws s' = heads" in offered(session)


def test_a_scenario_names_what_a_coin_shows(tmp_path: Path) -> None:
    file = tmp_path / "coin.bcast"
    file.write_text(COIN, encoding="utf-8")
    report = run_check(str(file), "c", Options())
    assert [scenario.reason for scenario in report.scenarios if not scenario.met] == []
    (found,) = report.verdicts
    assert found.word is Word.VIOLATED and found.trace is not None
    shown = [
        assignment(e) for step in found.trace.steps for e in step.events if isinstance(e, Drawn)
    ]
    assert "s = tails" in shown
    file.write_text(COIN.replace("… s = tails", "… s = edge"), encoding="utf-8")
    (unlucky,) = run_check(str(file), "c", Options()).scenarios
    assert not unlucky.met
    assert any("p2 draws s = heads" in way for way in unlucky.possible)
