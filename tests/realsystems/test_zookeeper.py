"""In which order a real ZooKeeper shows what was written, its leader killed with -9."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.realsystems.played import told

pytest.importorskip("kazoo", reason="kazoo is not installed: pip install '.[examples]'")

from examples.zookeeper.server import zookeeper
from examples.zookeeper.story import CLIENTS, EACH, SCENES, STORY

pytestmark = [
    pytest.mark.realsystems,
    pytest.mark.slow,
    pytest.mark.skipif(not zookeeper(), reason="ZooKeeper is missing: apt install zookeeper"),
]

ORDER = ("uniform_total_order", "global_order", "no_duplication", "no_creation")
ALL = ("validity", "uniform_agreement")


@pytest.mark.parametrize("scene", SCENES)
def test_watches_agree_on_the_order_and_values_are_missed(scene: str, tmp_path: Path) -> None:
    said, found = told(STORY, scene, tmp_path)
    assert {said[name] for name in ORDER} == {"holds"}
    assert {said[name] for name in ALL} == {"violated" if scene == "value" else "holds"}
    if scene != "value":
        assert found.report.log is not None
        messages = len(CLIENTS) * EACH + 1
        assert dict(found.report.log.kinds)["indication"] == len(CLIENTS) * messages
