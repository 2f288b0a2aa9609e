"""Real processes on loopback, killed with -9: what their logs are runs of."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from checker.conform.conform_log import Asked, conform
from checker.engines.options import Options
from checker.results.conformance import Conformance
from checker.results.verdict import Word
from examples.broadcast.story import EAGER, WITHOUT
from examples.broadcast.story import STORY as BROADCAST
from examples.pysyncobj.story import ELECTIONS, KEEPS_ITS_TERM
from examples.pysyncobj.story import STORY as PYSYNCOBJ
from examples.telling import Story

pytestmark = [pytest.mark.realsystems, pytest.mark.slow]


def play(story: Story, scene: str, folder: Path) -> list[str]:
    """Plays a scene; returns the logs that it has written."""
    story.play(scene, folder)
    return sorted(map(str, (folder / "logs").iterdir()))


def ask(target: str, logs: list[str]) -> Conformance:
    spec, _, check = target.rpartition("::")
    return conform(Asked(spec, check, Options()), logs)


def lines(path: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_a_sender_that_is_killed_in_the_midst_of_its_multicast(tmp_path: Path) -> None:
    logs = play(BROADCAST, "without_relay", tmp_path)
    delivered = [p for p in logs if any(row["kind"] == "deliver" for row in lines(p))]
    assert delivered == [logs[1]], "p2 has it, p3 has not, p1 is down"
    assert lines(logs[0])[-1]["kind"] == "send", "nothing behind it: it was killed"
    assert ask(WITHOUT, logs).word is Word.HOLDS
    assert ask(EAGER, logs).word is Word.VIOLATED


def test_with_the_relay_everybody_has_it(tmp_path: Path) -> None:
    logs = play(BROADCAST, "relay", tmp_path)
    delivered = [p for p in logs if any(row["kind"] == "deliver" for row in lines(p))]
    assert delivered == logs[1:]
    assert ask(EAGER, logs).word is Word.HOLDS
    assert ask(WITHOUT, logs).word is Word.VIOLATED


@pytest.mark.skipif(importlib.util.find_spec("pysyncobj") is None, reason="no pysyncobj")
def test_elections_of_pysyncobj(tmp_path: Path) -> None:
    logs = play(PYSYNCOBJ, "leader_dies", tmp_path)
    found = ask(ELECTIONS, logs)
    assert found.word is Word.HOLDS, found.obstacles
    assert found.trace is not None
    terms = {row["state"]["term"] for p in logs for row in lines(p) if "state" in row}  # type: ignore[index]
    assert len(terms) > 1, "another leader was elected"
    assert ask(KEEPS_ITS_TERM, logs).word is Word.VIOLATED
    path, number = doctored(logs)
    rejected = ask(ELECTIONS, logs)
    assert rejected.word is Word.VIOLATED
    (there,) = [o for o in rejected.obstacles if (o.line.file, o.line.number) == (path, number)]
    assert any("phase would be follower" in reason for reason in there.reasons)


def doctored(logs: list[str]) -> tuple[str, int]:
    """Changes one line, and returns its file and number: a server that follows says that it leads
    when it has heard of a leader."""
    for path in logs:
        rows = lines(path)
        if rows[-1]["kind"] != "end":
            continue  # it was killed
        for number, row in enumerate(rows, 1):
            if row["kind"] == "receive" and row["message"] == "APPEND":
                row["state"] = {**row["state"], "phase": "leader"}  # type: ignore[dict-item]
                text = "".join(json.dumps(each) + "\n" for each in rows)
                Path(path).write_text(text, encoding="utf-8")
                return path, number
    raise AssertionError("no server has heard of a leader")
