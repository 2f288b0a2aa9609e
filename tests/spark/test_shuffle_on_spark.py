"""The shuffle exchange on Spark itself, and where the driver is behind Spark Connect."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.engines.cluster import Cluster, Exchange
from checker.engines.native import engine as native
from checker.engines.native.codegen.image import build
from checker.engines.spark import driver, local_prefix
from checker.engines.spark.java import find_java
from checker.engines.spark.shared_sessions import holding
from checker.model.ir import TransitionSystem
from checker.results.answer import Limits
from tests.native.test_models import COUNTS
from tests.spark.gang import begun
from tests.spark.test_barrier import compare

pytestmark = pytest.mark.cluster

MODEL = next(entry for entry in COUNTS if entry[0].name == "bcastFolklore31")
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
STARTS = 60.0
"""Seconds in which a server has to be there."""


@pytest.fixture(autouse=True)
def _nothing_in_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_prefix, "LIGHT", -1)


def agree(system: TransitionSystem, count: int, cluster: Cluster, folder: Path) -> None:
    """The same answer as that of the native engine; half of it, and then the rest."""
    run = begun(folder, system, build(system))
    half = driver.explore(system, Limits(max_states=count // 2), cluster, run)
    assert not half.exhaustive
    found = driver.explore(system, Limits(), cluster, run)
    assert found.distinct_states == count
    compare(found, native.explore(system, Limits(), threads=1))


@pytest.mark.usefixtures("shared_java")
def test_on_spark(tmp_path: Path) -> None:
    cluster = Cluster("local[2]", exchange=Exchange.SHUFFLE, shards=3)
    with holding():
        agree(*MODEL, cluster, tmp_path / "run")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A Connect server of our own, ended by its process."""
    import pyspark

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = Path(pyspark.__file__).parent
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(tmp_path / "local"),
    }
    (tmp_path / "local").mkdir()
    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = [home / "bin" / "spark-submit", "--master", "local[2]", *options]
    surroundings = {
        **os.environ,
        "JAVA_HOME": str(find_java().home),
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with open(tmp_path / "server.log", "wb") as log:
        java = subprocess.Popen(
            [*command, "--class", SERVER, "spark-internal"],
            stdout=log,
            stderr=log,
            env=surroundings,
            cwd=tmp_path,
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


@pytest.mark.slow
@pytest.mark.usefixtures("no_shared_java")
def test_over_connect(server: str, tmp_path: Path) -> None:
    cluster = Cluster(server, exchange=Exchange.SHUFFLE, shards=2)
    with holding():
        agree(*MODEL, cluster, tmp_path / "run")
    assert not list((tmp_path / "local").rglob("bivalence-*"))
