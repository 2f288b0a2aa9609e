"""Plays scenes of stories, and audits what happened."""

from __future__ import annotations

from pathlib import Path

from checker.audit.audit import Audit
from examples.telling import Story, audited
from tests.audit.logs import words


def told(story: Story, scene: str, folder: Path) -> tuple[dict[str, str], Audit]:
    """Plays a scene; returns the verdict on each property, and all that the audit has found."""
    (folder / "logs").mkdir()
    story.play(scene, folder)
    found = audited(story, folder)
    assert found.report.log is not None and found.report.log.rows > 50
    return words(found), found


def findings(found: Audit) -> set[tuple[str, str]]:
    """Returns the messages with which a property is violated, by kinds."""
    return {(row["kind"], row["message"]) for row in found.violations.to_pylist()}
