"""Every budget, and Ctrl-C, binds in every phase of every engine; what was found before is kept."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from checker.engines import budgets
from checker.results.answer import INTERRUPTED
from tests.instantiate.limited import (
    MANY_STARTS,
    MANY_STEPS,
    SHORT,
    SLOW,
    asked,
    for_ever,
    for_long,
    greedy,
    interrupting,
    soon,
)

Patch = pytest.MonkeyPatch

HERE = ["native", "reference"]
FINE = [False, True]

PHASES = {
    "scouting": "checker.instantiate.capacity_estimation.estimate_capacities",
    "instantiating": "checker.instantiate.assemble.instantiate",
    "planning": "checker.session.run_engine.choose",
    "lowering": "checker.engines.native.engine.build",
    "compiling": "checker.engines.native.codegen.jit._compile",
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: Patch) -> None:
    """Telling what was found takes little."""
    monkeypatch.setattr(budgets, "GRACE", 2.0)


BY_STEPS = pytest.mark.parametrize("fine", FINE, ids=["steps", "fine steps"])


@BY_STEPS
@pytest.mark.parametrize("phase", SLOW)
@pytest.mark.parametrize("engine", HERE)
def test_time(engine: str, phase: str, fine: bool, tmp_path: Path) -> None:
    with soon():
        report = asked(SLOW[phase], tmp_path, engine, fine=fine, timeout=1.0)
    assert report.exit_code == 3
    assert report.stopped == "the time limit of 1 s was reached"
    assert [v.property for v in report.verdicts] == ["q"]


@BY_STEPS
@pytest.mark.parametrize("phase", SLOW)
@pytest.mark.parametrize("engine", HERE)
def test_interruption(engine: str, phase: str, fine: bool, tmp_path: Path) -> None:
    with soon(), interrupting():
        report = asked(SLOW[phase], tmp_path, engine, fine=fine)
    assert report.exit_code == 3
    assert report.stopped == INTERRUPTED
    assert report.was_interrupted


@pytest.mark.parametrize("phase", PHASES)
def test_time_before_the_search(phase: str, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(PHASES[phase], for_long if phase == "compiling" else for_ever)
    monkeypatch.setattr("checker.engines.native.codegen.jit.load_image", lambda *_: None)
    with soon():
        report = asked(SHORT, tmp_path, timeout=1.0)
    assert report.exit_code == 3
    assert report.stopped == "the time limit of 1 s was reached"
    assert {v.property for v in report.verdicts} == {"low", "q"}


@pytest.mark.parametrize("phase", PHASES)
def test_interruption_before_the_search(phase: str, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(PHASES[phase], for_long if phase == "compiling" else for_ever)
    monkeypatch.setattr("checker.engines.native.codegen.jit.load_image", lambda *_: None)
    with soon(), interrupting():
        report = asked(SHORT, tmp_path)
    assert report.exit_code == 3
    assert report.was_interrupted


@pytest.mark.parametrize("spec", [MANY_STARTS, MANY_STEPS], ids=["starts", "steps"])
def test_states(spec: str, tmp_path: Path) -> None:
    with soon():
        report = asked(spec, tmp_path, max_states=1000)
    assert report.stopped == "the limit of 1,000 states was reached"
    assert report.distinct_states == 1000


@BY_STEPS
@pytest.mark.parametrize("spec", [MANY_STARTS, MANY_STEPS], ids=["starts", "steps"])
def test_memory(spec: str, fine: bool, tmp_path: Path) -> None:
    with soon():
        report = asked(spec, tmp_path, fine=fine, memory=8 << 20)
    assert report.stopped is not None
    assert "the memory limit of 8,388,608 bytes" in report.stopped


@pytest.mark.parametrize("engine", HERE)
def test_memory_before_the_search(engine: str, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(budgets, "BESIDE", 16 << 20)

    monkeypatch.setattr("checker.instantiate.capacity_estimation.estimate_capacities", greedy)
    with soon():
        report = asked(SHORT, tmp_path, engine, memory=16 << 20)
    assert report.stopped == "the memory limit of 16,777,216 bytes was reached"


def test_what_is_decided_stays_decided(tmp_path: Path, monkeypatch: Patch) -> None:
    """The explanation goes on forever: the violation is told without it."""
    monkeypatch.setattr("checker.explain.reports.explain_report", for_ever)
    with soon():
        report = asked(SHORT, tmp_path)
    assert {v.property: v.word.value for v in report.verdicts} == {"low": "violated", "q": "holds"}


def test_a_run_that_can_not_be_told_in_time_is_none(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(budgets, "GRACE", 0.5)
    monkeypatch.setattr("checker.results.replay.replay", for_ever)
    with soon():
        report = asked(SHORT, tmp_path, timeout=1.0)
    words = {v.property: (v.word.value, v.reason) for v in report.verdicts}
    late = "a violation was found, but not its run: the time limit of 1 s was reached"
    assert words["low"] == ("unknown", late)
    assert words["q"][0] == "holds"


def test_a_smaller_budget_within_another_ends_first() -> None:
    with (
        budgets.within(30.0),
        budgets.raising_when_exhausted(),
        soon(),
        pytest.raises(budgets.BudgetExhausted, match=r"0.2 s"),
        budgets.within(0.2),
        budgets.raising_when_exhausted(),
    ):
        for_ever()


def test_nothing_is_raised_behind_a_part() -> None:
    for _ in range(20):
        with budgets.within(0.01):
            try:
                with budgets.raising_when_exhausted():
                    time.sleep(0.01)
            except budgets.BudgetExhausted:
                pass
            time.sleep(0.001)


def test_an_interrupt_after_the_last_poll_is_raised_at_the_end() -> None:
    with pytest.raises(KeyboardInterrupt), budgets.raising_when_exhausted():
        budgets.interrupt()
    assert not budgets.is_interrupted()


def test_an_interrupt_is_raised_again_in_parts_that_are_opened_later() -> None:
    """Code that takes it for the end of one query does not go on with the next."""
    begun = 0
    with soon(), budgets.within(None):
        for _ in range(3):
            with suppress(KeyboardInterrupt), interrupting(0.1), budgets.raising_when_exhausted():
                begun += 1
                for_ever()
        assert budgets.is_interrupted()
    assert begun == 1
    with budgets.raising_when_exhausted():
        assert not budgets.is_interrupted()


def test_an_interrupt_in_a_report_leaves_time_for_it() -> None:
    with budgets.raising_when_exhausted(late=True):
        os.kill(os.getpid(), signal.SIGINT)
        assert budgets.is_interrupted()
        with pytest.raises(KeyboardInterrupt), budgets.raising_when_exhausted():
            raise AssertionError("nothing else is begun")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_no_block_stays_behind_where_it_was_left_at_the_last_moment() -> None:
    """A block that ends just when its time does was left half closed, and raised again later."""
    rng, until, left = random.Random(0), time.monotonic() + 1.0, 0
    while time.monotonic() < until:
        try:
            with budgets.within(0.001), budgets.raising_when_exhausted():
                for _ in range(rng.randrange(1000)):
                    with budgets.raising_when_exhausted():
                        pass
        except budgets.BudgetExhausted:
            left += len(budgets._parts)
    assert left == 0


def test_other_threads_have_budgets_too() -> None:
    said: list[str] = []

    def run() -> None:
        try:
            with budgets.within(0.2), budgets.raising_when_exhausted():
                for_ever()
        except budgets.BudgetExhausted as reached:
            said.append(str(reached))

    thread = threading.Thread(target=run)
    with soon():
        thread.start()
        thread.join()
    assert said == ["the time limit of 0.2 s was reached"]
