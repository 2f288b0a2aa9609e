"""Connections: what is refused, what a step of one is, what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.instantiate.world import RESETS
from checker.language.load import load_text
from checker.model.types import VariantT
from checker.results import events as ev
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check
from checker.simulate.session import SteppingSession
from checker.simulate.why_not import why_not
from tests.simulate.opening import spec

PAIR = """
protocol Pair {
  message DATA(k: 1..2)
  message DONE
  role client(1) {
    state gone = false
    state done = false
    upon init { send DATA(1) to server  send DATA(2) to server }
    upon receive DONE { done := true }
    upon disconnected p { gone := true }
  }
  role server(1) {
    state got : seq<1..2, max 2> = []
    state gone = false
    upon receive DATA(k) from p {
      got := got ++ [k]
      if k == 2 { send DONE to p }
    }
    upon disconnected _ as hears_of_it { gone := true }
  }
  property arrives : eventually forall s in server: s.got == [1, 2]
  property prefix : always forall s in server: s.got in {[], [1], [1, 2]}
}
check c of Pair { WORLD  prove arrives, prefix  allow unused }
"""


def pair(world: str) -> str:
    return PAIR.replace("WORLD", world)


def report(folder: Path, text: str, **more: object) -> Report:
    path = folder / "connection.bcast"
    path.write_text(text, encoding="utf-8")
    return run_check(str(path), "c", Options(**more))  # type: ignore[arg-type]


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.every
@pytest.mark.parametrize(
    ("world", "code"),
    [
        ("faults reset <= 1", "C038"),
        ("links fifo  faults reset <= 1", "C038"),
        ("links connected  faults reset", "C010"),
        ("links connected  faults reset <= 0 - 1", "E003"),
        ("links connected  faults reset <= 1 of server", "C032"),
        ("links connected  faults reset <= 1 of client -> server", "C032"),
        ("links connected  faults reset <= 1, reset <= 2", "C009"),
        ("links connected  faults omission <= 1", "C003"),
        ("links client -> server connected  faults omission <= 1", "C003"),
        ("links connected  timing synchronous", "C003"),
        ("links connected  timing partial", "C003"),
        ("links connected  faults byzantine <= 1", "C022"),
        *((f"links connected, {kind}", "C003") for kind in ("lossy", "fair_loss", "bounded 2")),
        ("links stubborn, connected", "C003"),
        ("links duplicating, connected", "C003"),
        ("links persistent, connected", "C003"),
    ],
)  # fmt: skip
def test_what_does_not_go_with_connections(world: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refused:
        report(tmp_path, pair(world))
    assert [d.code for d in refused.value.diagnostics] == [code]


@pytest.mark.parametrize("kinds", ["connected", "connected, fifo", "perfect, connected"])
def test_kinds_that_go_with_it_change_nothing(kinds: str, tmp_path: Path) -> None:
    found = report(tmp_path, pair(f"links {kinds}  faults reset <= 1"), reduce="none")
    alone = report(tmp_path, pair("links connected  faults reset <= 1"), reduce="none")
    assert found.distinct_states == alone.distinct_states


def test_an_event_needs_a_process() -> None:
    with pytest.raises(SpecError):
        spec(pair("links connected").replace("upon disconnected p {", "upon disconnected {"))
    with pytest.raises(SpecError) as refused:
        spec(pair("links connected").replace("upon disconnected p {", "upon disconnected 1 {"))
    assert [d.code for d in refused.value.diagnostics] == ["N003"]


@pytest.mark.parametrize(
    ("world", "warned"),
    [
        ("", True),
        ("links fifo", True),
        ("links connected", False),
        ("links client -> server connected", False),
    ],
)  # fmt: skip
def test_a_handler_that_never_runs_is_told(world: str, warned: bool) -> None:
    """Of links that are no connections nobody hears that they break."""
    (check,) = load_text(pair(world), "pair.bcast").checks
    assert ("C043" in [w.code for w in check.warnings]) is warned
    without = pair(world).replace("upon disconnected p {", "upon receive DONE from _ when done {")
    without = without.replace("upon disconnected _ as hears_of_it {", "upon condition false {")
    (check,) = load_text(without, "pair.bcast").checks
    assert "C043" not in [w.code for w in check.warnings]


# ---- what is in flight ------------------------------------------------------------------------


def test_a_check_without_connections_has_no_notice() -> None:
    plain = spec(pair("links fifo")).system
    assert RESETS not in {v.name for v in plain.variables}
    assert not any("disconnected" in _cases(v.type) for v in plain.variables)
    connected = spec(pair("links connected")).system
    assert RESETS not in {v.name for v in connected.variables}
    assert any("disconnected" in _cases(v.type) for v in connected.variables)
    assert not any(a.name == "reset" for a in connected.actions)


def _cases(type_: object) -> set[str]:
    """The names of the cases of all variants in a type."""
    found = {c.name for c in type_.cases} if isinstance(type_, VariantT) else set()
    parts = (getattr(type_, name, None) for name in ("value", "item"))
    return found.union(*(_cases(part) for part in parts if part is not None))


@pytest.mark.parametrize(
    ("resets", "arrives"), [("none", Word.HOLDS), ("1", Word.VIOLATED), ("2", Word.VIOLATED)]
)
def test_a_setting(resets: str, arrives: Word, tmp_path: Path) -> None:
    text = pair("links connected  faults reset <= 1")
    found = report(tmp_path, text, settings={"reset": resets})
    words = [verdict.word for verdict in found.verdicts]
    assert words == [arrives, Word.HOLDS]


def test_processes_stay_interchangeable(tmp_path: Path) -> None:
    """A connection has no first end."""
    text = """
protocol Ring {
  message A
  state got = false
  state gone : set<Proc> = {}
  upon init { send A to all }
  upon receive A { got := true }
  upon disconnected p { gone += p }
  property calm : always forall p in Proc: not p in p.gone
}
check c of Ring { n = 3  links connected  faults reset <= 1  prove calm }
"""
    found = report(tmp_path, text, reduce="symmetry")
    plain = report(tmp_path, text, reduce="none")
    assert [v.word for v in found.verdicts] == [v.word for v in plain.verdicts] == [Word.HOLDS]
    assert plain.distinct_states > 4 * found.distinct_states


# ---- what is said of it -----------------------------------------------------------------------


def test_a_reset_is_one_fault_whatever_it_loses(tmp_path: Path) -> None:
    text = pair("links connected  faults reset <= 1")
    found = report(tmp_path, text, explain=20.0).verdicts[0]
    assert found.word is Word.VIOLATED and found.trace is not None
    explained = found.trace.explanation
    assert explained is not None and explained.after is not None
    assert explained.after.faults == 1
    events = [event for step in found.trace.steps for event in step.events]
    assert ev.Reset("c1", "s1") in events and any(isinstance(e, ev.Lost) for e in events)
    (reset,) = [c for c in explained.ablations if c.kind == "fault"]
    said = "the reset of the connection between c1 and s1"
    assert (reset.what, reset.outcome) == (said, "holds")
    told = {(e.process, e.peer) for e in events if isinstance(e, ev.Disconnected)}
    assert told == {("c1", "s1"), ("s1", "c1")}
    assert any("was reset at step" in sentence for sentence in explained.sentences)


def test_a_handler_may_have_a_name(tmp_path: Path) -> None:
    found = report(tmp_path, pair("links connected  faults reset <= 1"))
    trace = found.verdicts[0].trace
    assert trace is not None
    handled = {e.handler for s in trace.steps for e in s.events if isinstance(e, ev.Handled)}
    assert "hears_of_it" in handled


def told(session: SteppingSession, asked: str) -> tuple[str, ...]:
    assert session.state is not None
    found = why_not(asked, session.system, session.state, session.trace())
    return tuple(reason.text for reason in found)


def test_why_not() -> None:
    reset = "the connection between c1 and s1 is reset"
    client, server = (
        f"{p} learns that its connection to {q} is gone" for p, q in (("c1", "s1"), ("s1", "c1"))
    )
    session = SteppingSession(spec(pair("links connected  faults reset <= 1")))
    assert told(session, client) == ("nothing is in transit from s1 to c1",)
    before = "earlier messages from c1 to s1 are received first"
    assert told(session, server) == (before,)
    session.say(f"{reset}, where the link loses DATA(2) from c1 to s1")
    assert told(session, reset) == ("the fault budget is used up (at most 1 reset)",)
    assert told(session, server) == (before,)
    assert told(session, "s1 receives DATA(2)")[0] == "DATA(2) from c1 to s1 was lost in step 1"
    session.say("s1 receives DATA(1)")
    session.say(server)
    session.say(client)
    assert session.steps_taken[-1].text == client
    assert not session.choices.ways
