"""A server of Spark Connect, ended by its process."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from checker.engines.spark.java import find_java

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
STARTS = 240.0
"""Seconds in which a server has to be there."""


@contextlib.contextmanager
def connect_server(folder: Path, packages: Path | None = None) -> Iterator[str]:
    """Yields the URL of a server with its files below ``folder``, of the PySpark in ``packages``
    or our own."""
    home = None if packages is None else packages / "pyspark"
    if home is None:
        spec = importlib.util.find_spec("pyspark")
        assert spec is not None and spec.origin is not None
        home = Path(spec.origin).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(folder / "local"),
    }
    (folder / "local").mkdir()
    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = [home / "bin" / "spark-submit", "--master", "local[2]", *options]
    first = [] if packages is None else [str(packages)]
    surroundings = {
        **os.environ,
        "JAVA_HOME": str(find_java().home),
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([*first, *sys.path]),
    }
    with open(folder / "server.log", "wb") as log:
        java = subprocess.Popen(
            [*command, "--class", SERVER, "spark-internal"],
            stdout=log,
            stderr=log,
            env=surroundings,
            cwd=folder,
        )
        try:
            _wait_for(port, java)
            yield f"sc://127.0.0.1:{port}"
        finally:
            java.terminate()
            java.wait(30)


def _wait_for(port: int, java: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + STARTS
    while time.monotonic() < until and java.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)
    raise AssertionError("the server does not start")
