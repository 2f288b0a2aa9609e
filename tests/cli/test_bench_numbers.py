"""``bivalence bench tla`` and ``bivalence bench qvbs``: published numbers beside the library's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from checker.cli.bench import TABLES
from checker.cli.main import main
from checker.resources import specs
from checker.session.published import COLUMNS, read_numbers, short

SMALL = {
    "tla": ("transaction_commit/TCommit", "chang_roberts/MCChangRoberts"),
    "qvbs": (
        "herman N=3",
        "leader_sync N=3 K=2",
        "leader_sync N=3 K=3",
        "haddad-monmege N=20 p=0.7",
    ),
}
"""Models whose rows are fast."""


def _cells(suite: str, *models: str) -> list[dict[str, str]]:
    lines = (specs() / TABLES[suite]).read_text("utf-8").splitlines()
    rows = [dict(zip(COLUMNS, line.split("\t"), strict=True)) for line in lines[1:]]
    return [row for row in rows if row["model"] in models]


def _write(path: Path, rows: list[dict[str, str]]) -> str:
    lines = ["\t".join(COLUMNS), *("\t".join(row.values()) for row in rows)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return str(path)


@pytest.mark.every
@pytest.mark.parametrize("suite", sorted(SMALL))
def test_small_models_have_the_published_numbers(
    suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = _cells(suite, *SMALL[suite])
    assert main(["bench", suite, _write(tmp_path / "table.tsv", rows)]) == 0
    assert f"{len(rows)} as published, 0 differ, 0 not decided" in capsys.readouterr().out


@pytest.mark.every
@pytest.mark.parametrize(
    ("suite", "row", "column", "wrong"),
    [
        ("tla", 1, "states", "35"),
        ("tla", 0, "depth", "9"),
        ("qvbs", 0, "value", "5/3"),
        ("qvbs", 5, "value", "0.7000001"),
    ],
)
def test_a_wrong_number_in_the_table_is_told(
    suite: str,
    row: int,
    column: str,
    wrong: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = _cells(suite, *SMALL[suite])
    rows[row][column] = wrong
    assert main(["bench", suite, _write(tmp_path / "table.tsv", rows)]) == 1
    out = capsys.readouterr().out
    assert f"{len(rows) - 1} as published, 1 differ, 0 not decided" in out
    assert [
        line for line in out.splitlines() if "  differs  " in line and rows[row]["model"] in line
    ]


def test_what_is_not_reached_in_time_is_not_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = _write(tmp_path / "table.tsv", _cells("tla", "transaction_commit/PaxosCommit"))
    assert main(["bench", "tla", table, "--budget", "0.001"]) == 3
    assert "0 as published, 0 differ, 1 not decided" in capsys.readouterr().out


@pytest.mark.every
@pytest.mark.parametrize("suite", sorted(TABLES))
def test_each_row_has_a_check_or_a_reason(suite: str) -> None:
    numbers = read_numbers(specs() / TABLES[suite])
    keys = [(number.model, number.about) for number in numbers]
    assert len(keys) == len(set(keys))
    for number in numbers:
        assert number.check or number.note.endswith("."), number.model


@pytest.mark.every
@pytest.mark.parametrize("suite", sorted(TABLES))
def test_the_page_has_each_row(suite: str) -> None:
    page = (specs().parent / "docs/published.md").read_text("utf-8")
    for number in read_numbers(specs() / TABLES[suite]):
        name = f"{number.model} {number.about}".rstrip()
        said = f"`{number.check}`" if number.check else number.note
        assert f"| {name} | {short(number.published)} | {said} |" in page


@pytest.mark.every
@pytest.mark.parametrize(
    ("column", "text"),
    [("check", "-"), ("states", "many"), ("states", "-"), ("set", "five"), ("value", "1/0")],
)
def test_a_row_that_cannot_be_used_is_reported(
    column: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = _cells("tla", *SMALL["tla"])
    rows[1][column] = text
    assert main(["bench", "tla", _write(tmp_path / "table.tsv", rows)]) == 2
    said = capsys.readouterr().err
    assert "error[E124]" in said and "table.tsv:3:1" in said


def test_a_check_that_does_not_ask_the_question_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = _cells("qvbs", "herman N=3")
    rows[0]["question"] = "chance of stabilises at least"
    assert main(["bench", "qvbs", _write(tmp_path / "table.tsv", rows)]) == 2
    assert "does not ask `chance of stabilises at least`" in capsys.readouterr().err


@pytest.mark.parametrize("check", ["chance/nothing.bcast::one", "chance/herman_ring.bcast::two"])
def test_the_other_rows_are_compared_where_one_can_not_be_run(
    check: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = _cells("qvbs", "herman N=3", "haddad-monmege N=20 p=0.7")
    rows[0]["check"] = check
    assert main(["bench", "qvbs", _write(tmp_path / "table.tsv", rows)]) == 2
    said = capsys.readouterr()
    assert "2 as published, 0 differ, 0 not decided" in said.out
    assert "1 not run: see the errors" in said.out and "  not run  " in said.out
    assert "error[" in said.err


def test_each_row_is_written_at_once(tmp_path: Path) -> None:
    """Also where stdout is no terminal: who reads a pipe sees the first row before the last run."""
    rows = _cells("qvbs", "herman N=3", "herman N=9")
    command = [sys.executable, "-m", "checker.cli", "bench", "qvbs"]
    command += [_write(tmp_path / "table.tsv", rows)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        first = [running.stdout.readline() for _ in range(2)]
        assert first[1].startswith("herman N=3") and running.poll() is None
        assert "2 as published" in running.stdout.read()


def test_threshold_needs_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "threshold"]) == 2
    assert "needs a folder" in capsys.readouterr().err
