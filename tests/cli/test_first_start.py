"""``./bivalence`` in a checkout: what it installs, when, and what it says meanwhile."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from checker.cli.main import main

ROOT = Path(__file__).resolve().parents[2]

PYTHON = """#!/usr/bin/env bash
# Stands in for Python: makes a virtual environment of stubs, and records what pip is asked for.
case "$*" in
  *"-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  *"-m pip install"*)
    [ ! -e offline ] || exit 1
    echo "${@: -1}" >>installed
    printf '#!/bin/sh\\necho "ran $*"\\n' >.venv/bin/bivalence && chmod +x .venv/bin/bivalence ;;
esac
"""


class Checkout:
    """A folder with the start-up scripts alone, and a Python that records."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "scripts").mkdir()
        for name in ("bivalence", "scripts/environment", "pyproject.toml"):
            shutil.copy(ROOT / name, folder / name)
        (folder / "python").write_text(PYTHON)
        (folder / "python").chmod(0o755)

    def run(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self.folder / "bivalence", *words],
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": "/usr/bin:/bin", "PYTHON": str(self.folder / "python")},
        )
        assert done.returncode == code, done.stderr
        assert done.stdout == (f"ran {' '.join(words)}\n" if code == 0 else "")
        return done

    @property
    def installed(self) -> list[str]:
        path = self.folder / "installed"
        return path.read_text().split() if path.exists() else []


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_the_first_start_says_what_it_does_and_the_second_does_nothing(checkout: Checkout) -> None:
    first = checkout.run("list")
    assert "virtual environment" in first.stderr and "installing" in first.stderr
    (checkout.folder / "offline").touch()
    assert checkout.run("list").stderr == ""
    assert checkout.installed == [".[arrow]"]


@pytest.mark.parametrize(
    "words",
    [
        ("check", "a.bcast", "--engine", "spark"),
        ("check", "a.bcast", "--engine=spark"),
        ("sweep", "a.bcast", "--master", "local[2]"),
        ("doctor", "--master=local[2]"),
    ],
)
def test_spark_is_brought_when_it_is_asked_for(words: tuple[str, ...], checkout: Checkout) -> None:
    checkout.run("list")
    assert ".[spark]" in checkout.run(*words).stderr
    assert checkout.run(*words).stderr == ""
    checkout.run("check", "a.bcast", "--engine", "native")
    assert checkout.installed == [".[arrow]", ".[spark]"]


def test_a_changed_project_is_installed_again(checkout: Checkout) -> None:
    checkout.run("list")
    with (checkout.folder / "pyproject.toml").open("a") as file:
        file.write("# newer\n")
    checkout.run("list")
    assert checkout.installed == [".[arrow]", ".[arrow]"]


def test_without_a_network_an_older_installation_is_used(checkout: Checkout) -> None:
    checkout.run("list")
    (checkout.folder / "offline").touch()
    with (checkout.folder / "pyproject.toml").open("a") as file:
        file.write("# newer\n")
    assert "going on with what is installed" in checkout.run("list").stderr


def test_without_a_network_and_an_installation_nothing_runs(checkout: Checkout) -> None:
    (checkout.folder / "offline").touch()
    checkout.run("list", code=2)


def test_the_command_alone_names_three_things_to_try(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    said = capsys.readouterr().out
    for command in ("check", "explore", "gallery"):
        assert f"bivalence {command} " in said
    assert "bivalence --help" in said


def test_what_is_named_to_try_can_be_tried(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    checks = [line.split()[1:] for line in lines if line.startswith("  bivalence check")]
    for words in checks:
        assert main([*words, "-q", "--no-explain"]) == 0, words
