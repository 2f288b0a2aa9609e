"""A cluster of Spark on this machine, and who is who among the processes that it starts."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from checker.engines.spark.standalone import StandaloneCluster

PATIENCE = 300.0
"""Seconds for anything here, on a machine that has other things to do as well."""


@dataclass(frozen=True)
class Process:
    """A line of what ``ps`` says."""

    pid: int
    parent: int
    command: str


def processes() -> list[Process]:
    """All on this machine, but for those that are over."""
    said = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,stat=,command="],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split(None, 3) for line in said.stdout.splitlines()]
    return [
        Process(int(line[0]), int(line[1]), line[3])
        for line in lines
        if len(line) == 4 and not line[2].startswith("Z")
    ]


def below(pids: set[int]) -> list[Process]:
    """All processes that these have started, and those that they have."""
    there, found, known = processes(), list[Process](), set(pids)
    while more := [p for p in there if p.parent in known and p.pid not in known]:
        found += more
        known |= {p.pid for p in more}
    return found


def eventually(what: Callable[[], object], why: str) -> None:
    """Waits until ``what`` is so."""
    until = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < until, why
        time.sleep(0.05)


def kill(pid: int) -> None:
    """Ends a process at once, unless it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class LoopbackCluster(StandaloneCluster):
    """A cluster whose processes of tasks can be asked for."""

    def executors(self) -> list[int]:
        """The Java processes of our workers in which tasks run."""
        workers = {self.java_of(f"worker-{number}") for number in range(self.count)}
        return [p.pid for p in below(workers) if "CoarseGrainedExecutorBackend" in p.command]

    def pythons(self) -> list[int]:
        """The Python processes in which tasks run, without those that only start them."""
        there = below(set(self.executors()))
        daemons = {p.pid for p in there if "pyspark.daemon" in p.command}
        return [p.pid for p in there if p.parent in daemons]


@contextlib.contextmanager
def command(words: list[str], output: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process; it and all that it has started are ended with the block."""
    with open(output, "wb") as file:
        process = subprocess.Popen(words, stdout=file, stderr=file)
    try:
        yield process
    finally:
        started = below({process.pid})
        process.kill()
        process.wait()
        left = {(p.pid, p.command) for p in processes()}
        for one in started:
            if (one.pid, one.command) in left:
                kill(one.pid)
