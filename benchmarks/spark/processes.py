"""A command and all processes that it starts, looked at from outside: seconds and memory.

For Linux: everything comes from ``/proc``.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

EVERY = 0.5
"""Seconds between two looks: a peak that is shorter may be missed."""
PATIENCE = 30.0
"""Seconds in which a command that is asked to end has to."""
DRIVER, JAVA, PYTHON = "driver", "java", "python"
"""Kinds of processes: the command with its own processes of Python, all that is not Python, and
Python below that (Spark's workers)."""

_TICKS = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """A command came to a bad end; the message holds the end of what it said."""


@dataclass
class Peaks:
    """Bytes of memory, at most: of each kind of processes, and ``together``, at one time.

    What processes share is divided among them (PSS), so that nothing counts twice.
    """

    together: int = 0
    kinds: dict[str, int] = field(default_factory=lambda: dict.fromkeys((DRIVER, JAVA, PYTHON), 0))

    def see(self, found: Sequence[tuple[str, int]]) -> None:
        """``found``: the processes at one time, with their kinds and bytes."""
        self.together = max(self.together, sum(size for _, size in found))
        for kind in self.kinds:
            here = sum(size for of, size in found if of == kind)
            self.kinds[kind] = max(self.kinds[kind], here)


@dataclass(frozen=True)
class Finished:
    """``seconds`` by the clock on the wall, ``cpu`` of all processors for all processes (but for
    the last moments of each), and what was printed."""

    seconds: float
    cpu: float
    peaks: Peaks
    output: str


def run(command: Sequence[str], cwd: Path) -> Finished:
    """Runs a command; raises :class:`Failed` where it ends with any code but 0.

    Whatever it has started and left behind is ended, too.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as said:
        started = time.monotonic()
        process = subprocess.Popen(
            command, cwd=cwd, stdout=output, stderr=said, start_new_session=True
        )
        watch = _Watch(process.pid)
        try:
            watch.start()
            code = process.wait()
            seconds = time.monotonic() - started
        finally:
            watch.over.set()
            _end(process)
        watch.join()
        output.seek(0)
        said.seek(0)
        printed = output.read().decode(errors="replace")
        if code:
            words = said.read().decode(errors="replace")[-2000:]
            raise Failed(f"{' '.join(command)} ended with {code}: {printed[-500:]}{words}")
        return Finished(seconds, sum(watch.cpu.values()), watch.peaks, printed)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a command that still runs, and then what is left of its session."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    until = time.monotonic() + PATIENCE
    while (left := list(members(process.pid))) and time.monotonic() < until:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


class _Watch(threading.Thread):
    """Looks at the processes of a session, again and again."""

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self.session, self.peaks, self.over = session, Peaks(), threading.Event()
        self.cpu: dict[int, float] = {}

    def run(self) -> None:
        while not self.over.wait(EVERY):
            found = []
            for pid in members(self.session):
                with contextlib.suppress(OSError, ValueError):
                    found.append((self._kind(pid), memory(pid)))
                    self.cpu[pid] = _cpu(pid)
            self.peaks.see(found)

    def _kind(self, pid: int) -> str:
        if self._is_own(pid):
            return DRIVER
        return PYTHON if _is_python(pid) else JAVA

    def _is_own(self, pid: int) -> bool:
        """Whether there is nothing but Python from the first process down to this one."""
        while pid != self.session:
            stat = _stat(pid)
            if int(stat[3]) != self.session or not _is_python(pid):
                return False
            pid = int(stat[1])
        return True


def _is_python(pid: int) -> bool:
    """Whether Python runs there, under whatever name."""
    return os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith("python")


def members(session: int) -> Iterator[int]:
    """The processes of a session that are not over: whoever has begun it, and all that they have
    started."""
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError, IndexError):
                stat = _stat(int(name))
                if int(stat[3]) == session and stat[0] != "Z":
                    yield int(name)


def memory(pid: int) -> int:
    """Bytes in memory, shared ones in part.  Raises ``OSError`` where the process has ended."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) << 10


def _cpu(pid: int) -> float:
    stat = _stat(pid)
    return (int(stat[11]) + int(stat[12])) / _TICKS


def _stat(pid: int) -> list[str]:
    """What follows the name of a process, from its state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
