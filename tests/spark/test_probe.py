"""What executors lack is found before a run, and said in a line with the remedy."""

from __future__ import annotations

import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.diagnostics import SpecError
from checker.engines.cluster import Cluster
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.spark import probe
from checker.engines.spark.probe import Seen, compare_executors
from checker.engines.spark.session import Session, open_session

pytestmark = pytest.mark.cluster

VERSIONS = {"checker": "1.0", "llvmlite": "2", "pyarrow": "3"}
MINE = Seen("driver", "3.11.7", "/usr/bin/python", VERSIONS)


@pytest.fixture(scope="module")
def here(shared_java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with open_session(Cluster("local[2]"), tmp_path_factory.mktemp("spark") / "log") as opened:
        yield opened


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A Python of this version that has pyarrow, and nothing of ours."""
    import pyarrow

    home = tmp_path / "bare"
    venv.create(home, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    there = Path(pyarrow.__file__).parent
    for found in (there, *there.parent.glob("pyarrow-*.dist-info")):
        (packages / found.name).symlink_to(found)
    return home / "bin" / "python"


def refused(here: Session, python: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said when the executors use that Python."""
    context: Any = here.spark.sparkContext
    monkeypatch.setattr(context, "pythonExec", python)
    with pytest.raises(SpecError) as error:
        probe.require(here)
    return [f"{d.code}: {d.message}" for d in error.value.diagnostics]


def test_executors_that_have_everything(here: Session, tmp_path: Path) -> None:
    folder = RunFolder(str(tmp_path / "run"), 1)
    seen = probe.require(here, folder)
    assert len(seen) == here.slots
    assert {one.python for one in seen} == {probe.probe_here().python}
    assert {one.executable for one in seen} == {sys.executable}
    assert folder.place.files() == {}


def test_a_python_that_is_not_there(here: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    said = refused(here, "/no/such/python", monkeypatch)
    assert said == ["E026: the executors can't start Python: /no/such/python is missing there"]


@pytest.mark.slow
def test_a_package_that_is_not_there(
    here: Session, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (said,) = refused(here, str(bare), monkeypatch)
    assert said.startswith("E027: ")
    assert "lacks the package bivalence" in said


def test_nothing_there_at_all(here: Session, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for found in bare.parent.parent.glob("lib/python*/site-packages/pyarrow*"):
        found.unlink()
    (said,) = refused(here, str(bare), monkeypatch)
    assert said.startswith("E027: ")
    assert "lacks the package bivalence" in said


def test_a_python_of_another_version(here: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    context: Any = here.spark.sparkContext
    monkeypatch.setattr(context, "pythonVer", "3.99")
    (said,) = refused(here, sys.executable, monkeypatch)
    theirs = ".".join(map(str, sys.version_info[:2]))
    assert said == f"E026: the executors run Python {theirs}, and this machine Python 3.99"


def test_a_folder_that_can_not_be_written(here: Session, tmp_path: Path) -> None:
    """What a driver can write and an executor can't."""

    class Elsewhere(RunFolder):
        pass

    folder = Elsewhere(str(tmp_path / "run"), 1)
    place = folder.place
    place.create()
    other = type(place)(str(tmp_path / "other"))
    folder.place = Forwarding(place, other)  # type: ignore[assignment]
    with pytest.raises(SpecError) as error:
        probe.require(here, folder)
    assert [d.code for d in error.value.diagnostics] == ["E028"]
    assert "is not shared with" in error.value.diagnostics[0].message


class Forwarding:
    """A place that is another one where it is unpickled."""

    def __init__(self, mine: Any, theirs: Any) -> None:
        self.mine, self.theirs = mine, theirs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.mine, name)

    def __reduce__(self) -> Any:
        return type(self.theirs), (self.theirs.location,)


@pytest.mark.parametrize(
    ("changed", "codes"),
    [
        ({}, []),
        ({"python": "3.11.2"}, []),
        ({"python": "3.12.7"}, ["E026"]),
        ({"versions": {**VERSIONS, "llvmlite": ""}}, ["E027"]),
        ({"versions": {**VERSIONS, "checker": "0.9"}}, ["E027"]),
        ({"versions": {**VERSIONS, "pyarrow": "99"}}, []),
        ({"folder": "it is read-only"}, ["E028"]),
        ({"python": "3.9.1", "versions": {}, "folder": "no"}, ["E026", "E027", "E028"]),
    ],
)
def test_each_difference_is_said_once(changed: dict[str, Any], codes: list[str]) -> None:
    good = {"host": "far", "python": "3.11.7", "executable": "/x", "versions": VERSIONS}
    one = Seen(**{**good, **changed})
    found = compare_executors([MINE, one, one], MINE)
    assert [d.code for d in found] == codes
    assert all("far" in d.message and d.hint for d in found)
