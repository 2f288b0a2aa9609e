"""Random walks on executors: the same walks as here, and the same one finds what is found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from checker.engines.cluster import Cluster
from checker.engines.spark.session import Session
from checker.engines.spark.shared_sessions import holding, session_for
from checker.extensions.tables import ON_CLUSTER
from checker.records import replace
from checker.simulate import simulation
from checker.simulate.simulation import WalkPlan, simulate
from tests.simulate.opening import library, spec
from tests.simulate.test_simulate import COUNTS, EAGER, WITHOUT_RELAY, seen

pytestmark = pytest.mark.cluster

CLUSTER = Cluster("local[2]")


@pytest.fixture(scope="module", autouse=True)
def session(shared_java: None) -> Iterator[Session]:
    """Open all the time, so that each test needs not start its own."""
    with holding(), session_for(CLUSTER, None) as opened:
        yield opened


@pytest.mark.parametrize("name", [EAGER, WITHOUT_RELAY])
def test_the_same_walks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "CLUSTER_STEPS", 500)
    plan = WalkPlan(5, 60, 30)
    here = simulate(library(name), plan)
    there = simulate(library(name), replace(plan, cluster=CLUSTER))
    assert there.engine == ON_CLUSTER
    assert seen(there) == seen(here)


def test_capacities_grow() -> None:
    walks = simulate(spec(COUNTS), WalkPlan(1, 2, cluster=CLUSTER))
    assert len(walks.finding.violations["small"].states) == 101
