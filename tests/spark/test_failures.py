"""Whatever is killed in the midst of a run on a cluster, the answer is that of a run in peace."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from checker.processes import is_alive
from checker.resources import specs
from tests.documents import only_report
from tests.spark.cluster import PATIENCE, LoopbackCluster, below, command, eventually, kill

pytest.importorskip("pyspark")
pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PARTICIPANTS, STATES = 9, 10_340_352
"""Of two-phase commit, as published; so many that there is time to kill somebody."""
LEVEL = 12
"""Of these runs: somewhere in the middle."""
DEADLY = """
  property not_all
    "Not everybody ever commits." :
    always exists p in participant: p.rm != committed
}
"""
PROGRAM = "import sys; from checker.cli.main import main; sys.exit(main())"
SAME = (
    "distinct_states depth transitions verdicts exhaustive stopped never failed exit_code"
).split()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackCluster]:
    folder = tmp_path_factory.mktemp("spark") / "cluster"
    with LoopbackCluster(folder, patience=PATIENCE) as started:
        yield started


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two-phase commit with one property that holds, and one that the last level violates."""
    text = (specs() / "oracles" / "two_phase.bcast").read_text(encoding="utf-8")
    protocol, _, checks = text.partition("}\n\ncheck three")
    one = (
        f"check one of TwoPhase {{\n  n = {PARTICIPANTS}\n  prove consistent\n  prove not_all\n}}\n"
    )
    path = tmp_path_factory.mktemp("spec") / "deadly.bcast"
    path.write_text(protocol.rstrip() + "\n" + DEADLY + one, encoding="utf-8")
    assert checks
    return path


@dataclass
class Trial:
    """Runs of one check in one place."""

    cluster: LoopbackCluster
    spec: Path
    folder: Path
    exchange: str

    @property
    def run(self) -> Path:
        return self.folder / "run"

    @property
    def output(self) -> Path:
        return self.folder / "output"

    def words(self, *more: str) -> list[str]:
        check = [sys.executable, "-c", PROGRAM, "check", f"{self.spec}::one", "--reduce", "none"]
        report = ["--json", str(self.folder / "report"), "--trace-out", str(self.folder / "trace")]
        return [*check, *report, *more]

    def on_cluster(self, *more: str) -> list[str]:
        where = ["--engine", "spark", "--master", self.cluster.master, "--exchange", self.exchange]
        conf = self.cluster.conf
        settings = [word for item in conf.items() for word in ("--conf", "=".join(item))]
        return self.words(*where, *settings, "--checkpoint-every", "0", *more)

    def depth(self) -> int:
        """How far the run says it is."""
        try:
            said = json.loads((self.run / "said" / "progress.json").read_text())
        except (OSError, ValueError):
            return -1
        return int(said.get("depth", -1))

    def wait_for_the_middle(self, process: subprocess.Popen[bytes]) -> None:
        def there() -> bool:
            assert process.poll() is None, f"it ended too early:\n{self.output.read_text()}"
            return self.depth() >= LEVEL

        eventually(there, f"it never came so far:\n{self.output.read_text()}")

    def said(self) -> str:
        """All that was printed, on one line."""
        text = self.output.read_text()
        assert "Traceback" not in text and "\tat " not in text, text
        return " ".join(text.split())

    def check(self, in_peace: dict[str, Any], engine: str = "spark") -> None:
        """The report and the trace are those of a run in peace."""
        report = only_report((self.folder / "report").read_text())
        assert report["engine"] == engine
        assert {name: report[name] for name in SAME} == {name: in_peace[name] for name in SAME}
        assert json.loads((self.folder / "trace").read_text()) == in_peace["trace"]


@pytest.fixture(scope="module")
def in_peace(
    spec: Path, cluster: LoopbackCluster, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What the native engine answers."""
    trial = Trial(cluster, spec, tmp_path_factory.mktemp("native"), "none")
    words = trial.words("--engine", "native")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    answer: dict[str, Any] = only_report((trial.folder / "report").read_text())
    assert answer["distinct_states"] == STATES
    assert [v["verdict"] for v in answer["verdicts"]] == ["holds", "violated"]
    return {**answer, "trace": json.loads((trial.folder / "trace").read_text())}


@pytest.fixture(params=["barrier", "shuffle"])
def trial(
    request: pytest.FixtureRequest, spec: Path, cluster: LoopbackCluster, tmp_path: Path
) -> Trial:
    return Trial(cluster, spec, tmp_path, request.param)


def killed(pids: Callable[[], list[int]]) -> None:
    """One of the processes, which has to be there."""
    pid, *_ = pids()
    os.kill(pid, signal.SIGKILL)


def committed(trial: Trial) -> int:
    """The last level that is committed."""
    return max(int(path.parent.name) for path in trial.run.glob("levels/*/_SUCCESS"))


@pytest.mark.parametrize("who", ["pythons", "executors"])
def test_a_part_of_the_cluster_is_killed(who: str, trial: Trial, in_peace: dict[str, Any]) -> None:
    with command(trial.on_cluster("--checkpoint", str(trial.run)), trial.output) as process:
        trial.wait_for_the_middle(process)
        killed(getattr(trial.cluster, who))
        assert committed(trial) < in_peace["depth"]
        assert process.wait(PATIENCE) == 1, trial.output.read_text()
    trial.check(in_peace)
    assert not trial.run.exists()


TOLD = 60.0
"""Seconds in which the terminal has to tell of an executor that is not heard from."""


def wait_for_news(trial: Trial, process: subprocess.Popen[bytes], words: str) -> None:
    """Waits until the terminal says something, not longer than it may take."""
    until = time.monotonic() + TOLD
    while not re.search(words, " ".join(trial.output.read_text().split())):
        assert process.poll() is None, f"it ended:\n{trial.output.read_text()}"
        assert time.monotonic() < until, f"nothing was told:\n{trial.output.read_text()}"
        time.sleep(0.2)


def test_the_java_of_an_executor_is_stopped(trial: Trial, in_peace: dict[str, Any]) -> None:
    """Its Python worker, which is heard from, goes on for as long as it needs no Java."""
    with command(trial.on_cluster("--checkpoint", str(trial.run)), trial.output) as process:
        trial.wait_for_the_middle(process)
        stopped, *_ = trial.cluster.executors()
        os.kill(stopped, signal.SIGSTOP)
        wait_for_news(trial, process, r"executor \S.* was lost.*; resuming from level \d+")
        assert process.wait(PATIENCE) == 1, trial.output.read_text()
    trial.check(in_peace)
    eventually(lambda: not is_alive(stopped), "the worker does not kill it")


@pytest.mark.parametrize("exchange", ["auto", "shuffle"])
def test_a_machine_is_lost(
    exchange: str, spec: Path, tmp_path: Path, in_peace: dict[str, Any]
) -> None:
    """A worker and its executor are killed, and nothing takes their place."""
    with LoopbackCluster(tmp_path / "cluster", patience=PATIENCE) as cluster:
        trial = Trial(cluster, spec, tmp_path, exchange)
        with command(trial.on_cluster("--checkpoint", str(trial.run)), trial.output) as process:
            trial.wait_for_the_middle(process)
            worker = cluster.java_of("worker-0")
            for each in (worker, *(one.pid for one in below({worker}))):
                kill(each)
            wait_for_news(trial, process, r"executor \S.* was lost.*; resuming from level \d+")
            if exchange == "auto":
                wait_for_news(trial, process, "for 30 s there were slots for only 1; resuming")
            assert process.wait(PATIENCE) == 1, trial.output.read_text()
        trial.check(in_peace)


def test_the_driver_is_killed_and_the_run_resumed(trial: Trial, in_peace: dict[str, Any]) -> None:
    with command(trial.on_cluster("--checkpoint", str(trial.run)), trial.output) as process:
        trial.wait_for_the_middle(process)
        process.kill()
        process.wait()
    eventually(lambda: not trial.cluster.executors(), "executors outlive their driver")
    with command(trial.on_cluster("--resume", str(trial.run)), trial.output) as process:
        assert process.wait(PATIENCE) == 1, trial.output.read_text()
    trial.check(in_peace)
    assert not trial.run.exists()


def test_a_folder_that_can_not_be_written_any_more(trial: Trial, in_peace: dict[str, Any]) -> None:
    """In the midst of the run, from some level on: a file is where its folder should be."""
    with command(trial.on_cluster("--checkpoint", str(trial.run)), trial.output) as process:
        trial.wait_for_the_middle(process)
        level = trial.run / "levels" / f"{LEVEL + 8:05d}"
        level.touch()
        assert process.wait(PATIENCE) == 3, trial.output.read_text()
    said = trial.said()
    assert f"can'tbesaved:{level}" in "".join(said.split())  # wherever the line was broken
    assert f"--resume {trial.run}" in said
    level.unlink()
    here = trial.words("--engine", "native", "--resume", str(trial.run))
    with command(here, trial.output) as process:
        assert process.wait(PATIENCE) == 1, trial.output.read_text()
    trial.check(in_peace, "native")


@pytest.mark.parametrize("trial", ["shuffle"], indirect=True)
def test_the_java_of_the_driver_is_killed(trial: Trial) -> None:
    with command(trial.on_cluster("--checkpoint", str(trial.run)), trial.output) as process:
        trial.wait_for_the_middle(process)
        (java,) = [p.pid for p in below({process.pid}) if "SparkSubmit" in p.command]
        os.kill(java, signal.SIGKILL)
        assert process.wait(PATIENCE) == 2, trial.output.read_text()
    said = trial.said()
    assert "error[E029]: the run failed: Spark's Java process has ended; Spark's log is" in said
    assert f"--resume {trial.run}" in said


# ---- a cluster that will not do ---------------------------------------------------------------


def refused(trial: Trial, *words: str) -> str:
    """What is said where no run begins, beside that one is being prepared."""
    with command(trial.on_cluster(*words), trial.output) as process:
        assert process.wait(PATIENCE) == 2, trial.output.read_text()
    assert not json.loads((trial.folder / "report").read_text())["reports"]
    return re.sub(r"\S+: preparing, \d+ s ", "", trial.said())


@pytest.fixture
def alone(spec: Path, cluster: LoopbackCluster, tmp_path: Path) -> Trial:
    return Trial(cluster, spec, tmp_path, "barrier")


def test_too_few_slots(alone: Trial) -> None:
    said = refused(alone, "--shards", "99")
    assert said.startswith("error[E025]: ")
    assert "99" in said and "--exchange shuffle" in said


def test_executors_whose_python_has_nothing_of_ours(alone: Trial) -> None:
    home = alone.folder / "bare"
    venv.create(home, symlinks=True)
    said = refused(alone, "--conf", f"spark.pyspark.python={home / 'bin' / 'python'}")
    assert said.startswith("error[E027]: ")
    assert "lacks the package bivalence" in said
    assert "pip install bivalence" in said


def other_python() -> str | None:
    """A Python of another version, where this machine has one."""
    mine = sys.version_info[1]
    for minor in (mine + 1, mine - 1, mine + 2, mine - 2):
        found = shutil.which(f"python3.{minor}")
        if found and not subprocess.run([found, "-V"], capture_output=True, check=False).returncode:
            return found
    return None


def test_executors_with_another_python(alone: Trial) -> None:
    python = other_python()
    if python is None:
        pytest.skip("there is one Python here")
    said = refused(alone, "--conf", f"spark.pyspark.python={python}")
    assert said.startswith("error[E026]: the executors run Python 3.")
    assert f"and this machine Python 3.{sys.version_info[1]}" in said
