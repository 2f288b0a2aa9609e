"""What a real Mosquitto does with QoS 0, 1 and 2, its subscriber and itself killed with -9."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.audit.audit import Request, audit
from tests.audit.logs import words

pytest.importorskip("paho.mqtt", reason="paho-mqtt is not installed: pip install '.[examples]'")

from examples.mosquitto.story import SCENES, mosquitto, play

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


def verdicts(scene: str, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The verdicts on a scene that is played now, and the reasons."""
    play(SCENES[scene], folder)
    found = audit(Request((str(folder / "logs"),), "Queue", (MOST, LEAST)))
    assert found.report.log is not None and found.report.log.rows > 50
    return words(found), {v.property: v.reason for v in found.report.verdicts}


def judged(scene: str, folder: Path) -> dict[str, str]:
    said, reasons = verdicts(scene, folder)
    most, least = EXPECTED[scene]
    assert said[MOST] == ("holds" if most else "violated")
    assert said[LEAST] == ("holds" if least else "violated")
    assert said["no_creation"] == "holds"
    return reasons


def test_acknowledged_after_processing_is_at_least_once(tmp_path: Path) -> None:
    assert "subscriber delivers m9 twice" in judged("qos1", tmp_path)[MOST]


@pytest.mark.slow
@pytest.mark.parametrize("scene", [scene for scene in SCENES if scene != "qos1"])
def test_each_scene_ends_as_its_story_says(scene: str, tmp_path: Path) -> None:
    reasons = judged(scene, tmp_path)
    if not EXPECTED[scene][1]:
        assert reasons[LEAST].startswith("m10, requested by publisher, is delivered by nobody")
        assert "and 9 more" in reasons[LEAST]


def test_every_scene_is_expected() -> None:
    assert set(EXPECTED) == set(SCENES)
