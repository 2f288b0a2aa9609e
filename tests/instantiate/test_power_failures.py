"""Power failures, lost disks and failing syncs: what is refused, what is said, what can be set."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.results import events as ev
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check
from checker.simulate.session import SteppingSession
from checker.simulate.why_not import why_not
from tests.simulate.opening import spec

FILES = """
protocol Files {
  role server(2) {
    stable state data = false
    stable state pointer = false
    upon condition not data as writes { data := true  SYNC  pointer := true }
  }
  property sound : always forall s in server: s.pointer => s.data
}
check c of Files { faults FAULTS  prove sound  allow unused }
"""


def files(faults: str, sync: str = "") -> str:
    return FILES.replace("FAULTS", faults).replace("SYNC", sync)


def report(folder: Path, text: str, **settings: str) -> Report:
    path = folder / "disks.bcast"
    path.write_text(text, encoding="utf-8")
    return run_check(str(path), "c", Options(settings=settings))


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("faults", "sync", "code", "hint"),
    [
        ("power <= 1", "", "C024", "write `power <= 1, recover`"),
        ("wipe <= 1", "", "C024", "write `wipe <= 1, recover`"),
        ("crash <= 1, recover, sync <= 1", "", "C024", "write `sync <= 1, power <= 1`"),
        ("power, recover", "", "C010", ""),
        ("sync <= 1 of server, power <= 1, recover", "", "C032", ""),
        ("power <= 1, recover", "sync nothing", "N002", "there is `data`, `pointer`"),
        ("power <= 1, recover", "atomic { data := true  sync data }", "C202", "behind the block"),
    ],
)
def test_refused(faults: str, sync: str, code: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refused:
        report(tmp_path, files(faults, sync))
    (found,) = refused.value.diagnostics
    assert found.code == code and found.span is not None
    assert hint in (found.hint or ""), found.hint


def test_an_atomic_block_that_stores_calls_no_layer(tmp_path: Path) -> None:
    text = """
protocol Calls implements ReliableBroadcast {
  uses beb: BestEffortBroadcast
  message DATA(m: Msg)
  stable synced state sent : set<Msg> = {}
  upon request broadcast(m) { atomic { sent += m  beb.broadcast(DATA(m)) } }
  upon beb.deliver(p, DATA(m)) { deliver(p, m) }
}
check c of Calls {
  n = 2
  clients { p1 broadcasts a }
  faults power <= 1, recover
}
"""
    with pytest.raises(SpecError) as refused:
        report(tmp_path, text)
    assert [d.code for d in refused.value.diagnostics] == ["C202"]
    assert "at most 1 crash" in report(tmp_path, text.replace("power", "crash")).world


# ---- what can be set --------------------------------------------------------------------------


def test_faults_of_disks_can_be_set(tmp_path: Path) -> None:
    killed = files("crash <= 1, recover")
    assert report(tmp_path, killed).verdicts[0].word is Word.HOLDS
    assert report(tmp_path, killed, power="1").verdicts[0].word is Word.VIOLATED
    assert report(tmp_path, killed, power="1 of server").verdicts[0].word is Word.VIOLATED
    assert report(tmp_path, killed, wipe="1").verdicts[0].word is Word.HOLDS
    synced = files("power <= 1, recover", "sync data")
    assert report(tmp_path, synced).verdicts[0].word is Word.HOLDS
    assert report(tmp_path, synced, sync="1").verdicts[0].word is Word.VIOLATED
    assert (
        report(tmp_path, files("power <= 1, recover"), power="none", crash="1").verdicts[0].word
        is Word.HOLDS
    )


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"power": "any"}, "N002"),  # each stop counts: there is no number of any of them
        ({"power": "1 of nobody"}, "C005"),
        ({"sync": "1"}, "C024"),
        ({"wipe": "1", "recover": "no"}, "C024"),
    ],
)
def test_what_cannot_be_set(settings: dict[str, str], code: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refused:
        report(tmp_path, files("crash <= 1, recover"), **settings)
    assert code in [d.code for d in refused.value.diagnostics]


# ---- what is said -----------------------------------------------------------------------------


def test_why_not() -> None:
    text = files("power <= 1, wipe <= 1, recover").replace("data := true ", "skip  data := true ")
    session = SteppingSession(spec(text))

    def told(asked: str) -> tuple[str, ...]:
        assert session.state is not None
        found = why_not(asked, session.system, session.state, session.trace())
        return tuple(reason.text for reason in found)

    session.say("s1 loses its power")
    assert "s1 has crashed" in " ".join(told("s1 loses its power"))
    used_up = "the fault budget is used up (at most 1 power failure)"
    assert used_up in " ".join(told("s2 loses its power"))
    session.say("s2 crashes and loses its disk")
    session.say("s1 comes back up")
    assert "at most 1 lost disk" in " ".join(told("s1 crashes and loses its disk"))


def test_a_report_says_what_is_counted_and_what_is_left(tmp_path: Path) -> None:
    found = report(tmp_path, files("power <= 1, sync <= 2, recover", "sync data"))
    assert "at most 1 power failure with recovery, at most 2 failed syncs" in found.world
    assert any("power failures included" in note for note in found.notes)
    (verdict,) = found.verdicts
    assert verdict.word is Word.VIOLATED and verdict.trace is not None
    events = [event for step in verdict.trace.steps for event in step.events]
    kinds = {type(event) for event in events}
    assert {ev.SyncFailed, ev.PowerFailed, ev.Left} <= kinds
    left = {event.variable: event.value for event in events if isinstance(event, ev.Left)}
    assert left == {"data": "false", "pointer": "true"}


def test_nothing_is_said_of_what_a_disk_holds_for_sure(tmp_path: Path) -> None:
    """The pointer alone may be missing: the data are synced."""
    text = files("power <= 1, recover", "sync data").replace(
        "s.pointer => s.data", "s.data => s.pointer"
    )
    (verdict,) = report(tmp_path, text).verdicts
    assert verdict.word is Word.VIOLATED and verdict.trace is not None
    events = [event for step in verdict.trace.steps for event in step.events]
    assert "data" not in {event.variable for event in events if isinstance(event, ev.Left)}
