"""Spark reads the tables as the page and the example script say, and makes them on executors."""

from __future__ import annotations

import runpy
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from checker.cli.main import main
from checker.engines.cluster import Cluster
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.native.checkpoint.storage import Storage
from checker.engines.native.codegen.layout import lay_out
from checker.engines.native.tables import tables
from checker.engines.native.tables.tables import prepare, write_tables
from checker.engines.options import Options
from checker.engines.registry import engine_of
from checker.engines.search_engine import SearchEngine
from checker.engines.spark import masters
from checker.engines.spark.heartbeat import SILENCE_KEY
from checker.engines.spark.session import Session, open_session
from checker.engines.spark.table_pieces import OnExecutors
from checker.resources import specs
from tests.native.test_tables import of_library
from tests.native.walked import stored
from tests.spark.cluster import eventually
from tests.spark.stopping import is_there, stop_once, stopped

pytestmark = pytest.mark.cluster

CLUSTER = Cluster("local[2]", {"spark.sql.shuffle.partitions": "2"})
SPEC = str(specs() / "links" / "alternating_bit.bcast")
DOCS = specs().parent / "docs"

Row = dict[str, Any]


@pytest.fixture(scope="module", autouse=True)
def session(shared_java: None) -> Iterator[Session]:
    """Open all the time, so that each test needs not start its own."""
    with open_session(CLUSTER) as opened:
        yield opened


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables") / "out"
    assert main(["check", f"{SPEC}::reordering", "-q", "--states-out", str(folder)]) == 0
    return folder


def rows(folder: Path, name: str) -> list[Row]:
    found: list[Row] = parquet.read_table(folder / name).to_pylist()
    return found


@pytest.mark.slow
def test_the_script_of_the_docs(
    out: Path, session: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["ask_your_own.py", str(out)])
    found = runpy.run_path(str(DOCS / "ask_your_own.py"))
    states = {row["id"]: row for row in rows(out, "states")}
    moves = rows(out, "transitions")
    assert [tuple(row)[:3] for row in found["levels"].collect()] == [
        (row["depth"], row["states"], row["transitions"]) for row in rows(out, "depths")
    ]
    assert [tuple(row) for row in found["newest"]] == newest(states, moves)
    bad = {row["id"] for row in states.values() if "prefix_order" in row["violates"]}
    fatal = [m for m in moves if m["target"] in bad and m["source"] not in bad]
    assert {(r.action, r.process, r.message): (r.steps, r.brinks) for r in found["fatal"]} == {
        key: (len(of), len({m["source"] for m in of}))
        for key in {(m["action"], m["process"], m["message"]) for m in fatal}
        if (of := [m for m in fatal if (m["action"], m["process"], m["message"]) == key])
    }
    shortest(found["way"], states, moves, bad)
    leading = {m["source"] for m in moves if m["target"] != m["source"]}
    assert [row.id for row in found["ends"].collect()] == [
        row["id"]
        for row in sorted(states.values(), key=lambda r: (r["depth"], r["id"]))
        if row["id"] not in leading
    ]
    assert "1. " in capsys.readouterr().out


def newest(states: dict[str, Row], moves: list[Row]) -> list[tuple[int, str, int]]:
    """By depth: the actions that lead to most new states."""
    new = {
        (m["depth"] + 1, m["action"], m["target"])
        for m in moves
        if states[m["target"]]["depth"] == m["depth"] + 1
    }
    counts = Counter((depth, action) for depth, action, _ in new)
    most = {depth: max(n for (d, _), n in counts.items() if d == depth) for depth, _ in counts}
    return sorted((d, action, n) for (d, action), n in counts.items() if n == most[d])


def shortest(way: list[Any], states: dict[str, Row], moves: list[Row], bad: set[str]) -> None:
    """``way`` is a run of consecutive steps from the start to a nearest bad state."""
    assert len(way) == min(states[name]["depth"] for name in bad)
    assert states[way[0].source]["depth"] == 0
    assert way[-1].target in bad
    assert all(one.target == other.source for one, other in pairwise(way))
    steps = {(m["source"], m["target"], m["action"], m["message"]) for m in moves}
    assert {(s.source, s.target, s.action, s.message) for s in way} <= steps


@pytest.mark.slow
def test_spark_sees_the_values_that_were_written(out: Path, session: Session) -> None:
    table = session.spark.read.parquet(str(out / "states"))
    seen = {row.id: row.asDict(recursive=True) for row in table.collect()}
    for row in rows(out, "states"):
        told = {
            name: dict(value) if isinstance(value, list) and name in MAPS else value
            for name, value in row.items()
        }
        assert seen[row["id"]] == told


MAPS = ("sender_item", "sender_bit", "sender_tries", "receiver_wanted", "receiver_got")


@pytest.mark.slow
def test_executors_write_the_same_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LEAST", 20)
    system, found, _ = of_library("links/alternating_bit.bcast", "lossy_fifo")
    run = stored(tmp_path / "run", lay_out(system), found, shards=2)
    for name, where in (("here", map), ("there", OnExecutors(CLUSTER, run))):
        prepare(str(tmp_path / name))
        write_tables(system, lay_out(system), run, str(tmp_path / name), where)
    for table in ("states", "transitions", "depths"):
        here, there = (rows(tmp_path / name, table) for name in ("here", "there"))
        assert Counter(map(repr, here)) == Counter(map(repr, there))


def test_the_same_tables_from_both_engines(out: Path, tmp_path: Path) -> None:
    words = ["-q", "--engine", "spark", "--master", CLUSTER.master]
    words += ["--states-out", str(tmp_path / "out")]
    assert main(["check", f"{SPEC}::reordering", *words]) == 0
    for table in ("states", "transitions", "depths"):
        here, there = rows(out, table), rows(tmp_path / "out", table)
        assert Counter(map(repr, here)) == Counter(map(repr, there))


def test_what_fails_on_an_executor_is_one_line(tmp_path: Path) -> None:
    system, found, _ = of_library("links/alternating_bit.bcast", "lossy_fifo")
    run = stored(tmp_path / "run", lay_out(system), found)
    part = run.parts()[3][0]
    Path(run.place.path(part.name)).write_bytes(b"nonsense" * 9)
    prepare(str(tmp_path / "out"))
    where = OnExecutors(CLUSTER, run)
    with pytest.raises(OSError, match="has changed since it was written") as failed:
        write_tables(system, lay_out(system), run, str(tmp_path / "out"), where)
    assert "\n" not in str(failed.value)
    assert not (tmp_path / "out" / "tables.json").exists()


@pytest.mark.slow
def test_a_piece_whose_executor_hangs_is_made_by_another(tmp_path: Path) -> None:
    system, found, _ = of_library("links/alternating_bit.bcast", "lossy_fifo")
    run = stored(tmp_path / "run", lay_out(system), found)
    place, pieces = Storage(str(tmp_path / "run")), list(range(3))

    def stopping(piece: int) -> int:
        if piece == 1:
            stop_once(place)
        return piece * piece

    cluster = Cluster(CLUSTER.master, {**CLUSTER.conf, SILENCE_KEY: "4"})
    assert sorted(OnExecutors(cluster, run)(stopping, pieces)) == [0, 1, 4]
    eventually(lambda: not is_there(stopped(place)), "what was given up goes on")


def test_tables_are_made_where_the_states_were_found() -> None:
    assert not masters.is_local("spark://host:7077")
    for engine, cluster, there in [
        ("native", None, False),
        ("native", Cluster("spark://host:7077"), False),
        ("spark", Cluster("local[2]"), False),
        ("spark", Cluster("spark://host:7077"), True),
    ]:
        found = engine_of(engine)
        assert isinstance(found, SearchEngine)
        where = found.map_parts(Options(cluster=cluster), RunFolder("nowhere", 1))
        assert isinstance(where, OnExecutors) == there
