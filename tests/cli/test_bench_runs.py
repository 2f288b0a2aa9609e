"""The runs of ``bench``: one that hangs, dies or fails costs its own rows only."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from msgspec import Struct

from checker.cli.bench_runs import in_turn
from checker.cli.main import main
from checker.results.answer import Listener
from checker.sweep import local
from checker.sweep.cells import Status
from tests.cli.test_bench_numbers import _cells, _write

AUTOMATON = """skel Proc {
  local pc;
  parameters n;
  assumptions (0) { n > 0; }
  locations (0) { a: [0]; b: [1]; }
  inits (0) { a == n; b == 0; }
  rules (0) { 0: a -> b when (true) do { }; }
  specifications (0) { stays: [](b >= 0); }
}
"""


class Odd(ValueError):
    """An error that can't be sent to another process."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


class Asked(Struct, frozen=True):
    """A task that does what its name says."""

    number: int
    what: str
    seconds: float | None = None


def do(asked: Asked, listener: Listener) -> str:
    """Does it, in the other process."""
    match asked.what:
        case "hang":
            while True:
                time.sleep(1)
        case "die":
            os._exit(7)
        case "fail":
            raise ValueError("this is wrong")
        case "fail oddly":
            raise Odd(1, 2)
        case "fill memory":
            raise MemoryError
        case "be interrupted":
            raise KeyboardInterrupt
    return asked.what


def lost(asked: Asked, status: Status, why: str, seconds: float) -> str:
    """Says why there is no outcome."""
    return f"{status}: {why}"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("hang", "timeout: it was killed"),
        ("die", "died: its process ended with exit code 7"),
        ("fill memory", "memory: out of memory"),
    ],
)
def test_the_others_follow(what: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "GRACE", 0.1)
    tasks = [Asked(0, "one"), Asked(1, what, 0.01), Asked(2, "two")]
    one, failed, two = in_turn(tasks, do, lost)
    assert (one, two) == ("one", "two") and failed.startswith(said)


@pytest.mark.parametrize(
    ("what", "error", "said"),
    [
        ("fail", ValueError, "this is wrong"),
        ("fail oddly", RuntimeError, "Odd: 1 and 2"),
        ("be interrupted", KeyboardInterrupt, "^$"),
    ],
)
def test_what_is_raised_is_raised_here(what: str, error: type[BaseException], said: str) -> None:
    with pytest.raises(error, match=said):
        list(in_turn([Asked(0, what)], do, lost))


def test_rows_whose_process_is_killed_are_not_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process is killed at once: it has not begun when the time is over."""
    monkeypatch.setattr(local, "GRACE", 0.0)
    rows = _cells("qvbs", "herman N=3", "leader_sync N=3 K=2", "herman N=9")
    assert main(["bench", "qvbs", _write(tmp_path / "table.tsv", rows), "--budget", "0.001"]) == 3
    out, err = capsys.readouterr()
    assert "0 as published, 0 differ, 4 not decided" in out
    models = re.findall(r"^(.*?) (?:steps|time|eventually_elected) .*not decided", out, re.M)
    assert models == [row["model"] for row in rows]
    assert "herman N=3 steps: it was killed 0 s after its time limit of 0.001 s" in err


def test_files_whose_process_is_killed_are_not_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "GRACE", 0.0)
    for name in ("one.ta", "two.ta"):
        (tmp_path / name).write_text(AUTOMATON, "utf-8")
    assert main(["bench", "threshold", str(tmp_path), "--budget", "0.001"]) == 3
    out, err = capsys.readouterr()
    assert "0 decided, 2 not decided" in out and "two.ta: it was killed" in err
