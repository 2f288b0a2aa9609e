"""A process that is stopped (SIGSTOP) at a place that a test chooses.

A module of its own: processes of Spark have to find it by its name.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable
from pathlib import Path

from checker.engines.native.checkpoint.run_folder import Part, RunFolder
from checker.engines.native.checkpoint.storage import Storage

LEVEL = 6
"""Somewhere in the middle of runs."""


class Stopping(RunFolder):
    """A folder: whoever is the first to write states of level :data:`LEVEL` is stopped before it
    does."""

    def write(self, level: int, shard: int, shards: int, blocks: Iterable[memoryview]) -> Part:
        if level == LEVEL:
            stop_once(self.place)
        return super().write(level, shard, shards, blocks)


def stop_once(place: Storage) -> None:
    """Stops this process, if no other was."""
    with contextlib.suppress(FileExistsError):
        handle = os.open(place.path("stopped"), os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        os.write(handle, str(os.getpid()).encode())
        os.close(handle)
        os.kill(os.getpid(), signal.SIGSTOP)


def stopped(place: Storage) -> int:
    """The process that was stopped; 0 where there is none yet."""
    return int(place.read("stopped") or 0)


def is_there(pid: int) -> bool:
    """Whether a process has not ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
