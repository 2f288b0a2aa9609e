"""Views show a process that is down with the values that it had when it stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.render.html.state import states_of
from checker.results.trace import Trace
from checker.results.values_when_down import values_when_down
from checker.session.pipeline import open_check
from checker.simulate.phrase_matching import match_choice
from checker.simulate.session import SteppingSession

SPEC = """
protocol P {
  message HELLO
  state tried = false
  state known = false
  stable state kept = false
  upon condition not tried { tried := true  kept := true  known := true  send HELLO to all }
  upon receive HELLO { }
  property kept_known : always forall p in Proc: p.known or not p.known
}
check down of P { n = 1  faults crash <= 1  prove kept_known }
check back of P { n = 1  faults crash <= 1, recover  prove kept_known }
"""


def stepped(folder: Path, check: str, *words: str) -> Trace:
    path = folder / "p.bcast"
    path.write_text(SPEC)
    session = SteppingSession(open_check(str(path), check, Options()))
    for phrase in words:
        session.pick(match_choice(phrase, session.choices.ways))
    return session.trace()


def shown(trace: Trace) -> dict[str, str]:
    """The last text of each cell of the page's table."""
    states = states_of(trace)
    texts = {cell.title: cell.text for cell in states.cells}
    for deltas in states.deltas:
        for delta in deltas:
            assert texts[states.cells[delta.cell].title] == delta.before
            texts[states.cells[delta.cell].title] = delta.after
    return texts


TRIED = ("p1: upon condition not tried", "p1 crashes")


def test_a_process_that_is_down_has_its_last_values(tmp_path: Path) -> None:
    trace = stepped(tmp_path, "down", *TRIED)
    assert values_when_down(trace) == {("p1", "tried"): "true", ("p1", "kept"): "true"}
    texts = shown(trace)
    assert [texts[name] for name in ("tried", "known", "kept")] == ["true"] * 3


def test_who_comes_back_has_initial_values(tmp_path: Path) -> None:
    trace = stepped(tmp_path, "back", *TRIED)
    assert shown(trace)["tried"] == "true"
    trace = stepped(tmp_path, "back", *TRIED, "p1 recovers")
    assert not values_when_down(trace)
    texts = shown(trace)
    assert (texts["tried"], texts["kept"]) == ("false", "true")


@pytest.mark.parametrize("words", [(), TRIED[:1], TRIED[1:]])
def test_nothing_else_is_changed(words: tuple[str, ...], tmp_path: Path) -> None:
    assert not values_when_down(stepped(tmp_path, "down", *words))
