"""The cells of a sweep on executors: the same outcomes, and one that dies costs itself only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from checker.cli.main import main
from checker.engines.cluster import Cluster
from checker.engines.spark.session import Session, open_session
from checker.records import replace
from checker.session.pipeline import Options
from checker.sweep.cells import CellOutcome, Status, run_cell
from checker.sweep.grid import grid_of
from checker.sweep.run import for_each_cell, run
from checker.sweep.sweep_plan import plan
from tests.sweep.test_local import Killed, instead
from tests.sweep.test_sweep_plan import SPEC

pytestmark = pytest.mark.cluster

CLUSTER = Cluster("local[2]")


@pytest.fixture(scope="module", autouse=True)
def session(shared_java: None) -> Iterator[Session]:
    """Open all the time, so that each test needs not start its own."""
    with open_session(CLUSTER) as opened:
        yield opened


@pytest.mark.slow
def test_the_command_gives_the_same_rows_as_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counter.bcast").write_text(SPEC, encoding="utf-8")
    found = []
    for name, where in (("here", ["--jobs", "1"]), ("there", ["--master", "local[2]"])):
        command = ["sweep", "counter.bcast::c", "--grid", "n=1..2,crash={0,2}", *where]
        assert main([*command, "--out", name, "--traces", "t"]) == 0
        rows = pq.read_table(name).to_pylist()
        found.append([{k: v for k, v in row.items() if "seconds" not in k} for row in rows])
    assert found[0] == found[1]
    for file in Path("t").iterdir():
        (source,) = json.loads(file.read_text(encoding="utf-8"))["sources"]
        assert source["text"] == SPEC
    assert [row["status"] for row in found[0]] == ["done", "impossible", "done", "done"]


@pytest.mark.slow
def test_cells_on_executors(tmp_path: Path) -> None:
    path = tmp_path / "counter.bcast"
    path.write_text(SPEC, encoding="utf-8")
    options = for_each_cell(Options(cluster=CLUSTER), 2)
    made = plan(str(path), "c", grid_of(["n=2,top=1..3", "crash=0..3"]), options)
    path.unlink()
    first, *others = made.tasks
    heard: list[int] = []
    deadly = replace(made, tasks=(instead(Killed, first), *others[:2]))
    found = {o.cell: o for o in run(deadly, 2, CLUSTER, lambda done, _: heard.append(done))}
    assert heard == [0, 1, 2, 3]
    assert found[first.cell].status is Status.DIED and found[first.cell].reason
    for task in others[:2]:
        assert _facts(found[task.cell]) == _facts(run_cell(task))


def _facts(outcome: CellOutcome) -> tuple[object, ...]:
    report = outcome.report
    assert report is not None
    verdicts = tuple((v.property, v.word, v.trace) for v in report.verdicts)
    return outcome.status, report.distinct_states, report.depth, verdicts
