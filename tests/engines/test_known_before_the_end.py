"""What a search has decided is known, with its run, long before the search has ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from checker.engines import budgets
from checker.engines.native import engine
from checker.engines.native.search import finalize, search
from checker.resources import specs
from checker.results import so_far
from checker.results.answer import INTERRUPTED, Progress
from checker.results.verdict import Report, Word
from checker.session import if_killed, pipeline
from checker.session.pipeline import Options, run_check
from tests.selection import first_by_default

VIOLATED_EARLY = (
    "broadcast/lazy_reliable::crash_one",
    "consensus/hierarchical::crash_one",
    "broadcast/uniform_all_ack::wrong_once",
    "registers/abd::half_is_enough",
)


@pytest.fixture(autouse=True)
def every_search_is_long(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for module in (search, finalize):
        monkeypatch.setattr(module, "LONG", 1)
    monkeypatch.setattr(engine, "SOME", 1)
    monkeypatch.setattr(engine, "MANY", 1)
    monkeypatch.setattr(if_killed, "EVERY", 0.0)
    yield
    budgets.resume_after_interrupt()


def split(check: str) -> tuple[str, str]:
    name, _, asked = check.partition("::")
    return str(specs() / f"{name}.bcast"), asked


def words(report: Report) -> dict[str, Word]:
    return {verdict.property: verdict.word for verdict in report.verdicts}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("check", first_by_default(VIOLATED_EARLY, 1))
def test_what_is_said_early_is_never_taken_back(check: str, threads: int) -> None:
    heard: list[Report] = []
    told: list[str] = []

    def listener(progress: Progress) -> None:
        if progress.news:
            told.append(progress.phase)

    with so_far.receiving(heard.append):
        report = run_check(*split(check), Options(engine="native", threads=threads), listener)
    final, early = words(report), heard[:-1]
    assert any(Word.VIOLATED in words(one).values() for one in early)
    for one in early:
        for name, word in words(one).items():
            assert word in (Word.UNKNOWN, final[name])
    known = {
        n for one in early if one.was_interrupted for n, w in words(one).items() if w is final[n]
    }
    news = {name for name in known if final[name] is Word.VIOLATED}
    assert final.keys() & {word.strip(",") for said in told for word in said.split()} == news
    assert all(said.endswith("violated; the search goes on") for said in told)
    numbers = [(one.depth, one.distinct_states) for one in early]
    assert numbers == sorted(numbers)
    plainly = run_check(*split(check), Options(engine="native", threads=threads, explain=None))
    assert [v.trace for v in report.verdicts] == [v.trace for v in plainly.verdicts]


@pytest.mark.parametrize("check", first_by_default(VIOLATED_EARLY, 1))
def test_counts_are_those_of_a_search_that_reports_nothing(
    check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def numbers() -> tuple[Any, ...]:
        found = run_check(*split(check), Options(engine="native", whole=True))
        traces = [v.trace and v.trace.steps for v in found.verdicts]
        return found.distinct_states, found.depth, found.transitions, traces

    reported = numbers()
    for module in (search, finalize):
        monkeypatch.setattr(module, "LONG", sys.maxsize)
    assert numbers() == reported


@pytest.mark.parametrize("check", first_by_default(VIOLATED_EARLY[:3], 2))
def test_an_interrupt_with_no_time_left_loses_no_violation(
    check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "SHORT_GRACE", 0.0)
    came: list[int] = []

    def listener(progress: Progress) -> None:
        if progress.answer is None and violated and not came:
            came.append(progress.depth)
            budgets.interrupt(for_good=True)

    violated: list[Report] = []

    def receive(report: Report) -> None:
        if Word.VIOLATED in words(report).values():
            violated.append(report)

    with so_far.receiving(receive):
        report = run_check(*split(check), Options(engine="native"), listener)
    assert came, "the search ended before it was interrupted"
    assert report.was_interrupted
    assert report.distinct_states > 0
    known = [v for v in report.verdicts if v.word is Word.VIOLATED]
    assert known
    assert all(v.trace is not None for v in known)


def test_a_report_that_is_never_made_loses_no_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = pipeline.report_of, list[int]()

    def ended(*given: Any) -> Report:
        calls.append(1)
        answer = given[3]
        if answer.stopped != INTERRUPTED and answer.weights is not None and heard:
            raise budgets.BudgetExhausted("no time is left")
        return real(*given)

    heard: list[Report] = []
    monkeypatch.setattr(pipeline, "report_of", ended)
    with so_far.receiving(heard.append):
        report = run_check(*split(VIOLATED_EARLY[0]), Options(engine="native"))
    assert calls
    assert Word.VIOLATED in words(report).values()
    assert report.stopped == "no time is left"


def test_a_search_may_report_for_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is passed on does not grow with the number of reports."""
    nothing = run_check(*split(VIOLATED_EARLY[0]), Options(engine="native", explain=None))
    heard: list[Report] = []
    with so_far.receiving(heard.append):
        hearing = if_killed.IfKilled(lambda _: nothing, lambda *_: nothing, lambda _: None)
        for states in range(1, 5_000):
            hearing(Progress(10**6 + states, 1, 7, 1.0, 0))
    assert heard[-1].distinct_states == 10**6 + 4_999
    assert len(heard) == 5_000
