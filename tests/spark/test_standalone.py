"""A cluster of our own on this machine: it is one, and nothing of it stays."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.cli import doctor, doctor_cluster
from checker.cli.main import main
from checker.diagnostics import SpecError
from checker.engines.cluster import Cluster
from checker.engines.spark import standalone
from checker.engines.spark.java_process import AUTH_SECRET
from checker.engines.spark.standalone import StandaloneCluster
from checker.processes import is_alive
from checker.records import replace
from tests.spark.cluster import eventually, processes

pytest.importorskip("pyspark")
pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("no_shared_java")]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of temporary files, which has to be empty at the end."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield tmp_path
    assert not list(tmp_path.iterdir())
    assert not of_spark(tmp_path)


def of_spark(folder: Path) -> list[str]:
    """The commands of processes that name ``folder``."""
    return [one.command for one in processes() if str(folder) in one.command]


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of Spark's, whose start-up script a test writes."""
    script = tmp_path / "spark" / "bin" / "spark-class"
    script.parent.mkdir(parents=True)
    script.touch(0o755)
    monkeypatch.setattr(standalone, "spark_home", lambda: tmp_path / "spark")
    return script


def test_what_ends_early_is_told_at_once(spark: Path, tmp_path: Path) -> None:
    spark.write_text("#!/bin/sh\necho 'Error: no room'; echo; echo later; exit 3\n")
    cluster = StandaloneCluster(tmp_path / "cluster", patience=1000.0)
    with pytest.raises(SpecError) as error, cluster:
        raise AssertionError("it has started")
    (found,) = error.value.diagnostics
    assert found.code == "E131"
    assert found.message.endswith("its master ended: Error: no room")


def test_what_is_late_is_told_and_killed(spark: Path, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    spark.write_text(f"#!/bin/sh\necho $$ >{pid}\nexec sleep 1000\n")
    cluster = StandaloneCluster(tmp_path / "cluster", patience=2.0)
    with pytest.raises(SpecError) as error, cluster:
        raise AssertionError("it has started")
    assert "its master was not ready within 2 s: it printed nothing" in str(error.value)
    assert not is_alive(int(pid.read_text()))


def test_processes_end_when_their_owner_is_killed(spark: Path, tmp_path: Path) -> None:
    spark.write_text("#!/bin/sh\necho Starting Spark master at spark://h:1\nexec sleep 1000\n")
    owner = f"""
import os, signal, sys
from pathlib import Path
from checker.engines.spark import standalone
standalone.spark_home = lambda: Path({str(spark.parent.parent)!r})
with standalone.StandaloneCluster(Path({str(tmp_path / "cluster")!r}), 0) as started:
    print(started.java_of("master"), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", owner], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    eventually(lambda: not is_alive(int(done.stdout)), "it outlives its owner")


def test_no_command_line_has_the_secret(spark: Path, tmp_path: Path) -> None:
    spark.write_text("#!/bin/sh\necho Starting Spark master at spark://h:1\nexec sleep 1000\n")
    with StandaloneCluster(tmp_path / "cluster", 0) as started:
        secret = started.conf[AUTH_SECRET]
        assert len(secret) == 64
        assert not any(secret in one.command for one in processes())
        for path in started.folder.rglob("*"):
            assert path.is_dir() or secret not in path.read_text()


@pytest.mark.slow
def test_doctor_starts_one_and_leaves_nothing_behind(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "findings", lambda: iter(()))
    assert main(["doctor", "--cluster"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert ": 2 slots" in lines[0]
    assert lines[1].startswith("ok       executor: ")
    for line, exchange in zip(lines[2:4], ("barrier", "shuffle"), strict=True):
        assert line.startswith(f"ok       check by {exchange}: ")
        assert "1,745,408 states" in line  # as other checkers count


def test_other_counts_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_cluster, "SIZE", 3)
    native = doctor_cluster._checked(None)
    assert native.distinct_states == 288  # as other checkers count
    wrong = replace(native, distinct_states=287)
    monkeypatch.setattr(doctor_cluster, "_checked", lambda _: wrong)
    cluster = Cluster("local[2]")
    found = doctor_cluster._compared(native, cluster)
    assert not found.good and "287" in found.said and "288" in found.said
    assert doctor_cluster._compared(wrong, cluster).good
