"""The files and commands of the tutorial, the pages on limits and the guides to logs work as they
are written, and print what is shown."""

from __future__ import annotations

import itertools
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.resources import specs

FOLDER = specs().parent / "docs" / "tutorial"
LESSONS = sorted(page for page in FOLDER.glob("*.md") if page.name != "README.md")
LIMITS = sorted(
    page for page in (FOLDER.parent / "limits").glob("*.md") if page.name != "README.md"
)
GUIDES = [FOLDER.parent / f"{name}.md" for name in ("audit", "conform", "judge")]
BLOCK = re.compile(
    r"^```(bivalence|console|python|clojure|json|toml) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
LEFT_OUT = "…"
"""A line of a block that stands for any lines of what is printed."""


def printed_in_order(shown: list[str], printed: str) -> str | None:
    """Returns the first line of ``shown`` that is not in ``printed`` where it is expected: directly
    behind the line before it, or anywhere behind that after a line that is left out.

    Of a line the beginning suffices, whatever the spaces in it are: times follow it.
    """
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    at, anywhere = 0, True
    for line in shown:
        if line == LEFT_OUT:
            anywhere = True
            continue
        wanted = " ".join(line.split())
        ahead = range(at, len(lines) if anywhere else min(at + 1, len(lines)))
        found = next((i for i in ahead if lines[i].startswith(wanted)), None)
        if found is None:
            return line
        at, anywhere = found + 1, False
    return None


def of_a_program(what: str) -> str:
    """Returns what a program prints that is called with arguments, and perhaps with variables of
    the environment in front of it."""
    words = shlex.split(what)
    names = list(itertools.takewhile(lambda word: "=" in word, words))
    program, *rest = words[len(names) :]
    assert program == "python", what
    environment = {**os.environ, **dict(name.split("=", 1) for name in names)}
    done = subprocess.run(
        [sys.executable, *rest], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1, 3), done.stderr
    return done.stdout


def saved_and_typed(page: Path) -> list[tuple[str, str, list[str]]]:
    """Returns what a page tells to ``save``, by name, and to ``type``, with what is printed."""
    found = list[tuple[str, str, list[str]]]()
    for kind, name, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind != "console":
            found.append(("save", name, text.splitlines()))
            continue
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            found.append(("type", command, shown))
    return found


OTHER_TOOLS = FOLDER / "for_users_of_other_tools.md"
LONG = {"crash_inside_a_multicast", "exactly_once", "making_it_happen"}
"""Pages whose commands take long; they are in the full run."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] * (page.stem in LONG), id=page.stem)
        for page in (*LESSONS, *LIMITS, *GUIDES)
    ],
)
def test_a_page(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "specs").symlink_to(specs())
    (tmp_path / "examples").symlink_to(FOLDER.parents[1] / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    blocks = saved_and_typed(page)
    assert blocks, "there is something to try on each page"
    for kind, what, lines in blocks:
        if kind == "save" and what:
            (tmp_path / what).write_text("\n".join(lines) + "\n", encoding="utf-8")
        elif kind == "type":
            program, *words = shlex.split(what)
            if program == "python" and len(words) == 1:
                runpy.run_path(*words)
                continue
            if program != "./bivalence":
                assert printed_in_order(lines, of_a_program(what)) is None, what
                continue
            assert program == "./bivalence", what
            assert main(words) in ((0, 1, 2) if page in LIMITS else (0, 1)), what
            printed = capsys.readouterr()
            assert any(line.strip() != "…" for line in lines), f"{what}: nothing is shown"
            assert printed_in_order(lines, printed.out + printed.err) is None, what


def test_a_line_that_is_not_printed_is_found() -> None:
    printed = "spec\n  a   holds   0.3 s\n  b   holds   0.3 s\n"
    assert printed_in_order(["spec", "  a holds", "…"], printed) is None
    assert printed_in_order(["…", "  b holds"], printed) is None
    assert printed_in_order(["spec", "  b holds"], printed) == "  b holds"
    assert printed_in_order(["  b holds", "  a holds"], printed) == "  a holds"


def test_the_pages_are_in_their_tables() -> None:
    for pages in (LESSONS, LIMITS):
        table = (pages[0].parent / "README.md").read_text(encoding="utf-8")
        assert sorted(re.findall(r"\((\w+\.md)\)", table)) == [page.name for page in pages]


@pytest.mark.peers
@pytest.mark.parametrize(
    ("macros", "options", "errors"),
    [
        pytest.param([], ["-f"], 1, id="telling"),
        pytest.param(["-DRELAY"], ["-f"], 0, id="relaying"),
        pytest.param(["-DRELAY"], [], 0, id="relaying_without_fairness"),
    ],
)
def test_the_model_for_spin(
    macros: list[str], options: list[str], errors: int, tmp_path: Path
) -> None:
    if not (shutil.which("spin") and shutil.which("cc")):
        pytest.skip("SPIN or a C compiler is not installed")
    model = re.search(r"```promela\n(.*?)```", OTHER_TOOLS.read_text(encoding="utf-8"), re.DOTALL)
    assert model is not None
    (tmp_path / "relay.pml").write_text(model[1], encoding="utf-8")

    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    run("spin", *macros, "-a", "relay.pml")
    run("cc", "-DNFAIR=4", "-o", "pan", "pan.c")
    assert f"errors: {errors}\n" in run("./pan", "-a", *options)
