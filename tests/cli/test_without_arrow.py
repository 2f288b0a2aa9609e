"""An installation without the extra `arrow`: what works, and the one error of all that does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import checker.api
from checker.cli.errors import attempt_quietly
from checker.cli.main import main
from checker.diagnostics import SpecError
from checker.diagnostics.packages import OF_ARROW, require_arrow
from checker.logs.content import COMPRESSIONS

EAGER = "broadcast/eager_reliable::no_fault"
BARE = """
import sys
for name in ("numpy", "pandas", "pyarrow", "pyspark"):
    sys.modules[name] = None
from checker.cli.main import main
for words in (
    ["check", "{check}", "--set", "n=2", "-q"],
    ["prove", "byzantine/echo::for_every_n"],
    ["doctor"],
):
    code = main(words)
    assert code == 0, (words, code)
assert main(["audit", "log.ndjson", "--as", "ReliableBroadcast"]) == 2
"""


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages of the extra can't be imported."""
    for package in OF_ARROW:
        monkeypatch.setitem(sys.modules, package, None)


def test_everything_else_works_without(tmp_path: Path) -> None:
    text = BARE.replace("{check}", EAGER)
    words = [sys.executable, "-c", text]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert "E130" in done.stderr and "pyarrow" in done.stderr


@pytest.mark.usefixtures("without")
@pytest.mark.parametrize(
    "words",
    [
        ["check", EAGER, "--states-out", "tables"],
        ["check", EAGER, "--checkpoint", "run"],
        ["sweep", EAGER, "--grid", "n=2", "--out", "rows.parquet"],
    ],
)
@pytest.mark.every
def test_what_needs_it_says_so_before_it_runs(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == "" and "error[E130]" in said.err and "pip install" in said.err
    assert [*tmp_path.iterdir()] == []


@pytest.mark.usefixtures("without")
def test_from_python_it_is_the_same_error() -> None:
    report = checker.api.check("broadcast/eager_reliable", "no_fault", settings={"n": 2})
    asked = (
        lambda: checker.api.audit("log.ndjson", "ReliableBroadcast"),
        report.to_arrow,
        lambda: COMPRESSIONS[b"\x04\x22\x4d\x18"](b""),
    )
    for ask in asked:
        with pytest.raises(SpecError) as refused:
            ask()
        assert refused.value.diagnostics[0].code == "E130"


def test_a_missing_package_is_an_error_of_the_installation_not_of_the_tool() -> None:
    def fails(name: str) -> None:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    lacking = attempt_quietly(lambda: fails("pyarrow"))
    assert lacking.code == 2 and [d.code for d in lacking.errors] == ["E130"]
    assert attempt_quietly(lambda: fails("checker.absent")).code == 70
    require_arrow()  # it is there, so nothing is raised
