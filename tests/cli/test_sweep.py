"""``bivalence sweep``: a row for each cell, on screen and in files, whatever becomes of it."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from checker.cli import console
from checker.cli.main import main
from checker.cli.progress import Count
from checker.cli.sweep_view import sweep_view
from checker.render.terminal.canvas import as_text
from checker.resources import specs
from checker.session.pipeline import Options, run_check
from checker.sweep.cells import CellOutcome, run_cell
from checker.sweep.grid import grid_of
from checker.sweep.rows import columns_of, row_of, without_run
from checker.sweep.sweep_plan import SweepPlan, plan
from tests.sweep.test_sweep_plan import SPEC

Out = pytest.CaptureFixture[str]
REFERENCE = ("--engine", "reference", "--jobs", "2")


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("counter.bcast").write_text(SPEC, encoding="utf-8")
    return "counter.bcast::c"


def rows(path: str) -> list[dict[str, object]]:
    return list(pq.read_table(path).to_pylist())


def test_every_cell_is_what_its_check_says(spec: str, capsys: Out) -> None:
    arguments = ["--grid", "n=1..2,top=1..2,crash={0,2}", "--traces", "t", *REFERENCE]
    outputs = ["--out", "o.parquet", "--json", "o.json"]
    assert main(["sweep", spec, *arguments, *outputs]) == 0
    shown = capsys.readouterr().out
    found = rows("o.parquet")
    assert [r["cell"] for r in found] == list(range(1, 9))
    assert all(len(line) <= 80 for line in shown.splitlines())
    for row in found:
        settings = {name: str(row[name]) for name in ("n", "top", "crash")}
        if row["n"] == 1 and row["crash"] == 2:
            assert row["status"] == "impossible"
            assert row["reason"] == "crash <= 2 is impossible with 1 processes"
            assert row["verdict_small"] is None and row["states"] is None
            continue
        report = run_check("counter.bcast", "c", Options(settings=settings, engine="reference"))
        (verdict,) = report.verdicts
        assert row["verdict_small"] == verdict.word.value
        assert (row["states"], row["depth"]) == (report.distinct_states, report.depth)
        assert row["within_requires"] is (row["f"] == 0)
        trace = row["trace_small"]
        assert (trace is None) is (verdict.trace is None)
        assert trace is None or main(["replay", str(trace)]) in (0, 1)
    assert json.loads(Path("o.json").read_text())["cells"] == found
    assert "8 cells: 6 done, 2 impossible" in shown
    assert "small: violated in 6" in shown


def test_json_alone_goes_to_stdout(spec: str, capsys: Out) -> None:
    assert main(["sweep", spec, "--grid", "n=2", "--json", "-", *REFERENCE]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == "bivalence sweep"
    assert document["axes"] == {"n": ["2"]}
    assert document["cells"][0]["verdict_small"] == "violated"


def test_words_that_a_shell_has_made_of_braces(spec: str, capsys: Out) -> None:
    words = ["--grid", "n=2,links=perfect", "n=2,links=fifo"]
    assert main(["sweep", spec, *words, "--json", "-", *REFERENCE]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [c["links"] for c in cells] == ["perfect", "fifo"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--grid", "n=0"], 2, "impossible: the protocol has 0 processes"),
        (["--grid", "n=2", "--max-states", "2"], 3, "1 cell: 1 stopped"),
        (["--grid", "n=2", "other.bcast"], 2, "sweep takes one check"),
        (["--grid", "m=2"], 2, "there is no parameter `m`"),
        (["--grid", "n=2", "--out", "-"], 2, "Parquet can't be written to stdout"),
        (["--grid", "n=2", "--out", "x", "--json", "x"], 2, "the same file"),
        (["--grid", "n=2", "--out", "no/x"], 2, "there is no folder no"),
        (["--grid", "n=2", "--traces", "counter.bcast"], 2, "counter.bcast: "),
        (["--grid", "n=2", "--master", "local[2]", "--engine", "reference"], 2, "--master"),
        (["--grid", "n=2", "--shards", "2"], 2, "--shards divides one search"),
        (["--grid", "n=2", "--graduate-at", "9"], 2, "--graduate-at divides one search"),
        ([], 2, "--grid"),
    ],
)
def test_exit_codes(arguments: list[str], code: int, words: str, spec: str, capsys: Out) -> None:
    more = () if "--engine" in arguments else REFERENCE
    assert main(["sweep", spec, *arguments, *more]) == code
    told = capsys.readouterr()
    assert words in " ".join((told.out + told.err).split())


def test_an_interrupt_keeps_what_is_done(
    spec: str, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    from checker.sweep import run as runner

    def interrupted(plan: SweepPlan, *_: object) -> Iterator[CellOutcome]:
        yield run_cell(plan.tasks[0])
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)

    monkeypatch.setattr(runner, "run", interrupted)
    assert main(["sweep", spec, "--grid", "n=1..3", "--out", "o", *REFERENCE]) == 3
    assert [r["status"] for r in rows("o")] == ["done", "not run", "not run"]
    told = capsys.readouterr()
    assert "interrupted" in told.err and "3 cells: 1 done, 2 not run" in told.out


def test_a_full_disk_costs_no_result(
    spec: str, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    def full(path: str, data: str | bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    monkeypatch.setattr(console, "write_file", full)
    for output in (["--out", "o"], ["--traces", "t"]):
        assert main(["sweep", spec, "--grid", "n=1..2", *output, *REFERENCE]) not in (0, 1)
        told = capsys.readouterr()
        assert "2 cells: 2 done" in told.out
        assert told.err.count("continuing") == 1 and "No space left" in told.err.splitlines()[-1]
    assert not Path("o").exists()


def test_a_kill_keeps_what_is_saved_and_leaves_no_process(tmp_path: Path) -> None:
    """One cell is quick, the other would take minutes."""
    out = tmp_path / "o.parquet"
    target = f"{specs() / 'oracles' / 'two_phase.bcast'}::three"
    command = [sys.executable, "-m", "checker.cli", "sweep", target, "--grid", "n={3,11}"]
    command += ["--jobs", "2", "--out", str(out), "--quiet", "--reduce", "none"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
        try:
            for _ in range(600):
                if out.exists():
                    break
                time.sleep(0.1)
            assert [(r["n"], r["status"]) for r in rows(str(out))] == [(3, "done")]
        finally:
            running.kill()
        # Cells write to the same pipe: it ends when the last of them has.
        assert running.communicate(timeout=60) == (b"", None)


def test_links_to_traces_on_a_terminal(spec: str) -> None:
    made = plan("counter.bcast", "c", grid_of(["n=2"]), Options(engine="reference"))
    row = row_of(made.cells[0], run_cell(made.tasks[0]), {"small": "t/0001-small.json"})
    coloured = as_text(sweep_view(made, [row]), 80, colour=True)
    assert f"file://{Path('t/0001-small.json').absolute()}" in coloured
    assert "VIOLATED small" in as_text(sweep_view(made, [row]))


def test_a_long_table_is_cut_where_a_file_has_all(spec: str) -> None:
    made = plan("counter.bcast", "c", grid_of(["n=0,top=1..9"]), Options())
    short = as_text(sweep_view(made, without_run(made, []), 4))
    assert short.count("impossible:") == 4 and "9 cells: 9 impossible" in short
    assert "only the first 4 are shown; the file has all" in short
    assert as_text(sweep_view(made, without_run(made, []))).count("impossible:") == 9


def test_columns_have_names_of_their_own(tmp_path: Path) -> None:
    text = SPEC.replace("top", "states")
    path = tmp_path / "a.bcast"
    path.write_text(text, encoding="utf-8")
    columns = columns_of(plan(str(path), "c", grid_of(["states=1..2"]), Options()))
    assert columns.parameters["states"] == "states_"
    assert columns.kinds["states_"] == columns.kinds["states"] == "int"


def test_the_columns_are_those_of_the_document(spec: str) -> None:
    page = (specs().parent / "docs" / "sweep.md").read_text(encoding="utf-8")
    table = page[page.index("| column |") :].partition("\n\n")[0]
    told = {n for row in table.splitlines()[2:] for n in re.findall(r"`(\w+)`", row.split("|")[1])}
    columns = columns_of(plan("counter.bcast", "c", grid_of(["n=2"]), Options()))
    ends = {f"{word}_P": f"{word}_small" for word in ("verdict", "reason", "trace")}
    assert {ends.get(name, name) for name in told} - {"links"} == set(columns.kinds) - {
        "top",
        "first",
        "f",
    }


def test_progress_of_many_cells(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.cli.progress.QUIET", 0.0)
    with Count("a.bcast::c", 9, terminal=False) as meter:
        meter.count(4, ["n=3: 12 states", "n=4: 8 states", "n=5: 1 states"])
        meter.count(5, [])
    expected = "a.bcast::c: 4 of 9 cells, 0 s; n=3: 12 states; n=4: 8 states\n"
    assert capsys.readouterr().err == expected
