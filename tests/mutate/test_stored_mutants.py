"""What ``mutate`` has decided is stored: nothing of it is run again, and nothing else is served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker import kept
from checker.mutate import equivalence, mutant_tasks
from checker.proving import dispatch_check
from checker.session import result_cache
from tests.mutate.test_mutate_command import SPEC, WEAK, fates, judged, spec_in

EQUIVALENT = WEAK.replace("x == 2 and not seen", "x == 2 and not seen and x <= 3")
"""With a mutant that is killed, one that survives, and one that graphs show to be equivalent."""
AGAIN = "check two of Counter { n = 1 expect done holds }\n"


@pytest.fixture(autouse=True)
def keeping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept.use()
    yield
    kept.use(False)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The checks that are run, and `graph` for each graph that is made."""
    found: list[str] = []
    search, graph = dispatch_check.answer_check, equivalence.graph_of

    def answer(spec: Any, name: Any, *others: Any) -> Any:
        found.append(name)
        return search(spec, name, *others)

    def graph_of(*given: Any) -> Any:
        found.append("graph")
        return graph(*given)

    monkeypatch.setattr(dispatch_check, "answer_check", answer)
    monkeypatch.setattr(mutant_tasks, "graph_of", graph_of)
    return found


@pytest.mark.parametrize("kind", [(), ("--properties",), ("--world",)])
def test_nothing_is_run_again(kind: tuple[str, ...], tmp_path: Path, ran: list[str]) -> None:
    path = spec_in(tmp_path, EQUIVALENT)
    first = judged(path, *kind)
    if not kind:
        assert {*fates(first).values()} >= {"killed", "survived", "equivalent here"}
        assert "graph" in ran
    assert "one" in ran
    ran.clear()
    assert judged(path, *kind)["mutants"] == first["mutants"]
    assert not ran
    judged(path, *kind, "--fresh")
    assert "one" in ran


def test_the_kinds_of_mutants_are_apart(tmp_path: Path) -> None:
    """What is said of a protocol's mutant is not said of a changed property."""
    path = spec_in(tmp_path, EQUIVALENT)
    alone = [judged(path, *kind, "--fresh")["mutants"] for kind in ((), ("--properties",))]
    kept.use()
    stored = [judged(path, *kind)["mutants"] for kind in ((), ("--properties",))]
    assert stored == alone


@pytest.mark.parametrize(
    ("old", "new"),
    [("p.x <= 2", "p.x <= 3"), ("n = 1", "n = 2"), ("x := x + 1", "x := x + 2"), ("0..3", "0..4")],
)
def test_what_has_changed_is_run_again(old: str, new: str, tmp_path: Path, ran: list[str]) -> None:
    judged(spec_in(tmp_path, EQUIVALENT))
    ran.clear()
    assert old in EQUIVALENT
    path = spec_in(tmp_path, EQUIVALENT.replace(old, new))
    after = judged(path)
    assert "one" in ran
    assert judged(path, "--fresh")["mutants"] == after["mutants"]


def test_another_version_never_answers(
    tmp_path: Path, ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = spec_in(tmp_path, EQUIVALENT)
    judged(path)
    before = len(ran)
    monkeypatch.setattr(result_cache, "tool_digest", lambda: b"of a source that was edited")
    monkeypatch.setattr(mutant_tasks, "_digests", {})
    judged(path)
    assert len(ran) == 2 * before


def test_another_original_is_another_comparison(tmp_path: Path, ran: list[str]) -> None:
    """A mutant of one text can be the mutant of another: it is not compared with that one."""
    one = EQUIVALENT.replace("x == 2 and", "x >= 1 and")
    other = one.replace("x <= 3\n", "x <= 1\n").replace("x <= 3 as", "x <= 1 as")
    assert fates(judged(spec_in(tmp_path, one)))["without `x <= 3`"] == "equivalent here"
    after = fates(judged(spec_in(tmp_path, other)))
    assert after["without `x <= 1`"] == "survived"


def test_a_check_more_leaves_the_others(tmp_path: Path, ran: list[str]) -> None:
    """Who writes a check against a survivor waits for this check alone."""
    judged(spec_in(tmp_path, WEAK))
    ran.clear()
    after = judged(spec_in(tmp_path, WEAK + AGAIN))
    assert {*ran} == {"two"} or {*ran} == {"two", "graph"}
    assert fates(after)["no handler `upon condition x == 2 and not seen`"] == "killed"


def test_what_a_limit_ended_is_not_stored(tmp_path: Path) -> None:
    """And `--max-states` is a limit of each mutant."""
    path = spec_in(tmp_path, SPEC)
    few = fates(judged(path, "--max-states", "5"))
    all_of_it = fates(judged(path))
    unknown = {what for what, fate in few.items() if fate == "unknown"}
    assert unknown and "unknown" not in all_of_it.values()
    assert {what: fate for what, fate in few.items() if what not in unknown}.items() <= (
        all_of_it.items()
    )
