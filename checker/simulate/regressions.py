"""Runs a check's scenarios beside its exploration."""

from __future__ import annotations

from checker.lang import typed
from checker.stepping.prepared_check import PreparedCheck
from checker.stepping.scenario import Played, play
from checker.witness.verdict import ScenarioVerdict


def judge_scenario(opened: PreparedCheck, scenario: typed.Scenario) -> ScenarioVerdict:
    """Judges whether ``scenario`` is possible as it is written, and whether its claims are true."""
    return verdict_of(play(opened, scenario))


def verdict_of(played: Played) -> ScenarioVerdict:
    """Returns the verdict on a scenario that was run."""
    name, problem, steps = played.scenario.name, played.problem, max(len(played.taken) - 1, 0)
    if problem is None:
        span = played.scenario.span
        reason = "it can be run as it is written, and what it claims is true"
        return ScenarioVerdict(name, True, reason, span.file, span.line, span.column, steps)
    span = problem.span
    return ScenarioVerdict(
        name, False, problem.message, span.file, span.line, span.column, steps, problem.possible
    )
