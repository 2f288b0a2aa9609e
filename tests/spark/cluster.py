"""A cluster of Spark on this machine: a master and workers of our own, each in a process, and who
is who among the processes that they start."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from checker.engines.spark.java import find_java

HOST = "127.0.0.1"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For a Java that does not live long."""
PATIENCE = 300.0
"""Seconds for anything here, on a machine that has other things to do as well."""
TIED = '"$@" & read line; kill $!; wait $!'
"""A shell with a process that ends when the shell's input does: when we end, however that is."""


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


class LoopbackCluster:
    """A master and ``workers`` workers of one slot each, at ports that are free, with all their
    files below ``folder``; to be used as a context."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.folder, self.count = folder, workers
        self._own: list[subprocess.Popen[bytes]] = []
        self.master = ""

    def __enter__(self) -> LoopbackCluster:
        try:
            (self.folder / "conf").mkdir(parents=True)
            log = self._start("master", "master.Master", "--port", "0")
            found = self._said(log, r"Starting Spark master at (spark://\S+)")
            self.master = found
            for number in range(self.count):
                self._worker(number)
            for number in range(self.count):
                self._said(self.folder / f"worker-{number}.log", r"(Successfully registered) with")
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def executors(self) -> list[int]:
        """The Java processes of our workers in which tasks run."""
        workers = {one.pid for one in self._own[1:]}
        return [p.pid for p in below(workers) if "CoarseGrainedExecutorBackend" in p.command]

    def pythons(self) -> list[int]:
        """The Python processes in which tasks run, without those that only start them."""
        there = below(set(self.executors()))
        daemons = {p.pid for p in there if "pyspark.daemon" in p.command}
        return [p.pid for p in there if p.parent in daemons]

    # -- starting and stopping ------------------------------------------------------------------

    def _worker(self, number: int) -> None:
        words = ["--cores", "1", "--memory", "1g", "--work-dir", str(self.folder / "work")]
        self._start(f"worker-{number}", "worker.Worker", *words, self.master)

    def _start(self, name: str, what: str, *words: str) -> Path:
        """One of our processes; gives its log."""
        spec = importlib.util.find_spec("pyspark")
        assert spec is not None and spec.origin is not None
        home = Path(spec.origin).parent
        ours = {
            "JAVA_HOME": str(find_java().home),
            "SPARK_HOME": str(home),
            "SPARK_CONF_DIR": str(self.folder / "conf"),
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK,
        }
        left = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK", "PYSPARK"))}
        log = self.folder / f"{name}.log"
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{what}"]
        command += ["--host", HOST, "--webui-port", "0", *words]
        with open(log, "wb") as output:
            self._own.append(
                subprocess.Popen(
                    ["sh", "-c", TIED, "sh", *command],
                    env={**left, **ours},
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=output,
                )
            )
        return log

    def _said(self, log: Path, pattern: str) -> str:
        """The group of a pattern, as soon as a log has it."""
        found: re.Match[str] | None = None

        def look() -> bool:
            nonlocal found
            found = re.search(pattern, log.read_text(errors="replace"))
            return found is not None

        eventually(look, f"{log.name} never said {pattern}:\n{log.read_text(errors='replace')}")
        assert found is not None
        return found[1]

    def _stop(self) -> None:
        """Ends all of ours: workers end their executors; who has not ended then is killed."""
        started = below({one.pid for one in self._own})
        for one in reversed(self._own):
            assert one.stdin is not None
            one.stdin.close()
        for one in self._own:
            try:
                one.wait(20)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
        left = {(p.pid, p.command) for p in processes()}
        for process in started:
            if (process.pid, process.command) in left:
                kill(process.pid)


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
