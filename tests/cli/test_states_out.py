"""``check --states-out``: what it writes, what it refuses, and what is left when it can't."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from pyarrow import parquet

from checker.cli.main import main
from checker.engines import budgets
from checker.engines.native.checkpoint.storage import Storage
from checker.engines.options import Options
from checker.records import replace
from checker.resources import specs
from checker.session import state_tables
from tests.documents import only_report

Out = pytest.CaptureFixture[str]
SPEC = str(specs() / "oracles" / "two_phase.bcast")
CHECK = f"{SPEC}::three"


@pytest.fixture(autouse=True)
def _own_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs without a folder of their own are kept among these."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))


def counted(out: Path) -> tuple[int, int]:
    """States and transitions, as the tables have them."""
    sizes = [parquet.read_table(out / name).num_rows for name in ("states", "transitions")]
    depths = parquet.read_table(out / "depths").to_pylist()
    assert sizes == [
        sum(d["states"] for d in depths),
        sum(d["transitions"] + d["errors"] for d in depths),
    ]
    return sizes[0], sizes[1]


def test_all_states_are_written(tmp_path: Path) -> None:
    out, report = tmp_path / "out", tmp_path / "report.json"
    words = ["--states-out", str(out), "--json", str(report)]
    assert main(["check", CHECK, *words]) == 0
    said = only_report(report.read_text("utf-8"))
    assert counted(out) == (288, said["transitions"])
    assert said["failed"] == []
    assert "tables of" in " ".join(said["notes"])
    contents = json.loads((out / "tables.json").read_text("utf-8"))
    assert contents["exhaustive"]
    assert contents["check"] == "three"
    assert list((tmp_path / "tmp").glob("bivalence-*")) == []


def test_complete_levels_of_what_was_stopped(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["check", CHECK, "-q", "--max-depth", "3", "--states-out", str(out)]) == 3
    depths = parquet.read_table(out / "depths").column("depth").to_pylist()
    assert depths == [0, 1, 2, 3]
    assert not json.loads((out / "tables.json").read_text("utf-8"))["exhaustive"]


def test_a_run_that_is_kept_can_have_its_tables_later(tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    stopped = ["--checkpoint", str(run), "--max-depth", "4"]
    assert main(["check", CHECK, "-q", *stopped]) == 3
    assert main(["check", CHECK, "-q", "--resume", str(run), "--states-out", str(out)]) == 0
    assert counted(out)[0] == 288
    assert not run.exists()


def test_what_is_refused(tmp_path: Path, capsys: Out) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").touch()
    for words, told in [
        (["--states-out", str(full)], "error[E035]"),
        (["--states-out", str(full / "mine")], "error[E036]"),
        (["--states-out", str(tmp_path / "new"), "--engine", "reference"], "error[E037]"),
    ]:
        assert main(["check", CHECK, *words]) == 2
        said = capsys.readouterr()
        assert told in said.err
        assert "help: " in said.err
        assert said.out == ""
    several = str(specs() / "broadcast" / "eager_reliable.bcast")
    assert main(["check", several, "--states-out", str(tmp_path / "new")]) == 2
    assert "applies to one check" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def started(*words: str, bytes_of_a_file: int | None = None) -> subprocess.Popen[str]:
    """The command in a process of its own, in which no file may become larger."""

    def limit() -> None:
        if bytes_of_a_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_of_a_file, bytes_of_a_file))

    return subprocess.Popen(
        [sys.executable, "-m", "checker.cli", "check", CHECK, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
        env={**os.environ, "COLUMNS": "200"},
        cwd=specs().parent,
    )


def test_a_full_disk(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--set", "n=5", "--states-out", str(out), "--threads", "1")
    said, told = started(*words, bytes_of_a_file=40_000).communicate(timeout=200)
    assert "consistent  HOLDS" in said
    errors = [line for line in told.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, told
    assert errors[0].startswith("error: no tables were written: File too large")
    assert list(out.iterdir()) == []
    assert "Traceback" not in told
    assert "--resume" in told


def test_an_interrupt_loses_no_verdict(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = started("--set", "n=6", "--states-out", str(out), "--threads", "1")
    try:
        for _ in range(1_200):
            if (out / "transitions").exists():
                break
            time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        said, told = run.communicate(timeout=100)
    finally:
        run.kill()
    assert run.returncode == 2
    assert "consistent  HOLDS" in said
    assert "error: no tables were written: interrupted" in told
    assert "Traceback" not in told
    assert list(out.iterdir()) == []
    kept = told.partition("--resume ")[2].split()[0]
    assert main(["check", CHECK, "-q", "--set", "n=6", "--resume", kept]) == 0


@pytest.mark.parametrize("kept", [False, True])
def test_the_time_limit_ends_the_tables(
    kept: bool, tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a second is left for them, and they take some minutes."""
    out, run = tmp_path / "out", tmp_path / "run"
    monkeypatch.setattr(budgets, "GRACE", 0.0)
    monkeypatch.setattr(state_tables, "remaining_time", nearly_over)
    named = ["--checkpoint", str(run)] if kept else []
    words = ["--set", "n=6", "--timeout", "3600", "--threads", "1", *named]
    assert main(["check", CHECK, *words, "--states-out", str(out)]) == 2
    said = capsys.readouterr()
    assert "consistent  HOLDS" in said.out
    assert re.search(
        r"error: no tables were written: the time limit of 3600 s was reached after [\d,]+ of"
        r" 50,816 states\n",
        said.err,
    )
    assert list(out.iterdir()) == [] and list((tmp_path / "tmp").iterdir()) == []
    assert run.exists() == kept == ("--resume" in said.err)


def test_a_second_signal_leaves_no_piece_of_a_table(
    tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ends the writing is raised again until it has its effect, but not while it cleans up."""
    monkeypatch.setattr(budgets, "GRACE", 0.0)
    monkeypatch.setattr(state_tables, "remaining_time", nearly_over)
    removed: list[str] = []

    def slowly(place: Storage, name: str = "") -> None:
        until = time.monotonic() + (0.0 if removed else 1.5 * budgets.RAISED_AGAIN)
        removed.append(name)
        while time.monotonic() < until:
            time.sleep(0.01)
        delete(place, name)

    delete = Storage.delete_folder
    monkeypatch.setattr(Storage, "delete_folder", slowly)
    words = ["--set", "n=6", "--timeout", "3600", "--threads", "1"]
    assert main(["check", CHECK, *words, "--states-out", str(tmp_path / "out")]) == 2
    assert "no tables were written" in capsys.readouterr().err
    assert {"states", "transitions", "depths"} <= set(removed)
    assert list((tmp_path / "out").iterdir()) == []


def nearly_over(options: Options, _: float) -> Options:
    return replace(options, limits=replace(options.limits, timeout=0.5))


ERRING = """
protocol Counting {
  state x : 0..3 = 0
  state y : 0..5 = 0
  upon condition true { x := x + 1 }
  upon condition y < 5 { y := y + 1 }
  property small : always forall p in Proc: p.y <= 5
}
check counting of Counting { n = 2 prove small }
"""


@pytest.mark.parametrize("depth", [None, 3, 2])
def test_a_run_that_ends_with_an_error(depth: int | None, tmp_path: Path, capsys: Out) -> None:
    spec, out, report = tmp_path / "a.bcast", tmp_path / "out", tmp_path / "report.json"
    spec.write_text(ERRING, "utf-8")
    limit = [] if depth is None else ["--max-depth", str(depth)]
    words = [*limit, "--states-out", str(out), "--json", str(report)]
    assert main(["check", str(spec), *words]) == (3 if depth == 2 else 1)
    said = only_report(report.read_text("utf-8"))
    assert counted(out) == (said["distinct_states"], said["transitions"] + (depth != 2) * 2)
    contents = json.loads((out / "tables.json").read_text("utf-8"))
    assert contents["states"] == said["distinct_states"]
    assert contents["transitions"] == said["transitions"]
    assert (contents["errors"], contents["exhaustive"]) == (2 * (depth != 2), False)
    (note,) = [note for note in said["notes"] if "tables of" in note]
    ended = contents["ended_by"]
    if depth == 2:
        assert ended is None
        return
    assert "R001" in ended and ended == said["verdicts"][0]["reason"]
    assert "before a run-time error ended it" in note
    ids = {row["id"] for row in parquet.read_table(out / "states").to_pylist()}
    moves = parquet.read_table(out / "transitions").to_pylist()
    assert {row["source"] for row in moves} <= ids
    if depth is None:
        assert {row["target"] for row in moves} - {None} <= ids
