"""Valence where the states are divided among shards: words by the definition, and the same critical
states and runs as where they are all in one place."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest

from checker import resources
from checker.engines.cluster import Cluster
from checker.engines.native.checkpoint.checkpoint import Checkpoint
from checker.engines.native.codegen.image import build
from checker.engines.native.search.states import Unevaluable
from checker.engines.native.sharding.valence_steps import LinkStep
from checker.engines.native.valence.native_valence import searched_system
from checker.engines.options import Options
from checker.engines.registry import engine_of
from checker.engines.spark import residual_graph
from checker.engines.spark.driver import SparkRun
from checker.engines.spark.session import Session
from checker.engines.spark.spark_valence import SparkValence
from checker.engines.valence import ValenceGraph, ValenceProblem, ValenceUnknown
from checker.records import replace
from checker.results.answer import Limits
from checker.results.fair_lasso import fairness_justification
from checker.session.run_engine import shared_sessions
from checker.valence.analysis import analyse
from checker.valence.compute import Computed, compute
from checker.valence.question import question_of
from tests.selection import first_by_default
from tests.spark.conftest import SHARED
from tests.spark.gang import begun, job_of, outcome
from tests.valence.graphs import PROCESSES, drawn, problem_of
from tests.valence.library import valence_of
from tests.valence.test_all_states import counts
from tests.valence.test_random_graphs import bits

CHECKS = (
    "consensus/paxos::duel",
    "commit/two_phase_commit::coordinator_or_participant",
    "consensus/ben_or::unlucky_coins",
    "consensus/leader::leader_crash_one",
    "consensus/flood_set::without_rounds",
    "consensus/rotating_coordinator::any_detector",
)
"""With a bivalent loop, with critical states; and others."""


class Staying:
    """A folder that is left to the test."""

    def leave(self) -> None:
        """Does nothing."""


def sharded(problem: ValenceProblem, folder: Path, shards: int) -> SparkValence:
    """The valence of a run whose tasks are threads, drawn by steps in this process."""
    by = searched_system(problem)
    image = build(by.system)
    run = begun(folder, by.system, image)
    done = outcome(job_of(by.system, image, run, shards, Limits()))
    cluster = Cluster("local", shards=shards)
    nobody = cast(Session, None)
    of_run = SparkRun(by.system, image, Limits(), cluster, run, nobody, None)
    return SparkValence(problem, by, of_run, done, cast(Checkpoint, Staying()))


@pytest.mark.parametrize("seed", first_by_default(range(40), 8))
def test_words_are_those_of_the_definition(seed: int, tmp_path: Path) -> None:
    graph = drawn(seed)
    problem = problem_of(graph, "native")
    found, layout = sharded(problem, tmp_path, 1 + seed % 3), problem.layout
    for state in range(graph.states):
        word = found.word((state,))
        assert (word is None) == (state not in graph.reach(0))
        if word is not None:
            assert layout.open(word) == bits(graph.open(state))
            assert layout.decided(word) == bits(set(graph.decided[state]))
            for process in range(len(PROCESSES)):
                assert layout.without(word, process) == bits(graph.open(state, process))
    _compare(found, engine_of("native").valence(problem, None))
    for bivalent in (True, False):
        run = found.undecided_run(bivalent=bivalent)
        if run is not None:
            assert run.loop is not None
            fairness_justification(problem.system, run.states, run.loop)


def _compare(found: ValenceGraph, same: ValenceGraph) -> None:
    assert found.edges == same.edges
    assert [Counter(level) for level in found.levels] == [Counter(level) for level in same.levels]
    count, paths = found.critical(3)
    number, others = same.critical(3)
    assert count == number
    assert [path.states[-1] for path in paths] == [path.states[-1] for path in others]
    for bivalent in (True, False):
        runs = [each.undecided_run(bivalent=bivalent) for each in (found, same)]
        assert (runs[0] is None) == (runs[1] is None)


@pytest.mark.parametrize("name", first_by_default(CHECKS, 2))
def test_the_library(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residual_graph, "WORTH_IT", 1 << 40)  # there are no executors
    computed = computed_of(name)
    problem = ValenceProblem(
        replace(computed.made.system, view=None), Options(), computed.decisions.conditions
    )
    for shards in (1, 2, 3):
        found = sharded(problem, tmp_path / str(shards), shards)
        assert found.missing == ""
        _compare(found, computed.graph)


def computed_of(name: str, **options: Any) -> Computed:
    file, _, check = name.partition("::")
    path = str(resources.specs() / f"{file}.bcast")
    return compute(question_of(path, check, Options(**options), None, free_inputs=True), None)


def test_where_the_driver_has_no_room_only_the_run_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = sharded(problem_of(drawn(3), "native"), tmp_path, 2)
    monkeypatch.setattr(residual_graph, "available_memory", lambda: 1)
    with pytest.raises(ValenceUnknown, match="undecided states"):
        found.undecided_run(bivalent=False)


# -- on Spark ----------------------------------------------------------------------------------


def report_on_spark(name: str) -> Any:
    options = Options(engine="spark", cluster=SHARED)
    with shared_sessions(options):
        return analyse(computed_of(name, engine="spark", cluster=SHARED))


@pytest.mark.cluster
@pytest.mark.usefixtures("shared_java")
def test_a_report_on_spark() -> None:
    assert counts(report_on_spark(CHECKS[1])) == counts(valence_of(CHECKS[1]))


@pytest.mark.slow
@pytest.mark.cluster
@pytest.mark.usefixtures("shared_java")
@pytest.mark.parametrize("name", CHECKS)
def test_by_executors(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residual_graph, "WORTH_IT", 12)
    report = report_on_spark(name)
    assert counts(report) == counts(valence_of(name))
    native = valence_of(name)
    shown = [(len(each.trace.steps), each.holder) for each in report.critical]
    assert shown == [(len(each.trace.steps), each.holder) for each in native.critical]


def test_a_query_that_fails_is_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = sharded(problem_of(drawn(3), "native"), tmp_path, 2)

    def fails(*_: object) -> list[object]:
        raise OSError("the disk is gone")

    monkeypatch.setattr(residual_graph, "WORTH_IT", 0)
    monkeypatch.setattr(residual_graph.ResidualGraph, "_on_executors", fails)
    found._known.clear()
    with pytest.raises(ValenceUnknown, match="the disk is gone"):
        found.word((0,))
    with pytest.raises(ValenceUnknown, match="the disk is gone"):
        found.nearest(lambda _: True)
    with pytest.raises(ValenceUnknown, match="the disk is gone"):
        found.undecided_run(bivalent=False)


def test_a_state_in_which_a_value_has_no_meaning_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Executors say which one it is; the driver evaluates it there."""
    problem = problem_of(drawn(3), "native")

    def lost(step: LinkStep, trim: object, region: object) -> object:
        raise Unevaluable((0,))

    monkeypatch.setattr(LinkStep, "_decided", lost)
    with pytest.raises(AssertionError, match="in native code only"):
        sharded(problem, tmp_path, 2)
