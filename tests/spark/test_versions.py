"""The other versions of PySpark that the extra admits, from the package index."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.documents import only_report
from tests.spark.connect_server import connect_server

pytest.importorskip("pyspark")
pytestmark = [pytest.mark.cluster, pytest.mark.slow]

VERSIONS = ["4.1", "4.2"]
PARTICIPANTS, STATES = 9, 10_340_352
"""Of two-phase commit, as published; so many that not all levels are made in the driver."""
ONLINE = 1500.0
"""Seconds in which a package has to come from the index."""
ENDS = 400.0
"""Seconds in which a check has to end."""
PROGRAM = "import sys; from checker.cli.main import main; sys.exit(main())"


def installed(package: str, folder: Path) -> Path:
    """The folder, with a package and what it needs; for ``PYTHONPATH``, before our own."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), package]
    done = subprocess.run(command, capture_output=True, text=True, timeout=ONLINE, check=False)
    if done.returncode:
        pytest.skip(f"the package index has no {package}: {done.stderr.strip()[-200:]}")
    return folder


@pytest.fixture(scope="module", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def pyspark(version: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with PySpark of another version."""
    return installed(f"pyspark~={version}.0", tmp_path_factory.mktemp("pyspark"))


def states(python_path: Path, folder: Path, *where: str) -> int:
    """How many states a check finds with the packages in ``python_path``."""
    report = folder / "report"
    check = ["check", "specs/oracles/two_phase.bcast::three", "--set", f"n={PARTICIPANTS}"]
    options = ["--reduce", "none", "--whole", "--engine", "spark", "--shards", "2", *where]
    command: Sequence[str] = [sys.executable, "-c", PROGRAM, *check, *options]
    done = subprocess.run(
        [*command, "--checkpoint", str(folder / "run"), "--json", str(report)],
        env={**os.environ, "PYTHONPATH": str(python_path)},
        capture_output=True,
        text=True,
        timeout=ENDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = only_report(report.read_text())
    assert found["engine"] == "spark"
    assert any("MB of states" in note for note in found["notes"])  # tasks have exchanged some
    return int(found["distinct_states"])


@pytest.mark.parametrize("exchange", ["barrier", "shuffle"])
def test_both_exchanges(exchange: str, pyspark: Path, tmp_path: Path) -> None:
    assert states(pyspark, tmp_path, "--master", "local[2]", "--exchange", exchange) == STATES


@pytest.fixture
def thin(version: str, pyspark: Path, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A client without Spark, of the version of a server, and where that is."""
    client = installed(f"pyspark-client~={version}.0", tmp_path / "client")
    with connect_server(tmp_path, pyspark) as server:
        yield client, server


def test_the_thin_client(thin: tuple[Path, str], tmp_path: Path) -> None:
    client, server = thin
    assert states(client, tmp_path, "--master", server) == STATES
