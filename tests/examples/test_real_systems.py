"""Real processes on loopback, killed with -9: what their logs are runs of."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import cast

import pytest

from checker.results.verdict import Word
from examples.broadcast.story import EAGER, WITHOUT
from examples.broadcast.story import STORY as BROADCAST
from examples.pysyncobj.story import KEEPS_ITS_TERM, RAFT
from examples.pysyncobj.story import STORY as PYSYNCOBJ
from examples.telling import Story
from examples.telling import conformance as ask

pytestmark = [pytest.mark.realsystems, pytest.mark.slow]


def play(story: Story, scene: str, folder: Path) -> list[str]:
    """Plays a scene; returns the logs that it has written."""
    story.play(scene, folder)
    return sorted(map(str, (folder / "logs").iterdir()))


def lines(path: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_a_sender_that_is_killed_in_the_midst_of_its_multicast(tmp_path: Path) -> None:
    logs = play(BROADCAST, "without_relay", tmp_path)
    delivered = [p for p in logs if any(row["kind"] == "deliver" for row in lines(p))]
    assert delivered == [logs[1]], "p2 has it, p3 has not, p1 is down"
    assert lines(logs[0])[-1]["kind"] == "send", "nothing behind it: it was killed"
    assert ask(BROADCAST, WITHOUT, tmp_path).word is Word.HOLDS
    assert ask(BROADCAST, EAGER, tmp_path).word is Word.VIOLATED


def test_with_the_relay_everybody_has_it(tmp_path: Path) -> None:
    logs = play(BROADCAST, "relay", tmp_path)
    delivered = [p for p in logs if any(row["kind"] == "deliver" for row in lines(p))]
    assert delivered == logs[1:]
    assert ask(BROADCAST, EAGER, tmp_path).word is Word.HOLDS
    assert ask(BROADCAST, WITHOUT, tmp_path).word is Word.VIOLATED


@pytest.mark.skipif(importlib.util.find_spec("pysyncobj") is None, reason="no pysyncobj")
def test_pysyncobj_is_held_to_raft(tmp_path: Path) -> None:
    logs = play(PYSYNCOBJ, "leader_dies", tmp_path)
    found = ask(PYSYNCOBJ, RAFT, tmp_path)
    assert found.word is Word.HOLDS, found.obstacles
    assert found.trace is not None
    states = [row["state"] for path in logs for row in lines(path) if "state" in row]
    assert len({state["term"] for state in states}) > 1, "another leader was elected"  # type: ignore[index]
    assert max(state.get("commit", 0) for state in states) >= 4  # type: ignore[attr-defined]
    assert ask(PYSYNCOBJ, KEEPS_ITS_TERM, tmp_path).word is Word.VIOLATED
    path, number = doctored(logs)
    rejected = ask(PYSYNCOBJ, RAFT, tmp_path)
    assert rejected.word is Word.VIOLATED
    (there,) = [o for o in rejected.obstacles if (o.line.file, o.line.number) == (path, number)]
    assert "but commit would be" in there.reasons[0]


def doctored(logs: list[str]) -> tuple[str, int]:
    """Changes one line, and returns its file and number: of a server that has learned that entries
    are committed one is missing."""
    for path in logs:
        rows = lines(path)
        for number, row in enumerate(rows, 1):
            state = cast("dict[str, int]", row.get("state", {}))
            if row["kind"] == "receive" and row["message"] == "APPEND" and state.get("commit", 0):
                state["commit"] -= 1
                text = "".join(json.dumps(each) + "\n" for each in rows)
                Path(path).write_text(text, encoding="utf-8")
                return path, number
    raise AssertionError("no server has learned that an entry is committed")
