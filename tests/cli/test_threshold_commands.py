"""``prove`` and ``bench`` of threshold automata: what they print, and how they exit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli.main import main
from tests.parametric.threshold_texts import BROADCAST, CRASHES, changed

SAFE = changed(
    BROADCAST, "    nobody: [](done == 0);\n    odd: []((yes == 0) -> <>(told == 0));\n", ""
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "safe.ta").write_text(SAFE, "utf-8")
    (tmp_path / "crashes.ta").write_text(CRASHES, "utf-8")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "resets.eta").write_text(
        changed(SAFE, "sent' == sent + 1", "sent' == T"), "utf-8"
    )
    return tmp_path


def test_prove_says_what_is_proved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", f"{folder}/safe.ta"]) == 0
    out = capsys.readouterr().out
    assert "unforgeable" in out and "PROVED" in out
    assert "every N, T, F with N > 3 * T and F <= T" in " ".join(out.split())


def test_prove_shows_the_run_of_a_violation(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", f"{folder}/crashes.ta", "--json", f"{folder}/out.json"]) == 1
    out = capsys.readouterr().out
    assert "fewer is violated with N = 2, F = 1:" in out
    assert "a -> c   rule 1, line " in out
    (report,) = json.loads((folder / "out.json").read_text("utf-8"))["reports"]
    fewer = {v["property"]: v for v in report["verdicts"]}["fewer"]
    assert fewer["verdict"] == "violated"
    assert fewer["run"]["sizes"] == {"N": 2, "F": 1}
    assert fewer["run"]["begin"] == {"a": 2}
    move = {"times": 1, "source": "a", "target": "c", "rule": "rule 1"}
    assert [{**step, "line": 0} for step in fewer["run"]["steps"]] == [{**move, "line": 0}]


def test_what_cannot_be_converted_exits_with_2(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", f"{folder}/inner/resets.eta"]) == 2
    said = capsys.readouterr().err
    assert "error[E120]" in said and "does not reset `sent`" in said and "^^^" in said


@pytest.mark.parametrize(
    "words",
    [
        ["::unforgeable"], ["", "--set", "n=3"], ["", "--synthesize"], ["", "--method", "pdr"],
        ["", "--certificate", "c.smt2"], ["", "--depth", "3"],
    ],
)  # fmt: skip
def test_options_that_do_not_apply_are_refused(words: list[str], folder: Path) -> None:
    assert main(["prove", f"{folder}/safe.ta{words[0]}", *words[1:]]) == 2


def test_bench_compares_with_the_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = folder / "expected.tsv"
    head = "file\trules\tverdict\tbest_published_seconds\n"
    table.write_text(f"{head}safe.ta\t4\tsafe\t900\ncrashes.ta\t3\tunsafe\t-\n", "utf-8")
    (folder / "inner" / "resets.eta").unlink()
    assert main(["bench", "threshold", str(folder)]) == 0
    assert "2 as published, 0 differ" in capsys.readouterr().out
    table.write_text(f"{head}safe.ta\t4\tunsafe\t0\ncrashes.ta\t3\t-\t-\n", "utf-8")
    assert main(["bench", "threshold", str(folder)]) == 1
    out = capsys.readouterr().out
    assert "DIFFERS" in out
    assert "0 as published, 1 differ, 0 not decided, 1 decided that" in out


def test_bench_writes_its_table_into_a_page(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "file\trules\tverdict\tbest_published_seconds\nsafe.ta\t4\tsafe\t900\n"
    (folder / "expected.tsv").write_text(table, "utf-8")
    page = folder / "page.md"
    page.write_text("a\n<!-- threshold: begin -->\nold\n<!-- threshold: end -->\nz\n", "utf-8")
    assert main(["bench", "threshold", str(folder), "--markdown", str(page)]) == 3
    found = page.read_text("utf-8")
    assert found.startswith("a\n<!-- threshold: begin -->\n\n| file |")
    assert "| safe.ta | safe | safe | " in found and found.endswith("<!-- threshold: end -->\nz\n")
    assert "| crashes.ta |  | unsafe | " in found and "\nold\n" not in found
    page.write_text("a\n<!-- threshold: begin -->\n", "utf-8")
    assert main(["bench", "threshold", str(folder), "--markdown", str(page)]) == 2
    assert page.read_text("utf-8") == "a\n<!-- threshold: begin -->\n"


def test_bench_counts_the_liveness_that_is_decided(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two specifications of one file: one is violated, one is outside the fragment."""
    for name in ("crashes.ta", "inner/resets.eta"):
        (folder / name).unlink()
    more = "    ends: <>(told != 0);\n    odd: []((yes == 0) -> <>(told == 0));\n"
    begin, end, rest = SAFE.rpartition("  }\n}")
    (folder / "safe.ta").write_text(f"{begin}{more}{end}{rest}", "utf-8")
    assert main(["bench", "threshold", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "safe.ta  safe " in said and " 1 of 2 " in said
    assert "2 liveness specifications, " in said and " s: 1 unknown, 1 violated\n" in said


def test_bench_without_a_table_says_what_is_not_decided(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "threshold", str(folder)]) == 3
    said = capsys.readouterr()
    assert "2 decided, 1 not decided" in said.out and "error[E120]" in said.err


@pytest.mark.parametrize(
    "table",
    [
        "file\tverdict\n",
        "file\tverdict\tbest_published_seconds\nsafe.ta\tsafe\n",
        "file\tverdict\tbest_published_seconds\nother.ta\tsafe\t1\n",
        "file\tverdict\tbest_published_seconds\nsafe.ta\tfine\t1\n",
        "file\tverdict\tbest_published_seconds\nsafe.ta\tsafe\tfast\n",
    ],
)
def test_a_table_that_cannot_be_used_is_reported(
    table: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "expected.tsv").write_text(table, "utf-8")
    assert main(["bench", "threshold", str(folder)]) == 2
    assert "error[E124]" in capsys.readouterr().err


def test_an_empty_folder_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "threshold", str(tmp_path)]) == 2
    assert main(["bench", "threshold", str(tmp_path / "none")]) == 2
    assert "error[E124]" in capsys.readouterr().err
