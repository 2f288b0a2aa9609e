"""Checks that run side by side: ``test`` and ``gallery`` use the cores, in one order, and say how
far they are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.cli.parallel import _in_order, jobs_and_threads, run_in_order
from checker.cli.progress import Count, fit
from checker.results.answer import Listener, Progress
from checker.sweep.cells import Status
from checker.sweep.local import Work

Out = pytest.CaptureFixture[str]

SPEC = """protocol P(k: Nat) {
  state x : 0..9 = 0
  upon condition x < k { x := x + 1 }
  property small : always forall p in Proc: p.x < 5
}
check three of P { n = 1  k = 3  prove small  expect small holds  expect states 4 }
check seven of P { n = 1  k = 7  prove small  expect small violated }
check wrong of P { n = 1  k = 6  prove small  expect small holds }
check too_large of P { n = 1  k = 11  prove small  expect small holds }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.bcast").write_text(SPEC)
    (tmp_path / "bad.bcast").write_text("protocol {")
    return tmp_path


def lines_of(capsys: Out) -> tuple[list[str], str]:
    out = capsys.readouterr()
    lines = [line.partition("  (")[0] for line in out.out.splitlines()]
    told = [line for line in out.err.splitlines() if not line.startswith("test: ")]
    return [line for line in lines if not line.startswith(" ")], "\n".join(told)


def test_many_processes_say_what_one_does(folder: Path, capsys: Out) -> None:
    assert main(["test", str(folder), "--jobs", "1"]) == 2
    alone, errors = lines_of(capsys)
    assert main(["test", str(folder), "--jobs", "2"]) == 2
    together, same_errors = lines_of(capsys)
    assert together == alone
    assert errors == same_errors and "bad.bcast:1:10" in errors
    assert alone[-1] == "6 of 13 as expected"
    assert [line.split()[0] for line in alone[:5]] == [
        "as", "as", "UNEXPECTED", "UNEXPECTED", "as",
    ]  # fmt: skip
    assert sum(line.startswith("UNUSABLE") for line in alone) == 1


def test_quietly_only_what_is_wrong_is_told(folder: Path, capsys: Out) -> None:
    assert main(["test", str(folder / "a.bcast"), "-q"]) == 1
    out = capsys.readouterr()
    assert "as expected  " not in out.out and out.out.count("UNEXPECTED") == 2
    assert "small: expected holds, found violated" in out.out
    assert out.out.endswith("2 of 4 as expected\n")


def test_an_interrupted_check_ends_the_test(folder: Path) -> None:
    assert main(["test", str(folder / "a.bcast"), "--timeout", "0.001"]) in (1, 3)


def pages(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_a_gallery_is_the_same_with_many_processes(folder: Path, capsys: Out) -> None:
    shown = [str(folder / f"{name}.bcast") for name in ("a", "b", "bad")]
    found = []
    for jobs in ("1", "2"):
        target = folder / f"pages{jobs}"
        assert main(["gallery", str(target), *shown, "--budget", "60", "--jobs", jobs]) == 0
        out = capsys.readouterr()
        assert "2 runs, 1 check skipped" in out.out
        assert "skipped: bad.bcast: " in out.err
        found.append(pages(target))
    assert found[0] == found[1]
    assert main(["gallery", str(folder / "q"), *shown, "-q"]) == 0
    assert "left out:" not in capsys.readouterr().err


def test_the_cores_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert jobs_and_threads(None, 100, None) == (8, 1)
    assert jobs_and_threads(None, 2, None) == (2, 4)
    assert jobs_and_threads(None, 1, None) == (1, None)
    assert jobs_and_threads(None, 100, 4) == (2, 4)
    assert jobs_and_threads(3, 100, None) == (3, 2)
    assert jobs_and_threads(1, 100, None) == (1, None)
    assert jobs_and_threads(None, 0, None) == (1, None)


@dataclass(frozen=True)
class Number:
    number: int
    seconds: float | None = None


def double(task: Number, listener: Listener) -> Number:
    listener(Progress(task.number * 10, 0, 0, 2.0, 0))
    if task.number == 2:
        os._exit(3)
    return Number(task.number, 2.0 * task.number)


def lost(task: Number, status: Status, reason: str, seconds: float) -> Number:
    assert status is Status.DIED and "exit code 3" in reason
    return Number(task.number, -1.0)


def run(tasks: Sequence[Number], jobs: int, meter: Count) -> Iterator[Number]:
    return run_in_order(tasks, jobs, Work(double, lost), meter, lambda task: f"task {task.number}")


def test_outcomes_come_in_order_and_a_process_that_dies_is_one() -> None:
    with Count("a", 4, "task", silent=True) as meter:
        outcomes = list(run([Number(i) for i in (4, 2, 1, 3)], 2, meter))
    assert [(o.number, o.seconds) for o in outcomes] == [(4, 8.0), (2, -1.0), (1, 2.0), (3, 6.0)]


def test_an_interrupt_loses_no_outcome_that_waits_for_an_earlier_one() -> None:
    def finished() -> Iterator[Number]:
        yield from (Number(1), Number(4), Number(3))
        raise KeyboardInterrupt

    outcomes = _in_order(finished(), [Number(i) for i in (1, 2, 3, 4)])
    assert [next(outcomes).number for _ in range(3)] == [1, 3, 4]
    with pytest.raises(KeyboardInterrupt):
        next(outcomes)


def test_the_whole_is_shown_not_only_its_part(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.cli.progress.QUIET", 0.0)
    monkeypatch.setattr("checker.cli.progress.EVERY", 0.0)
    with Count("test", 2, "check", terminal=False) as meter:
        list(run([Number(5), Number(6)], 1, meter))
    assert "test: 1 of 2 checks, 0 s; task 6: 60 states\n" in capsys.readouterr().err


def test_the_progress_line_fits_its_room() -> None:
    what = "/a/very/long/folder/eager_reliable.bcast::crash_one"
    line = f"{what}: 2,000 states, depth 3"
    assert fit(line, what, 200) == line
    assert fit(line, what, 60) == "eager_reliable.bcast::crash_one: 2,000 states, depth 3"
    assert fit(line, what, 50) == "eager_reliable.bcast::crash_one: 2,000 states, de…"
