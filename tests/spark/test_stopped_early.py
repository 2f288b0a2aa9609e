"""Runs on Spark that somebody or a budget ends early, in each phase: exit code 3, and no process is
left behind."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from checker.resources import specs
from tests.documents import only_report
from tests.spark.cluster import PATIENCE, eventually, kill

pytest.importorskip("pyspark")
pytestmark = pytest.mark.cluster

PROGRAM = """
import os, signal, sys, threading, time
from pathlib import Path
from checker.cli.main import main
from checker.engines.spark import barrier, driver, residual_graph, local_prefix, session, shuffle

phase, run, *words = sys.argv[1:]
local_prefix.LIGHT = residual_graph.AT_ONCE = -1
residual_graph.WORTH_IT = 12

def interrupt():
    os.killpg(0, signal.SIGINT)  # as a terminal does

def interrupted(place, name, seconds=0.0):
    '''That function is interrupted, soon after it has begun.'''
    before = getattr(place, name)
    def soon(*given, **more):
        threading.Timer(seconds, interrupt).start()
        return before(*given, **more)
    setattr(place, name, soon)

def middle():
    while len(list(Path(run).glob("levels/*/_SUCCESS"))) < 4:
        time.sleep(0.01)
    interrupt()

match phase:
    case "java":
        interrupted(session, "_driver", 0.5)
    case "session":
        interrupted(session, "count_slots")
    case "first":
        interrupted(barrier, "run")
        interrupted(shuffle, "run")
    case "middle":
        threading.Thread(target=middle, daemon=True).start()
    case "graph":
        interrupted(residual_graph, "fan_out", 0.5)
sys.exit(main(words))
"""
LARGE = f"{specs() / 'oracles' / 'two_phase.bcast'}::eight"
LIVE = f"{specs() / 'links' / 'stubborn.bcast'}::lossy"


@dataclass(frozen=True)
class Ended:
    """How a run ended: its exit code, what was printed, and the report, if there was one."""

    code: int
    said: str
    report: dict[str, object] | None


def ended(phase: str, check: str, folder: Path, *words: str) -> Ended:
    """A run on two slots of this machine; all that it has started has to end with it."""
    run, report, output = folder / "run", folder / "report", folder / "output"
    command = ["check", check, "--engine", "spark", "--master", "local[2]", "--json", str(report)]
    command += ["--reduce", "none", "--checkpoint", str(run), "--checkpoint-every", "0", *words]
    with open(output, "wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, phase, str(run), *command],
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        code = process.wait(PATIENCE)
        eventually(lambda: not session_of(process.pid), "processes are left")
    finally:
        for pid in session_of(process.pid):
            kill(pid)
        process.wait()
    text = output.read_text()
    assert "Traceback" not in text and "internal error" not in text, text
    return Ended(code, text, only_report(report.read_text()) if report.exists() else None)


def session_of(leader: int) -> list[int]:
    """The processes that belong to a session: whoever somebody below its leader has started."""
    said = subprocess.run(
        ["ps", "-A", "-o", "pid=,sess=,stat="], capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in said.stdout.splitlines()]
    return [int(pid) for pid, sess, stat in lines if int(sess) == leader and stat[0] != "Z"]


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["java", "session"])
def test_interrupted_while_the_session_is_opened(phase: str, tmp_path: Path) -> None:
    found = ended(phase, LARGE, tmp_path)
    assert found.code == 3, found.said
    assert "interrupted" in found.said
    assert f"--resume {tmp_path / 'run'}" in found.said


@pytest.mark.parametrize(
    ("phase", "exchange"),
    [
        pytest.param("first", "barrier", marks=pytest.mark.slow),
        pytest.param("first", "shuffle", marks=pytest.mark.slow),
        pytest.param("middle", "barrier", marks=pytest.mark.slow),
        pytest.param("middle", "shuffle", marks=pytest.mark.slow),
    ],
)
def test_interrupted_in_the_midst(phase: str, exchange: str, tmp_path: Path) -> None:
    found = ended(phase, LARGE, tmp_path, "--exchange", exchange)
    assert found.code == 3, found.said
    assert found.report is not None and found.report["stopped"] == "interrupted"
    assert f"--resume {tmp_path / 'run'}" in " ".join(found.said.split())


@pytest.mark.slow
def test_interrupted_while_the_graph_is_made(tmp_path: Path) -> None:
    found = ended("graph", LIVE, tmp_path)
    assert found.code == 3, found.said
    assert found.report is not None
    verdicts = found.report["verdicts"]
    assert isinstance(verdicts, list)
    assert "interrupted" in [verdict["reason"] for verdict in verdicts]


@pytest.mark.slow
def test_the_time_is_over_before_there_is_a_session(tmp_path: Path) -> None:
    found = ended("", LARGE, tmp_path, "--timeout", "1")
    assert found.code == 3, found.said
    assert found.report is not None
    assert found.report["stopped"] == "the time limit of 1 s was reached"
    assert found.report["distinct_states"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("exchange", ["barrier", "shuffle"])
def test_there_is_too_little_memory(exchange: str, tmp_path: Path) -> None:
    found = ended("", LARGE, tmp_path, "--exchange", exchange, "--memory", "1000000")
    assert found.code == 3, found.said
    assert found.report is not None
    why = "the memory limit of 1,000,000 bytes was reached: 500,000 for each of 2 shards"
    assert found.report["stopped"] == why
