"""``bivalence skill install``: where it writes, and what it never writes over."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from checker.cli.main import work
from checker.cli.skill import AGENTS, is_unedited, marked

PLACES = (".agents/skills/bivalence-specs/SKILL.md", ".claude/skills/bivalence-specs/SKILL.md")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()


def test_it_is_written_once_and_updated_if_nobody_edited_it(capsys: pytest.CaptureFixture) -> None:
    assert work(["skill", "install"]) == 0
    for place in PLACES:
        text = Path(place).read_text()
        assert text.startswith("---\nname: bivalence-specs\n")
        assert is_unedited(text)
    assert work(["skill", "install"]) == 0
    assert capsys.readouterr().out.count("is up to date") == 2
    Path(PLACES[0]).write_text(marked("an older text"))
    assert work(["skill", "install"]) == 0
    assert f"updated {PLACES[0]}" in capsys.readouterr().out


@pytest.mark.every
@pytest.mark.parametrize("kind", ["edited", "another", "link", "binary"])
def test_an_edited_copy_is_kept(kind: str, capsys: pytest.CaptureFixture) -> None:
    assert work(["skill", "install", "--for", "claude"]) == 0
    path = Path(PLACES[1])
    if kind == "edited":
        path.write_text(path.read_text().replace("Find the nearest", "Guess a"))
    elif kind == "another":
        path.write_text("ours\n")
    elif kind == "link":
        path.rename("elsewhere.md")
        path.symlink_to(Path("elsewhere.md").resolve())
        Path("elsewhere.md").write_text(marked("older"))
    else:
        path.write_bytes(b"\xff\xfe")
    before = path.read_bytes()
    assert work(["skill", "install", "--for", "claude"]) == 2
    assert path.read_bytes() == before
    assert ("E168" if kind == "binary" else "E167") in capsys.readouterr().err


def test_folders_that_are_links_are_not_written_to() -> None:
    Path("outside").mkdir()
    Path(".claude").mkdir()
    Path(".claude/skills").symlink_to(Path("outside").resolve())
    assert work(["skill", "install", "--for", "claude"]) == 2
    assert not [*Path("outside").iterdir()]


def test_for_a_user(capsys: pytest.CaptureFixture) -> None:
    assert work(["skill", "install", "--user"]) == 2
    Path("home/.codex").mkdir()
    assert work(["skill", "install", "--user"]) == 0
    assert [p.parts[1] for p in Path("home").rglob("SKILL.md")] == [".codex"]
    assert work(["skill", "install", "--user", "--for", "gemini"]) == 0
    assert Path("home/.gemini/skills/bivalence-specs/SKILL.md").is_file()
    assert not Path(".agents").exists()


def test_agents_file_is_added_to_once(capsys: pytest.CaptureFixture) -> None:
    Path("AGENTS.md").write_text("# Ours\n")
    for _ in range(2):
        assert work(["skill", "install", "--agents"]) == 0
    assert Path("AGENTS.md").read_text() == f"# Ours\n\n{AGENTS}"


def test_entries_of_the_server_are_printed_and_nothing_is_written(
    capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    assert work(["skill", "install", "--mcp"]) == 0
    parts = capsys.readouterr().out.split("\n\n")
    assert parts[0] == ".mcp.json, .cursor/mcp.json"
    assert "bivalence" in json.loads(parts[1])["mcpServers"]
    assert "bivalence" in json.loads(parts[3])["servers"]
    assert tomllib.loads(parts[5])["mcp_servers"]["bivalence"]["args"][-3:] == [
        "mcp",
        "--root",
        ".",
    ]
    assert [p.name for p in tmp_path.iterdir()] == ["home"]


def test_what_the_server_lacks_is_told(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert work(["mcp", "--root", "nowhere"]) == 2
    assert "E166" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "checker.assist.server", None)
    assert work(["mcp"]) == 2
    said = capsys.readouterr().err
    assert "E165" in said
    assert "pip install 'mcp" in said
