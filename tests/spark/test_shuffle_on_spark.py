"""The shuffle exchange on Spark itself, and where the driver is behind Spark Connect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.engines.cluster import Cluster, Exchange
from checker.engines.native import engine as native
from checker.engines.native.codegen.image import build
from checker.engines.spark import driver, local_prefix
from checker.engines.spark.shared_sessions import holding
from checker.model.ir import TransitionSystem
from checker.results.answer import Limits
from tests.native.test_models import COUNTS
from tests.spark.connect_server import connect_server
from tests.spark.gang import begun
from tests.spark.test_barrier import compare

pytestmark = pytest.mark.cluster

MODEL = next(entry for entry in COUNTS if entry[0].name == "bcastFolklore31")


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
    """A Connect server of our own."""
    with connect_server(tmp_path) as url:
        yield url


@pytest.mark.slow
@pytest.mark.usefixtures("no_shared_java")
def test_over_connect(server: str, tmp_path: Path) -> None:
    cluster = Cluster(server, exchange=Exchange.SHUFFLE, shards=2)
    with holding():
        agree(*MODEL, cluster, tmp_path / "run")
    assert not list((tmp_path / "local").rglob("bivalence-*"))
