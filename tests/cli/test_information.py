"""The commands that only tell: list, diagnostic, doctor."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker import resources
from checker.cli import doctor
from checker.cli.doctor import findings
from checker.cli.doctor_cluster import Finding
from checker.cli.main import main
from checker.session.pipeline import Options, run_check

Out = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def test_list(capsys: Out, monkeypatch: Patch, tmp_path: Path) -> None:
    (tmp_path / "interfaces").mkdir()
    (tmp_path / "interfaces" / "all.bcast").write_text(
        "interface I {\n  request ask(k: 0..1)\n  indication\n    say()\n}\n"
    )
    text = (
        "\n//\n// Flooding,\n// and how.\n//\n// More.\n"
        "protocol A {}\ncheck one of A {}\n// check no of A\ncheck two of A {}"
    )
    (tmp_path / "a.bcast").write_text(text)
    (tmp_path / "b.bcast").write_text("protocol B {}\n// late")
    monkeypatch.setattr(resources, "specs", lambda: tmp_path)
    assert main(["list"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "",
        "a.bcast  Flooding, and how.",
        "  A: one, two",
        "",
        "b.bcast",
        "  B: no checks",
        "",
        "interfaces, visible in every spec:",
        "  I: request ask(k: 0..1), indication say()",
    ]


def test_diagnostic(capsys: Out, monkeypatch: Patch, tmp_path: Path) -> None:
    (tmp_path / "T101.md").write_text("# T101\n\nA type is wrong.\n")
    monkeypatch.setattr(resources, "pages", lambda: tmp_path)
    assert main(["diagnostic", "t101"]) == 0
    assert capsys.readouterr().out == "# T101\n\nA type is wrong.\n"
    for code in ("T999", "../T101", ""):
        assert main(["diagnostic", code]) == 2
        assert "`bivalence diagnostic` lists all" in capsys.readouterr().err


def test_doctor_looks_at_everything(capsys: Out) -> None:
    main(["doctor"])
    out = capsys.readouterr().out
    for what in ("python", "click", "llvmlite", "native engine", "cache", "cores", "memory"):
        assert f" {what}: " in out


@pytest.mark.parametrize(("needed", "code", "mark"), [(True, 1, "MISSING"), (False, 0, "absent")])
def test_doctor_says_what_is_missing(
    needed: bool, code: int, mark: str, capsys: Out, monkeypatch: Patch
) -> None:
    found = Finding("lamp", False, "not lit", "light it", needed)
    monkeypatch.setattr(doctor, "findings", lambda: iter([found]))
    assert main(["doctor"]) == code
    out = capsys.readouterr().out
    assert out.startswith(f"{mark:<8} lamp: not lit\n")
    assert "-> light it" in out


def test_a_package_that_is_not_there(monkeypatch: Patch) -> None:
    monkeypatch.setattr(doctor, "PACKAGES", (("no-such-package-here", "nothing"),))
    missing = [f for f in findings() if not f.good]
    assert any(f.remedy == "pip install no-such-package-here" for f in missing)


def test_files_that_come_with_the_tool_are_called_by_their_place_in_it() -> None:
    path = str(resources.specs() / "broadcast/eager_reliable.bcast")
    report = run_check(path, "no_fault", Options(coverage=True))
    assert report.coverage is not None
    assert {covered.file for covered in report.coverage} == {
        path,
        "interfaces/best_effort_broadcast.bcast",
    }
