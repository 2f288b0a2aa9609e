"""The public trace of etcd's raft, while its founders are among themselves, and changes of it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checker.conform.conform_log import Asked, conform
from checker.engines.options import Options
from checker.logs.read_mapping import read_mapping
from checker.results.conformance import Conformance
from checker.results.verdict import Word

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "etcd_raft"
PUBLIC = FOLDER.parents[2] / "shared" / "data" / "traces" / "etcd-raft" / "example.ndjson.gz"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PUBLIC.is_file(), reason="the public trace is not here"),
]

Event = dict[str, Any]


def judged(lines: list[str], folder: Path) -> Conformance:
    (folder / "trace.ndjson").write_text("".join(lines), encoding="utf-8")
    asked = Asked(
        str(FOLDER / "etcd_raft.bcast"),
        "founders_only",
        Options(engine="reference"),
        read_mapping(str(FOLDER / "names.toml")),
    )
    return conform(asked, [str(folder / "trace.ndjson")])


def trace() -> list[str]:
    with gzip.open(PUBLIC, "rt", encoding="utf-8") as file:
        return [next(file) for _ in range(400)]


def test_it_conforms(tmp_path: Path) -> None:
    assert judged(trace(), tmp_path).word is Word.HOLDS


def votes_twice(event: Event) -> bool:
    """A server has voted for another one in the same term."""
    if event["name"] != "Ready" or event["nid"] != "5" or event["state"]["vote"] != "2":
        return False
    event["state"]["vote"] = "3"
    return True


def goes_back(event: Event) -> bool:
    """What was committed no longer is."""
    if event["name"] != "Ready" or event["nid"] != "2" or event["state"]["commit"] != 6:
        return False
    event["state"]["commit"] = 5
    return True


def leads_alone(event: Event) -> bool:
    """A leader commits what only it has."""
    if event["name"] != "Commit" or event["log"] != 6 or event["state"]["commit"] != 5:
        return False
    event["state"]["commit"] = 6
    return True


@pytest.mark.parametrize("change", [votes_twice, goes_back, leads_alone])
def test_a_change_is_found(change: Callable[[Event], bool], tmp_path: Path) -> None:
    lines = trace()
    for at, text in enumerate(lines):
        row = json.loads(text)
        if change(row["event"]):
            lines[at] = json.dumps(row) + "\n"
            break
    else:
        pytest.fail("nothing was changed")
    report = judged(lines, tmp_path)
    assert report.word is Word.VIOLATED
    assert at + 1 in [each.line.number for each in report.obstacles]
