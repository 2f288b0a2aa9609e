"""Other versions of PySpark that the extra admits, from the package index; skipped without it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents import only_report
from tests.spark.connect_server import connect_server

pytest.importorskip("pyspark")
pytestmark = [pytest.mark.cluster, pytest.mark.slow]

VERSIONS = ["4.1", "4.2"]
PARTICIPANTS, STATES = 9, 10_340_352
"""Of two-phase commit, as published; so many that not all levels are made in the driver."""
ONLINE = 600.0
"""Seconds in which a package has to come from the index."""
ENDS = 400.0
"""Seconds in which a command has to end."""
PROGRAM = """
import sys, pyspark
from checker.cli.main import main
assert pyspark.__version__.startswith(sys.argv.pop(1) + "."), pyspark.__version__
sys.exit(main())
"""


def installed(package: str, folder: Path) -> Path:
    """The folder, with a package and what it needs; for ``PYTHONPATH``, before our own."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), package]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=ONLINE, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"{package} did not come from the package index within {ONLINE:g} s")
    if done.returncode:
        pytest.skip(f"no {package} from the package index: {done.stderr.strip()[-200:]}")
    return folder


def output(version: str, python_path: Path, *words: str) -> str:
    """What our command prints with the PySpark of that version in ``python_path``."""
    surroundings = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK", "PYSPARK"))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, version, *words],
        env={**surroundings, "PYTHONPATH": str(python_path)},
        capture_output=True,
        text=True,
        timeout=ENDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def pyspark(version: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with PySpark of another version."""
    return installed(f"pyspark~={version}.0", tmp_path_factory.mktemp("pyspark"))


def states(version: str, python_path: Path, folder: Path, *where: str) -> int:
    """How many states a check finds with the packages in ``python_path``."""
    folder.mkdir(exist_ok=True)
    report = folder / "report"
    check = ["check", "specs/oracles/two_phase.bcast::three", "--set", f"n={PARTICIPANTS}"]
    options = ["--reduce", "none", "--whole", "--engine", "spark", "--shards", "2", *where]
    files = ["--checkpoint", str(folder / "run"), "--json", str(report)]
    output(version, python_path, *check, *options, *files)
    found = only_report(report.read_text())
    assert found["engine"] == "spark"
    assert any("MB of states" in note for note in found["notes"])  # tasks have exchanged some
    return int(found["distinct_states"])


@pytest.mark.parametrize("exchange", ["barrier", "shuffle"])
def test_both_exchanges(exchange: str, version: str, pyspark: Path, tmp_path: Path) -> None:
    where = ["--master", "local[2]", "--exchange", exchange]
    assert states(version, pyspark, tmp_path, *where) == STATES


def test_a_cluster(version: str, pyspark: Path) -> None:
    """Of processes of that version; the command compares the counts."""
    lines = output(version, pyspark, "doctor", "--cluster").splitlines()
    checks = [line.split(":")[0] for line in lines if " check by " in line]
    assert checks == ["ok       check by barrier", "ok       check by shuffle"]


@pytest.fixture
def thin(version: str, pyspark: Path, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A client without Spark, of the version of a server, and where that is."""
    client = installed(f"pyspark-client~={version}.0", tmp_path / "client")
    with connect_server(tmp_path, pyspark) as server:
        yield client, server


def test_the_thin_client(version: str, thin: tuple[Path, str], tmp_path: Path) -> None:
    client, server = thin
    for exchange in ("barrier", "shuffle"):
        where = ["--master", server, "--exchange", exchange]
        assert states(version, client, tmp_path / exchange, *where) == STATES
