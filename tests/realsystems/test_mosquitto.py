"""What a real Mosquitto does with QoS 0, 1 and 2, its subscriber and itself killed with -9."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.realsystems.played import findings, told

pytest.importorskip("paho.mqtt", reason="paho-mqtt is not installed: pip install '.[examples]'")

from examples.mosquitto.story import SCENES, STORY, mosquitto

pytestmark = [
    pytest.mark.realsystems,
    pytest.mark.skipif(mosquitto() is None, reason="Mosquitto is missing: apt install mosquitto"),
]

MOST, LEAST = "at_most_once over deliveries", "at_least_once over deliveries"
EXPECTED = {
    "qos0": (True, False),
    "qos1": (False, True),
    "qos2": (True, True),
    "broker_dies": (False, True),
    "broker_dies_forgetful": (True, False),
}
"""Whether each message is delivered at most once, and at least once."""


def judged(scene: str, folder: Path) -> set[tuple[str, str]]:
    """Plays a scene now, and returns the messages with which a property is violated, by kinds."""
    said, found = told(STORY, scene, folder)
    most, least = EXPECTED[scene]
    assert said[MOST] == ("holds" if most else "violated")
    assert said[LEAST] == ("holds" if least else "violated")
    assert said["no_creation"] == "holds"
    return findings(found)


def test_acknowledged_after_processing_is_at_least_once(tmp_path: Path) -> None:
    # acknowledgements that had not left when it was killed are gone, too
    assert ("duplicate", "m9") in judged("qos1", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("scene", [scene for scene in SCENES if scene != "qos1"])
def test_each_scene_ends_as_its_story_says(scene: str, tmp_path: Path) -> None:
    found = judged(scene, tmp_path)
    if not EXPECTED[scene][1]:
        assert found == {("lost", f"m{number}") for number in range(10, 20)}


def test_every_scene_is_expected() -> None:
    assert set(EXPECTED) == set(SCENES)
