"""Values in a log that are larger than what was guessed of a type without a bound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.conform.conform_log import Asked, conform
from checker.conform.monitor import Monitor
from checker.conform.read_log import RowsOfLines
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.logs.mapping import NO_MAPPING, LogMapping
from checker.records import replace
from checker.results.monitoring import Noticed
from checker.results.verdict import Word
from tests.conform.projection import Row, write

SPEC = """\
interface Counter { indication at(k: Nat) }

protocol Counting implements Counter {
  stable state count : Nat = 0
  state old : seq<Nat> = []
  state small : Nat max 2 = 0
  upon condition count < 40 as steps {
    count := count + 1
    if count < 5 { old := old + count }
    at(count)
  }
}

check one of Counting { n = 1 }
check falls of Counting { n = 1  faults crash <= 1, recover }
"""


def asked(folder: Path, engine: str = "reference", mapping: LogMapping = NO_MAPPING) -> Asked:
    (folder / "count.bcast").write_text(SPEC, encoding="utf-8")
    return Asked(str(folder / "count.bcast"), "one", Options(engine=engine), mapping, windows=True)


def at(k: Any, **state: Any) -> Row:
    return {"process": "p1", "kind": "indicate", "name": "at", "arguments": [k], "state": state}


STEP: Row = {"process": "p1", "kind": "handler", "name": "steps"}


def counted(up_to: int) -> list[Row]:
    return [row for k in range(1, up_to + 1) for row in (STEP, at(k, count=k))]


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_numbers_that_the_spec_reaches_are_explained(engine: str, tmp_path: Path) -> None:
    report = conform(asked(tmp_path, engine), write(tmp_path, {"p1": counted(40)}))
    assert report.word is Word.HOLDS
    assert report.windows is not None and report.windows.exit_code == 0


@pytest.mark.parametrize("k", [17, 300, 4096])
def test_numbers_that_it_does_not_reach_are_rejected(k: int, tmp_path: Path) -> None:
    rows = [*counted(2), STEP, at(k)]
    report = conform(asked(tmp_path), write(tmp_path, {"p1": rows}))
    assert report.word is Word.VIOLATED
    assert report.explained == 4
    rows = [*counted(2), STEP, at(3, count=k)]
    report = conform(asked(tmp_path), write(tmp_path, {"p1": rows}))
    assert report.word is Word.VIOLATED
    assert f"the log says {k}" in str(report.obstacles)


def test_lists_that_are_longer_than_was_guessed(tmp_path: Path) -> None:
    right, wrong = [1, 2, 3, 4], [1, 2, 3, 4, 5, 6, 7, 8, 9]
    for old, word in ((right, Word.HOLDS), (wrong, Word.VIOLATED)):
        rows = [*counted(4), STEP, at(5, old=old)]
        report = conform(asked(tmp_path), write(tmp_path, {"p1": rows}))
        assert report.word is word


@pytest.mark.parametrize(
    ("row", "said", "hint"),
    [
        (at(4097), "4097 is larger than 4,096", "`max 4097`"),
        (at(10**30), "is larger than 4,096", ""),
        (at(-1), "-1 is not a number from 0 on", ""),
        (at(True), "`true` is not a number from 0 on", ""),
        (at(1.0), "`1.0` is not a number from 0 on", ""),
        (at("one"), "`one` is not a number from 0 on", ""),
        (at([1]), "`[1]` is not a number from 0 on", ""),
        (at(1, small=3), "3 is not a number from 0 to 2", ""),
        (at(1, old=[1] * 4097), "4,097 items is longer than 4,096", "`max 4097`"),
    ],
)
def test_what_is_no_value_is_told_with_its_line(
    row: Row, said: str, hint: str, tmp_path: Path
) -> None:
    paths = write(tmp_path, {"p1": [STEP, row]})
    with pytest.raises(SpecError) as error:
        conform(asked(tmp_path), paths)
    (found,) = error.value.diagnostics
    assert found.code == "E074" and found.span is not None and found.span.line == 2
    assert said in found.message
    assert hint in found.hint


@pytest.mark.parametrize("last", [40, 2000, 5000])
def test_a_monitor_makes_room_while_it_runs(last: int, tmp_path: Path) -> None:
    mapping = LogMapping(logged=("handler", "indicate"))
    noticed: list[Noticed] = []
    monitor = Monitor(asked(tmp_path, mapping=mapping), noticed.append)
    reader = RowsOfLines("log", mapping, None)

    def feed(rows: list[Row]) -> None:
        for row in rows:
            monitor.feed(reader.of(row["pos"], json.dumps(row)))

    rows = [{"pos": n, **row} for n, row in enumerate([*counted(39), STEP, at(last)], 1)]
    feed(rows[:-1])
    assert not noticed
    if last > 4096:
        with pytest.raises(SpecError, match="larger than 4,096"):
            feed(rows[-1:])
        return
    feed(rows[-1:])
    assert len(noticed) == (last != 40)
    assert monitor.lines == len(rows)


def test_a_monitor_makes_room_where_it_is_in_the_log(tmp_path: Path) -> None:
    """A recovery after a crash is no gap, also if its line needs more room."""
    mapping = LogMapping(logged=("handler", "indicate"))
    noticed: list[Noticed] = []
    check = replace(asked(tmp_path, mapping=mapping), check="falls")
    monitor, reader = Monitor(check, noticed.append), RowsOfLines("log", mapping, None)
    back = {"process": "p1", "kind": "recover", "state": {"count": 300}}
    for pos, row in enumerate([*counted(2), {"process": "p1", "kind": "crash"}, back], 1):
        assert not noticed
        monitor.feed(reader.of(pos, json.dumps({"pos": pos, **row})))
    assert len(noticed) == 1
