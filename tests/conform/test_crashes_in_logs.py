"""A process may crash at any point of a step, also where no property could tell the difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker import resources
from checker.conform.conform_log import Asked, conform
from checker.engines.options import Options
from checker.results.verdict import Word

RAFT = str(resources.specs() / "replication" / "raft.bcast")
STANDS = {"kind": "handler", "name": "stands"}
CRASH = {"kind": "crash"}


def asks(*receivers: str) -> dict[str, Any]:
    fields = {"term": 1, "last": 0, "length": 0}
    return {"kind": "send", "message": "ASK", "fields": fields, "receivers": list(receivers)}


def back(term: int) -> dict[str, Any]:
    return {"kind": "recover", "state": {"term": term, "phase": "follower"}}


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([STANDS, CRASH, back(1)], Word.HOLDS),  # stored, and nothing sent
        ([STANDS, CRASH, back(0)], Word.HOLDS),  # nothing stored
        ([STANDS, asks("p2"), CRASH, back(1)], Word.HOLDS),
        ([STANDS, asks("p2", "p3"), CRASH, back(1)], Word.HOLDS),
        ([STANDS, asks("p2"), CRASH, back(0)], Word.VIOLATED),  # stored before it is sent
        ([STANDS, asks("p2"), STANDS], Word.VIOLATED),
        ([STANDS, asks("p2")], Word.VIOLATED),  # its log has an end: it has not crashed
    ],
)
def test_what_is_logged_before_a_crash(
    rows: list[dict[str, Any]], word: Word, engine: str, tmp_path: Path
) -> None:
    files = []
    for process, own in (("p1", rows), ("p2", []), ("p3", [])):
        ended = [*own, {"kind": "end"}]
        lines = [{"process": process, "pos": n, **row} for n, row in enumerate(ended, 1)]
        file = tmp_path / process
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        files.append(str(file))
    found = conform(Asked(RAFT, "one_term", Options(engine=engine)), files)
    assert found.word is word, found.obstacles
