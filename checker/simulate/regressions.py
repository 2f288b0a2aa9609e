"""Runs a check's scenarios beside its exploration."""

from __future__ import annotations

from checker.language.syntax import typed
from checker.results.verdict import ScenarioVerdict
from checker.simulate.prepared_check import PreparedCheck
from checker.simulate.scenario import Played, play


def judge_scenario(opened: PreparedCheck, scenario: typed.Scenario) -> ScenarioVerdict:
    """Judges whether ``scenario`` is possible as it is written, and whether its claims are true."""
    return verdict_of(play(opened, scenario))


def verdict_of(played: Played) -> ScenarioVerdict:
    """Returns the verdict on a scenario that was run."""
    name, problem, steps = played.scenario.name, played.problem, max(len(played.taken) - 1, 0)
    if problem is None:
        span = played.scenario.span
        reason = "it runs as written, and its claims are true"
        return ScenarioVerdict(name, True, reason, span.file, span.line, span.column, steps)
    span = problem.span
    return ScenarioVerdict(
        name, False, problem.message, span.file, span.line, span.column, steps, problem.possible
    )
