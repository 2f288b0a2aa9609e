"""Counterexamples happen in real processes: wrong code does what the spec with the same fault says,
and right code does not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from checker.cli.main import main
from examples.broadcast.faults import RIGHT, SPEC, harness, play
from examples.made_to_happen import HAPPENED, NOT_SEEN
from tests.harness.leftovers import HOOKS, Run, changed


def lines(folder: Path) -> list[str]:
    """The logs of the first try, but for what depends on the clock."""
    found = []
    for log in sorted((folder / "tries" / "1").glob("*.ndjson")):
        rows = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
        found += [json.dumps({**row, "ts": 0}) for row in rows]
    assert found
    return found


def test_a_crash_inside_a_multicast_happens(tmp_path: Path) -> None:
    folder = harness("no_relay", tmp_path)
    run = Run(folder, "--hooks", str(HOOKS), options="--relay --fault no_relay")
    code, said = run.end()
    assert code == HAPPENED, said
    assert "try 1: 3 of 3 steps; agreement is VIOLATED; a run of no_relay" in said
    rows = [json.loads(line) for line in lines(folder)]
    last = {row["process"]: row["kind"] for row in rows}
    assert last == {"p1": "crash", "p2": "end", "p3": "end"}
    assert [row["process"] for row in rows if row["kind"] == "deliver"] == ["p2"]
    assert run.leaves() == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["no_relay", "seen_lost"])
def test_twenty_runs_have_the_same_lines(fault: str, tmp_path: Path) -> None:
    folder = harness(fault, tmp_path)
    changed(folder, "schedule.py", 'INTERFACE = "ReliableBroadcast"', 'INTERFACE = ""')
    text = (folder / "schedule.py").read_text("utf-8")
    said = re.sub(r"BIVALENCE = \[[^\n]*\]", 'BIVALENCE = ["true"]', text)  # not judged: quicker
    (folder / "schedule.py").write_text(said, "utf-8")
    first = list[str]()
    for _ in range(20):
        played = play(folder, f"{RIGHT[fault]} --fault {fault}", "--tries", "1")
        assert played.code == NOT_SEEN, played.said
        first = first or lines(folder)
        assert lines(folder) == first


def played(text: str, check: str, options: str, folder: Path, nodes: int = 3) -> tuple[str, Path]:
    """What the harness of a check prints that is written here, and its folder."""
    spec = folder / "spec.bcast"
    spec.write_text(text, "utf-8")
    made = harness(check, folder, spec)
    names = [f"p{number}" for number in range(1, nodes + 1)]
    hooks = HOOKS.read_text("utf-8").replace('["p1", "p2", "p3"]', json.dumps(names))
    hooks = hooks.replace("Path(__file__).resolve().parent", f"Path({str(HOOKS.parent)!r})")
    (made / "hooks.py").write_text(hooks, "utf-8")
    code, said = Run(made, "--tries", "1", options=options).end()
    assert code == HAPPENED, said
    return said, made


OTHERS = {
    "a duplicate": ("links duplicating", "no_duplication", 2, ""),
    "a loss": ("links lossy", "agreement", 2, ""),
    "a partition": ("faults partition <= 1 links perfect", "agreement", 2, ""),
    "a liar": ("faults byzantine <= 1", "no_creation", 3, ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", OTHERS)
def test_other_faults_of_the_network(fault: str, tmp_path: Path) -> None:
    world, prop, nodes, options = OTHERS[fault]
    text = f"""\
protocol Plain implements ReliableBroadcast {{
  message DATA(origin: Proc, m: Msg)
  upon request broadcast(m) {{ send DATA(self, m) to all }}
  upon receive DATA(s, m) {{ deliver(s, m) }}
}}
check wrong of Plain {{ n = {nodes} {world} clients {{ p1 broadcasts a }} prove {prop} }}
"""
    said, _ = played(text, "wrong", options, tmp_path, nodes)
    assert f"{prop} is VIOLATED" in said


@pytest.mark.slow
@pytest.mark.parametrize("level", [0, 1])
def test_messages_that_do_not_stand_alone(level: int, tmp_path: Path) -> None:
    folder = harness("no_relay", tmp_path)
    text = HOOKS.read_text("utf-8").replace("def encode(", "def no_encode(")
    text = text if level else text.replace("def frames(", "def no_frames(")
    home = f"Path({str(HOOKS.parent)!r})"
    (folder / "hooks.py").write_text(text.replace("Path(__file__).resolve().parent", home), "utf-8")
    code, said = Run(folder, options="--relay --fault no_relay").end()
    assert code == HAPPENED, said
    assert "3 of 3 steps" in said
    code, said = Run(folder, "--tries", "1").end()
    assert code == NOT_SEEN, said
    assert "agreement holds" in said


PAUSED = """\
from harness.acts import Line, Message, Pause, Receive, Request, Resume, Sends
SPEC, SETTINGS, PROPERTY, INTERFACE = "spec.bcast::relay", [], "agreement", ""
BIVALENCE, PROCESSES, PUPPETS, ENDS, NOTES = ["true"], ["p1", "p2", "p3"], [], True, []
DATA = Message("DATA", {"origin": "p1", "m": "a"})
STEPS = [
    Pause(1, "p2"),
    Request(2, "p1", name="broadcast", values=["a"], sends=[Sends(DATA, ["p1", "p2", "p3"])]),
    Receive(3, "p2", message=DATA, sender="p1"),
]
"""


@pytest.mark.slow
def test_a_process_that_is_stopped_does_nothing_and_one_that_goes_on_does(tmp_path: Path) -> None:
    folder = harness("no_relay", tmp_path)
    (folder / "schedule.py").write_text(PAUSED, "utf-8")
    more = ("--hooks", str(HOOKS), "--tries", "1", "--patience", "0.5")
    code, said = Run(folder, *more).end()
    assert code == NOT_SEEN, said
    assert "2 of 3 steps" in said
    assert (
        "another way at step 3 (p2 receives DATA(p1, a) from p1): the log of p2 has no line" in said
    )
    resumed = PAUSED.replace("    Receive(3", '    Resume(2, "p2"),\n    Receive(3')
    (folder / "schedule.py").write_text(resumed, "utf-8")
    code, said = Run(folder, *more).end()
    assert "3 of 3 steps" in said


def test_a_plan_starts_nothing(tmp_path: Path) -> None:
    folder = harness("seen_lost", tmp_path)
    code, said = Run(folder, "--hooks", str(HOOKS), "--plan").end()
    assert code == 0, said
    words = [line.split("  ")[1].strip() for line in said.splitlines()]
    assert words == ["forced"] * 5
    assert not (folder / "tries").exists()


@pytest.mark.slow
def test_the_specs_of_the_faults_are_as_expected() -> None:
    assert main(["check", str(SPEC), "-q", "--no-explain"]) == 0
