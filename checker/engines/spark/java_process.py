"""The Java process of a driver of our own: started, connected to, and ended.

Java takes a second until it can be connected to, so a command starts it before it reads its spec
(:mod:`checker.engines.spark.shared_sessions`).  PySpark would start the same process, and wait for
it.  Where nothing outside this machine depends on it, it is killed with its Python processes when
the work is done, and its temporary files are removed here: to end by itself it would take more than
a second.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from checker.engines import budgets
from checker.engines.cluster import Cluster
from checker.engines.python_children import SAFE_PATH
from checker.engines.spark import masters
from checker.engines.spark.cancellation import CLOSING
from checker.engines.spark.class_archive import ClassArchive, archive_for
from checker.engines.spark.failures import Exited
from checker.engines.spark.heartbeat import SILENCE, SILENCE_KEY
from checker.engines.spark.java import find_java
from checker.polling import poll
from checker.processes import descendants, is_alive
from checker.resources import temporary_prefix

RUNTIME = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "16m",
}
"""Settings of our jobs in any session: their own number of partitions, and batches by bytes."""
START = {
    "spark.app.name": "bivalence",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",
    **{f"spark.executorEnv.{name}": value for name, value in SAFE_PATH.items()},
}
"""The settings with which our own driver is started."""
OPTIONS, FILES = "spark.driver.extraJavaOptions", "spark.local.dir"
"""Settings: the options of Java, and the folder of temporary files."""
AUTH_SECRET = "spark.authenticate.secret"
"""A setting that is kept off Java's command line, since all users can read that."""
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
"""The Java of a local master compiles with little optimisation, as it only passes data on, and
leaves no file with numbers for other programs."""
LOOK = 0.01
"""Seconds between two checks whether Java can be connected to, or has ended."""
BEAT = 5
"""Seconds between two heartbeats of an executor's Java, and between two checks of all of them."""
LATER = 10.0
"""How many seconds later than its tasks an executor is suspected."""
ARCHIVING = 300.0
"""Seconds, at most, in which Java writes the archive of its classes."""


class JavaProcess(Struct, frozen=True):
    """A Java.  ``folder``: its temporary files; ``log``: what it says; ``archive``: of its classes;
    ``ours_alone``: nothing has to be released elsewhere when it ends."""

    process: subprocess.Popen[bytes]
    folder: Path
    log: Path
    archive: ClassArchive | None
    ours_alone: bool

    def gateway(self) -> Any:
        """Returns PySpark's connection to Java, once it is ready; raises :class:`Exited`."""
        from pyspark import java_gateway, serializers

        file = _connection_file(self.folder)
        read: Any = serializers
        pyspark: Any = java_gateway
        while not file.exists():
            poll()
            if self.process.poll() is not None:
                raise Exited("Java has ended before it could be connected to")
            time.sleep(LOOK)
        with open(file, "rb") as told:
            port, secret = read.read_int(told), read.UTF8Deserializer().loads(told)
        with environment({"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}):
            gateway = pyspark.launch_gateway()
        gateway.proc = self.process
        client = gateway._gateway_client
        client.converters = [each for each in client.converters if not _of_numpy(each)]
        return gateway

    @property
    def is_archiving(self) -> bool:
        """Returns whether it is to write the archive of its classes when it ends."""
        return (
            self.archive is not None
            and self.archive.being_made is not None
            and not budgets.is_interrupted()
        )

    def kill(self) -> None:
        """Kills Java and the Python processes that it has started; removes its temporary files."""
        others = descendants(self.process.pid)
        for each in (self.process.pid, *others):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self._close_input()
        self.process.wait()
        until = time.monotonic() + CLOSING
        while any(map(is_alive, others)) and time.monotonic() < until:
            time.sleep(LOOK)
        self._remove_files()

    def end(self) -> None:
        """Ends Java by closing its input; kills it if that does not suffice."""
        self._close_input()
        until = time.monotonic() + (ARCHIVING if self.is_archiving else CLOSING)
        while self.process.poll() is None:
            if time.monotonic() > until or budgets.is_interrupted():
                self.kill()
                return
            time.sleep(LOOK)
        if self.archive is not None:
            self.archive.keep()
        self._remove_files()

    def _close_input(self) -> None:
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()

    def _remove_files(self) -> None:
        if self.archive is not None:
            self.archive.discard()
        shutil.rmtree(self.folder, ignore_errors=True)


def start(cluster: Cluster, log: Path) -> JavaProcess:
    """Starts the Java of our own driver of ``cluster``; its output goes to ``log``.

    Raises :class:`SpecError` (E021, E022) where there is no Java, and ``OSError``.
    """
    java, spark = find_java(), spark_home()
    folder = Path(tempfile.mkdtemp(prefix=temporary_prefix("bivalence-java-")))
    archive = archive_for(java, spark / "jars") if masters.is_local(cluster.master) else None
    conf = settings(cluster, folder, archive)
    script = "spark-submit.cmd" if os.name == "nt" else "spark-submit"
    command = [str(spark / "bin" / script)]
    for name, value in conf.items():
        if name == AUTH_SECRET:  # Spark gets it over the connection
            continue
        command += ["--conf", f"{name}={value}"]
    command += shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    told = {
        **surroundings(cluster),
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(_connection_file(folder)),
    }
    try:
        with open(log, "ab") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env={**os.environ, **told},
                preexec_fn=None if os.name == "nt" else _ignore_interrupts,
            )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return JavaProcess(process, folder, log, archive, _is_ours_alone(cluster, conf, folder))


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _of_numpy(converter: object) -> bool:
    """Returns whether a converter of arguments is of PySpark's for values of NumPy: to learn that
    there are none it would import pandas, which takes longer than anything else here."""
    return type(converter).__name__.startswith("Numpy")


def _connection_file(folder: Path) -> Path:
    """Returns the file in which Java says where it can be connected to."""
    return folder / "connection"


def _is_ours_alone(cluster: Cluster, conf: Mapping[str, str], folder: Path) -> bool:
    """Returns whether no process of another machine, and no file elsewhere, depends on Java."""
    inside = conf.get(FILES) == str(folder) and OPTIONS not in cluster.conf
    one = masters.is_local(cluster.master) and not cluster.master.startswith("local-cluster")
    return one and inside and "SPARK_LOCAL_DIRS" not in os.environ and os.path.isdir("/proc/self")


def settings(
    cluster: Cluster, folder: Path | None = None, archive: ClassArchive | None = None
) -> dict[str, str]:
    """Returns Spark's settings for a driver of our own, whose temporary files are in ``folder`` and
    whose classes in ``archive``; those of the user take precedence."""
    ours = {"spark.master": cluster.master, **START, **RUNTIME}
    if masters.on_loopback(cluster.master):
        ours |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if not masters.is_local(cluster.master):
        ours |= suspicion(cluster)
    if masters.is_local(cluster.master):
        options = list(QUICK)
        if folder is not None:
            options.append(f"-Djava.io.tmpdir={folder}")
            ours[FILES] = str(folder)
        if archive is not None:
            options.append(archive.option)
        ours[OPTIONS] = shlex.join(options)
    return {**ours, **cluster.conf}


def suspicion(cluster: Cluster) -> dict[str, str]:
    """Returns Spark's settings by which executors that are not heard from are given up, a little
    later than tasks would be; by default Spark takes two to three minutes."""
    try:
        silence = float(cluster.conf.get(SILENCE_KEY, SILENCE))
    except ValueError:  # reported where the session is opened
        silence = SILENCE
    return {
        "spark.executor.heartbeatInterval": f"{BEAT}s",
        "spark.network.timeoutInterval": f"{BEAT}s",
        "spark.storage.blockManagerHeartbeatTimeoutMs": f"{max(silence, SILENCE) + LATER:.0f}s",
    }


# ---- surroundings -----------------------------------------------------------------------------


def surroundings(cluster: Cluster) -> dict[str, str]:
    """Returns the environment variables that Java and PySpark read."""
    return {
        **SAFE_PATH,
        "JAVA_HOME": str(find_java().home),
        "PYSPARK_PYTHON": python_for(cluster),
        "SPARK_HOME": str(spark_home()),
    }


def spark_home() -> Path:
    """Returns the folder of Spark: the user's, or the one that PySpark brings along.

    PySpark itself would first look for ``bin/spark-submit`` in the folder above the current one,
    and execute that.
    """
    if os.environ.get("SPARK_HOME"):
        return Path(os.environ["SPARK_HOME"])
    found = importlib.util.find_spec("pyspark")
    assert found is not None and found.origin is not None, "its absence was reported"
    package = Path(found.origin).parent
    homes = package / "spark-distribution", package, package.parent.parent
    return next((home for home in homes if (home / "bin" / "spark-submit").is_file()), package)


def python_for(cluster: Cluster) -> str:
    """Returns the Python that executors use: the user's setting, or that of this process."""
    told = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return cluster.conf.get("spark.pyspark.python", told)


@contextmanager
def environment(wanted: Mapping[str, str], absent: tuple[str, ...] = ()) -> Iterator[None]:
    """Within the block, sets these environment variables; restores them, and the import path,
    after it."""
    names = [*wanted, *absent]
    before = {name: os.environ.get(name) for name in names}
    path = list(sys.path)
    os.environ.update(wanted)
    try:
        yield
    finally:
        sys.path[:] = path
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
