"""The chapters of the gallery on ladders: what they name is in the library, and all of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker import resources
from checker.cli.gallery_chapters import Ladder, gallery_chapters
from checker.cli.ladder_chapters import scenario_trace, write_ladders
from checker.render.html.gallery import index_of
from checker.session import pipeline

LIBRARY = resources.specs()
LADDERS = gallery_chapters().ladders


def _named_in_readme() -> dict[str, list[str]]:
    """The checks in the tables of rules, by the title of their section."""
    found: dict[str, list[str]] = {}
    texts = [(LIBRARY / f / "README.md").read_text("utf-8") for f in ("replication", "incidents")]
    for section in (section for text in texts for section in text.split("\n## ")[1:]):
        title, in_rules = section.partition("\n")[0], False
        for line in section.splitlines():
            in_rules = line.startswith("|") and (in_rules or line.startswith("| rule |"))
            cell = re.match(r"\|[^|]*\| `(?:[\w.]+::)?(\w+)`", line)
            if in_rules and cell is not None and cell[1] not in found.setdefault(title, []):
                found[title].append(cell[1])
    return {title: checks for title, checks in found.items() if checks}


@pytest.mark.parametrize("ladder", LADDERS, ids=lambda ladder: ladder.title)
def test_each_rung_is_a_check_that_expects_a_violation(ladder: Ladder) -> None:
    for rung in ladder.rungs:
        module = pipeline.read_spec(str(LIBRARY / rung.file)).module
        expected = {c.name: {e.value for e in c.expect} for c in module.checks}
        assert "violated" in expected.get(rung.check, ()), f"{rung.file}::{rung.check}"


def test_the_chapters_have_the_rungs_of_the_readme_in_its_order() -> None:
    chapters = {ladder.title: [rung.check for rung in ladder.rungs] for ladder in LADDERS}
    assert chapters == _named_in_readme()


@pytest.mark.slow
def test_a_rung_without_a_run_shows_its_scenario_or_the_command(tmp_path: Path) -> None:
    files = [LIBRARY / "replication" / name for name in ("zab.bcast", "raft_disk.bcast")]
    raft, zab = write_ladders(files, (), tmp_path, "steps")
    assert [raft.title, zab.title] == ["Raft", "Zab"]
    steps = {step.check: step for step in (*raft.steps, *zab.steps)}
    assert steps["epoch_first"].said == "nothing_lost violated, 19 steps, a scenario"
    assert steps["before_disk"].said == "leader_completeness violated, 12 steps, a scenario"
    assert steps["half"].said == "bivalence check specs/replication/raft_disk.bcast::half"
    assert steps["half"].page == ""
    index = index_of((), (), "steps", (), (raft, zab))
    for step in steps.values():
        assert step.check in index
        if step.page:
            assert (tmp_path / step.page).exists()
            assert f'href="{step.page}"' in index


def test_a_check_without_a_scenario_has_no_run_of_one() -> None:
    assert scenario_trace(LIBRARY / "replication" / "raft_disk.bcast", "half") is None
