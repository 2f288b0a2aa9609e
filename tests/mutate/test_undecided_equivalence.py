"""A mutant that no check notices has survived, also where it is not compared with its original."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.engines.options import Options
from checker.language.load import Spec
from checker.language.mutation.mutants import mutants
from checker.mutate import mutant_tasks
from checker.mutate.equivalence import Graph, graph_of
from checker.mutate.mutant_tasks import COMPARING, Asked, MutantTask
from checker.polling import poll
from checker.records import replace
from checker.results.mutation import Fate
from checker.session.small_systems import TooLarge
from tests.mutate.test_mutate_command import WEAK, fates, judged, spec_in

NOT_DECIDED = "equivalence not decided: one: "


def reasons(report: dict[str, Any]) -> dict[str, str]:
    return {m["what"]: m["reason"] for m in report["mutants"] if m["fate"] == "survived"}


def test_a_comparison_ends_at_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    def endless(spec: Spec, name: str, *rest: Any) -> Any:
        begun.append(name)
        while True:
            poll()

    path = spec_in(tmp_path, WEAK)
    before = fates(judged(path, "--fresh"))
    monkeypatch.setattr(mutant_tasks, "graph_of", endless)
    monkeypatch.setattr(mutant_tasks, "COMPARING", 0.1)
    monkeypatch.setattr("checker.worlds.points.SECONDS", 0.1)
    monkeypatch.setattr("checker.worlds.points.TIMES", 0)
    monkeypatch.setattr("checker.proving.dispatch_check.answer_check", _unlimited())
    report = judged(path, "--fresh")
    assert {w for w, fate in before.items() if fate == "survived"} <= {*reasons(report)}
    assert "unknown" not in fates(report).values()
    told = {*reasons(report).values()}
    assert told == {NOT_DECIDED + "not compared in 0.1 s", NOT_DECIDED + mutant_tasks.SLOW}
    assert begun == ["one"], "the original takes too long once"


def _unlimited() -> Any:
    """Checks without a limit: that of the comparison alone is tested."""
    from checker.proving import dispatch_check

    answer = dispatch_check.answer_check

    def without(spec: Spec, name: str, options: Options, listener: Any) -> Any:
        unlimited = replace(options, limits=replace(options.limits, timeout=None))
        return answer(spec, name, unlimited, listener)

    return without


def test_a_graph_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def large(*given: Any) -> Any:
        raise TooLarge

    monkeypatch.setattr(mutant_tasks, "graph_of", large)
    report = judged(spec_in(tmp_path, WEAK), "--fresh")
    assert {*reasons(report).values()} == {NOT_DECIDED + mutant_tasks.LARGE}


def test_small_graphs_are_compared_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that differs from its original is enough, and a large one may take all the time."""
    begun: list[str] = []

    def noting(spec: Spec, name: str, *rest: Any) -> Graph:
        begun.append(name)
        return graph_of(spec, name, *rest)

    monkeypatch.setattr(mutant_tasks, "graph_of", noting)
    path = spec_in(tmp_path, WEAK + "check two of Counter { n = 2 prove small }")
    (ends,) = [
        each
        for each in mutants(path)
        if each.change.startswith("no handler") and "seen" in each.change
    ]
    asked = (Asked("two", 9, 0.1), Asked("one", 4, 0.2))
    task = MutantTask(
        "a", 1, ends, Spec(path.read_text("utf-8"), str(path)), asked, Options(), False
    )
    assert mutant_tasks.judge_mutant(task, lambda progress: None).result.fate is Fate.SURVIVED
    assert begun == ["one", "one"], "the original, and the mutant"


@pytest.mark.parametrize("timeout", [None, 3.0])
def test_the_time_of_a_mutant_covers_its_comparisons(tmp_path: Path, timeout: float | None) -> None:
    """Whoever runs it in another process kills that after this time."""
    path = spec_in(tmp_path, WEAK)
    mutant, spec = mutants(path)[0], Spec(path.read_text("utf-8"), str(path))
    options = Options()
    options = replace(options, limits=replace(options.limits, timeout=timeout))
    asked = (Asked("one", 4, 0.1), Asked("two", 4, 40.0))
    task = MutantTask("a", 1, mutant, spec, asked, options, False)
    checks = [each.limited(options).limits.timeout or 0.0 for each in asked]
    comparing = [each.compared_for(options) for each in asked]
    assert task.seconds == 2 * sum(checks) + sum(comparing)
    assert comparing == ([COMPARING, 800.0] if timeout is None else [3.0, 3.0])
