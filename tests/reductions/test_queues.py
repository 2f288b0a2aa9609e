"""Messages of no effect in queues, and what moves in one direction once no crash is left; each rule
with systems in which a wrong one would show.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.model import ir
from checker.model.tree import nodes, placeless
from checker.reductions.dead_variables import analysis, messages, monotone_variables
from checker.reductions.dead_variables.monotonicity import Direction, Trend, Trends
from checker.reductions.dead_variables.program_points import program_points
from checker.reductions.dead_variables.queues import with_bags
from checker.reductions.dead_variables.settled import settled
from tests.reductions.resting import disagreement
from tests.reductions.test_grows_over_crashes import system_from

EPOCHS = """
protocol P {
  message HELLO(t: 0..2)
  message BACK(t: 0..2)
  KEPT state term : 0..2 = 0
  state led = false
  upon condition term < 2 { term := term + 1  send HELLO(term) to Proc minus {self} }
  upon receive HELLO(t) from p when t > term { term := t  send BACK(t) to p }
  upon receive BACK(t) when t == term { led := true }
  MORE
  property few : always not (forall p in Proc: p.led)
}
check c of P { n = 2  faults FAULTS  links LINKS  prove few  allow unused }
"""
RECOVER = "crash <= 1, recover"


def epochs(
    folder: Path,
    *,
    kept: str = "stable",
    faults: str = RECOVER,
    links: str = "fifo",
    more: str = "",
) -> ir.TransitionSystem:
    text = EPOCHS.replace("KEPT", kept).replace("FAULTS", faults).replace("LINKS", links)
    return system_from(text.replace("MORE", more), folder)


def shortens(block: ir.Block) -> bool:
    """Whether something is taken out of what is in flight."""
    return any(isinstance(n, ir.Target) and n.name == "@network" for n in nodes(block))


def known(system: ir.TransitionSystem, name: str) -> tuple[Trend, Trend]:
    """The trend of a variable, and what it is once no crash is left."""
    plain = placeless(system)
    sites = program_points(plain)
    trends = monotone_variables.trends(plain, sites)
    return trends.variables[name], settled(plain, sites, trends).variables[name]


@pytest.mark.parametrize("kept", ["stable", ""])
@pytest.mark.parametrize("faults", [RECOVER, "crash <= 1", "crash <= 2, recover"])
def test_a_message_of_no_effect_leaves_its_queue(kept: str, faults: str, tmp_path: Path) -> None:
    system = epochs(tmp_path, kept=kept, faults=faults)
    block, _ = analysis.find_dead(system)
    assert shortens(block)
    assert disagreement(system, block, 300) is None


def test_what_a_crash_resets_grows_once_no_crash_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = epochs(tmp_path, kept="")
    before, later = known(system, "term")
    assert before.way is Direction.ANY
    assert later.way is Direction.UP and later.once is not None
    monkeypatch.setattr(Trends, "onces", lambda self, expr: ())
    wrong, _ = analysis.find_dead(system)
    assert shortens(wrong) and disagreement(system, wrong, 300) is not None


def test_what_falls_without_a_crash_never_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    falls = "upon condition led and term == 2 { term := 0  led := false }"
    system = epochs(tmp_path, kept="", more=falls)
    assert known(system, "term")[1].way is Direction.ANY
    block, _ = analysis.find_dead(system)
    assert disagreement(system, block, 300) is None
    monkeypatch.setattr("checker.reductions.dead_variables.settled.keeps", lambda store, up: True)
    wrong, _ = analysis.find_dead(system)
    assert disagreement(system, wrong, 300) is not None


TWO_HANDLERS = "upon receive BACK(t) when t > term { led := false }"


def test_whichever_handler_takes_it(tmp_path: Path) -> None:
    """A message may be of no effect although several handlers could take it."""
    system = epochs(tmp_path, faults="crash <= 0", more=TWO_HANDLERS)
    block, _ = analysis.find_dead(system)
    assert shortens(block)
    assert disagreement(system, block, 300) is None


IN_THE_WAY = """
protocol P {
  message ANY
  message OTHER
  state begun = false
  state led = false
  upon condition not begun { begun := true  send ANY to Proc  send OTHER to Proc }
  upon receive ANY { choose x in 0..1 when not begun and x == 0  led := true }
  upon receive OTHER { led := true }
  property few : always not (forall p in Proc: p.led)
}
check c of P { n = 2  links fifo  prove few  allow unused }
"""


def test_what_cannot_be_taken_stays_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A choice that can't be made keeps its message, and those behind it, where they are."""
    system = system_from(IN_THE_WAY, tmp_path)
    block, _ = analysis.find_dead(system)
    assert disagreement(system, block, 300) is None
    monkeypatch.setattr(messages, "has_a_way", lambda stmt: True)
    wrong, _ = analysis.find_dead(system_from(IN_THE_WAY, tmp_path))
    assert disagreement(system, wrong, 300) is not None


@pytest.mark.parametrize("links", ["fifo, bounded 2", "fifo, lossy, bounded 1"])
def test_queues_of_which_more_is_asked_are_left_alone(links: str, tmp_path: Path) -> None:
    system = epochs(tmp_path, links=links)
    assert not with_bags(placeless(system))[1]
    assert not shortens(analysis.find_dead(system)[0])


def test_nothing_leaves_a_queue_where_a_promise_is_asked(tmp_path: Path) -> None:
    """Receptions from a queue have one fairness constraint together."""
    text = EPOCHS.replace("KEPT", "stable").replace("FAULTS", "crash <= 1").replace("MORE", "")
    text = text.replace("always not (forall", "eventually not (forall")
    system = system_from(text.replace("LINKS", "fifo"), tmp_path)
    assert not with_bags(placeless(system))[1]
    assert not shortens(analysis.find_dead(system)[0])
