"""An exit code is a verdict's only where that verdict was found, and could be said."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from checker.cli import reporting
from checker.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = f"{sys.executable} -m checker.cli"
SPEC = """protocol P {
  state x = false
  upon condition not x { x := true }
  property never : always forall p in Proc: not p.x
}
check broken of P { n = 1  prove never }
check good of P { n = 1  prove never  expect never violated }
"""
Out = pytest.CaptureFixture[str]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    file = tmp_path / "p.bcast"
    file.write_text(SPEC)
    return file


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, cwd=ROOT,
        check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=300,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "redirected", "code", "said"),
    [
        ("check {spec}", ">&-", 2, "stdout is closed"),
        ("--help", ">&-", 2, "stdout is closed"),
        ("check {spec}", ">/dev/full", 2, "stdout: No space left on device"),
        ("check {spec} --json -", ">/dev/full", 2, "stdout: No space left on device"),
        ("test {spec}", ">/dev/full", 2, "stdout: No space left on device"),
        ("--help", ">/dev/full", 2, "No space left on device"),
        ("check {spec}", "1</dev/null", 2, "stdout: Bad file descriptor"),
        ("check {spec}", ">/dev/full 2>/dev/full", 2, ""),
        ("check {spec}", ">&- 2>&-", 2, ""),
        ("check {spec}", "| true", 141, ""),
        ("check {spec}", "2>&1 | true", 141, ""),
    ],
)
def test_what_was_found_could_not_be_said(
    arguments: str, redirected: str, code: int, said: str, spec: Path
) -> None:
    ended = shell(f"{PROGRAM} {arguments.format(spec=spec)} {redirected}")
    assert (ended.returncode, ended.stdout) == (code, "")
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == bool(said)


@pytest.mark.parametrize("redirected", ["2>&-", "2>/dev/full", "<&-", "<&- 2>&-"])
def test_nobody_needs_the_other_streams(redirected: str, spec: Path) -> None:
    ended = shell(f"{PROGRAM} check {spec}::good --trace-out {spec}.json {redirected}")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "all as expected" in ended.stdout
    assert main(["view", f"{spec}.json"]) == 0


@pytest.mark.parametrize("redirected", ["2>&-", "2>/dev/full"])
def test_a_wrong_spec_is_wrong_also_where_that_is_not_heard(redirected: str, spec: Path) -> None:
    spec.write_text("protocol {")
    assert shell(f"{PROGRAM} check {spec} {redirected}").returncode == 2
    assert shell(f"{PROGRAM} check {redirected}").returncode == 2


INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
from checker.cli.main import main
sys.exit(main(["check", {spec!r}]))
"""


@pytest.mark.parametrize(
    "module", ["checker.cli.commands", "click", "checker.cli.check", "lark", "llvmlite", "rich"]
)
def test_an_interruption_of_an_import(module: str, spec: Path) -> None:
    program = INTERRUPTED.format(module=module, spec=str(spec))
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert ended.returncode == 3
    assert "interrupted" in ended.stdout + ended.stderr  # a report says so, where there is one
    assert "Traceback" not in ended.stderr


def test_who_asks_twice_is_not_answered_with_a_traceback(spec: Path) -> None:
    spec.write_text(SPEC.replace("x = false", "x = 0").replace("not x {", "x < 1000000 {")
                    .replace("x := true", "x := x + 1").replace("not p.x", "p.x >= 0"))  # fmt: skip
    process = subprocess.Popen(
        [*PROGRAM.split(), "check", f"{spec}::broken", "--engine", "reference"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    time.sleep(2.0)
    for _ in range(10):
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 3
    assert "Traceback" not in err


def test_an_error_in_one_check_does_not_end_the_others(
    spec: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it is an internal error, and where it is in what shows the report."""
    show, shown = reporting.Screen.show, []

    def fails_at_first(screen: reporting.Screen, file: str, *more: Any) -> None:
        shown.append(file)
        if len(shown) == 1:
            raise KeyError("COUNTED")
        show(screen, file, *more)

    monkeypatch.setattr(reporting.Screen, "show", fails_at_first)
    assert main(["check", str(spec), "--trace-out", f"{spec}.json", "--json", f"{spec}.rep"]) == 70
    out = capsys.readouterr()
    assert "internal error: KeyError: 'COUNTED'" in out.err
    assert re.search(r"^  good +never violated, as expected", out.out, re.MULTILINE)
    assert Path(f"{spec}.rep").read_text().count('"kind": "bivalence report"') == 2
    assert main(["view", f"{spec}.json"]) == 0


def test_files_are_written_before_anything_is_shown(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = [f"{spec}.{name}" for name in ("rep", "json", "itf")]
    found: list[bool] = []

    def show(*_: object, **__: object) -> None:
        found.extend(Path(output).exists() for output in outputs)

    monkeypatch.setattr(reporting.Screen, "show", show)
    names = ("--json", "--trace-out", "--itf-out")
    options = [word for pair in zip(names, outputs, strict=True) for word in pair]
    assert main(["check", f"{spec}::broken", *options]) == 1
    assert found == [True] * 3


def test_a_report_is_shown_also_where_it_can_not_be_written(
    spec: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["check", f"{spec}::broken", "--json", "/dev/full"]) == 2
    out = capsys.readouterr()
    assert "No space left on device" in out.err
    assert "VIOLATED" in out.out


def test_many_diagnostics_are_not_all_said(spec: Path, capsys: Out) -> None:
    spec.write_text("protocol P { " + "state x = 1\n" * 2000 + "}")
    assert main(["check", str(spec)]) == 2
    err = capsys.readouterr().err
    assert err.count("error[") == 50
    assert err.endswith("and 1,949 more\n")
