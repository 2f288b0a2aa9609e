"""Accelerated runs become runs that the ordinary replay accepts."""

from __future__ import annotations

import pytest

from checker.instantiate.assemble import instantiate
from checker.model.ir import TransitionSystem
from checker.parametric.automaton.automaton import AcceleratedRun, Burst, Question
from checker.parametric.automaton.concretize import ConcretizationFailed, concretize
from checker.properties.formula import ask
from checker.results.replay import replay
from checker.session.load import load_check
from tests.parametric.echo_by_hand import CORRECTNESS, ECHO, RELAY, UNFORGEABILITY

SPEC = "specs/byzantine/echo.bcast"


def _system(n: int, t: int, faulty: int) -> TransitionSystem:
    settings = {"n": str(n), "T": str(t), "byzantine": str(faulty)}
    check = load_check(SPEC, "built_for_one_with_two", settings)
    return instantiate(check, settings, ask).system


def _run(
    n: int, t: int, faulty: int, begin: dict[int, int], *bursts: tuple[int, int]
) -> AcceleratedRun:
    values = (("n", n), ("T", t), ("f", faulty), ("faulty", faulty))
    counts = tuple(begin.get(i, 0) for i in range(len(ECHO.locations)))
    return AcceleratedRun(values, counts, (tuple(Burst(r, k) for r, k in bursts),))


RUNS: list[tuple[Question, AcceleratedRun]] = [
    # Two liars pretend that somebody had wished, to a protocol that believes two.
    (UNFORGEABILITY, _run(4, 1, 2, {0: 2}, (1, 1), (3, 1))),
    # With n = 3T one process gets enough echoes with the help of a liar, and the other does not.
    (RELAY, _run(4, 2, 2, {0: 1, 1: 1}, (0, 1), (4, 1))),
    # Two correct processes wish, and wait for a third echo, for liars keep quiet.
    (CORRECTNESS, _run(4, 1, 2, {1: 2}, (0, 2))),
]


@pytest.mark.parametrize(("question", "run"), RUNS, ids=lambda x: getattr(x, "property", ""))
def test_followed_runs_are_replayed(question: Question, run: AcceleratedRun) -> None:
    numbers = dict(run.values)
    system = _system(numbers["n"], numbers["T"], numbers["f"])
    path = concretize(ECHO, question, run, system)
    prop = next(p for p in system.properties if p.name == question.property)
    trace = replay(system, path, prop)
    assert trace.word == "violated"


def test_what_does_not_happen_is_not_followed() -> None:
    # One liar alone makes nobody echo where two echoes are wanted.
    with pytest.raises(ConcretizationFailed, match="#received"):
        concretize(ECHO, UNFORGEABILITY, _run(4, 1, 1, {0: 3}, (1, 1)), _system(4, 1, 2))


def test_an_end_at_which_somebody_has_to_go_on_is_none() -> None:
    # All wish and nobody has sent anything yet.
    with pytest.raises(ConcretizationFailed, match="must take a step"):
        concretize(ECHO, CORRECTNESS, _run(4, 1, 1, {1: 3}), _system(4, 1, 2))
