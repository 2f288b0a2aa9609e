"""How the time of a command is shared out among checks and mutants."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Struct

from checker.cli.main import main
from checker.diagnostics import SpecError
from checker.engines import budgets
from checker.engines.options import Options
from checker.language.load import Spec
from checker.mutate import levels, mutant_tasks, shares
from checker.mutate.mutant_tasks import LATER, Asked, Judged
from checker.mutate.shares import (
    GROWTH,
    LEAST,
    PARTS,
    SLOWEST,
    Pace,
    ask_originals,
    judge_in_shares,
)
from checker.proving import dispatch_check
from checker.results.mutation import Fate, MutantResult
from checker.results.verdict import Word
from checker.worlds.assumptions import require_green
from checker.worlds.points import SHARE_IS_OVER
from tests.mutate.test_mutate_command import SPEC, judged, spec_in


class Task(Struct, frozen=True):
    number: int
    share: float | None = None
    first: bool = False

    def with_share(self, share: float, *, first: bool) -> Task:
        return Task(self.number, share, first)


def judging(needs: dict[int, float], asked: list[Task]) -> Any:
    """Judges tasks that need so many seconds."""

    def judge(tasks: Sequence[Task]) -> Iterator[Judged]:
        for task in tasks:
            asked.append(task)
            late = task.share is not None and task.share < needs[task.number]
            fate = Fate.UNKNOWN if late else Fate.KILLED
            yield Judged(MutantResult(task.number, "P", 1, "kind", "what", fate), late)

    return judge


def shared(needs: dict[int, float], seconds: float | None, seed: int = 0) -> Any:
    asked: list[Task] = []
    tasks: Any = [Task(number) for number in needs]
    found = [*judge_in_shares(tasks, seconds, seed, 2, judging(needs, asked))]
    return asked, {each.number: each.fate for each in found}


def test_without_a_budget_each_is_judged_once_in_order() -> None:
    asked, found = shared({1: 9.0, 2: 1.0, 3: 99.0}, None)
    assert asked == [Task(1), Task(2), Task(3)]
    assert {*found.values()} == {Fate.KILLED}


def test_what_a_share_does_not_decide_has_a_larger_one() -> None:
    needs = {n: 1.0 for n in range(1, 21)} | {7: 100.0}
    asked, found = shared(needs, 100.0)
    first = max(LEAST, 100.0 * 2 / (PARTS * len(needs)))
    shares = [task.share for task in asked if task.number == 7]
    assert shares == [first, first * GROWTH, first * GROWTH**2]
    assert [task.first for task in asked if task.number == 7] == [True, False, False]
    assert len(asked) == len(needs) + 2
    assert {*found.values()} == {Fate.KILLED}, "the last that is said counts"


def test_the_order_is_drawn() -> None:
    needs = {n: 1.0 for n in range(1, 21)}
    orders = [[task.number for task in shared(needs, 100.0, seed)[0]] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert all(sorted(order) == [*needs] != order for order in orders)


class Report(Struct):
    """As much of a report as is asked for; it takes `needs` seconds."""

    check: str
    needs: float = 0.0
    exit_code: int = 0
    was_interrupted: bool = False
    verdicts: tuple[Any, ...] = ()
    file: str = "p.bcast"


def originals(reports: Sequence[Report], seconds: float | None, takes: float = 0.0) -> Any:
    shares: list[float | None] = []

    def ask(name: str, share: float | None) -> Any:
        shares.append(share)
        time.sleep(takes)
        found = next(each for each in reports if each.check == name)
        late = share is not None and share < found.needs
        return Report(name, found.needs, 3 if late else found.exit_code)

    found, late = ask_originals([each.check for each in reports], seconds, ask)
    return [each.check for each in found], [*late], shares


def test_a_check_that_takes_too_long_is_left_out() -> None:
    found, late, shares = originals([Report("a"), Report("b", 1000.0), Report("c")], 900.0)
    assert (found, late) == (["a", "c"], ["b"])
    assert shares[0] == pytest.approx(100.0, rel=0.1), "a third of the time, for three checks"
    assert shares[2] == pytest.approx(300.0, rel=0.1), "what the others have not used"


def test_a_check_that_its_share_does_not_decide_has_what_the_others_leave() -> None:
    """It is asked again if that is twice as much."""
    reports = [Report("a", 250.0), Report("b"), Report("c")]
    found, late, shares = originals(reports, 900.0)
    assert (found, late) == (["b", "c", "a"], [])
    assert shares == pytest.approx([100.0, 150.0, 300.0, 300.0], rel=0.1)
    reports[0] = Report("a", 1000.0)
    found, late, shares = originals(reports, 900.0)
    assert (found, late, len(shares)) == (["b", "c"], ["a"], 4), "300 s again are no more"


def test_a_process_that_waits_for_the_processor_has_more_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Pace, "slow", property(lambda _: 4.0))
    many = [Report("a"), Report("b", 3 * LEAST), Report("c")]
    assert originals(many, 3.0, 0.1)[:2] == (["a", "b", "c"], [])


def test_a_check_has_the_least_share_until_the_time_is_over() -> None:
    """Time passes while checks are asked: there is none left for the others."""
    many = [Report("a"), Report("b", 1000.0), Report("c")]
    assert originals(many, 0.01, 0.02) == (["a"], ["b", "c"], [LEAST])


def test_a_red_check_is_refused_and_so_is_an_undecided_one_without_a_budget() -> None:
    for reports, seconds in (
        ([Report("a"), Report("b", exit_code=1)], 90.0),
        ([Report("a"), Report("b", exit_code=3)], None),
    ):
        with pytest.raises(SpecError) as refused:
            originals(reports, seconds)
        assert refused.value.diagnostics[0].code == "E127"


def test_nothing_decided_is_refused_where_no_steps_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    undecided = Report("one", exit_code=3)
    monkeypatch.setattr(shares, "ask_originals", lambda *given: ([], {"one": undecided}))
    path = str(spec_in(tmp_path, SPEC))
    for kind in ((), ("--world",)):
        if not kind:
            monkeypatch.setattr(levels, "ask_levels", lambda *given: [])
        assert main(["mutate", path, "--budget", "900", "-q", *kind]) == 2
        assert "E127" in capsys.readouterr().err


def test_each_beginning_is_from_all_of_the_file() -> None:
    tasks: Any = [Task(number) for number in range(100)]
    for seed in range(5):
        order = [task.number for task in shares.spread(tasks, seed)]
        assert sorted(order) == [*range(100)]
        for size in (10, 20, 50):
            parts = [sum(n // 20 == part for n in order[:size]) for part in range(5)]
            assert max(parts) - min(parts) <= 2
    assert shares.spread(tasks[:1], 3) == tasks[:1] and not shares.spread([], 3)


def test_a_budget_that_is_over_leaves_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judge, done = mutant_tasks.judge_mutant, list[int]()

    def ending(task: Any, listener: Any) -> Judged:
        if len(done) == 3:
            raise budgets.BudgetExhausted("the time is over")
        done.append(task.number)
        return judge(task, listener)

    monkeypatch.setattr(mutant_tasks, "judge_mutant", ending)
    report = judged(spec_in(tmp_path, SPEC), "--budget", "1000", code=3)
    assert sorted(done) == [each["number"] for each in report["mutants"]] != [1, 2, 3]
    assert report["stopped"].endswith(f"3 of {report['drawn']} reached")
    assert "stopped" in (said := capsys.readouterr().out) and "reached" in said


def test_mutants_of_a_protocol_whose_checks_are_not_asked_are_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have survived nothing."""
    slow = SPEC.replace("Counter", "Slow").replace("check one", "check slow")

    def without_the_last(checks: Sequence[str], seconds: float | None, ask: Any) -> Any:
        assert checks[-1] == "slow"
        return ask_originals(checks[:-1], seconds, ask)[0], {"slow": None}

    monkeypatch.setattr(shares, "ask_originals", without_the_last)
    monkeypatch.setattr(levels, "ask_levels", lambda *given: [])
    report = judged(spec_in(tmp_path, SPEC + slow), "--budget", "1000")
    late = [each for each in report["mutants"] if each["protocol"] == "Slow"]
    assert {each["fate"] for each in late} <= {"unknown", "stillborn"}
    assert "not asked: slow" in {each["reason"] for each in late}
    others = [each for each in report["mutants"] if each["protocol"] == "Counter"]
    assert "unknown" not in {each["fate"] for each in others}


def test_survivors_are_compared_when_all_mutants_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reports with a budget and without one are the same in the end."""
    path = spec_in(tmp_path, SPEC)
    plain = judged(path)
    judge, told = mutant_tasks.judge_mutant, list[Judged]()

    def telling(task: Any, listener: Any) -> Judged:
        told.append(judge(task, listener))
        return told[-1]

    monkeypatch.setattr(mutant_tasks, "judge_mutant", telling)
    report = judged(path, "--budget", "1000", "--fresh")
    assert report["mutants"] == plain["mutants"]
    first, behind = told[: report["drawn"]], told[report["drawn"] :]
    assert behind and {each.number for each in behind} == {e.number for e in first if e.hurried}
    late = [each.result for each in first if each.hurried]
    assert all(each.fate is Fate.SURVIVED and each.reason.endswith(LATER) for each in late)
    assert not any(LATER in each["reason"] for each in report["mutants"])


@pytest.mark.parametrize(("words", "limit"), [((), 40.0), (("--timeout", "7"), 7.0)])
def test_limits_of_checks_are_of_the_processor_unless_they_are_given(
    words: tuple[str, ...], limit: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine 10 s by the clock may be one of the processor."""
    answer, limits = dispatch_check.answer_check, list[float | None]()

    def noting(spec: Any, name: str, options: Any, listener: Any) -> Any:
        limits.append(options.limits.timeout)
        return answer(spec, name, options, listener)

    monkeypatch.setattr(dispatch_check, "answer_check", noting)
    monkeypatch.setattr(Pace, "slow", property(lambda _: 4.0))
    judged(spec_in(tmp_path, SPEC), "--budget", "1000", "--fresh", *words)
    assert max(each or 0.0 for each in limits[1:]) == pytest.approx(limit, rel=0.2)


@pytest.mark.parametrize(("wall", "cpu", "slow"), [(8.0, 2.0, 4.0), (1.0, 2.0, 1.0), (9e9, 1, 0)])
def test_the_pace_is_the_clock_s_share_of_the_processor(
    wall: float, cpu: float, slow: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pace, "wall", wall)
    monkeypatch.setattr(Pace, "cpu", cpu)
    assert Pace().slow == (slow or SLOWEST)


def test_one_check_has_half_of_a_first_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may take long, and the next one kill at once."""
    monkeypatch.setattr(Pace, "slow", 3.0)
    for compares, limit in ((False, 12.0), (True, 24.0)):
        task: Any = SimpleNamespace(share=10.0, compares=compares)
        judge = mutant_tasks._Judge(task, lambda _: None, False)
        monkeypatch.setattr(Pace, "cpu", 2.0)
        assert (judge._limit(None), judge._limit(5.0), judge._is_over) == (limit, 5.0, False)
        monkeypatch.setattr(Pace, "cpu", 9.5)
        assert judge._is_over


@pytest.mark.parametrize(
    ("own", "said"), [(None, SHARE_IS_OVER), (1e-6, "the time limit of 1e-06 s")]
)
def test_a_share_that_is_over_is_no_time_limit_of_the_check(
    own: float | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task: Any = SimpleNamespace(options=Options(), only="", every_check=True)
    judge = mutant_tasks._Judge(task, lambda _: None, False)
    monkeypatch.setattr(judge, "_is_same_code", lambda *given: False)
    monkeypatch.setattr(judge, "_own", lambda seconds: own or seconds)
    monkeypatch.setattr(judge, "_limit", lambda seconds: 1e-6)
    found = judge._run(Spec(SPEC, "p.bcast"), Asked("one", 1, 1.0))
    assert said in found.undecided


def test_an_unchanged_check_has_no_limit_that_nobody_gave() -> None:
    reason = "a violation was found, but not its run: the time limit of 296.1 s was reached"
    late = Report("one", exit_code=3, verdicts=(SimpleNamespace(word=Word.UNKNOWN, reason=reason),))
    for shared, said in ((True, SHARE_IS_OVER), (False, "the time limit of 296.1 s was reached")):
        with pytest.raises(SpecError) as refused:
            require_green(late, "E127", shared=shared)
        assert refused.value.diagnostics[0].message.endswith(said)
