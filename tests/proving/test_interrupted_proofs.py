"""An interrupt of a proof has its effect whenever it comes: at any poll, and in any query of z3.

Nothing here depends on the clock: the interrupt comes at a poll, or a query, of a given number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path

import pytest
import z3

from checker import polling
from checker.engines import budgets
from checker.engines.options import Options
from checker.proving.finite import prove_check
from checker.proving.parametric import prove_every
from checker.resources import specs
from checker.results.answer import INTERRUPTED
from checker.results.verdict import Report
from tests.instantiate.limited import SHORT, written

Patch = pytest.MonkeyPatch
EVERY = """
check proved of NaiveVoting { for all n  links authenticated  prove agreement, validity }
"""
MOMENTS = 5
"""So many moments of each proof are tried, evenly spread."""


def finite(folder: Path) -> Report:
    return prove_check(written(SHORT, folder), "c", Options())


def for_every_n(folder: Path) -> Report:
    text = (specs() / "for_every_n" / "naive_voting.bcast").read_text() + EVERY
    return prove_every(written(text, folder), "proved", Options())


@contextmanager
def at_poll(number: int | None, monkeypatch: Patch) -> Iterator[list[int]]:
    """Interrupts at the poll ``number``; yields a list of the numbers of all polls until then."""
    polls, numbers = count(), list[int]()
    settle = polling.ask_no_more

    def polled() -> None:
        numbers.append(next(polls))
        if numbers[-1] == number:
            monkeypatch.setattr(polling, "ask_no_more", settle)
            settle()
            budgets.interrupt()
            polling.poll()

    monkeypatch.setattr(polling, "ask_no_more", lambda: polling.ask(polled))
    polling.ask(polled)
    try:
        yield numbers
    finally:
        monkeypatch.setattr(polling, "ask_no_more", settle)
        budgets.resume_after_interrupt()


@contextmanager
def at_query(number: int | None, monkeypatch: Patch) -> Iterator[list[int]]:
    """Does the same for queries of z3."""
    queries, numbers = count(), list[int]()
    check = z3.Solver.check

    def checked(solver: z3.Solver, *assumptions: z3.ExprRef) -> z3.CheckSatResult:
        numbers.append(next(queries))
        if numbers[-1] == number:
            budgets.interrupt()
        return check(solver, *assumptions)

    monkeypatch.setattr(z3.Solver, "check", checked)
    try:
        yield numbers
    finally:
        monkeypatch.setattr(z3.Solver, "check", check)
        budgets.resume_after_interrupt()


@pytest.mark.every
@pytest.mark.parametrize("moment", [at_poll, at_query], ids=["poll", "query"])
@pytest.mark.parametrize("prove", [finite, for_every_n])
def test_an_interrupt_is_never_lost(
    prove: Callable[[Path], Report],
    moment: Callable[[int | None, Patch], AbstractContextManager[list[int]]],
    tmp_path: Path,
    monkeypatch: Patch,
) -> None:
    with moment(None, monkeypatch) as numbers:
        whole = prove(tmp_path)
    assert len(numbers) > 4
    ended = 0
    for number in range(0, len(numbers), max(1, len(numbers) // MOMENTS)):
        with moment(number, monkeypatch):
            report = prove_or_nothing(prove, tmp_path)
        if report is None:
            ended += 1
            continue
        reasons = "; ".join(verdict.reason for verdict in report.verdicts)
        words = [verdict.word for verdict in report.verdicts]
        complete = words == [verdict.word for verdict in whole.verdicts]
        assert complete or (report.exit_code == 3 and INTERRUPTED in reasons), number
        ended += not complete
    assert ended or moment is at_query  # a query may be the last thing of a proof


def prove_or_nothing(prove: Callable[[Path], Report], folder: Path) -> Report | None:
    """Returns the report, ``None`` where the interrupt comes before there is anything to report."""
    try:
        return prove(folder)
    except KeyboardInterrupt:
        return None
