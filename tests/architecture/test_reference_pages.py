"""The reference that follows from the code: every command with every option, every document with
every key."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from checker.cli.commands import cli
from checker.cli.schema import DOCUMENTS, schema_of
from scripts.reference_pages import command_page, prose, write_commands, write_formats


@pytest.mark.every
@pytest.mark.parametrize("name", cli.commands)
def test_each_option_is_on_the_page_of_its_command_and_says_what_it_does(name: str) -> None:
    command = cli.commands[name]
    lines = command_page(name, command)
    for option in command.params:
        if isinstance(option, click.Option):
            word = re.compile(rf"`.*(?<![\w-]){re.escape(option.opts[0])}(?![\w-]).*`")
            told = [at for at, line in enumerate(lines) if word.fullmatch(line)]
            assert len(told) == 1, option.opts
            assert len(lines[told[0] + 1]) > 10, option.opts


def test_text_of_help_is_no_markup() -> None:
    assert prose("a_b <c> [d] `e_f` --g-h") == r"a\_b \<c> \[d] `e_f` `--g-h`"


def test_a_page_is_written_for_each_command_and_each_document(tmp_path: Path) -> None:
    write_commands(tmp_path / "commands")
    assert {page.stem for page in (tmp_path / "commands").iterdir()} == {*cli.commands, "index"}
    write_formats(tmp_path / "formats")
    for name in DOCUMENTS:
        schema = schema_of(name)
        page = (tmp_path / "formats" / f"{name}.md").read_text(encoding="utf-8")
        for part in (schema, *schema["$defs"].values()):
            for key in part.get("properties", {}):
                assert f"| `{key}` |" in page, (name, key)
