"""Commands that are ended by signals, and what they leave behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TAG = "BIVALENCE_TEST_TAG"
"""The environment variable that all processes of a command share."""
STARTING = 60.0
"""Seconds in which a process has to start, on a machine that is not quiet."""


@dataclass
class Moment:
    """A signal ``number`` to a command, ``delay`` seconds after its start; a second one ``gap``
    seconds later unless ``gap`` is ``None``; ``group``: to all of its processes, as a terminal
    does.  ``begun``: the delay begins when it is true."""

    number: signal.Signals
    delay: float
    gap: float | None = None
    group: bool = False
    begun: Callable[[], bool] | None = None


@dataclass
class Ended:
    """How a command ended: within ``seconds`` of the last signal (``None``: before it)."""

    code: int
    seconds: float | None
    out: str
    err: str
    processes: list[int] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def drawn(rng: random.Random, longest: float) -> Moment:
    """Returns a random moment, most of them early."""
    gap = rng.uniform(0.15, 0.7) if rng.random() < 0.3 else None
    return Moment(
        rng.choice(SIGNALS), min(longest, rng.expovariate(3 / longest)), gap, rng.random() < 0.5
    )


def ended_by(words: list[str], moment: Moment, folder: Path) -> Ended:
    """Runs a command in a temporary ``folder``, and sends it the signals of ``moment``."""
    temporary = folder / "temporary"
    temporary.mkdir()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary), TAG: str(folder)}
    with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "checker.cli", *words],
            stdin=subprocess.PIPE, stdout=out, stderr=err, cwd=ROOT, env=env,
            start_new_session=True,
            preexec_fn=heard,
        )  # fmt: skip
    try:
        seconds = _signalled(process, moment)
        code = process.wait(timeout=STARTING)
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()
    ended = Ended(code, seconds and time.monotonic() - seconds, *_texts(folder))
    ended.processes = left_of(folder)
    hidden = [path.name for path in folder.iterdir() if path.name.startswith(".")]
    ended.files = [*hidden, *(path.name for path in temporary.iterdir())]
    return ended


def heard() -> None:
    """Lets a process that is started hear signals that this one may ignore, as under `nohup`."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def _signalled(process: subprocess.Popen[bytes], moment: Moment) -> float | None:
    """Sends the signals; returns when it has sent the last one, ``None`` where it was over."""
    until = time.monotonic() + STARTING
    while process.poll() is None and not children_of(process.pid) and time.monotonic() < until:
        time.sleep(0.005)
    while moment.begun is not None and not moment.begun():
        if _waited(process, 0.002):
            return None
    if _waited(process, moment.delay):
        return None
    if moment.group:
        os.killpg(process.pid, moment.number)
    else:
        process.send_signal(moment.number)
    sent = time.monotonic()
    if moment.gap is not None and not _waited(process, moment.gap):
        sent = time.monotonic()
        process.send_signal(moment.number)
    return sent


def _waited(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _texts(folder: Path) -> tuple[str, str]:
    out, err = (folder / name for name in ("out", "err"))
    return out.read_text("utf-8"), err.read_text("utf-8")


def children_of(process: int) -> list[int]:
    """Returns the children of a process."""
    return [one for one in _processes() if _stat(one)[1:2] == [str(process)]]


def left_of(folder: Path) -> list[int]:
    """Returns the processes of the command that ran in ``folder``, those that live on for more
    than a moment."""
    until = time.monotonic() + 5.0
    while (left := _tagged(folder)) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def _tagged(folder: Path) -> list[int]:
    tag, found = f"{TAG}={folder}\0".encode(), []
    for one in _processes():
        try:
            if tag in Path(f"/proc/{one}/environ").read_bytes() and _stat(one)[:1] != ["Z"]:
                found.append(one)
        except OSError:
            continue
    return found


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _stat(process: int) -> list[str]:
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return []
