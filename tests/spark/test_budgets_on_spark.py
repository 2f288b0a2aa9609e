"""Time and Ctrl-C end a run on Spark whose tasks are in the midst of one long step."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from checker.engines.cluster import Cluster, Exchange
from checker.engines.native.codegen.image import build
from checker.engines.spark import driver
from checker.engines.spark.heartbeat import Heartbeat
from checker.instantiate.assemble import instantiate
from checker.properties.formula import ask
from checker.results.answer import INTERRUPTED, Limits
from checker.session.load import load_check
from tests.instantiate.limited import LONG_HANDLER, written
from tests.spark.cluster import PATIENCE, eventually
from tests.spark.gang import begun

pytest.importorskip("pyspark")

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.usefixtures("one_session", "nothing_in_the_driver"),
]


@pytest.mark.parametrize("exchange", [Exchange.BARRIER, Exchange.SHUFFLE])
@pytest.mark.parametrize("how", ["time", "interrupt"])
def test_a_long_step(how: str, exchange: Exchange, tmp_path: Path) -> None:
    check = load_check(written(LONG_HANDLER, tmp_path), "c", {})
    system = instantiate(check, {}, ask).system
    folder = begun(tmp_path / "run", system, build(system))

    def interrupt() -> None:
        eventually(
            lambda: list((tmp_path / "run" / "said").glob(f"{Heartbeat.group}-*")), "no task"
        )
        time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGINT)

    limits, why = Limits(), INTERRUPTED
    if how == "time":
        limits = Limits(timeout=20.0)
        why = limits.no_more_time
    else:
        threading.Thread(target=interrupt).start()
    before = time.monotonic()
    found = driver.explore(system, limits, Cluster("local[2]", {}, exchange, 2), folder)
    assert time.monotonic() - before < PATIENCE
    assert (found.stopped, found.exhaustive) == (why, False)
    assert (found.distinct_states, found.transitions) == (1, 0)
