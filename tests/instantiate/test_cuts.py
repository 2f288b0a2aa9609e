"""Links that are cut: which clauses are refused, what a step of it is, what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.instantiate.world import CUTS
from checker.results import events as ev
from checker.results.answer import Limits
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check
from checker.simulate.session import SteppingSession
from checker.simulate.why_not import why_not
from tests.simulate.opening import spec

FLOOD = """
protocol Flood(a: Proc = p1, b: Proc = p2) {
  message DATA
  state got = false
  upon init when self == p1 { got := true  send DATA to Proc minus {self} }
  upon receive DATA when not got { got := true  send DATA to Proc minus {self} }
  property informed : eventually forall p in Proc: p.got
  property knows : always forall p in Proc: p == a => p.got
  property silent : always forall p in Proc: p.got => p == a
}
check c of Flood { n = 3  faults FAULTS  prove informed  allow unused }
"""

ROLES = """
protocol Roles {
  message GO
  role client(1) { upon init { send GO to server } }
  role server(2) {
    state got = false
    upon receive GO { got := true }
  }
  property arrives : eventually exists s in server: s.got
}
check c of Roles { faults FAULTS  prove arrives  allow unused }
"""


def flood(faults: str) -> str:
    return FLOOD.replace("== p1", "== a").replace("FAULTS", faults)


def report(folder: Path, text: str, **more: object) -> Report:
    path = folder / "cut.bcast"
    path.write_text(text, encoding="utf-8")
    return run_check(str(path), "c", Options(**more))  # type: ignore[arg-type]


# ---- what is no cut ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "faults", "code"),
    [
        (ROLES, "cut <= 0", "C035"),
        (ROLES, "cut <= 1 of client -> client", "C035"),
        (ROLES, "cut <= 1 of client -> server, cut <= 1 of Proc -> server", "C035"),
        (ROLES, "cut <= 1 of server", "C032"),
        (ROLES, "crash <= 1 of client -> server", "C032"),
        (ROLES, "cut <= 1 of client -> broker", "C005"),
        (FLOOD, "cut <= 1 of a -> n", "C005"),
        (ROLES, "cut <= 1, cut <= 2", "C009"),
        (ROLES, "cut <= 1 of client -> server, cut of client -> server", "C009"),
        (ROLES, "cut <= 0 - 1", "E003"),
        (ROLES, "cut <= true", "N003"),
    ],
)
def test_a_clause_that_cuts_nothing_is_refused(
    text: str, faults: str, code: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecError) as refused:
        report(tmp_path, text.replace("== p1", "== a").replace("FAULTS", faults))
    assert [d.code for d in refused.value.diagnostics] == [code]


def test_a_single_process_has_no_link(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="there is no link to cut"):
        report(tmp_path, flood("cut <= 1"), settings={"n": "1", "b": "p1"})


# ---- what is one ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["native", "native plain", "reference", "native fine"])
@pytest.mark.parametrize(
    ("faults", "informed"),
    [
        ("cut <= 1", True),
        ("cut <= 2", False),
        ("cut", False),
        ("cut <= 1 of Proc -> Proc", True),
        ("cut <= 2 of a -> Proc", False),
        ("cut of Proc -> a", True),
        ("cut <= 1 of a -> b, cut <= 1 of b -> a", True),
        ("cut <= 1, cut <= 1 of a -> b", False),
    ],
)
def test_of_three_that_relay(faults: str, informed: bool, mode: str, tmp_path: Path) -> None:
    engine, *more = mode.split()
    reduce = "none" if "plain" in more else "auto"
    found = report(tmp_path, flood(faults), engine=engine, reduce=reduce, fine_steps="fine" in more)
    word = Word.HOLDS if informed else Word.VIOLATED
    assert [verdict.word for verdict in found.verdicts] == [word]


@pytest.mark.parametrize(
    "value", ["1", "1 of a -> b", "any of Proc -> a", "1 of a -> b, 1 of b -> a"]
)
def test_a_setting_replaces_all_cuts(value: str, tmp_path: Path) -> None:
    found = report(tmp_path, flood("cut <= 2"), settings={"cut": value})
    assert [verdict.word for verdict in found.verdicts] == [Word.HOLDS]


def test_none_takes_cuts_away(tmp_path: Path) -> None:
    found = report(tmp_path, flood("cut <= 2"), settings={"cut": "none"})
    assert "no faults" in found.world


def test_processes_stay_interchangeable(tmp_path: Path) -> None:
    """A link has no first end: of three, two are alike."""
    text = flood("cut <= 1").replace("prove informed", "prove knows")
    found = report(tmp_path, text, reduce="symmetry")
    plain = report(tmp_path, text, reduce="none")
    assert plain.distinct_states > 1.5 * found.distinct_states


IN_ROUNDS = """
protocol P(a: Proc = p1, b: Proc = p2) {
  message A
  state got = false
  state over = false
  upon init {
    if self == a { send A to b }
    start t after 1
  }
  upon receive A { got := true }
  upon timeout t { over := true }
  property in_time : always b.over => b.got
}
check c of P { n = 2  timing synchronous  faults cut <= 1  prove in_time }
"""


@pytest.mark.parametrize("cut", ["1", "1 of b -> a"])
def test_symbolic_search_finds_what_a_cut_does(cut: str, tmp_path: Path) -> None:
    pytest.importorskip("z3")
    more = {"engine": "symbolic", "limits": Limits(max_depth=5), "settings": {"cut": cut}}
    word = Word.VIOLATED if cut == "1" else Word.BOUNDED
    assert report(tmp_path, IN_ROUNDS, **more).verdicts[0].word is word


# ---- what is said of it -----------------------------------------------------------------------


def test_a_cut_is_a_fault_and_what_a_round_loses_behind_it_is_not_one_more(tmp_path: Path) -> None:
    found = report(tmp_path, IN_ROUNDS, explain=20.0).verdicts[0]
    assert found.word is Word.VIOLATED and found.trace is not None
    explained = found.trace.explanation
    assert explained is not None and explained.after is not None
    assert explained.after.faults == 1
    events = [event for step in found.trace.steps for event in step.events]
    assert ev.Cut("p1", "p2") in events and any(isinstance(e, ev.Lost) for e in events)
    (cut,) = [c for c in explained.ablations if c.kind == "fault"]
    assert (cut.what, cut.outcome) == ("the cut of the link between p1 and p2", "holds")
    assert "The link between p1 and p2 is cut." in explained.sentences


def stepping(faults: str, *words: str) -> SteppingSession:
    session = SteppingSession(spec(flood(faults)))
    for step in words:
        session.say(step)
        assert session.steps_taken[-1].text == step
    return session


def told(session: SteppingSession, asked: str) -> tuple[str, ...]:
    assert session.state is not None
    found = why_not(asked, session.system, session.state, session.trace())
    return tuple(reason.text for reason in found)


def test_why_not() -> None:
    between, from_to = "the link between p1 and p2", "the link from p1 to p3"
    session = stepping(
        "cut <= 1, cut <= 1 of Proc -> Proc", f"{between} is cut", f"{from_to} is cut"
    )
    assert told(session, "p2 receives DATA from p1") == ("the link from p1 to p2 is cut",)
    assert told(session, "p3 receives DATA from p1") == ("the link from p1 to p3 is cut",)
    assert told(session, f"{between} is cut")[-1].endswith("the link is already cut")
    assert told(session, "the link between p1 and p3 heals") == ("the link is not cut",)
    assert told(session, "the link from p3 to p1 heals") == ("the link is not cut",)
    used_up = ("the fault budget is used up (at most 1 cut)",)
    assert told(session, "the link between p2 and p3 is cut") == used_up
    assert told(session, "the link from p3 to p1 is cut") == used_up


def test_a_link_that_is_cut_again_counts_again() -> None:
    cut, heals = "the link between p1 and p2 is cut", "the link between p1 and p2 heals"
    session = stepping("cut <= 2", cut, heals, cut, heals)
    assert told(session, cut)[-1] == "the fault budget is used up (at most 2 cuts)"
    unbounded = stepping("cut", cut, heals, cut, heals, cut)
    assert not any(v.name.startswith(CUTS) for v in unbounded.system.variables)


def test_no_lie_crosses_a_cut() -> None:
    text = flood("byzantine <= 1, cut <= 1").replace("prove", "links authenticated  prove")
    for cut, waits in (("p1 and p2", True), ("p2 and p3", False)):
        session = SteppingSession(spec(text))
        session.say("the run starts with … byzantine = {p1}")
        session.say(f"the link between {cut} is cut")
        lies = told(session, "p1, which is Byzantine, makes p2 receive DATA")
        assert ("the link from p1 to p2 is cut" in lies) is waits, lies
