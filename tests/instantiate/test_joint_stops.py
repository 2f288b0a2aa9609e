"""Roles that die with others: what is refused, what is told, and what stays as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.instantiate.faults.fault_marks import FaultKind, faults_of
from checker.language.load import load_text
from checker.parametric.extract.extract import extract
from checker.reductions.symmetry.automorphisms import find_symmetry
from checker.results import events as ev
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check
from checker.simulate.session import SteppingSession
from checker.simulate.why_not import why_not
from tests.simulate.opening import spec

THREADS = """
protocol Threads {
  message FLUSH
  message DONE
  role broker(1) {
    state told = false
    upon init { send FLUSH to flusher }
    upon receive DONE { told := true }
  }
  role flusher(1) DIES {
    stable state disk = false
    upon receive FLUSH { disk := true  send DONE to broker }
  }
  property on_disk "If the program stays up, it is on disk." :
    forall b in broker, l in flusher: correct(b) => eventually l.disk
}
"""
CRASHES = "check c of Threads { faults crash <= 1  prove on_disk  allow unused }"
PAIRS = """
protocol Pairs(k: Nat = 2) {
  message M
  role server(k) { state up = true  upon init { send M to store } }
  role store(k) dies with server { state got = false  upon receive M { got := true perform self } }
  property alike : always forall s in server, d in store: not (crashed(s) and d.got)
}
check c of Pairs { WORLD  prove alike  allow unused }
"""


def report(text: str, folder: Path, engine: str = "native", fine: bool = False) -> Report:
    file = folder / "threads.bcast"
    file.write_text(text, encoding="utf-8")
    return run_check(str(file), "c", Options(engine=engine, fine_steps=fine))


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_threads_of_one_program_die_together(engine: str, fine: bool, tmp_path: Path) -> None:
    for dies, word in (("dies with broker", Word.HOLDS), ("", Word.VIOLATED)):
        text = THREADS.replace("DIES", dies) + CRASHES
        (verdict,) = report(text, tmp_path, engine, fine).verdicts
        assert verdict.word is word, dies


def test_a_variant_may_make_them_die_together(tmp_path: Path) -> None:
    text = (
        THREADS.replace("DIES", "") + "variant One of Threads { role flusher dies with broker { } }"
    )
    (verdict,) = report(text + CRASHES.replace("of Threads", "of One"), tmp_path).verdicts
    assert verdict.word is Word.HOLDS


def test_a_server_is_interchangeable_together_with_its_store() -> None:
    system = SteppingSession(spec(PAIRS.replace("WORLD", "faults crash <= 1"))).system
    group, _ = find_symmetry(system)
    assert group is not None
    assert group.text == "interchangeable: server1 with store1 and server2 with store2"


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("roles", "code"),
    [
        ("role b(1) dies with c { state y = true }", "N036"),
        ("role b(1) dies with b { state y = true }", "N036"),
        (
            "role b(1) dies with a { state y = true } role c(1) dies with b { state z = true }",
            "N036",
        ),
    ],
    ids=["no role", "itself", "a chain"],
)
def test_what_is_no_lead(roles: str, code: str) -> None:
    text = f"protocol P {{ role a(1) {{ state x = true }} {roles} }}"
    with pytest.raises(SpecError) as error:
        load_text(text, "p.bcast")
    assert [each.code for each in error.value.diagnostics] == [code]


def test_a_cycle_has_no_lead() -> None:
    roles = "role a(1) dies with b { state x = true } role b(1) dies with a { state y = true }"
    text = f"protocol P {{ {roles} }}"
    with pytest.raises(SpecError) as error:
        load_text(text, "p.bcast")
    assert {each.code for each in error.value.diagnostics} == {"N036"}


@pytest.mark.parametrize(
    ("world", "code"),
    [
        ("faults crash <= 1 of store", "C039"),
        ("faults crash <= 1, recover of store", "C039"),
        ("faults pause of store", "C039"),
        ("faults power <= 1 of store, recover", "C039"),
        ("faults wipe <= 1 of store, recover", "C039"),
        ("faults power <= 1 of server, wipe <= 1 of server, recover", ""),
        ("faults byzantine <= 1", "C022"),
        ("faults crash <= 3", "E003"),
        ("faults omission <= 3", ""),
        ("faults omission <= 1 of store", ""),
    ],
)
def test_which_worlds_are_refused(world: str, code: str, tmp_path: Path) -> None:
    try:
        found = report(PAIRS.replace("WORLD", world), tmp_path)
    except SpecError as error:
        assert [each.code for each in error.diagnostics] == [code]
    else:
        assert code == "" and found.verdicts


def test_unequal_sizes_are_refused(tmp_path: Path) -> None:
    text = PAIRS.replace("store(k)", "store(3)").replace("WORLD", "faults crash <= 1")
    with pytest.raises(SpecError) as error:
        report(text, tmp_path)
    assert [each.code for each in error.value.diagnostics] == ["C039"]


def test_every_size_is_refused() -> None:
    text = PAIRS.replace("(k: Nat = 2)", "").replace("(k)", "(1)")
    text = text.replace("WORLD", "for all n, f  faults crash <= f")
    with pytest.raises(SpecError) as error:
        extract(load_text(text, "pairs.bcast").checks[0])
    second = "`store` is a second role, in addition to `server`"
    assert second in [each.message for each in error.value.diagnostics]


def test_an_oracle_is_refused(tmp_path: Path) -> None:
    text = """
interface Up { request ask(m: Msg) }
protocol P implements Up {
  uses low : ReliableBroadcast
  message DATA(m: Msg)
  role a(1) {
    state x = false
    upon request ask(m) { low.broadcast(DATA(m)) }
    upon low.deliver(p, DATA(m)) { x := true }
  }
  role b(1) dies with a { state y = false  upon low.deliver(p, DATA(m)) { y := true } }
  property same : always forall q in a: q.x == q.x
}
check c of P { faults crash <= 1  given low as oracle  clients { a1 asks m }  prove same }
"""
    with pytest.raises(SpecError) as error:
        report(text, tmp_path)
    assert [each.code for each in error.value.diagnostics] == ["C022"]


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_coverage_has_the_crash_points_of_who_follows(
    engine: str, fine: bool, tmp_path: Path
) -> None:
    file = tmp_path / "threads.bcast"
    world = CRASHES.replace("crash <= 1", "crash <= 1, recover")
    file.write_text(THREADS.replace("DIES", "dies with broker") + world, encoding="utf-8")
    options = Options(engine=engine, coverage=True, reduce="none", fine_steps=fine)
    points = {c.text: c.reached for c in run_check(str(file), "c", options).coverage}
    inside = "" if fine else ", inside `upon receive FLUSH`"
    assert points[f"before the write of `disk`{inside}"]


# ---- what is told -----------------------------------------------------------------------------


def session(world: str, *steps: str) -> SteppingSession:
    made = SteppingSession(spec(THREADS.replace("DIES", "dies with broker") + world))
    for words in steps:
        made.say(words)
    return made


@pytest.mark.parametrize("words", ["b1 crashes", "f1 crashes"])
def test_the_crash_of_either_is_one_step(words: str) -> None:
    made = session(CRASHES, words)
    assert [fate.process for fate in made.trace().fates if fate.crashed] == ["b1", "f1"]


def test_either_comes_back() -> None:
    world = CRASHES.replace("crash <= 1", "crash <= 1, recover")
    for back in ("b1 comes back up", "f1 comes back up", "f1 recovers"):
        made = session(world, "f1 crashes", back)
        assert not [fate for fate in made.trace().fates if fate.crashed], back


def test_why_not_names_who_is_down() -> None:
    made = session(CRASHES, "b1 crashes")
    assert made.state is not None
    reasons = why_not("f1 receives FLUSH from b1", made.system, made.state, made.trace())
    assert [reason.text for reason in reasons] == ["f1 has crashed in step 1"]


DISKS = CRASHES.replace("crash <= 1", "power <= 1, recover")


@pytest.mark.parametrize("words", ["b1 loses its power", "f1 loses its power"])
def test_why_not_names_the_bound_of_both(words: str) -> None:
    made = session(DISKS, "b1 loses its power", "f1 comes back up")
    assert made.state is not None
    reasons = why_not(words, made.system, made.state, made.trace())
    assert [each.text for each in reasons] == [
        "the fault budget is used up (at most 1 power failure)"
    ]


@pytest.mark.parametrize("who", ["b1", "f1"])
def test_the_power_of_both_fails_at_once(who: str) -> None:
    left = f"{who} loses its power, where f1 is left with disk = false"
    made = session(DISKS, "f1 receives FLUSH from b1", left)
    events = made.trace().steps[-1].events
    assert [type(e) for e in events[:2]] == [ev.PowerFailed] * 2
    assert ev.Left("disk", "false", process="f1") in events


def test_a_failure_of_power_is_explained_with_all_that_it_stops(tmp_path: Path) -> None:
    text = (THREADS + DISKS).replace("DIES", "dies with broker")
    text = text.replace("correct(b) => eventually l.disk", "b.told ~> always l.disk")
    file = tmp_path / "threads.bcast"
    file.write_text(text, encoding="utf-8")
    (verdict,) = run_check(str(file), "c", Options(explain=20.0)).verdicts
    assert verdict.trace is not None and verdict.trace.explanation is not None
    said = verdict.trace.explanation.sentences
    assert any("b1 lost its power" in each and "and f1 with it" in each for each in said), said


@pytest.mark.parametrize(
    "stop",
    [("crash <= 1", "f1 crashes"), ("power <= 1, recover", "f1 loses its power")],
    ids=["crash", "power"],
)
def test_one_stop_is_one_fault(stop: tuple[str, str]) -> None:
    world, words = stop
    made = session(CRASHES.replace("crash <= 1", world), words)
    made_of = {"f1 crashes": FaultKind.CRASH, "f1 loses its power": FaultKind.POWER}
    (faults,) = faults_of(made.system, (made.steps_taken[-1].events,))
    assert [fault.kind for fault in faults] == [made_of[words]]
