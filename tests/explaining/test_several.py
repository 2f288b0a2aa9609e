"""Several counterexamples of a check, each of another kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checker import pipeline
from checker.engines import native
from checker.explaining.kinds import kind_of
from checker.explaining.several import Several, several
from checker.properties import ask
from checker.scout import scouted
from checker.system.instantiate.assemble import instantiate
from checker.witness import answer
from checker.witness.answer import Limits
from checker.witness.narrate import narrate
from checker.witness.rerun import Run
from checker.witness.trace import Explanation, Header, Trace

SPECS = Path(__file__).resolve().parents[2] / "specs"


def found(file: str, check: str, name: str, most: int, seconds: float = 60.0) -> Several:
    asked = pipeline.load_check(str(SPECS / file), check, {})
    system = instantiate(asked, {}, ask, capacities=scouted(asked, {}, False)).system
    (prop,) = [p for p in system.properties if p.name == name]
    first = native.explore(system, Limits()).violations[name]

    def tell(path: answer.Path, run: Run) -> Trace:
        trace = narrate(system, run, prop, Header("", file, check))
        return replace(trace, explanation=Explanation())

    return several(system, prop, first, most, seconds, native.explore, tell)


def test_each_is_of_another_kind_and_there_are_no_more_than_asked_for() -> None:
    runs = found("total_order/sequencer_takeover.bcast", "crash_one", "total_order", 3)
    assert len(runs.traces) == 3
    assert len({kind_of(trace) for trace in runs.traces}) == 3
    assert runs.note == "there may be more"


def test_where_only_one_kind_exists_that_is_said() -> None:
    runs = found("broadcast/eager_reliable.bcast", "crash_one", "uniform_agreement", 5)
    (only,) = runs.traces
    assert [step.kind for step in only.steps] == ["start", "request", "receive", "crash"]
    assert runs.note.startswith("every other run")


def test_crash_windows_are_kinds_of_their_own() -> None:
    runs = found("exactly_once/winch.bcast", "lower_then_log", "at_most_once over effects", 5)
    assert runs.traces
    assert all(any(e.kind == "crash" for s in t.steps for e in s.events) for t in runs.traces)


@pytest.mark.parametrize("seconds", [0.0])
def test_without_time_the_first_one_is_left(seconds: float) -> None:
    runs = found("total_order/sequencer_takeover.bcast", "crash_one", "total_order", 3, seconds)
    assert len(runs.traces) == 1
    assert runs.note.startswith("the budget of 0 s is used up")
