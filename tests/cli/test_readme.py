"""What README.md, the overview and the page of commands say is so: commands, options, words for the
world."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.cli.commands import cli
from checker.cli.main import main
from checker.language.load import load
from checker.proving.dispatch_check import answer_check
from checker.resources import specs
from checker.session.pipeline import Options, checks_in

ROOT = specs().parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    \./bivalence check (\S+)$", README, re.MULTILINE)
OVERVIEW = (ROOT / "docs" / "overview.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
WORLD = OVERVIEW[OVERVIEW.index("The protocol does not mention") :].partition("\n\n")[0]
WORDS = [
    w for w in re.findall(r"`([^`]+)`", WORLD) if re.match("faults|links|timing|detector|given", w)
]

SPEC = """
interface Service {{ request ask(m: Msg)  indication answer(m: Msg) }}
interface Channel {{ request put(m: Msg)  indication got(m: Msg) }}
protocol Heartbeats implements FailureDetector {{
  message ALIVE
  upon init {{ send ALIVE to all }}
}}
protocol P implements Service {{
  role client(1) {{ upon request ask(m) {{ send DATA(m) to server }} {handlers} }}
  role server(2) {{ upon receive DATA(m) {{ }} {handlers} }}
  message DATA(m: Msg)
  {layers}
}}
check c of P {{ {world}  expect states 1 }}
"""


@pytest.mark.parametrize("words", WORDS)
def test_the_words_for_the_world_are_understood(words: str, tmp_path: Path) -> None:
    layers, handlers = "", ""
    if "fd" in words or "eventually" in words:
        layers = "uses fd : FailureDetector"
        handlers = "upon fd.suspect(p) { }"
    elif "Omega" in words:
        layers = "uses leader : LeaderDetector"
        handlers = "upon leader.trust(p) { }"
    elif "cons" in words:
        layers = "uses cons : Channel"
        handlers = "upon cons.got(DATA(m)) { }"
    elif "timing" in words:
        handlers = "upon timeout { }"
    path = tmp_path / "a.bcast"
    made = SPEC.format(layers=layers, handlers=handlers, world=words)
    path.write_text(made, encoding="utf-8")
    assert [check.name for check in load(str(path)).checks] == ["c"]


@pytest.mark.parametrize("path", COMMANDS)
def test_the_commands_end_as_expected(path: str) -> None:
    file = str(ROOT / path)
    for name in checks_in(file):
        assert answer_check(file, name, Options()).exit_code == 0


def test_every_command_and_option_exists() -> None:
    table = PAGE[PAGE.index("| command |") :].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        name = re.search(r"`bivalence ([\w-]+)", row)
        assert name is not None
        command = cli.commands[name[1]]
        known = {option for param in command.params for option in param.opts}
        assert set(re.findall(r"`(--[a-z-]+)", row)) <= known


def test_every_shared_option_exists() -> None:
    table = PAGE[PAGE.index("| option |") :].partition("\n\n")[0]
    known = {o for command in cli.commands.values() for p in command.params for o in p.opts}
    named = set(re.findall(r"`(--?[a-z-]+)", table))
    assert named and named <= known


def test_the_diagram_is_the_one_that_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shown,) = re.findall(r"^```\n(    p1 .*?)```$", OVERVIEW, re.MULTILINE | re.DOTALL)
    run = str(tmp_path / "run.json")
    spec = str(specs() / "total_order/sequencer_takeover.bcast")
    asked = ["check", f"{spec}::crash_one", "--explain", "300", "--trace-out", run, "-q"]
    assert main(asked) in (0, 1)
    capsys.readouterr()
    assert main(["view", run]) == 0
    assert shown in capsys.readouterr().out


def test_the_protocol_that_is_shown_does_what_its_check_expects(tmp_path: Path) -> None:
    """Its key is the one of the library, where `specs/broadcast/eager_reliable.bcast` has it."""
    (shown,) = re.findall(r"^```\n(protocol .*?)```$", OVERVIEW, re.MULTILINE | re.DOTALL)
    path = tmp_path / "a.bcast"
    path.write_text(shown, encoding="utf-8")
    assert answer_check(str(path), "crash_one", Options()).exit_code == 0
    library = (ROOT / "specs/broadcast/eager_reliable.bcast").read_text(encoding="utf-8")
    for statement in ("when (s, m) not in seen", "seen += (s, m)"):
        assert statement in shown and statement in library


def test_the_readme_shows_what_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    shown, diagram = re.findall(r"^```text\n(.*?)```$", README, re.MULTILINE | re.DOTALL)
    assert main(["check", COMMANDS[0]]) == 0
    printed = capsys.readouterr().out
    assert words(shown) == words(printed)
    assert main(["check", f"{COMMANDS[0]}::crash_one", "--show", "crash_one"]) == 0
    printed = capsys.readouterr().out
    assert all(paragraph in printed for paragraph in diagram.split("\n\n"))


def words(text: str) -> list[str]:
    """The words of a report without its seconds, whose width decides where lines are wrapped."""
    return sorted(re.sub(r"[0-9.]+ s$", "", text, flags=re.MULTILINE).split())


def test_the_readme_is_two_screens_at_most() -> None:
    assert len(README.splitlines()) <= 100
