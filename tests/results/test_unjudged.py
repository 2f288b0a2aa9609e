"""A property that can't be evaluated in some state: which state it is, and how runs come there."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.instantiate.assemble import instantiate
from checker.model.evaluate import RunFault
from checker.properties.formula import ask
from checker.proving.finite import prove_check
from checker.results.answer import Limits
from checker.session.load import load_check
from checker.session.pipeline import run_check
from tests.instantiate.limited import written
from tests.spark import gang

COUNTING_DOWN = """\
protocol P {{
  state x : 0..3 = {start}
  upon condition x > 0 {{ x := x - 1 }}
  property q "always" : {asked}
}}
check c of P {{ n = {n}  prove q }}
"""
INVARIANT = "always forall p in Proc: 6 div p.x >= 1"
RESPONSE = "forall p in Proc: true ~> 6 div p.x >= 3"


def said(
    folder: Path, engine: str, asked: str = INVARIANT, start: int = 3, n: int = 1
) -> tuple[str, list[str]]:
    """The message, and the run."""
    path = written(COUNTING_DOWN.format(asked=asked, start=start, n=n), folder)
    ask_for = prove_check if engine == "prove" else run_check
    options = Options() if engine == "prove" else Options(engine=engine)
    with pytest.raises(SpecError) as problem:
        ask_for(path, "c", options)
    (found,) = problem.value.diagnostics
    assert found.code == "R004" and found.span is not None and found.span.line == 4
    notes = "\n".join(getattr(problem.value, "__notes__", ()))
    return found.message, notes.split("\n")


@pytest.mark.parametrize("engine", ["native", "reference", "symbolic", "prove"])
def test_in_a_later_state(engine: str, tmp_path: Path) -> None:
    message, run = said(tmp_path, engine)
    assert message == "in a state after 3 steps: division by zero"
    assert [line.split(maxsplit=1)[0] for line in run] == ["1", "2", "3"]
    assert all("p1: upon condition x > 0" in line for line in run)


@pytest.mark.parametrize("engine", ["native", "reference", "symbolic", "prove"])
def test_in_the_initial_state(engine: str, tmp_path: Path) -> None:
    message, run = said(tmp_path, engine, start=0)
    assert message == "in the initial state: division by zero"
    assert "".join(run) == ""


def test_what_is_asked_of_whole_runs(tmp_path: Path) -> None:
    assert said(tmp_path, "native", RESPONSE)[0].startswith("in a state after 3 steps")
    assert said(tmp_path, "reference", RESPONSE)[0] == "in some state: division by zero"


def test_a_run_that_was_made_smaller_is_one_of_the_system(tmp_path: Path) -> None:
    """With processes that may change places."""
    message, run = said(tmp_path, "native", n=3)
    assert message == "in a state after 3 steps: division by zero"
    assert len(run) == 3


def test_tasks_say_the_same(tmp_path: Path) -> None:
    path = written(COUNTING_DOWN.format(asked=INVARIANT, start=3, n=2), tmp_path)
    system = instantiate(load_check(path, "c", {}), {}, ask).system
    with pytest.raises(RunFault) as fault:
        gang.answer(system, tmp_path / "run", 2, Limits())
    assert fault.value.states is not None and len(fault.value.states) == 4
