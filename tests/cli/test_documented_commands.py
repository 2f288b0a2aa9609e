"""Every command in README.md and docs/ works as it stands there, from a checkout."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import click
import pytest

from checker.cli.commands import cli
from checker.cli.main import main
from checker.resources import specs

ROOT = specs().parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
BUDGET = {
    "check": ["--timeout", "5", "--explain", "1"],
    "explain": ["--budget", "1"],
    "prove": ["--budget", "60"],
    "simulate": ["--timeout", "5"],
    "sweep": ["--timeout", "2"],
}
"""What keeps a command short: the last value of an option counts."""
ELSEWHERE = (
    *(
        "spark://",
        "big.bcast",
        "other.json",
        "p1.ndjson p2.ndjson",
        "export run.json",
        "SPEC::CHECK",
        ".edn",
    ),
    "times.ndjson",
)
"""What a command names that is not in a checkout: of such a command only the words are checked."""
DOES_NOT_END = {"explore": "q\n"}
"""What is typed into a command that reads."""


def commands_of(page: Path) -> list[str]:
    """The commands in the code blocks of ``page``, in order, comments and line ends joined."""
    text = re.sub(r"\\\n\s*", "", page.read_text(encoding="utf-8"))
    found = re.findall(r"^(?: {4}|\$ )?(\./\w+ .*|\./test)$", text, re.MULTILINE)
    return [re.sub(r"\s+# .*", "", command) for command in found]


COMMANDS = {
    page.name: told
    for page in PAGES
    if (told := [one for one in commands_of(page) if one.startswith("./bivalence ")])
}


@pytest.mark.parametrize("page", COMMANDS)
def test_commands_of_a_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, in one folder, in which the library is: later commands use what earlier wrote."""
    (tmp_path / "specs").symlink_to(ROOT / "specs")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    for command in COMMANDS[page]:
        words = shlex.split(command)[1:]
        if any(name in command for name in ELSEWHERE):
            assert parses(words), command
            continue
        with (tmp_path / "typed").open("w+") as typed:
            typed.write(DOES_NOT_END.get(words[0], ""))
            typed.seek(0)
            monkeypatch.setattr(sys, "stdin", typed)
            assert main([*words, *BUDGET.get(words[0], [])]) in (0, 1, 3), command


def parses(words: list[str]) -> bool:
    """Whether there is such a command with such options; its files are not looked at."""
    command = cli.commands[words[0]]
    try:
        command.make_parser(click.Context(command)).parse_args(words[1:])
    except click.UsageError:
        return False
    return True


@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", *PAGES], ids=lambda page: page.name)
def test_files_that_are_run_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for script in re.findall(r"^    (?:\S*/)?python ((?!-m)\S+)", text, re.MULTILINE):
        assert (ROOT / script).is_file(), script
    for module in re.findall(r"^    (?:\S*/)?python -m ((?!pytest)[\w.]+)", text, re.MULTILINE):
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file(), module


def test_no_command_needs_what_a_checkout_does_not_have() -> None:
    """``bivalence`` alone is there only after an install: in a checkout it is ``./bivalence``."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"^    bivalence .*$", text, re.MULTILINE), page.name
