"""Runs the command line in a child of its own, forked, with limits of time and memory."""

from __future__ import annotations

import os
import resource
import signal
import time
from dataclasses import dataclass
from pathlib import Path

SECONDS = 20.0
BYTES = 2 * 10**9
PAGE = resource.getpagesize()
ANSWERS = {0, 1, 2, 3, 4}
"""Exit codes that say something: all as expected, violated, unusable, unknown, vacuous."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended: its exit ``code`` (of a signal: negative), in how many ``seconds``, with
    at most so many ``bytes`` resident, and what it ``said``."""

    code: int
    seconds: float
    bytes: int
    said: str

    @property
    def wrong(self) -> str:
        """What should not have been; empty if nothing."""
        if self.seconds > SECONDS:
            return f"more than {SECONDS:.0f} seconds"
        if self.bytes > BYTES:
            return "more than 2 GB"
        if self.code < 0:
            return f"signal {-self.code}"
        if self.code not in ANSWERS:
            return f"exit {self.code}"
        return "a stack trace" if "Traceback (most recent" in self.said else ""


def run(arguments: list[str], folder: Path) -> Outcome:
    """What comes of ``bivalence`` with ``arguments``, begun in ``folder``.

    The child is a fork of this process, so imports are paid for once.  It is killed where it goes
    far beyond the limits.
    """
    log = folder / "said.txt"
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        _be(arguments, folder, log)
    most = 0
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            break
        most = max(most, _resident(child))
        if time.monotonic() - start > SECONDS + 10 or most > 1.5 * BYTES:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.02)
    del usage  # its peak counts the pages that the fork shares with us
    said = log.read_text(encoding="utf-8", errors="replace")
    code = os.waitstatus_to_exitcode(status)
    return Outcome(code, time.monotonic() - start, most, said)


def _be(arguments: list[str], folder: Path, log: Path) -> None:
    """The child: never returns."""
    code = 71
    try:
        os.setsid()
        os.chdir(folder)
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for number in (1, 2):
            os.dup2(out, number)
        from checker.cli.main import main

        code = main(arguments)
    finally:
        os._exit(code)


def _resident(process: int) -> int:
    try:
        text = Path(f"/proc/{process}/statm").read_text(encoding="ascii")
    except OSError:
        return 0
    fields = text.split()
    return int(fields[1]) * PAGE if len(fields) > 1 else 0
