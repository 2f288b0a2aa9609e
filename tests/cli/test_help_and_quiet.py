"""What every command has: help that can be read, ``--quiet``, and a word on what it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from checker.cli import console
from checker.cli.commands import cli
from checker.cli.main import main
from checker.cli.option_groups import GROUPS, OUTPUT, group_of
from checker.diagnostics.codes import codes
from checker.formats.json_format import trace_to_json
from tests.results.test_documents import made, trace_of

Out = pytest.CaptureFixture[str]


@pytest.fixture
def trace(tmp_path: Path) -> str:
    file = tmp_path / "t.json"
    file.write_text(json.dumps(trace_to_json(trace_of(made()))))
    return str(file)


ELSEWHERE = {"History", "Log", "Mutants", "Walks"}
"""Groups of options that `check` does not have."""


def test_the_help_of_check_is_in_groups(capsys: Out) -> None:
    assert main(["check", "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    titles = [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles == [title for title in (*GROUPS, OUTPUT) if title not in ELSEWHERE]
    told = "\n".join(lines)
    order = ["--set ", "--engine ", "--master ", "--timeout ", "--resume ", "--json ", "--help"]
    assert [told.index(name) for name in order] == sorted(told.index(name) for name in order)


def test_every_option_is_told_of_once(capsys: Out) -> None:
    for name in ("check", "prove", "sweep", "test", "simulate"):
        assert main([name, "--help"]) == 0
        told = capsys.readouterr().out
        for option in cli.commands[name].params:
            if isinstance(option, click.Option):
                assert told.count(f" {option.opts[0]} ") + told.count(f"{option.opts[0]},") >= 1


def test_every_name_in_a_group_is_that_of_an_option() -> None:
    known = {option.name for command in cli.commands.values() for option in command.params}
    assert {name for names in GROUPS.values() for name in names} <= known
    of_check = {group_of(option) for option in cli.commands["check"].params}
    assert of_check == {*GROUPS, OUTPUT} - ELSEWHERE


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_can_be_quiet(name: str) -> None:
    options = {word for option in cli.commands[name].params for word in option.opts}
    assert {"-q", "--quiet"} <= options


def test_what_a_view_wrote_is_told(trace: str, tmp_path: Path, capsys: Out) -> None:
    page, picture = str(tmp_path / "a.html"), str(tmp_path / "a.svg")
    assert main(["view", trace, "--html", page, "--svg", picture]) == 0
    out = capsys.readouterr()
    assert f"wrote {page}: agreement violated, in 2 steps, of three\n" in out.err
    assert f"wrote {picture}: " in out.err
    assert out.out == ""
    assert main(["view", trace, "--html", page, "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["view", trace, "--svg", "-"]) == 0
    assert "wrote" not in capsys.readouterr().err


def test_quiet_does_not_outlive_its_command(trace: str, tmp_path: Path, capsys: Out) -> None:
    page = str(tmp_path / "a.html")
    assert main(["view", trace, "--html", page, "-q"]) == 0
    assert main(["view", trace, "--html", page]) == 0
    assert capsys.readouterr().err.count("wrote") == 1


def test_an_edited_document_is_told_also_quietly(trace: str, capsys: Out) -> None:
    document = json.loads(Path(trace).read_text())
    document["sentence"] += " or so"
    Path(trace).write_text(json.dumps(document))
    assert main(["view", trace, "-q"]) == 0
    assert "was edited after it was written" in capsys.readouterr().err


def test_diagnostics_are_listed(capsys: Out) -> None:
    assert main(["diagnostic"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == list(codes())
    assert "N003: wrong type" in lines


def test_a_pipe_has_a_width_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert console.width() == console.PIPED
    monkeypatch.setenv("COLUMNS", "132")
    assert console.width() == 132
