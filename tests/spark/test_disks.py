"""Runs on a real Spark whose folder is on a disk that is full, or can be read only: what was found
is told, and whoever has made room goes on to the answer of a run in peace."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.cluster import Cluster, Exchange
from checker.engines.native import engine as native
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.native.codegen.image import build
from checker.engines.spark import driver
from checker.engines.spark.heartbeat import SILENCE_KEY
from checker.engines.spark.task_progress import ProgressReader
from checker.results.answer import Answer, Limits, Progress
from tests.native.models import two_phase
from tests.spark.gang import begun
from tests.spark.test_barrier import compare

pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.usefixtures("one_session", "nothing_in_the_driver"),
]

SYSTEM = two_phase(3)
LITTLE, ENOUGH = "size=96k", "size=20m"
"""Of a disk: less than the run needs, and more."""
BARRIER = pytest.param(Exchange.BARRIER, marks=pytest.mark.slow)
"""By the barrier the tasks are those of tests/spark/test_barrier.py."""
BOTH = pytest.mark.parametrize("exchange", [BARRIER, Exchange.SHUFFLE])


def mount(*words: str) -> bool:
    """Whether it could be done."""
    try:
        return not subprocess.run(["mount", *words], capture_output=True, check=False).returncode
    except OSError:
        return False


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own; only who may mount one has it."""
    place = tmp_path / "disk"
    place.mkdir()
    if not mount("-t", "tmpfs", "-o", ENOUGH, "tmpfs", str(place)):
        pytest.skip("nobody may mount a disk here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def explored(exchange: Exchange, folder: RunFolder, every: float = 0.0) -> Answer:
    """By two tasks; a task that is not heard from would soon be given up."""
    cluster = Cluster("local[2]", {SILENCE_KEY: "3"}, exchange, 2)
    return driver.explore(SYSTEM, Limits(), cluster, folder, commit_every=every)


def in_peace(exchange: Exchange, folder: RunFolder) -> None:
    """The run is gone on with, and comes to the right answer."""
    again = RunFolder(folder.location, folder.words)
    compare(explored(exchange, again), native.explore(SYSTEM, Limits(), threads=1))


@BOTH
@pytest.mark.slow
def test_a_disk_that_fills_up(exchange: Exchange, disk: Path) -> None:
    folder = begun(disk / "run", SYSTEM, build(SYSTEM))
    assert mount("-o", f"remount,{LITTLE}", str(disk))
    found = explored(exchange, folder)
    assert not found.exhaustive
    assert found.stopped is not None
    assert found.stopped.startswith("the run can't be saved: ")
    assert found.stopped.endswith("No space left on device")
    assert mount("-o", f"remount,{ENOUGH}", str(disk))
    in_peace(exchange, folder)


@pytest.mark.slow
@BOTH
def test_a_disk_that_can_be_read_only_from_some_level_on(exchange: Exchange, disk: Path) -> None:
    folder = begun(disk / "run", SYSTEM, build(SYSTEM))
    cluster = Cluster("local[2]", {SILENCE_KEY: "3"}, exchange, 2)

    class Protecting(ProgressReader):
        """Whoever watches, as soon as tasks have begun."""

        def _watch(self) -> None:
            while not self._over.wait(0.01):
                if any(disk.glob("run/said/beat-*")):
                    mount("-o", "remount,ro", str(disk))
                    return

    def listen(progress: Progress) -> None:
        pass

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(driver, "ProgressReader", Protecting)
        found = driver.explore(SYSTEM, Limits(), cluster, folder, listen, commit_every=0.0)
    assert found.stopped is not None
    assert found.stopped.startswith("the run can't be saved: ")
    assert found.stopped.endswith("Read-only file system")
    assert mount("-o", "remount,rw", str(disk))
    in_peace(exchange, folder)


@pytest.mark.slow
def test_a_disk_that_can_be_read_only(disk: Path) -> None:
    folder = begun(disk / "run", SYSTEM, build(SYSTEM))
    assert mount("-o", "remount,ro", str(disk))
    with pytest.raises(SpecError) as error:
        explored(Exchange.BARRIER, folder)
    (found,) = error.value.diagnostics
    assert found.code == "E014"
    assert mount("-o", "remount,rw", str(disk))
    in_peace(Exchange.BARRIER, folder)


def fill(path: Path) -> None:
    """There is no room left."""
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


@pytest.mark.slow
def test_what_needs_no_disk_does_not_mind_a_full_one(disk: Path) -> None:
    """Tasks can't say that they are alive; nobody is blamed, and the answer is whole."""
    folder = begun(disk / "run", SYSTEM, build(SYSTEM))
    folder.claim()
    fill(disk / "full")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(RunFolder, "claim", lambda self: None)
        found = explored(Exchange.BARRIER, folder, 1000.0)
    compare(found, native.explore(SYSTEM, Limits(), threads=1))
