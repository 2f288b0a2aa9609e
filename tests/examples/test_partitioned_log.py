"""The simulator of a partitioned log: each rule that is left out is found, and nothing without."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.partitioned_log import groups, transactions
from examples.telling import Story, audited
from tests.audit.logs import words

OVER = "exactly_once over effects"
WRONG = {
    "right": set(),
    "processes_first": {OVER},
    "commits_first": {OVER},
    "without_numbers": {"one_position_per_record"},
    "without_copies": {
        *("one_record_per_position", "polls_without_gaps", "no_lost_writes", "all_are_polled"),
        OVER,
    },
    "two_owners": {"one_owner"},
    "forgets_commits": {"resumes_at_commit"},
}
WRONG_TRANSACTIONS = {
    "right": set(),
    "without_a_marker": {"committed_is_seen_whole"},
    "sees_open_ones": {"no_aborted_reads", "no_early_reads"},
    "sees_aborted_ones": {"no_aborted_reads", "no_early_reads"},
}


def violated(story: Story, scene: str, folder: Path) -> set[str]:
    """Plays a scene, and returns the properties that are violated; all others hold."""
    (folder / "logs").mkdir()
    story.play(scene, folder)
    found = words(audited(story, folder))
    assert set(found.values()) <= {"holds", "violated"}
    return {name for name, word in found.items() if word == "violated"}


@pytest.mark.every
@pytest.mark.parametrize("scene", groups.SCENES)
def test_what_a_log_a_producer_and_a_group_promise(scene: str, tmp_path: Path) -> None:
    assert violated(groups.STORY, scene, tmp_path) == WRONG[scene]


@pytest.mark.every
@pytest.mark.parametrize("scene", transactions.SCENES)
def test_what_a_reader_of_committed_records_sees(scene: str, tmp_path: Path) -> None:
    assert violated(transactions.STORY, scene, tmp_path) == WRONG_TRANSACTIONS[scene]


def test_a_story_is_told_in_lines(capsys: pytest.CaptureFixture[str]) -> None:
    from examples.telling import tell

    assert tell(groups.STORY, ["two_owners"]) == 1
    said = capsys.readouterr().out
    assert "partition x is assigned to first and to second in generation 1" in said
    assert "assign(1, x)" in said
