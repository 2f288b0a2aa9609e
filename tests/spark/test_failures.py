"""Whatever is killed in the midst of a run on a cluster, the answer is that of a run in peace."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from checker.resources import specs
from tests.spark.cluster import PATIENCE, QUICK, LoopbackCluster, command, eventually

pytest.importorskip("pyspark")

STATES = {8: 1_745_408, 9: 10_340_352}
"""Of two-phase commit, as published."""
SIZES = {"barrier": 9, "shuffle": 8}
"""Participants, so that there is time enough to kill somebody."""
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
    with LoopbackCluster(tmp_path_factory.mktemp("spark") / "cluster") as started:
        yield started


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two-phase commit with one property that holds, and one that the last level violates."""
    text = (specs() / "oracles" / "two_phase.bcast").read_text(encoding="utf-8")
    protocol, _, checks = text.partition("}\n\ncheck three")
    one = "check one of TwoPhase {\n  n = 3\n  prove consistent\n  prove not_all\n}\n"
    path = tmp_path_factory.mktemp("spec") / "deadly.bcast"
    path.write_text(protocol.rstrip() + "\n" + DEADLY + one, encoding="utf-8")
    assert checks
    return path


@dataclass
class Trial:
    """Runs of one check in one place; ``in_peace``: what the native engine answers, by size."""

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
        n = SIZES[self.exchange]
        check = [sys.executable, "-c", PROGRAM, "check", f"{self.spec}::one", "--set", f"n={n}"]
        report = ["--json", str(self.folder / "report"), "--trace-out", str(self.folder / "trace")]
        return [*check, *report, *more]

    def on_cluster(self, *more: str) -> list[str]:
        where = ["--engine", "spark", "--master", self.cluster.master, "--exchange", self.exchange]
        conf = {
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": QUICK,
            "spark.driver.extraJavaOptions": QUICK,
            "spark.bivalence.patience": str(PATIENCE),
        }
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

    def check(self, in_peace: dict[str, Any]) -> None:
        """The report and the trace are those of a run in peace."""
        report = json.loads((self.folder / "report").read_text())
        assert report["engine"] == "spark"
        assert {name: report[name] for name in SAME} == {name: in_peace[name] for name in SAME}
        assert json.loads((self.folder / "trace").read_text()) == in_peace["trace"]


@pytest.fixture(scope="module")
def in_peace(
    spec: Path, cluster: LoopbackCluster, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What the native engine answers."""
    answers = {}
    for exchange, n in SIZES.items():
        folder = tmp_path_factory.mktemp("native")
        trial = Trial(cluster, spec, folder, exchange)
        done = subprocess.run(
            trial.words("--engine", "native"), capture_output=True, text=True, check=False
        )
        assert done.returncode == 1, done.stderr
        answer = json.loads((folder / "report").read_text())
        assert answer["distinct_states"] == STATES[n]
        assert [v["verdict"] for v in answer["verdicts"]] == ["holds", "violated"]
        answers[exchange] = {**answer, "trace": json.loads((folder / "trace").read_text())}
    return answers


@pytest.fixture(params=["barrier", "shuffle"])
def trial(
    request: pytest.FixtureRequest, spec: Path, cluster: LoopbackCluster, tmp_path: Path
) -> Trial:
    return Trial(cluster, spec, tmp_path, request.param)


def killed(pids: Callable[[], list[int]]) -> None:
    """One of the processes, which has to be there."""
    pid, *_ = pids()
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("who", ["pythons", "executors"])
def test_a_part_of_the_cluster_is_killed(
    who: str, trial: Trial, in_peace: dict[str, dict[str, Any]]
) -> None:
    with command(trial.on_cluster("--checkpoint", str(trial.run)), trial.output) as process:
        trial.wait_for_the_middle(process)
        killed(getattr(trial.cluster, who))
        assert process.poll() is None
        assert process.wait(PATIENCE) == 1, trial.output.read_text()
    trial.check(in_peace[trial.exchange])
    assert not trial.run.exists()


def test_the_driver_is_killed_and_the_run_resumed(
    trial: Trial, in_peace: dict[str, dict[str, Any]]
) -> None:
    with command(trial.on_cluster("--checkpoint", str(trial.run)), trial.output) as process:
        trial.wait_for_the_middle(process)
        process.kill()
        process.wait()
    eventually(lambda: not trial.cluster.executors(), "executors outlive their driver")
    with command(trial.on_cluster("--resume", str(trial.run)), trial.output) as process:
        assert process.wait(PATIENCE) == 1, trial.output.read_text()
    trial.check(in_peace[trial.exchange])
    assert not trial.run.exists()
