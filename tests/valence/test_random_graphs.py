"""On random graphs both engines give the valence that the definition gives."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from checker.engines.native.valence import native_valence
from checker.engines.native.valence.state_words import StateWords
from checker.engines.registry import engine_of
from checker.engines.valence import ValenceGraph
from checker.results.fair_lasso import fairness_justification
from tests.valence.graphs import PROCESSES, Drawn, drawn, problem_of
from tests.valence.library import valence_of

SEEDS = range(40)


def of_engine(graph: Drawn, engine: str) -> ValenceGraph:
    return engine_of(engine).valence(problem_of(graph, engine), None)


def bits(values: set[int]) -> int:
    return sum(1 << value for value in values)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("seed", SEEDS)
def test_words_are_those_of_the_definition(seed: int, engine: str) -> None:
    graph = drawn(seed)
    found, layout = of_engine(graph, engine), problem_of(graph, engine).layout
    reached = graph.reach(0)
    assert found.answer.distinct_states == len(reached)
    for state in reached:
        word = found.word((state,))
        assert word is not None
        assert layout.open(word) == bits(graph.open(state))
        assert layout.decided(word) == bits(set(graph.decided[state]))
        for process in range(len(PROCESSES)):
            assert layout.without(word, process) == bits(graph.open(state, process))
    unreached = set(range(graph.states)) - reached
    assert all(found.word((state,)) is None for state in unreached)


@pytest.mark.parametrize("seed", SEEDS)
def test_critical_states_are_those_of_the_definition(seed: int) -> None:
    graph = drawn(seed)
    critical = {
        state
        for state in graph.reach(0)
        if not graph.decided[state]
        and len(graph.open(state)) > 1
        and all(len(graph.open(t)) < 2 for t in graph.after(state) - {state})
    }
    for engine in ("reference", "native"):
        count, paths = of_engine(graph, engine).critical(100)
        assert count == len(critical)
        assert {path.states[-1][0] for path in paths} == critical


@pytest.mark.parametrize("seed", SEEDS)
def test_engines_agree_on_levels_and_on_whether_a_run_never_decides(seed: int) -> None:
    graph = drawn(seed)
    reference, native = of_engine(graph, "reference"), of_engine(graph, "native")
    assert [Counter(level) for level in reference.levels] == [Counter(x) for x in native.levels]
    system = problem_of(graph, "native").system
    for bivalent in (True, False):
        runs = [each.undecided_run(bivalent=bivalent) for each in (reference, native)]
        assert (runs[0] is None) is (runs[1] is None)
        for run in runs:
            if run is None:
                continue
            assert run.loop is not None
            fairness_justification(system, run.states, run.loop)  # raises where it is unfair
            around = run.states[run.loop :]
            assert not any(graph.decided[state] for (state,) in around)
            assert not bivalent or all(len(graph.open(state)) > 1 for (state,) in around)


@pytest.mark.parametrize("most", [2, 4])
def test_words_that_have_no_number_are_kept_whole(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are more different words than numbers, all else is the same."""
    widths = set()
    for seed in range(12):
        monkeypatch.undo()
        usual = of_engine(drawn(seed), "native")
        monkeypatch.setattr(native_valence, "StateWords", partial(StateWords, most=most))
        few = of_engine(drawn(seed), "native")
        widths.add(few.bytes_per_state)
        assert usual.bytes_per_state == 2
        assert few.levels == usual.levels
        assert few.critical(9) == usual.critical(9)
        for bivalent in (True, False):
            assert few.undecided_run(bivalent=bivalent) == usual.undecided_run(bivalent=bivalent)
        for state in range(drawn(seed).states):
            assert few.word((state,)) == usual.word((state,))
            wanted = usual.word((state,))
            path = few.nearest(lambda word, wanted=wanted: word == wanted)  # type: ignore[misc]
            assert path == usual.nearest(lambda word, wanted=wanted: word == wanted)  # type: ignore[misc]
    assert widths == {2, 8}


def test_a_state_takes_two_bytes_however_many_processes_there_are() -> None:
    assert valence_of("commit/paxos_commit::one_acceptor").bytes_per_state == 2
