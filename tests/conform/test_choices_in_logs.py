"""Lines that say what a handler chose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.conform import conform_log
from checker.conform.conform_log import Asked, conform
from checker.conform.read_log import read_log
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.logs.mapping import NO_MAPPING, LogMapping
from checker.logs.read_mapping import read_mapping
from checker.record import Recorder
from checker.results.conformance import Conformance

PICK = """
protocol Pick {
  message WORK(k: 0..3)
  state done : set<0..3> = {}
  state started : bool = false
  upon condition not started as start {
    choose x in 1..3
    started := true
    send WORK(x) to all
  }
  upon receive WORK(k) from p {
    choose y in 0..k when y > 0
    done := done + y
  }
}
check two of Pick { n = 2 }
"""
GOOD: list[dict[str, Any]] = [
    {"process": "p1", "pos": 1, "kind": "handler", "name": "start", "chosen": {"x": 3}},
    {"process": "p1", "pos": 2, "kind": "receive", "message": "WORK", "from": "p1",
     "chosen": {"y": 2}},
    {"process": "p1", "pos": 3, "kind": "receive", "message": "WORK", "from": "p2",
     "chosen": {"y": 1}},
    {"process": "p2", "pos": 1, "kind": "handler", "name": "start", "chosen": {"x": 1}},
]  # fmt: skip


def write(folder: Path, rows: list[dict[str, Any]]) -> str:
    file = folder / "log.ndjson"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(file)


def said(
    folder: Path, rows: list[dict[str, Any]], mapping: LogMapping = NO_MAPPING, **more: Any
) -> Conformance:
    spec = folder / "pick.bcast"
    spec.write_text(PICK, encoding="utf-8")
    log = read_log([write(folder, rows)], mapping)
    return conform(Asked(str(spec), "two", Options(**more), mapping, windows=True), log)


def changed(at: int, **fields: Any) -> list[dict[str, Any]]:
    """Returns the log with other fields in one line."""
    return [{**row, **fields} if number == at else row for number, row in enumerate(GOOD)]


@pytest.mark.parametrize("few", [200, 0])
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_choice_is_one_of_the_step(
    engine: str, few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conform_log, "FEW", few)
    found = said(tmp_path, GOOD, engine=engine)
    assert str(found.word) == "holds" and found.windows is not None
    assert [(row.explained, row.red) for row in found.windows.handlers] == [(2, 0), (2, 0)]
    wrong = said(tmp_path, changed(2, chosen={"y": 3}), engine=engine)
    assert str(wrong.word) == "violated"
    assert wrong.windows is not None and sum(row.red for row in wrong.windows.handlers) == 0
    assert any(
        "chooses y = 1, and the log says 3" in c.text for o in wrong.obstacles for c in o.candidates
    )


def test_a_process_alone_shows_a_choice_that_none_makes(tmp_path: Path) -> None:
    received = changed(2, fields={"k": 1}, chosen={"y": 2})
    found = said(tmp_path, received)
    assert str(found.word) == "violated" and found.windows is not None
    assert sum(row.red for row in found.windows.handlers) == 1
    assert "chooses y = 1" in str(found.windows.handlers)


def test_a_recorder_writes_choices(tmp_path: Path) -> None:
    with Recorder(str(tmp_path / "log.ndjson"), "p1") as log:
        log.handler("start", chosen={"x": 3})
        log.receive("WORK", "p1", chosen={"y": 3})
    spec = tmp_path / "pick.bcast"
    spec.write_text(PICK, encoding="utf-8")
    found = conform(Asked(str(spec), "two", Options()), [str(tmp_path / "log.ndjson")])
    assert str(found.word) == "holds"


def test_fewer_nodes_are_searched(tmp_path: Path) -> None:
    """Without choices the wrong value of a message is found out late."""
    unsaid = [{k: v for k, v in row.items() if k != "chosen"} for row in GOOD]
    late = [*unsaid[:2], {**unsaid[2], "fields": {"k": 1}, "state": {"done": [3, 1]}}, unsaid[3]]
    early = [{**row, "chosen": good["chosen"]} for row, good in zip(late, GOOD, strict=True)]
    early[1] = {**early[1], "chosen": {"y": 3}}
    assert said(tmp_path, early).nodes < said(tmp_path, late).nodes


def test_a_mapping_says_where_choices_are(tmp_path: Path) -> None:
    file = tmp_path / "names.toml"
    file.write_text('[columns]\nchosen.x = "picked"\nchosen.y = "body.took"\n', encoding="utf-8")
    mapping = read_mapping(str(file))
    rows = [{k: v for k, v in row.items() if k != "chosen"} for row in GOOD]
    rows[0]["picked"], rows[3]["picked"] = 3, 1
    rows[1]["body"], rows[2]["body"] = {"took": 2}, {"took": 1}
    assert str(said(tmp_path, rows, mapping).word) == "holds"
    rows[2]["body"] = {"took": 2}
    assert str(said(tmp_path, rows, mapping).word) == "violated"


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        ({"z": 1}, "no choice `z`: known: x, y"),
        ({"y": "a"}, "`a` is not a number"),
        ([1], "`chosen` must be an object"),
    ],
)
def test_what_is_no_choice(chosen: object, why: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        said(tmp_path, changed(2, chosen=chosen))
    (found,) = caught.value.diagnostics
    assert found.code == "E074" and why in found.message
    assert found.span is not None and found.span.line == 3
