"""Runs harnesses, and counts what they leave running."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
HOOKS = HERE / "examples" / "broadcast" / "hooks.py"
MARK = "BIVALENCE_HARNESS_OF_TEST"


def running(mark: str) -> list[int]:
    """Returns the processes whose environment has a mark; what has just been killed may be there
    for a moment."""
    found = []
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if entry.isdigit() and f"{MARK}={mark}".encode() in Path(
                f"/proc/{entry}/environ"
            ).read_bytes().split(b"\0"):
                found.append(int(entry))
    return found


class Run:
    """A harness that is running, with a mark that all that it starts inherits."""

    def __init__(self, folder: Path, *more: str, options: str = "--relay") -> None:
        self.mark = uuid.uuid4().hex
        words = [sys.executable, str(folder / "run.py"), *more]
        environment = {**os.environ, "BROADCAST_OPTIONS": options, MARK: self.mark}
        self.process = subprocess.Popen(
            words,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def end(self) -> tuple[int, str]:
        """Waits for its end; returns its exit code and what it printed."""
        said, _ = self.process.communicate(timeout=300)
        return self.process.returncode, said

    def running(self) -> list[int]:
        """Returns the processes that it has started, and itself."""
        return running(self.mark)

    def leaves(self) -> list[int]:
        """Returns what is still running, when what is being killed has had time to end."""
        until = time.monotonic() + 30
        while (found := self.running()) and time.monotonic() < until:
            time.sleep(0.02)
        return found

    def wait_for(self, count: int) -> list[int]:
        """Waits until so many of its processes run; returns them."""
        until = time.monotonic() + 60
        while len(found := self.running()) < count and time.monotonic() < until:
            time.sleep(0.02)
        return found


def changed(folder: Path, file: str, before: str, after: str) -> None:
    """Edits a file of a harness, as its user may."""
    path = folder / file
    text = path.read_text("utf-8")
    assert text.count(before) == 1, text
    path.write_text(text.replace(before, after), "utf-8")
