"""The benchmark of the exchanges: its numbers are checked, its processes are all seen and ended."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.spark import processes
from benchmarks.spark import run as benchmark
from checker.records import replace

ALL_OF_IT = """
import os, subprocess, sys, time
program = "import time; x = b'x' * 50_000_000; time.sleep(60)"
child = subprocess.Popen(["sh", "-c", '"$0" "$@" & wait', sys.executable, "-c", program])
if worker := os.fork():
    os.waitpid(worker, 0)
    print(child.pid, flush=True)
else:
    x = b"x" * 80_000_000
    time.sleep(1.5)
"""
"""A command whose work is done by a fork of it, and what that has started: not Python, and a Python
below that.  Both go on after its end."""


def test_all_processes_are_seen_and_ended() -> None:
    done = processes.run([sys.executable, "-c", ALL_OF_IT], Path.cwd())
    left = Path(f"/proc/{done.output.strip()}/stat")
    assert not left.exists() or left.read_text().rpartition(")")[2].split()[0] == "Z"
    assert done.peaks.kinds[processes.DRIVER] > 80_000_000
    assert 50_000_000 < done.peaks.kinds[processes.PYTHON] < 80_000_000
    assert 0 < done.peaks.kinds[processes.JAVA] < 20_000_000
    assert done.peaks.together > 130_000_000
    assert done.seconds > 1.5 and done.cpu > 0


def test_what_fails_is_an_error() -> None:
    with pytest.raises(processes.Failed, match=r"ended with 3: .*because"):
        processes.run([sys.executable, "-c", "print('because'); raise SystemExit(3)"], Path.cwd())


@pytest.mark.parametrize("lamps", [1, 3, 10])
@pytest.mark.parametrize("hours", [1, 7])
def test_numbers_of_funnels(lamps: int, hours: int, tmp_path: Path) -> None:
    case = benchmark.funnel("small", lamps, hours)
    found = benchmark.play(case, benchmark.NATIVE, tmp_path)
    assert (found.states, found.levels, found.transitions) == (
        case.states,
        case.levels,
        case.transitions,
    )


def test_a_wrong_number_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    native = {benchmark.NATIVE: benchmark.CONTESTANTS[benchmark.NATIVE]}
    monkeypatch.setattr(benchmark, "CONTESTANTS", native)
    case = benchmark.two_phase(5, 8_832)
    assert benchmark.measured(case, 1, tmp_path)[benchmark.NATIVE].states == 8_832
    little = replace(case, room=-1.0)  # memory is sampled: a short run may have no sample
    for wrong in (replace(case, states=8_831), replace(case, levels=3), little):
        with pytest.raises(benchmark.WrongAnswer):
            benchmark.measured(wrong, 1, tmp_path)


@pytest.mark.cluster
@pytest.mark.slow
def test_a_small_one(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    target = tmp_path / "found.json"
    words = ["--repeat", "1", "--only", "two_phase_7", "--json", str(target)]
    done = CliRunner().invoke(benchmark.main, words)
    assert done.exit_code == 0, done.output
    assert all(len(line) <= 100 for line in done.output.splitlines())
    found = json.loads(target.read_text())["cases"]["two_phase_7"]
    assert {one["states"] for one in found.values()} == {296_448}
    assert found["barrier"]["sent"] > 1_000_000
    assert min(found["barrier"]["peaks"].values()) > 10_000_000
