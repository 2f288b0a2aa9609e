"""What an installation has: the library by name, and the documents."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from checker import resources
from checker.cli.docs import pages
from checker.cli.main import work
from checker.diagnostics import SpecError
from checker.language.load import open_spec

ROOT = Path(__file__).parents[2]
LARGEST_WHEEL = 5_000_000


def test_a_file_of_the_library_is_named_without_path_and_suffix(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert open_spec("broadcast/eager_reliable").names[0] == "no_fault"
    own = tmp_path / "own.bcast"
    own.write_text(
        'import "broadcast/eager_reliable"\n'
        "check mine of EagerReliableBroadcast {\n"
        "  n = 2 clients { p1 broadcasts a } prove agreement\n}\n",
        encoding="utf-8",
    )
    assert open_spec(own).names == ["mine"]


@pytest.mark.every
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("broadcast/eager_reliabel", "`broadcast/eager_reliable`"),
        ("broadcast/eager_reliable.bcast", "`broadcast/eager_reliable`"),
        ("../specs/broadcast/eager_reliable", "`broadcast/eager_reliable`"),
        ("nothing/like/it", "bivalence list"),
    ],
)
def test_another_name_gets_a_hint(tmp_path, monkeypatch, name, hint):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError) as caught:
        open_spec(name)
    assert caught.value.diagnostics[0].code == "E001"
    assert hint in caught.value.diagnostics[0].hint


def test_a_name_finds_the_library_before_a_file_without_suffix(tmp_path, monkeypatch):
    (tmp_path / "broadcast").mkdir()
    (tmp_path / "broadcast" / "eager_reliable").write_text("no spec")
    monkeypatch.chdir(tmp_path)
    assert resources.spec_path("broadcast/eager_reliable").is_relative_to(resources.specs())


def test_documents_are_listed_and_printed(capsys):
    assert work(["docs"]) == 0
    listed = capsys.readouterr().out
    assert {"commands", "tutorial/README", "language/checks", "skill/SKILL"} <= {*listed.split()}
    assert work(["docs", "docs/commands.md"]) == 0
    assert capsys.readouterr().out.startswith("# Commands")
    assert work(["docs", "comands"]) == 2
    assert "did you mean commands?" in capsys.readouterr().err


@pytest.mark.every
@pytest.mark.parametrize("extra", ["arrow", "editor", "spark", "mcp"])
def test_what_an_extra_needs_is_named_by_package(extra):
    command = resources.install_command(extra)
    assert command.startswith("pip install '")
    assert "bivalence" not in command


@pytest.mark.slow
def test_a_wheel_has_the_library_and_the_documents(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, ROOT],
        check=True,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < LARGEST_WHEEL
    names = {re.sub("^checker/_data/", "", name) for name in ZipFile(wheel).namelist()}
    assert {f"docs/{name}.md" for name in pages()} <= names
    assert {f"specs/{name}.bcast" for name in resources.spec_names()} <= names
    assert {"editors/vscode/package.json", "editors/vscode/src/extension.ts"} <= names
