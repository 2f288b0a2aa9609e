"""What a real RabbitMQ hands out where its worker, or itself, is killed with -9."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.realsystems.played import findings, told

pytest.importorskip("pika", reason="pika is not installed: pip install '.[examples]'")

from examples.rabbitmq.story import SCENES, STORY, rabbitmq

pytestmark = [
    pytest.mark.realsystems,
    pytest.mark.slow,
    pytest.mark.skipif(not rabbitmq(), reason="RabbitMQ is missing: apt install rabbitmq-server"),
]

DELIVERED = "at_most_once over deliveries"
MOST, LEAST = "at_most_once over effects", "at_least_once over effects"
EXPECTED = {
    "before": (True, True, False),
    "after": (False, False, True),
    "remembered": (False, True, True),
    "before_quorum": (True, True, False),
    "after_quorum": (False, False, True),
    "remembered_quorum": (False, True, True),
    "broker_dies": (False, True, True),
    "broker_dies_transient": (True, True, False),
    "broker_dies_quorum_settled": (False, True, True),
}
"""Whether each message is delivered at most once, has its effect at most, and at least once."""
WAITING = {f"m{number}" for number in range(10, 20)}


@pytest.mark.parametrize("scene", EXPECTED)
def test_each_scene_ends_as_its_story_says(scene: str, tmp_path: Path) -> None:
    said, found = told(STORY, scene, tmp_path)
    assert tuple(said[name] == "holds" for name in (DELIVERED, MOST, LEAST)) == EXPECTED[scene]
    assert said["no_creation"] == "holds"
    both = said["exactly_once over effects"] == "holds"
    assert both == (EXPECTED[scene][1] and EXPECTED[scene][2])
    messages = {message for _, message in findings(found)}
    assert messages == (WAITING if scene == "broker_dies_transient" else {"m9"})


def test_a_young_quorum_queue_has_everything_or_nothing(tmp_path: Path) -> None:
    # 3.10.8 has nothing: the name of the queue's folder is not on disk yet
    _, found = told(STORY, "broker_dies_quorum", tmp_path)
    assert {message for _, message in findings(found)} in (WAITING, {"m9"})


def test_every_scene_is_expected() -> None:
    assert {*EXPECTED, "broker_dies_quorum"} == set(SCENES)
