"""What a real etcd acknowledges and shows where its leader is killed with -9."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from examples.etcd.story import EACH, SCENES, STORY, UNHEARD, WRITERS, etcd
from tests.realsystems.played import findings, told

pytestmark = [
    pytest.mark.realsystems,
    pytest.mark.slow,
    pytest.mark.skipif(not etcd(), reason="etcd is missing: apt install etcd-server"),
]

MOST = "at_most_once over deliveries"
LOG = ("log_validity", "log_agreement", "log_without_gaps", "log_progress", "no_lost_writes")


@pytest.mark.parametrize("scene", SCENES)
def test_all_watchers_see_one_log_with_all_that_was_acknowledged(
    scene: str, tmp_path: Path
) -> None:
    said, found = told(STORY, scene, tmp_path)
    assert {said[name] for name in LOG} == {"holds"}
    again = {("duplicate", f"{WRITERS[0]}.{UNHEARD}")}
    assert said[MOST] == ("violated" if scene == "retried" else "holds")
    assert findings(found) == (again if scene == "retried" else set())
    rows = [
        json.loads(line)
        for name in WRITERS
        for line in (tmp_path / "logs" / f"{name}.ndjson").read_text("utf-8").splitlines()
    ]
    asked = [row for row in rows if row["kind"] == "request"]
    assert len(asked) == len(WRITERS) * EACH + 1
    if scene != "leader_dies":
        assert all("offset" in row for row in asked)
