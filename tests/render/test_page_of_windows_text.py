"""What the page of the score by windows says, without a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.cli.main import main
from tests.conform.test_windows_command import ASKS, adds, written


def page(folder: Path, *totals: int, asks: int = 6) -> str:
    spec, logs = written(folder / "logs", c1=ASKS[:asks], s1=adds(*totals))
    out = folder / "windows.html"
    main(["conform", f"{spec}::one", logs, "--windows", "--quiet", "--html", str(out)])
    return out.read_text(encoding="utf-8")


def classes(text: str) -> dict[str, str]:
    found = re.findall(r'<li class="(\w+)">(?:<details><summary>)?<code>\s*([^<{]*)', text)
    return {code.strip(): kind for kind, code in found}


def test_each_line_has_the_class_of_its_windows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = classes(page(tmp_path, 1, 4, 7))
    assert found["upon receive ADD(k) from c"] == "red"
    assert found["upon condition asked &lt; 3 as asks"] == "explained"
    assert found["upon receive TOTAL(_)"] == "unseen"
    found = classes(page(tmp_path, 1, 3, 6))
    assert found["upon receive ADD(k) from c"] == "explained"
    assert "red" not in found.values()
    capsys.readouterr()


def test_values_of_a_log_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, logs = written(tmp_path / "<b>", c1=ASKS, s1=adds(1, 4))
    out = tmp_path / "windows.html"
    assert main(["conform", f"{spec}::one", logs, "--windows", "--html", str(out)]) == 1
    assert "<b>/" not in out.read_text(encoding="utf-8")
    capsys.readouterr()


def test_several_logs_have_one_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, right = written(tmp_path / "right", c1=ASKS, s1=adds(1, 3, 6))
    _, wrong = written(tmp_path / "wrong", c1=ASKS, s1=adds(1, 4, 7))
    out = tmp_path / "windows.html"
    assert main(["conform", f"{spec}::one", right, wrong, "--windows", "--html", str(out)]) == 1
    text = out.read_text(encoding="utf-8")
    assert "1 red, 5 explained" in text
    capsys.readouterr()
