"""Signals and limits while other processes decide keys: true words, the exit code of an unknown
verdict, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from multiprocessing import active_children
from pathlib import Path

import pytest

from checker.cli.judge_tasks import Processes
from checker.engines import budgets
from checker.histories import elsewhere
from checker.histories.elsewhere import PartOutcome, PartTask
from checker.histories.judging import Request, judge_of
from checker.histories.pairing import Shape
from checker.results.answer import Listener
from checker.results.verdict import Word
from tests.cli.signalling import ROOT, STARTING, TAG, children_of, heard, left_of
from tests.histories.test_keys_elsewhere import hard

WORDS = ["--as", "Register", "--by", "key", "--jobs", "2"]


def begun(folder: Path, *more: str) -> subprocess.Popen[str]:
    """Starts to judge a history whose keys nobody decides."""
    (folder / "history.edn").write_text(hard(3, 30, False), encoding="utf-8")
    (folder / "temporary").mkdir()
    env = {**os.environ, "PYTHONPATH": str(ROOT), TAG: str(folder)}
    env["TMPDIR"] = str(folder / "temporary")
    words = ["judge", str(folder / "history.edn"), *WORDS, *more]
    return subprocess.Popen(
        [sys.executable, "-m", "checker.cli", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=env,
        preexec_fn=heard,
    )  # fmt: skip


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """Waits for the two processes that decide keys, and returns them."""
    until = time.monotonic() + STARTING
    found: list[int] = []
    while process.poll() is None and time.monotonic() < until:
        below = [one for child in children_of(process.pid) for one in children_of(child)]
        found = [one for one in below if b"spawn_main" in _command(one)]
        if len(found) == 2:
            return found
        time.sleep(0.02)
    raise AssertionError(f"there are no two processes that decide keys: {found}")


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def require_nothing_left(folder: Path) -> None:
    assert left_of(folder) == []
    assert [*(folder / "temporary").iterdir()] == []


@pytest.mark.every
@pytest.mark.parametrize("whose", ["command", "worker"])
def test_a_signal_while_keys_are_decided(whose: str, tmp_path: Path) -> None:
    """To the command, which is interrupted; or SIGKILL to a process that decides keys, which is
    lost."""
    process = begun(tmp_path)
    try:
        workers = workers_of(process)
        if whose == "command":
            process.send_signal(signal.SIGTERM)
        else:
            os.kill(workers[0], signal.SIGKILL)
        out, err = process.communicate(timeout=STARTING)
    finally:
        process.kill()
    why = {"command": "interrupted", "worker": "killed by SIGKILL"}[whose]
    assert process.returncode == 3, out + err
    assert "UNKNOWN" in out and why in " ".join(out.split()), out + err
    assert "Traceback" not in out + err
    require_nothing_left(tmp_path)


def test_a_limit_of_time_while_keys_are_decided(tmp_path: Path) -> None:
    process = begun(tmp_path, "--timeout", "3")
    out, err = process.communicate(timeout=STARTING)
    assert process.returncode == 3, out + err
    assert "the time limit of 3 s was reached" in " ".join(out.split()), out + err
    require_nothing_left(tmp_path)


def with_nothing_beside(task: PartTask, listener: Listener) -> PartOutcome:
    """Runs a task in a process that has no memory but the limit."""
    budgets.BESIDE = 0
    return elsewhere.run_task(task, listener)


def test_a_limit_of_memory_while_keys_are_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes have a few bytes each: the first one that looks ends the search."""
    monkeypatch.setattr("checker.histories.elsewhere.run_task", with_nothing_beside)
    file = tmp_path / "history.edn"
    file.write_text(hard(3, 30, False), encoding="utf-8")
    request = Request("Register", shape=Shape(by_key=True))
    found = judge_of(request, Processes("Register", 2, 20, True)).judge(str(file))
    assert found.word is Word.UNKNOWN and found.exit_code == 3
    assert found.stopped == "the memory limit of 10 bytes was reached, the share of one process"
    assert len(found.undecided) == 3
    assert active_children() == []
