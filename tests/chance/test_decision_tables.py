"""The rules of a strategy: true of every state that it leads to, whatever they are found from."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import checker
from checker.chance.decision_table import Decision, rules_of
from checker.cli.chance_chapters import write_chance_chapters
from checker.cli.gallery_chapters import gallery_chapters
from checker.render.html.chance import chance_page
from checker.results.chance import Rule

ROOT = Path(__file__).resolve().parents[2]
ROW = st.tuples(st.integers(-2, 3), st.sampled_from(["none", "some"]), st.integers(0, 1))
TABLES = st.dictionaries(ROW, st.sampled_from(["p1: a", "p2: b", "p3: c"]), max_size=20)


def satisfies(decision: Decision, rule: Rule) -> bool:
    """Reads a rule as a reader does."""
    return all(_holds(decision.values[name], condition) for name, condition in rule.when)


def _holds(value: str, condition: str) -> bool:
    sign, _, bound = condition.partition(" ")
    if sign == "=":
        return value == bound
    if sign == "in":
        low, _, high = bound.strip("()").partition("..")
        return int(low) <= int(value) <= int(high)
    return int(value) <= int(bound) if sign == "<=" else int(value) >= int(bound)


@settings(deadline=None, max_examples=150)
@given(TABLES)
def test_rules_are_true_and_tell_of_all(table: dict[tuple[int, str, int], str]) -> None:
    names = ("counter", "p1.vote", "turn")
    decisions = [
        Decision(dict(zip(names, map(str, row), strict=True)), step) for row, step in table.items()
    ]
    rules = rules_of(decisions, 100)
    assert sum(rule.states for rule in rules) == len(decisions)
    for decision in decisions:
        fitting = [rule for rule in rules if satisfies(decision, rule)]
        assert {rule.step for rule in fitting} == {decision.step}


def test_what_does_not_matter_is_not_said() -> None:
    decisions = [
        Decision({"counter": str(n), "turn": str(n % 2)}, "p1: adds" if n < 3 else "p2: adds")
        for n in range(6)
    ]
    assert rules_of(decisions, 9) == (
        Rule((("counter", "<= 2"),), "p1: adds", 3),
        Rule((("counter", ">= 3"),), "p2: adds", 3),
    )


def test_the_page_has_rules_and_the_tree() -> None:
    report = checker.check(str(ROOT / "specs/chance/shared_coin.bcast"), "two")
    page = chance_page([report])
    assert "chance of all_heads at least 49/128" in page
    assert "it chooses" in page and "so far 1/4" in page and "as at" in page
    assert page.count("<details") == page.count("</details>")


@pytest.mark.slow
def test_the_gallery_has_a_chapter_on_chance(tmp_path: Path) -> None:
    (chapter,) = gallery_chapters().chance
    (found,) = write_chance_chapters([ROOT / "specs" / chapter.file], tmp_path, 60.0)
    page = (tmp_path / found.page).read_text(encoding="utf-8")
    assert found.title == "How improbable"
    assert "the probability is 7/8 under the worst adversary" in page
    assert "the probability is 49/64 under the worst adversary" in page
    assert write_chance_chapters([], tmp_path, 60.0) == []
