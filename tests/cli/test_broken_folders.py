"""Folders that can't be written, become full or go away: right numbers, or a diagnostic."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.resources import specs
from tests.documents import only_report

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="permissions and disks of Linux")
ROOT = specs().parent
SPEC = "specs/oracles/two_phase.bcast::three"
STATES = {"5": 8_832, "7": 296_448}
PLAIN: list[str] = []
if os.name == "posix" and os.geteuid() == 0:  # root may write everywhere, unless that is taken away
    without = "-dac_override,-dac_read_search"
    PLAIN = ["setpriv", f"--bounding-set={without}", f"--inh-caps={without}"]
needs_permissions = pytest.mark.skipif(
    bool(PLAIN) and shutil.which("setpriv") is None, reason="root can't be made an ordinary user"
)


def command(tmp_path: Path, *words: str, n: str = "5", cache: Path | None = None) -> Any:
    """A check under way."""
    cache = cache or tmp_path / "cache"
    given = ["check", SPEC, "-q", "--set", f"n={n}", "--reduce", "none", "--threads", "1", *words]
    return subprocess.Popen(
        [*PLAIN, sys.executable, "-m", "checker.cli", *given, "--json", str(tmp_path / "out.json")],
        cwd=ROOT,
        env={**os.environ, "XDG_CACHE_HOME": str(cache), "COLUMNS": "300"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(tmp_path: Path, *words: str, **how: Any) -> tuple[int, str, dict[str, Any]]:
    """The exit code, what was said on stderr, and the report."""
    with command(tmp_path, *words, **how) as running:
        _, said = running.communicate(timeout=300)
    out = tmp_path / "out.json"
    report = only_report(out.read_text("utf-8")) if out.exists() else {}
    out.unlink(missing_ok=True)
    assert "Traceback" not in said and "internal error" not in said
    return running.returncode, said, report


@needs_permissions
@pytest.mark.parametrize("filled", [False, True])
def test_a_cache_that_cannot_be_written(filled: bool, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    if filled:
        ended(tmp_path, cache=cache)
    folders = [cache, cache / "bivalence", *(cache / "bivalence").glob("*/")]
    for folder in folders if filled else folders[:1]:
        folder.mkdir(exist_ok=True)
        folder.chmod(0o500)
    code, said, report = ended(tmp_path, cache=cache)
    assert (code, said, report["distinct_states"]) == (0, "", STATES["5"])


@needs_permissions
@pytest.mark.slow
def test_a_run_folder_that_cannot_be_written(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (tmp_path / "closed").mkdir(mode=0o500)
    code, said, _ = ended(tmp_path, "--checkpoint", str(tmp_path / "closed" / "run"))
    assert (code, "error[E014]" in said) == (2, True), said
    code, _, _ = ended(tmp_path, "--checkpoint", str(run), "--max-depth", "5")
    assert code == 3
    folders = [run, *(path for path in run.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    code, said, _ = ended(tmp_path, "--resume", str(run))
    assert (code, "error[E014]" in said) == (2, True), said
    run.chmod(0o700)
    code, said, report = ended(tmp_path, "--resume", str(run))
    assert code in (2, 3) or report["distinct_states"] == STATES["5"]
    for folder in folders:
        folder.chmod(0o700)
    code, _, report = ended(tmp_path, "--resume", str(run))
    assert (code, report["distinct_states"]) == (0, STATES["5"])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only who may mount a disk can fill it")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=False)


def test_a_disk_that_becomes_full_under_a_run(small_disk: Path, tmp_path: Path) -> None:
    run = small_disk / "run"
    words = ("--keep", "--checkpoint-every", "0")
    code, said, report = ended(tmp_path, "--checkpoint", str(run), *words, n="7")
    assert code == 3, said
    assert "no space left on device" in report["stopped"]
    there = tmp_path / "elsewhere"
    shutil.copytree(run, there)
    code, _, report = ended(tmp_path, "--resume", str(there), n="7")
    assert (code, report["distinct_states"]) == (0, STATES["7"])


def test_a_disk_that_is_full_of_the_cache(small_disk: Path, tmp_path: Path) -> None:
    (small_disk / "rest").write_bytes(bytes((1 << 20) - (1 << 14)))
    code, said, report = ended(tmp_path, cache=small_disk)
    assert (code, said, report["distinct_states"]) == (0, "", STATES["5"])


def test_a_cache_that_goes_away_under_a_run(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with command(tmp_path, n="7", cache=cache) as running:
        while running.poll() is None:
            shutil.rmtree(cache, ignore_errors=True)
            time.sleep(0.01)
        _, said = running.communicate(timeout=300)
    report = only_report((tmp_path / "out.json").read_text("utf-8"))
    assert (running.returncode, report["distinct_states"]) == (0, STATES["7"]), said
