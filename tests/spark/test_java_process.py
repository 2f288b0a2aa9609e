"""A Java of our own: started before it is needed, from an archive of its classes; it leaves nothing
behind, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker import kept, resources
from checker.cli.main import main
from checker.diagnostics import SpecError
from checker.engines.cluster import Cluster
from checker.engines.spark import java_process, session, shared_sessions
from checker.engines.spark.class_archive import ClassArchive, archive_for
from checker.engines.spark.failures import Exited
from checker.engines.spark.java import Java
from checker.engines.spark.java_process import JavaProcess, spark_home
from checker.processes import descendants, is_alive

HERE = Cluster("local[1]")
SLEEPING = (sys.executable, "-c", "import sys; sys.stdin.read()")
"""A process that ends when its input does, as Java does."""


@pytest.fixture
def java(tmp_path: Path) -> Java:
    return Java(tmp_path / "jdk", 17, "PATH")


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    folder = tmp_path / "jars"
    folder.mkdir()
    (folder / "spark.jar").write_bytes(b"classes")
    return folder


@pytest.fixture
def keeping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A command keeps its results, in a cache of its own."""
    (tmp_path / "cache").mkdir(0o700)
    monkeypatch.setattr(
        resources, "cache_folder", lambda name="": resources.own_folder(tmp_path / "cache")
    )
    kept.use()
    yield tmp_path / "cache"
    kept.use(False)


def process(tmp_path: Path, *command: str, **fields: Any) -> JavaProcess:
    """A process that stands for Java."""
    folder = tmp_path / "files"
    folder.mkdir()
    given = {"log": tmp_path / "log", "archive": None, "ours_alone": True, **fields}
    started = subprocess.Popen(command or SLEEPING, stdin=subprocess.PIPE)
    return JavaProcess(started, folder, **given)


# ---- the archive of classes -------------------------------------------------------------------


def test_the_second_java_writes_the_archive_and_later_ones_use_it(
    keeping: Path, java: Java, jars: Path
) -> None:
    assert archive_for(java, jars) is None
    first = archive_for(java, jars)
    assert first is not None and first.being_made is not None
    assert first.option == f"-XX:ArchiveClassesAtExit={first.being_made}"
    first.being_made.write_bytes(b"archive")
    first.keep()
    second = archive_for(java, jars)
    assert second == ClassArchive(first.path, None)
    assert second.option == f"-XX:SharedArchiveFile={first.path}"
    second.keep()
    second.discard()
    assert set(keeping.iterdir()) == {first.path, first.path.with_suffix(".wanted")}


def test_other_jars_and_another_java_have_another_archive(
    keeping: Path, java: Java, jars: Path
) -> None:
    def path(some: Java) -> Path:
        archive = archive_for(some, jars) or archive_for(some, jars)
        assert archive is not None
        return archive.path

    before = path(java)
    assert path(java) == before
    assert path(Java(java.home, 21, "PATH")) != before
    (jars / "spark.jar").write_bytes(b"other classes")
    assert path(java) != before


def test_programs_that_import_the_tool_make_no_archive(
    keeping: Path, java: Java, jars: Path
) -> None:
    kept.use(False)
    assert archive_for(java, jars) is None is archive_for(java, jars)


def test_the_oldest_archives_are_removed(keeping: Path) -> None:
    for age in range(4):
        each = ClassArchive(keeping / f"{age}.jsa", keeping / "new")
        (keeping / "new").write_bytes(b"")
        os.utime(keeping / "new", (100 + age, 100 + age))
        each.keep()
    assert {path.name for path in keeping.iterdir()} == {"2.jsa", "3.jsa"}


def test_what_java_did_not_finish_is_not_kept(keeping: Path, tmp_path: Path) -> None:
    archive = ClassArchive(keeping / "a.jsa", keeping / "tmp")
    java = process(tmp_path, archive=archive)
    (keeping / "tmp").write_bytes(b"half")
    assert java.is_archiving
    java.kill()
    assert not list(keeping.iterdir())


def test_after_an_interrupt_nothing_is_archived(
    keeping: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = (sys.executable, "-c", "import time; time.sleep(600)")
    java = process(tmp_path, *endless, archive=ClassArchive(keeping / "a.jsa", keeping / "tmp"))
    monkeypatch.setattr("checker.engines.budgets.is_interrupted", lambda: True)
    assert not java.is_archiving
    java.end()
    assert java.process.returncode == -9


# ---- the process ------------------------------------------------------------------------------


def test_all_that_a_killed_one_has_started_ends_with_it(tmp_path: Path) -> None:
    java = process(tmp_path, "sh", "-c", "sleep 600 & sleep 600; :")
    while len(below := descendants(java.process.pid)) < 2:
        time.sleep(0.01)
    java.kill()
    assert not any(map(is_alive, below))
    assert not java.folder.exists()


def test_one_that_is_not_killed_ends_with_its_input(tmp_path: Path) -> None:
    java = process(tmp_path)
    java.end()
    assert java.process.returncode == 0
    assert not java.folder.exists()


def test_one_that_has_ended_has_no_gateway(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    java = process(tmp_path, "true")
    with pytest.raises(Exited):
        java.gateway()
    java.kill()


@pytest.mark.parametrize(
    ("cluster", "alone"),
    [
        (Cluster("local[2]"), True),
        (Cluster("local[2]", {"spark.driver.memory": "2g"}), True),
        (Cluster("local-cluster[1,1,1024]"), False),
        (Cluster("spark://127.0.0.1:7077"), False),
        (Cluster("local[2]", {"spark.local.dir": "/elsewhere"}), False),
        (Cluster("local[2]", {"spark.driver.extraJavaOptions": "-Dx=y"}), False),
    ],
)
def test_who_may_be_killed(cluster: Cluster, alone: bool, tmp_path: Path) -> None:
    """Nothing of a cluster has to be released, and no file is left elsewhere."""
    settings = java_process.settings(cluster, tmp_path)
    assert java_process._is_ours_alone(cluster, settings, tmp_path) is alone


def test_a_folder_of_any_name_is_one_option() -> None:
    options = java_process.settings(HERE, Path("/a b'c"))["spark.driver.extraJavaOptions"]
    assert options.endswith(""" '-Djava.io.tmpdir=/a b'"'"'c'""")


def test_the_secret_of_a_cluster_is_on_no_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(java_process, "spark_home", lambda: tmp_path)
    script = tmp_path / "bin" / "spark-submit"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\necho "$@"\n')
    script.chmod(0o755)
    conf = {"spark.authenticate": "true", java_process.AUTH_SECRET: "hush"}
    java = java_process.start(Cluster("spark://127.0.0.1:7077", conf), tmp_path / "log")
    java.process.wait()
    java.kill()
    said = (tmp_path / "log").read_text()
    assert "spark.authenticate=true" in said and "hush" not in said


# ---- ahead of its use -------------------------------------------------------------------------


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[JavaProcess]:
    """The processes that were started in place of a Java."""
    found: list[JavaProcess] = []

    def start(cluster: Cluster, log: Path) -> JavaProcess:
        found.append(process(tmp_path, log=log))
        return found[-1]

    monkeypatch.setattr(session, "start", start)
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return found


def test_a_command_starts_it_before_it_reads_the_spec(
    started: list[JavaProcess], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the spec lacks is reported as before, and the Java is not left."""
    pytest.importorskip("py4j")
    seen: list[int] = []

    def read(path: str) -> None:
        seen.append(len(started))
        raise KeyboardInterrupt

    monkeypatch.setattr("checker.session.pipeline.read_spec", read)
    assert main(["check", "none.bcast", "--engine", "spark"]) == 3
    assert seen == [1]
    assert started[0].process.returncode is not None
    assert not list(tmp_path.glob("bivalence-*"))


def test_no_other_engine_starts_one(started: list[JavaProcess], tmp_path: Path) -> None:
    for given in (
        ["--engine", "native"],
        ["--master", "local[2]"],
        ["--engine", "spark", "--cache"],
    ):
        assert main(["check", str(tmp_path / "none.bcast"), *given]) == 2
    assert not started


def test_an_early_java_is_given_to_the_session_on_its_cluster(
    started: list[JavaProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[JavaProcess | None] = []

    class Opened:
        def __init__(self, cluster: Cluster, **more: Any) -> None:
            given.append(more["java"])

        def __enter__(self) -> str:
            return "session"

        def __exit__(self, *error: object) -> None:
            return None

    monkeypatch.setattr(shared_sessions, "open_session", Opened)
    with shared_sessions.holding(HERE):
        for cluster in (Cluster("local[3]"), HERE, HERE):
            with shared_sessions.session_for(cluster, None):
                pass
    assert given == [None, started[0]]
    assert started[0].process.returncode is not None, "no session has ended it"


# ---- a real one -------------------------------------------------------------------------------

COMMAND = """
import sys
from checker import kept
from checker.cli.main import main
from checker.engines.cluster import Cluster
from checker.engines.spark.session import open_session

def once(numbers):
    for number in numbers:
        yield number

kept.use()
with open_session(Cluster("local[1]")) as session:
    assert session.in_tasks(once, 2) == [0, 1]
"""


@pytest.mark.cluster
@pytest.mark.slow
def test_a_session_leaves_nothing_but_the_archive(tmp_path: Path) -> None:
    """The second one ends by itself, as it writes the archive; the others are killed."""
    pytest.importorskip("pyspark")
    temporary, cache = tmp_path / "temporary", tmp_path / "cache"
    temporary.mkdir()
    env = {**os.environ, "TMPDIR": str(temporary), "XDG_CACHE_HOME": str(cache)}
    written = []
    for _ in range(3):
        subprocess.run([sys.executable, "-c", COMMAND], env=env, check=True)
        assert not list(temporary.iterdir())
        there = sorted((cache / "bivalence" / "classes").glob("*.jsa"))
        written.append([path.stat().st_mtime_ns for path in there])
    assert not written[0]
    assert len(written[1]) == 1
    assert written[1] == written[2]


def test_an_import_of_pyspark_does_not_end_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the main module is no file, it ends it with 0 if something for its tests is missing."""
    pytest.importorskip("pyspark")
    homes = []

    class Ending:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name.startswith("pyspark.sql.connect"):
                homes.append(os.environ["SPARK_HOME"])
                sys.exit(0)

    for name in [name for name in sys.modules if name.startswith("pyspark.sql.connect")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Ending, *sys.meta_path])
    with (
        pytest.raises(SpecError, match="needs a package"),
        session._connect_session(Cluster("sc://127.0.0.1"), tmp_path / "log"),
    ):
        raise AssertionError("it is open")
    assert homes == [str(spark_home())]
    assert "SPARK_HOME" not in os.environ
