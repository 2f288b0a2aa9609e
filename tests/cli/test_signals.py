"""A signal ends every command soon, at any moment, with what is known; nothing is left behind."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from checker.cli import supervisor
from tests.cli.signalling import ROOT, SIGNALS, Ended, Moment, children_of, drawn, ended_by, heard

COUNTER = """protocol Counter {
  state x = 0
  upon condition x < LIMIT { x := x + 1 }
  property natural : always forall p in Proc: p.x >= 0
}
check three of Counter { n = 3  prove natural }
check two of Counter { n = 2  prove natural }
"""
LIBRARY = "specs/broadcast/eager_reliable.bcast"
COMMANDS = {
    "check": f"check {LIBRARY}",
    "check of a large system": "check {long}",
    "check by the definition": "check {long} --engine reference",
    "check with documents": f"check {LIBRARY} --json {{tmp}}/a.json --junit {{tmp}}/a.xml",
    "check with a checkpoint": "check {long}::two --checkpoint {tmp}/run",
    "check with formulas": f"check {LIBRARY}::crash_one --engine symbolic",
    "tables": "check {long}::two --states-out {tmp}/tables",
    "prove for every n": "prove specs/byzantine/bracha.bcast::for_every_n",
    "prove": f"prove {LIBRARY}::crash_one",
    "simulate": "simulate {long}::two --timeout 60",
    "valence": "valence {long}::two",
    "sweep": f"sweep {LIBRARY}::crash_one --grid n=2..4 --json {{tmp}}/rows.json",
    "test": "test specs/broadcast",
    "test one by one": f"test {LIBRARY} --jobs 1",
    "watch": "watch {long}",
    "gallery": "gallery {tmp}/pages specs/broadcast",
    "show": "show specs/byzantine/bracha.bcast::for_every_n --automaton",
    "audit": "audit {log} --as ReliableBroadcast",
    "conform": f"conform {LIBRARY}::crash_one {{log}}",
    "monitor": f"monitor {LIBRARY}::crash_one {{log}} --mapping {{names}}",
    "test cases": f"test-cases {LIBRARY}::crash_one --out {{tmp}}/cases",
    "explore": f"explore {LIBRARY}::crash_one",
    "lsp": "lsp",
    "list": "list",
    "doctor": "doctor",
    "mutate": f"mutate {LIBRARY}",
    "assumptions": f"assumptions {LIBRARY}::crash_one",
    "frontier": f"frontier {LIBRARY}::crash_one --over n=2..3,crash=0..2",
    "fill": "fill examples/holes/majority.bcast",
    "daemon": "daemon status",
    "fmt": "fmt --check specs",
    "scenario": "scenario {tmp}/none.json",
}
SOON = 20.0
"""Seconds in which a command has to end on a machine that may be busy; it has 2 on a quiet one."""
LONGEST = 6.0
"""Seconds after the start of a command at most, in which it gets a signal."""


def words_of(command: str, tmp: Path) -> list[str]:
    """Returns the words of a command, whose files are in ``tmp``."""
    long, log, names = tmp / "long.bcast", tmp / "log.jsonl", tmp / "names.toml"
    names.write_text('logged = ["deliver"]\n', "utf-8")
    long.write_text(COUNTER.replace("LIMIT", "100000000"), "utf-8")
    lines = [
        {"process": f"p{n % 3 + 1}", "pos": n, "kind": "deliver", "msg": f"m{n}"}
        for n in range(50_000)
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return [
        word.format(tmp=tmp, long=long, log=log, names=names) for word in COMMANDS[command].split()
    ]


def problems(ended: Ended) -> list[str]:
    """Returns what is wrong with the end of a command."""
    found = []
    said = ended.out + ended.err
    if ended.code not in (0, 1, 2, 3, 4):
        found.append(f"the exit code is {ended.code}")
    if ended.code == 3 and not re.search("interrupted|UNKNOWN", said):
        found.append("no word says why it ended")
    if ended.seconds is not None and ended.seconds > SOON:
        found.append(f"it went on for {ended.seconds:.1f} s")
    if "Traceback" in said or "internal error" in said:
        found.append("there is an internal error")
    if "no answer within" in said:
        found.append("an interrupt is reported as a limit of time")
    if ended.processes:
        found.append(f"processes live on: {ended.processes}")
    if ended.files:
        found.append(f"temporary files are left: {ended.files}")
    return found


@pytest.mark.parametrize("command", list(COMMANDS))
def test_a_signal_at_a_random_moment(command: str, tmp_path: Path) -> None:
    rng = random.Random(command)
    ended = ended_by(words_of(command, tmp_path), drawn(rng, LONGEST), tmp_path)
    assert problems(ended) == [], ended


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(500))
def test_many_random_moments(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    command = rng.choice(list(COMMANDS))
    ended = ended_by(words_of(command, tmp_path), drawn(rng, LONGEST), tmp_path)
    assert problems(ended) == [], ended


HUNG = """
import re, sys, time
from checker.cli import supervisor
from checker.{module} import {where} as place
def hang(*_, **__):
    open({begun!r}, "w").close()
    while True:
        try:
            {hangs}
        except KeyboardInterrupt:
            pass
place.{name} = hang
supervisor.SILENT, supervisor.GLANCE = 0.2, 0.1
if {name!r} == "print_report":
    supervisor.REPORT = 0.5  # it hangs as well
from checker.cli.main import main
sys.exit(main())
"""


ASLEEP = "time.sleep(3600)"
ALONE = 're.match("(a+)+$", "a" * 60 + "b")'
"""A search that takes years, and lets no other thread run."""


def hung(place: str, words: list[str], tmp: Path, hangs: str = ASLEEP) -> subprocess.Popen[str]:
    """Starts a command in which ``place`` never ends, and ignores interrupts."""
    module, where, name = place.split(".")
    begun = str(tmp / "begun")
    program = HUNG.format(module=module, where=where, name=name, begun=begun, hangs=hangs)
    return subprocess.Popen(
        [sys.executable, "-c", program, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=heard,
    )  # fmt: skip


@pytest.mark.every
@pytest.mark.parametrize("hangs", [ASLEEP, ALONE], ids=["asleep", "alone"])
def test_work_that_ignores_its_limit_is_killed(hangs: str, tmp_path: Path) -> None:
    spec = tmp_path / "p.bcast"
    spec.write_text(COUNTER.replace("LIMIT", "2"), "utf-8")
    report = tmp_path / "report.json"
    words = ["check", f"{spec}::two", "--timeout", "1", "--json", str(report)]
    place = "instantiate.capacity_estimation.estimate_capacities"
    process = hung(place, words, tmp_path, hangs)
    out, err = process.communicate(timeout=60.0)
    assert process.returncode == 3, out + err
    assert "the time limit of 1 s was reached" in err
    document = json.loads(report.read_text("utf-8"))["reports"][0]
    assert document["stopped"] == "the time limit of 1 s was reached"
    assert document["verdicts"][0]["reason"] == "the time limit of 1 s was reached"


@pytest.mark.every
@pytest.mark.parametrize(
    ("number", "place", "words", "code"),
    [
        *((number, "session.pipeline.explore_fully", "UNKNOWN", 3) for number in SIGNALS),
        (signal.SIGTERM, "explain.reports.as_asked", "VIOLATED", 1),
        (signal.SIGTERM, "cli.reporting.print_report", "interrupted", 3),
        (signal.SIGTERM, "cli.commands.run", "interrupted", 3),
    ],
)
def test_work_that_ignores_an_interrupt_is_killed(
    number: signal.Signals, place: str, words: str, code: int, tmp_path: Path
) -> None:
    """What is known by then is reported; where that hangs, too, it is killed as well."""
    spec = tmp_path / "p.bcast"
    spec.write_text(COUNTER.replace("LIMIT", "2").replace("x >= 0", "x < 2"), "utf-8")
    begun = tmp_path / "begun"
    report = tmp_path / "report.json"
    process = hung(place, ["check", f"{spec}::two", "--json", str(report)], tmp_path)
    try:
        until = time.monotonic() + 60.0
        while not begun.exists() and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(number)
        out, err = process.communicate(timeout=60.0)
    finally:
        process.kill()
    assert process.returncode == code, out + err
    assert "interrupted" in out + err
    assert words in out + err
    if not place.endswith("run"):
        assert json.loads(report.read_text("utf-8"))["kind"] == "bivalence reports"


def test_a_signal_while_modules_are_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is imported has only a part of its names."""
    half = ModuleType("checker.engines.budgets")
    half.interrupt = None  # type: ignore[attr-defined]
    half.__spec__ = ModuleSpec(half.__name__, None)
    half.__spec__._initializing = True  # type: ignore[attr-defined]
    codes: list[int] = []
    monkeypatch.setitem(sys.modules, half.__name__, half)
    monkeypatch.setattr(os, "_exit", codes.append)
    supervisor._interrupted(signal.SIGINT, None)
    assert codes == [3]


def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    moment = Moment(signal.SIGTERM, 3.0, gap=0.2)
    ended = ended_by(words_of("tables", tmp_path), moment, tmp_path)
    assert (ended.code, problems(ended)) == (3, [])


def test_the_work_ends_with_the_process_that_supervises_it(tmp_path: Path) -> None:
    moment = Moment(signal.SIGKILL, 2.0)
    ended = ended_by(words_of("tables", tmp_path), moment, tmp_path)
    assert ended.code == -signal.SIGKILL
    assert (ended.processes, ended.files) == ([], [])


BUSY = """
import os, tempfile
from checker.cli import supervisor

def work():
    print(flush=True)
    while True:
        tempfile.mkdtemp(prefix=os.environ[supervisor.MARK])

supervisor.supervised(work)
"""


def test_files_that_are_made_until_the_end_are_removed(tmp_path: Path) -> None:
    """The process that works is busy making files when its supervisor is killed."""
    for number in range(5):
        folder = tmp_path / str(number)
        folder.mkdir()
        env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}
        command = [sys.executable, "-c", BUSY]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=env)
        assert process.stdout is not None and process.stdout.readline() == b"\n"
        time.sleep(0.1)
        process.kill()
        assert process.stdout.read() == b""  # all that wrote to it have ended
        process.stdout.close()
        process.wait()
        assert list(folder.iterdir()) == []


def test_a_process_that_crashes_is_reported(tmp_path: Path) -> None:
    """As one that the system kills when memory runs out."""
    spec = tmp_path / "long.bcast"
    spec.write_text(COUNTER.replace("LIMIT", "100000000"), "utf-8")
    for number, code, words, delay in (
        (signal.SIGKILL, 3, "lack of memory", 0.5),
        (signal.SIGSEGV, 70, "killed by SIGSEGV", 0.5),
        (signal.SIGSEGV, 70, "killed by SIGSEGV", 2.0),  # when there is something to report
    ):
        process = subprocess.Popen(
            [sys.executable, "-m", "checker.cli", "check", str(spec)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        while not (children := children_of(process.pid)):
            time.sleep(0.01)
        time.sleep(delay)
        os.kill(children[0], number)
        out, err = process.communicate(timeout=60.0)
        assert (process.returncode, words in out + err) == (code, True), out + err


def test_signals_that_are_ignored_stay_so(tmp_path: Path) -> None:
    """As `nohup` and shells do it for what they start in the background."""
    spec = tmp_path / "p.bcast"
    spec.write_text(COUNTER.replace("LIMIT", "3"), "utf-8")
    command = f"trap '' HUP INT; exec {sys.executable} -m checker.cli check {spec}"
    process = subprocess.Popen(["bash", "-c", command], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    while not children_of(process.pid):
        time.sleep(0.01)
    for number in (signal.SIGHUP, signal.SIGINT):
        process.send_signal(number)
    out, _ = process.communicate(timeout=60.0)
    assert (process.returncode, "2 hold" in out or "as expected" in out) == (0, True), out
