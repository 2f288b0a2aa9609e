"""Lines that say the same are read once, whatever their positions and times; long runs are replayed
from where their last part begins."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from benchmarks.conforming import CHECK, SPEC, measured, random_rows, write
from checker.conform.conform_log import Asked, conform
from checker.conform.read_log import read_log
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.logs.mapping import LogMapping
from checker.logs.paths import Path as Place
from checker.results.verdict import Word
from checker.session import pipeline

TEXTS = ("a", '"pos": 7', "\\", '"ts":1', "ü", "pos")


def said(value: random.Random, pos: int) -> dict[str, Any]:
    """A row with little variety, in which the names of positions and times also stand elsewhere."""
    row: dict[str, Any] = {"process": "p1", "pos": pos, "kind": "perform"}
    if value.random() < 0.7:
        row["ts"] = value.choice((1, 2.5, 1e9, -3, "2026-01-01T10:00:00Z", "ü"))
    if value.random() < 0.5:
        row["fields"] = {value.choice(("pos", "ts", "x")): value.choice((1, 2, "1", None))}
    if value.random() < 0.5:
        row["name"] = value.choice(TEXTS)
    items = list(row.items())
    if value.random() < 0.3:
        value.shuffle(items)
    return dict(items)


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_those_that_a_parser_reads(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    rows = [said(draw, pos) for pos in range(1, 60)]
    spaces = (", ", ": ") if seed % 2 else (",", ":")
    lines = [json.dumps(row, separators=spaces) + "\n" for row in rows]
    (tmp_path / "log").write_text("".join(lines), encoding="utf-8")
    log = read_log([str(tmp_path / "log")], LogMapping())
    for row, found in zip(rows, log.rows["p1"], strict=True):
        assert found.pos == row["pos"]
        assert found.data == {k: v for k, v in row.items() if k not in ("pos", "ts")}
    shared = {id(found.data) for found in log.rows["p1"]}
    assert len(shared) < len(rows)


ORDERS = (
    '{{"ts":"2026-01-01T10:00:{0:02}Z","kind":"perform","process":"p1","pos":{0}}}',
    '{{"pos": {0}, "process": "p1", "kind": "perform", "ts": "12:{0}"}}',
    '{{"kind":"perform","pos":{0},"thread":{0},"process":"p1","level":"INFO"}}',
)


@pytest.mark.parametrize("order", ORDERS)
def test_lines_share_what_they_say_in_any_order_and_with_other_fields(
    order: str, tmp_path: Path
) -> None:
    (tmp_path / "log").write_text("\n".join(map(order.format, range(1, 50))), encoding="utf-8")
    rows = read_log([str(tmp_path / "log")], LogMapping()).rows["p1"]
    assert [row.pos for row in rows] == list(range(1, 50))
    assert len({id(row.data) for row in rows}) == 1
    assert rows[0].data == {"process": "p1", "kind": "perform"}


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        pytest.param('"pos":1,"ts":2', '"pos":"2","ts":2', id="a text"),
        pytest.param('"pos":1,"x":{"ts":1}', '"x":{"pos":2}', id="not at the top"),
    ],
)
def test_what_is_no_position_is_none_behind_a_line_that_has_one(
    good: str, bad: str, tmp_path: Path
) -> None:
    lines = (f'{{"process":"p1","kind":"perform",{rest}}}\n' for rest in (good, bad))
    (tmp_path / "log").write_text("".join(lines), encoding="utf-8")
    with pytest.raises(SpecError) as error:
        read_log([str(tmp_path / "log")], LogMapping())
    assert error.value.diagnostics[0].code == "E071"


def test_names_of_the_log_are_renamed_in_templates_too(tmp_path: Path) -> None:
    lines = (f'{{"node":"p1","at":{n},"pos":{n % 2},"kind":"perform"}}\n' for n in range(1, 9))
    (tmp_path / "log").write_text("".join(lines), encoding="utf-8")
    names = {"process": "node", "pos": "at", "name": "pos"}
    mapping = LogMapping(
        columns={ours: (Place(theirs, (theirs,)),) for ours, theirs in names.items()}
    )
    rows = read_log([str(tmp_path / "log")], mapping).rows["p1"]
    assert [row.pos for row in rows] == list(range(1, 9))
    assert [row.data["name"] for row in rows] == [1, 0] * 4


def test_a_log_of_raft_is_followed_without_a_node_too_many(tmp_path: Path) -> None:
    drawn = random_rows(pipeline.open_check(SPEC, CHECK, Options()).system, 120, 2)
    write(tmp_path, drawn.logs)
    measured(tmp_path, drawn.lines, drawn.steps)  # raises where it is otherwise
    files = [str(path) for path in sorted(tmp_path.iterdir())]
    whole = conform(Asked(SPEC, CHECK, Options()), files)
    part = conform(Asked(SPEC, CHECK, Options(), replay=20), files)
    assert whole.word is part.word is Word.HOLDS
    assert whole.trace is not None and part.trace is not None
    assert part.omitted == len(whole.trace.steps) - 1 - 20
    assert not whole.omitted
    ended = [step.state for step in whole.trace.steps[-21:]]
    assert [step.state for step in part.trace.steps] == ended
