"""A standalone cluster on this machine: a master and workers of our own, each a process, whose
executors are processes, too.

It is Spark as on many machines, with what PySpark's package brings.  Ports are free ones of the
loopback interface, and no other user can run code on the cluster: Spark's processes share a secret.
All files are below one folder, and every process ends with us, however we end.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from checker.diagnostics import Diagnostic, SpecError
from checker.engines.cluster import Cluster
from checker.engines.spark.java import find_java
from checker.engines.spark.java_process import AUTH_SECRET, QUICK, spark_home
from checker.engines.spark.session import PATIENCE_KEY
from checker.polling import poll
from checker.processes import descendants, is_alive
from checker.resources import temporary_prefix

HOST = "127.0.0.1"
SHORT_LIVED = " ".join((*QUICK, "-XX:+UseSerialGC"))
"""Options of a Java process that lives for a minute or so."""
PATIENCE = 120.0
"""Seconds that the master may take to start, then all workers, and then executors."""
CLOSING = 15.0
"""Seconds that a process may take to end before it is killed."""
LOOK = 0.05
"""Seconds between two checks of a process."""
SECRET = "_SPARK_AUTH_SECRET"
"""The environment variable with the secret: all users can read command lines."""
HEAP = "512m"
"""Memory of an executor's Java."""
TIED = """
exec 3<&0
"$@" </dev/null & java=$!
echo $java >"$0"
(read line <&3; kill $java) & tie=$!
wait $java; code=$?
kill $tie 2>/dev/null
exit $code
"""
"""A shell that runs a process and ends it when its own input ends, that is, when we end in whatever
way.  The shell's name is the file to which it writes the number of the process."""


class StandaloneCluster:
    """A master and ``workers`` workers of one slot each, with all their files below ``folder``; to
    be used as a context.

    ``patience``: in seconds.  Entering raises :class:`SpecError` (E021, E022, E131).
    """

    def __init__(self, folder: Path, workers: int = 2, *, patience: float = PATIENCE) -> None:
        self.folder, self.count, self.patience = folder, workers, patience
        self.master = ""
        self._secret = secrets.token_hex(32)
        self._settings = {
            "spark.authenticate": "true",
            "spark.master.rest.enabled": "false",
        }
        self._own: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> StandaloneCluster:
        try:
            self._write_settings()
            self._start("master", "master.Master", "--port", "0")
            self.master = self._said("master", r"Starting Spark master at (spark://\S+)")
            for number in range(self.count):
                self._start_worker(f"worker-{number}")
            for number in range(self.count):
                self._said(f"worker-{number}", r"(Successfully registered) with")
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    @property
    def conf(self) -> dict[str, str]:
        """The settings of a session on it."""
        return {
            **self._settings,
            AUTH_SECRET: self._secret,
            "spark.cores.max": str(self.count),
            "spark.executor.memory": HEAP,
            "spark.executor.extraJavaOptions": SHORT_LIVED,
            "spark.driver.extraJavaOptions": SHORT_LIVED,
            PATIENCE_KEY: f"{self.patience:g}",
            "spark.local.dir": str(self.folder / "driver"),
        }

    def java_of(self, name: str) -> int:
        """Returns the number of the process of ``master``, or of ``worker-0`` and so on."""
        return int((self.folder / f"{name}.pid").read_text())

    # -- starting and stopping ------------------------------------------------------------------

    def _write_settings(self) -> None:
        conf = self.folder / "conf"
        conf.mkdir(parents=True)
        lines = (f"{name} {value}\n" for name, value in self._settings.items())
        (conf / "spark-defaults.conf").write_text("".join(lines), encoding="utf-8")

    def _start_worker(self, name: str) -> None:
        place = "--cores", "1", "--memory", "1g", "--work-dir", str(self.folder / "work")
        self._start(name, "worker.Worker", *place, self.master)

    def _start(self, name: str, what: str, *words: str) -> None:
        """Starts a process, whose log is called by its name."""
        ours = {
            "JAVA_HOME": str(find_java().home),
            "SPARK_HOME": str(spark_home()),
            "SPARK_CONF_DIR": str(self.folder / "conf"),
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
            SECRET: self._secret,
        }
        left = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK", "PYSPARK"))}
        command = [str(spark_home() / "bin" / "spark-class"), f"org.apache.spark.deploy.{what}"]
        command += ["--host", HOST, "--webui-port", "0", *words]
        with open(self._log(name), "wb") as output:
            self._own[name] = subprocess.Popen(
                ["sh", "-c", TIED, str(self.folder / f"{name}.pid"), *command],
                env={**left, **ours},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
            )

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _said(self, name: str, pattern: str) -> str:
        """Waits until a log matches a pattern, and returns its group; raises :class:`SpecError`."""
        until = time.monotonic() + self.patience
        while True:
            over = self._own[name].poll() is not None
            text = self._log(name).read_text(errors="replace")
            found = re.search(pattern, text)
            if found is not None:
                return found[1]
            if over or time.monotonic() > until:
                raise _not_started(name, text, self.patience, over=over)
            poll()
            time.sleep(LOOK)

    def _stop(self) -> None:
        """Ends all processes; workers end their executors.  Kills those that take too long."""
        started = [each for one in self._own.values() for each in descendants(one.pid)]
        for one in reversed(self._own.values()):
            assert one.stdin is not None
            one.stdin.close()
        until = time.monotonic() + CLOSING
        while any(map(is_alive, started)) and time.monotonic() < until:
            time.sleep(LOOK)
        for each in filter(is_alive, started):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        for one in self._own.values():
            one.kill()
            one.wait()


def _not_started(name: str, said: str, patience: float, *, over: bool) -> SpecError:
    """Returns the diagnostic (E131), with the last line that names an error."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    wrong = [line for line in lines if re.search(r"error|exception|not found", line, re.I)]
    why = (wrong or lines or ["it printed nothing"])[-1][:300]
    how = "ended" if over else f"was not ready within {patience:g} s"
    message = f"a cluster of Spark on this machine can't be started: its {name} {how}: {why}"
    hint = "`bivalence doctor` lists what Spark needs; `--master local[2]` needs no cluster"
    return SpecError((Diagnostic("E131", message, hint=hint),))


@contextmanager
def temporary_cluster(workers: int = 2) -> Iterator[Cluster]:
    """Starts a cluster of our own for the block, in a temporary folder, and leaves nothing behind.

    Raises what :class:`StandaloneCluster` does.
    """
    prefix = temporary_prefix("bivalence-cluster-")
    with (
        tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder,
        StandaloneCluster(Path(folder) / "cluster", workers) as started,
    ):
        yield Cluster(started.master, started.conf)
