"""Processes as the Storm checker reads them, and what it then computes."""

from __future__ import annotations

import io
from array import array
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.chance import drn
from checker.chance.decision_process import DecisionProcess
from checker.chance.exact import exact_expectation, exact_probability
from checker.chance.expectation import Infinite, expectation
from checker.chance.graph import ProcessGraph
from checker.chance.objective import Kind, Objective
from checker.chance.probability import probability
from tests.chance import brute, models


def test_a_process_is_written() -> None:
    model = models.explore([0], lambda s: [[{0: 1}, {1: 2, 2: 1}], [{0: 1, 1: 1}], []][s])
    out = io.StringIO()
    drn.write(model.process, out, {"goal": {2}}, {"steps": array("q", [0, 1, 3])})
    assert out.getvalue().splitlines()[1:] == [
        *("@type: MDP", "@parameters", "", "@reward_models", "steps"),
        *("@nr_states", "3", "@nr_choices", "4", "@model"),
        *("state 0 init", "\taction 0 [0]", "\t\t0 : 1"),
        *("\taction 1 [1]", "\t\t1 : 2/3", "\t\t2 : 1/3"),
        *("state 1", "\taction 0 [3]", "\t\t0 : 1/2", "\t\t1 : 1/2"),
        *("state 2 goal", "\taction 0 [0]", "\t\t2 : 1"),
    ]


# ---- Storm as an oracle ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def storm() -> Any:
    return pytest.importorskip("stormpy")


def ask(storm: Any, folder: Path, process: DecisionProcess, goal: Any, asked: str) -> float:
    """What Storm computes for the initial state 0."""
    path = folder / "process.drn"
    with path.open("w", encoding="ascii") as out:
        steps = array("q", [1]) * process.choices
        drn.write(process, out, {"goal": goal}, {"steps": steps})
    model = storm.build_model_from_drn(str(path))
    (formula,) = storm.parse_properties(asked)
    return float(storm.model_checking(model, formula).get_value(0))


@pytest.mark.peers
@pytest.mark.slow
@settings(
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(brute.processes(states=8, choices=4), st.data())
def test_storm_computes_the_same(
    storm: Any, tmp_path: Path, process: DecisionProcess, data: st.DataObject
) -> None:
    goal = data.draw(st.sets(st.integers(0, process.states - 1), min_size=1))
    graph, objective = ProcessGraph(process), Objective(Kind.EVENTUALLY, goal)
    for asked, largest in (("Pmax", True), ("Pmin", False)):
        found = probability(graph, objective, largest=largest)
        value = ask(storm, tmp_path, process, goal, f'{asked}=? [F "goal"]')
        assert float(exact_probability(found, objective).value) == pytest.approx(value, abs=1e-5)
    steps = array("q", [1]) * process.choices
    if not process.choices:
        return  # Storm refuses a model in which nothing is counted
    for asked, largest in (("Rmax", True), ("Rmin", False)):
        expected = expectation(graph, goal, steps, largest=largest)
        value = ask(storm, tmp_path, process, goal, f'R{{"steps"}}{asked[1:]}=? [F "goal"]')
        if isinstance(expected, Infinite):
            assert value == float("inf")
        else:
            assert float(exact_expectation(expected).value) == pytest.approx(value, rel=1e-4)


@pytest.mark.peers
@pytest.mark.slow
def test_storm_reads_the_shared_coin(storm: Any, tmp_path: Path) -> None:
    model = models.shared_coin(2, 4)
    heads = model.where(lambda s: all(does == 2 * models.FINISHED + 1 for does in s[1:]))
    value = ask(storm, tmp_path, model.process, heads, 'Pmin=? [F "goal"]')
    assert value == pytest.approx(float(Fraction(1793, 4096)), abs=1e-5)
