"""The acts of a harness are those of its trace."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.diagnostics import SpecError
from checker.formats.json_format import trace_from_text
from checker.harness.files import write_harness
from checker.harness.runtime import acts
from checker.harness.runtime.plan import plan
from checker.harness.schedule import _declared, schedule
from checker.records import replace
from checker.results.trace import RECORDED, Source, Trace

SPEC = """\
protocol Plain implements ReliableBroadcast {
  message DATA(origin: Proc, m: Msg)
  upon request broadcast(m) { send DATA(self, m) to all }
  upon receive DATA(s, m) { deliver(s, m) }
}

protocol Busy implements ReliableBroadcast {
  message DATA(origin: Proc, m: Msg)
  stable state seen : set<(Proc, Msg)> = {}
  upon request broadcast(m) { send DATA(self, m) to all }
  upon receive DATA(s, m) when (s, m) not in seen {
    await
    seen += (s, m)
    deliver(s, m)
    send DATA(s, m) to all
  }
}

protocol Waits {
  message PING(number: 0..3)
  message PONG
  state answered = false
  upon init { start soon }
  upon timeout soon { send PING(2) to all }
  upon receive PING(k) from p { send PONG to p }
  upon receive PONG from p { answered := true }
  property never "Nobody is answered." : always forall p in Proc: not p.answered
}

check no_relay of Plain {
  n = 3 faults crash <= 1 links perfect clients { p1 broadcasts a } prove agreement
}
check twice of Plain { n = 2 links duplicating clients { p1 broadcasts a } prove no_duplication }
check lost of Plain { n = 2 links lossy clients { p1 broadcasts a } prove agreement }
check liar of Plain { n = 3 faults byzantine <= 1 clients { p1 broadcasts a } prove no_creation }
check split of Plain {
  n = 2 faults partition <= 1 links perfect clients { p1 broadcasts a } prove agreement
}
protocol Silent {
  message HINT
  state told = false
  state ready = false
  upon init { send HINT to all }
  upon receive HINT { told := true }
  upon condition told and not ready { ready := true }
  property never "Nobody is ready." : always forall p in Proc: not p.ready
}

protocol Writes {
  message HINT
  stable state kept = 0
  stable synced state told = false
  upon init { send HINT to all }
  upon receive HINT {
    kept := 1
    told := true
  }
  property never "What was told is kept." : always forall p in Proc: p.told => p.kept > 0
}

check power of Writes { n = 1 faults power <= 1, recover expect never violated }
check silent of Silent { n = 1 expect never violated }
check busy of Busy { n = 2 links perfect clients { p1 broadcasts a } prove no_duplication }
check waits of Waits { n = 1 timing asynchronous expect never violated }
"""


def trace_of(check: str, folder: Path) -> Trace:
    spec, file = folder / "spec.bcast", folder / "trace.json"
    spec.write_text(SPEC, "utf-8")
    main(["check", f"{spec}::{check}", "-q", "--no-explain", "--trace-out", str(file)])
    return trace_from_text(file.read_text("utf-8"))


def acts_of(check: str, folder: Path) -> tuple[acts.Act, ...]:
    return schedule(trace_of(check, folder))


DATA = acts.Message("DATA", {"origin": "p1", "m": "a"})


def test_a_crash_inside_a_multicast(tmp_path: Path) -> None:
    request, *others = acts_of("no_relay", tmp_path)
    assert isinstance(request, acts.Request)
    assert (request.process, request.name, [*request.values]) == ("p1", "broadcast", ["a"])
    assert request.lines == (acts.Line("request", "broadcast", ("a",)),)
    (sent,) = request.sends
    assert sent.message == DATA
    assert {*sent.to} == {"p1", "p2", "p3"}
    (crash,) = (act for act in others if isinstance(act, acts.Crash))
    assert crash.process == "p1"
    (receive,) = (act for act in others if isinstance(act, acts.Receive))
    assert (receive.sender, receive.message) == ("p1", DATA)
    (stays,) = (act for act in others if isinstance(act, acts.Stay) and act.receiver != "p1")
    assert {receive.process, stays.receiver} == {"p2", "p3"}, "the other one never gets it"


def test_a_duplicate_is_received_again(tmp_path: Path) -> None:
    receptions = [act for act in acts_of("twice", tmp_path) if isinstance(act, acts.Receive)]
    assert [act.again for act in receptions] == [False, True]


def test_what_never_arrives_is_never_released(tmp_path: Path) -> None:
    *others, last = acts_of("lost", tmp_path)
    assert isinstance(last, acts.Lose)
    assert (last.message, last.sender) == (DATA, "p1")
    assert last.receiver not in [act.process for act in others if isinstance(act, acts.Receive)]


def test_a_byzantine_process_is_a_puppet(tmp_path: Path) -> None:
    trace = trace_of("liar", tmp_path)
    (forge,) = (act for act in schedule(trace) if isinstance(act, acts.Forge))
    write_harness(trace, tmp_path / "h")
    text = (tmp_path / "h" / "schedule.py").read_text("utf-8")
    assert f'PUPPETS = ["{forge.sender}"]' in text
    assert forge.process != forge.sender


def test_links_are_cut(tmp_path: Path) -> None:
    found = acts_of("split", tmp_path)
    (cut,) = (act for act in found if isinstance(act, acts.Cut))
    assert {*cut.apart, *cut.others} == {"p1", "p2"}
    assert cut.apart and cut.others


def test_messages_that_are_handled_at_the_same_time_are_released_together(tmp_path: Path) -> None:
    found = acts_of("busy", tmp_path)
    (first,) = (act for act in found if isinstance(act, acts.Receive) and act.with_step)
    (second,) = (act for act in found if act.number == first.with_step)
    assert isinstance(second, acts.Receive)
    assert second.process == first.process
    assert second.number > first.number


def test_what_can_be_forced(tmp_path: Path) -> None:
    found = acts_of("waits", tmp_path)
    words = [[line.split()[1] for line in plan(found, *how)] for how in ((2, True, True),
             (2, True, False), (1, False, False))]  # fmt: skip
    fired, awaited, own = words
    at = next(i for i, act in enumerate(found) if isinstance(act, acts.Fire))
    received = next(i for i, act in enumerate(found) if isinstance(act, acts.Receive))
    assert (fired[at], awaited[at]) == ("forced", "awaited")
    assert (awaited[received], own[received]) == ("forced", "awaited")
    assert any(str(act.message) == "PING(2)" for act in found if isinstance(act, acts.Receive))


def test_what_of_a_forced_step_is_beyond_reach(tmp_path: Path) -> None:
    found = acts_of("power", tmp_path)
    (crash,) = (line for line in plan(found, 2, True, True) if " crashes " in line)
    assert crash.endswith("; beyond reach: SIGKILL loses nothing that was written)")
    (receive,) = (act for act in found if isinstance(act, acts.Receive))
    assert plan([receive], 2, True, True) == ["1  forced        p1 receives HINT from p1"]
    chosen = dataclasses.replace(receive, beyond="which value it chooses")
    (line,) = plan([chosen], 2, True, True)
    assert line.endswith("p1 receives HINT from p1 (beyond reach: which value it chooses)")


def test_what_is_awaited_where_messages_are_not_held(tmp_path: Path) -> None:
    request, *lines = plan(acts_of("no_relay", tmp_path), 2, True, True, held=False)
    assert request.split()[1] == "forced"
    (crash,) = (line for line in lines if " crashes " in line)
    assert crash.endswith("forced        p1 crashes (SIGKILL, when nothing is under way)")
    lines.remove(crash)
    assert lines
    for line in lines:
        assert line.split()[1] == "awaited"
        assert line.endswith("(messages are not held)")


def test_a_step_that_nothing_shows_is_named(tmp_path: Path) -> None:
    *_, last = plan(acts_of("silent", tmp_path), 2, True, True)
    assert last.endswith(
        "beyond reach  p1 takes a step (nothing shows it: p1: upon condition told and not ready)"
    )


def test_what_needs_messages_that_stand_alone(tmp_path: Path) -> None:
    found = acts_of("twice", tmp_path)
    assert " beyond reach " not in "\n".join(plan(found, 2, True, True))
    assert plan(found, 1, True, True)[-1].split()[1:3] == ["beyond", "reach"]


def test_a_log_has_no_schedule(tmp_path: Path) -> None:
    trace = trace_of("no_relay", tmp_path)
    header = replace(trace.header, settings={RECORDED: "p1.ndjson"})
    with pytest.raises(SpecError, match="what a log says") as refused:
        schedule(replace(trace, header=header))
    assert refused.value.diagnostics[0].code == "E113"


def test_a_run_in_which_nobody_is_asked_for_anything(tmp_path: Path) -> None:
    trace = trace_of("no_relay", tmp_path)
    with pytest.raises(SpecError) as refused:
        schedule(replace(trace, steps=trace.steps[:1], closing=None, in_flight=()))
    assert refused.value.diagnostics[0].code == "E113"


def test_own_hooks_stay_and_other_folders_are_refused(tmp_path: Path) -> None:
    trace = trace_of("no_relay", tmp_path)
    folder = tmp_path / "h"
    write_harness(trace, folder)
    assert {each.name for each in folder.iterdir()} == {
        "harness", "hooks.py", "run.py", "schedule.py", "spec.bcast",
    }  # fmt: skip
    (folder / "hooks.py").write_text("# mine\n", "utf-8")
    (folder / "schedule.py").write_text("# old\n", "utf-8")
    write_harness(trace, folder)
    assert (folder / "hooks.py").read_text("utf-8") == "# mine\n"
    assert "STEPS = [" in (folder / "schedule.py").read_text("utf-8")
    with pytest.raises(SpecError) as refused:
        write_harness(trace, tmp_path)
    assert refused.value.diagnostics[0].code == "E114"


def test_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace_of("no_relay", tmp_path)
    file = str(tmp_path / "trace.json")
    capsys.readouterr()
    for words in ([], [str(tmp_path / "x"), "-o", "y"]):
        assert main(["export", file, *words, "--to", "harness"]) == 2
        assert "--to harness DIR" in capsys.readouterr().err
    assert main(["export", file, str(tmp_path / "x"), "--to", "csv"]) == 2
    assert "DIR belongs to --to harness" in capsys.readouterr().err
    assert main(["export", file, file, "--to", "harness"]) == 2
    assert "trace.json" in capsys.readouterr().err


def test_names_of_fields_are_those_that_the_spec_declares() -> None:
    """Also of messages with types that have commas, and none of a text in another syntax."""
    text = """\
protocol P {
  message PAIR(left: (Proc, Nat), right: set<Msg>)
  // message PAIR(other: Msg)
  message BARE
}
"""
    assert dict(_declared(Source("p.bcast", "", text))) == {
        "PAIR": ("left", "right"),
        "BARE": (),
    }
    assert dict(_declared(Source("p.bcast", "", "message PAIR(left: Msg)"))) == {}
