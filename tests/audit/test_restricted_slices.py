"""A part of a log, slice by slice: says what is said of it when it is worked on as a whole."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pytest

from checker.audit import arrow_engine, arrow_slices
from checker.audit.arrow_engine import ArrowEngine
from checker.audit.arrow_joins import Joined
from checker.audit.arrow_log import load
from checker.audit.arrow_slices import slices
from checker.audit.audit import Request, audit
from checker.audit.columns import kinds_of, operators_of
from checker.audit.declared import interface_called
from checker.audit.files import find_files
from checker.audit.processes import EVENTS
from checker.audit.reading import Reader
from checker.audit.restrict import Restriction, restrict
from checker.logs.mapping import NO_MAPPING
from tests.audit.random_logs import random_run, rows_of

INTERFACES = ("TotalOrderBroadcast", "FifoReliableBroadcast", "Queue")


def random_log(seed: int, folder: Path) -> str:
    """Writes runs with times, which are those of one clock."""
    draw = random.Random(seed)
    file = folder / "log.ndjson"
    found = [row for at in range(20) for row in rows_of(random_run(draw, True, 0), f"r{at}")]
    lines = (json.dumps({**row, "ts": float(str(row["pos"]))}) + "\n" for row in found)
    file.write_text("".join(lines), encoding="utf-8")
    return str(file)


def verdicts(log: str, restriction: Restriction) -> list[list[object]]:
    audits = [audit(Request((log,), name, restriction=restriction)) for name in INTERFACES]
    return [
        [*((v.property, v.word, v.reason) for v in found.report.verdicts), found.violations]
        for found in audits
    ]


@pytest.mark.parametrize(
    "restriction", [Restriction(sample=0.5), Restriction(since=4.0), Restriction(since=-1.0)]
)
@pytest.mark.parametrize("seed", [5010, 5013])
def test_slices_say_what_the_whole_says(
    seed: int, restriction: Restriction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = random_log(seed, tmp_path)
    whole = verdicts(log, restriction)
    monkeypatch.setattr(arrow_engine, "WHOLE", 0)
    monkeypatch.setattr(arrow_slices, "ROWS", 7)
    assert verdicts(log, restriction) == whole


def test_events_out_of_order_are_no_endless_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_slices, "ROWS", 2)
    events = pa.table({"process": pa.array([1, 1, 0, 0], pa.int32())})
    with pytest.raises(ValueError, match="not in the order"):
        list(slices(events))


@pytest.mark.parametrize("restriction", [Restriction(sample=0.5), Restriction(since=4.0)])
def test_what_is_left_is_in_order(restriction: Restriction, tmp_path: Path) -> None:
    interface = interface_called("Queue")
    reader = Reader(NO_MAPPING, operators_of(interface))
    files = find_files((random_log(5010, tmp_path),))
    engine = ArrowEngine(load(files, reader, kinds_of(interface, {}), lambda rows: None))
    restrict(engine, restriction)
    events = engine.rows(EVENTS).select(["process", "pos"]).to_pylist()
    places = [(event["process"], event["pos"]) for event in events]
    assert places and places == sorted(places)


@pytest.mark.parametrize(("how", "left"), [("anti", [2, 0, 1]), ("semi", [])])
def test_a_join_with_nothing_leaves_rows_as_they_are(how: str, left: list[int]) -> None:
    table = pa.table({"message": pa.array([2, 0, 1], pa.int32())})
    nothing = Joined(table.slice(0, 0), ["message"], how, 3)  # type: ignore[arg-type]
    assert nothing.with_left(table)["message"].to_pylist() == left
