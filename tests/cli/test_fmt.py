"""``bivalence fmt``: in place, from stdin, only asked."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from checker.cli.main import main

UGLY = "protocol P{state x=0}\ncheck c of P { n=2 }\n"
NEAT = "protocol P { state x = 0 }\ncheck c of P { n = 2 }\n"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "a.bcast"
    path.write_text(UGLY, encoding="utf-8")
    return path


def test_a_file_is_formatted_in_place_once(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", str(spec.parent)]) == 0
    assert spec.read_text(encoding="utf-8") == NEAT
    assert f"formatted  {spec}" in capsys.readouterr().err
    assert main(["fmt", str(spec)]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_check_writes_nothing(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "--check", str(spec)]) == 1
    assert "would change" in capsys.readouterr().err
    assert main(["fmt", "--diff", str(spec)]) == 0
    assert f"-{UGLY.splitlines()[0]}\n" in capsys.readouterr().out
    assert spec.read_text(encoding="utf-8") == UGLY
    spec.write_text(NEAT, encoding="utf-8")
    assert main(["fmt", "--check", str(spec)]) == 0


def test_stdin_goes_to_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def typed(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    typed(UGLY)
    assert main(["fmt", "-"]) == 0
    assert capsys.readouterr().out == NEAT
    typed(UGLY)
    assert main(["fmt", "--check", "-"]) == 1
    typed("protocol {")
    assert main(["fmt", "-"]) == 2
    assert "<stdin>:1:10" in capsys.readouterr().err


def test_one_bad_file_does_not_end_the_others(spec: Path) -> None:
    (spec.parent / "0.bcast").write_text("protocol", encoding="utf-8")
    assert main(["fmt", str(spec.parent)]) == 2
    assert spec.read_text(encoding="utf-8") == NEAT
