"""Colours: the words are those of the grammar, and each text keeps its characters."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from itertools import combinations
from pathlib import Path

import pytest
from pygments.token import Error

from checker import resources
from checker.editor import answers, colours
from checker.language.link_kinds import LINK_KINDS
from checker.render import vocabulary
from checker.render.lexer import BivalenceLexer
from checker.render.terminal.source import coloured_lines
from scripts import write_textmate

ROOT = Path(write_textmate.__file__).parent.parent
VSCODE = ROOT / "editors" / "vscode"
GRAMMAR = re.sub(r"^\s*//.*$", "", resources.grammar().read_text(encoding="utf-8"), flags=re.M)
PACKAGE = json.loads((VSCODE / "package.json").read_text(encoding="utf-8"))


def test_the_words_are_those_of_the_grammar() -> None:
    """Every word in quotes, and every word with which a terminal begins or that it lists."""
    written = set(re.findall(r'"([A-Za-z_]+)"', GRAMMAR))
    terminals = re.findall(r"^[A-Z_]+(?:\.-?\d+)?: /(.*)/$", GRAMMAR, re.MULTILINE)
    for pattern in terminals:
        begin = re.match(r"\(?([a-z_]+(?:\|[a-z_]+)*)\)?(?:\\b|\[)", pattern)
        written |= set(begin[1].split("|")) if begin else set()
    every = frozenset().union(*vocabulary.GROUPS.values(), vocabulary.WORLD)
    assert written - every == set()
    assert every - written - vocabulary.WORLD <= {
        *("Proc", "Msg", "self", "points", "ever", "any", "most", "per", "process", "within"),
        *("holds", "option", "mod", "div", "surely", "steps", "until", "least", "adversary"),
    }
    assert set(LINK_KINDS) <= vocabulary.WORLD


def test_no_word_is_in_two_groups() -> None:
    for one, other in combinations(vocabulary.GROUPS.values(), 2):
        assert not one & other


def test_the_textmate_grammar_is_the_one_that_is_written() -> None:
    assert write_textmate.TARGET.read_text(encoding="utf-8") == write_textmate.text()


@pytest.mark.parametrize("folder", ["interfaces", "broadcast", "replication", "oracles"])
def test_the_lexer_loses_nothing_of_the_library(folder: str) -> None:
    for path in sorted((resources.specs() / folder).glob("*.bcast")):
        text = path.read_text(encoding="utf-8")
        tokens = [*BivalenceLexer(stripnl=False, ensurenl=False).get_tokens(text)]
        assert "".join(word for _, word in tokens) == text
        assert all(kind is not Error for kind, _ in tokens)
        assert [line.plain for line in coloured_lines(text)] == text.splitlines()


def test_the_extension_knows_what_the_server_tells() -> None:
    contributed = PACKAGE["contributes"]
    known = {each["id"] for each in contributed["semanticTokenModifiers"]}
    assert known == {*colours.MODIFIERS} - {"declaration", "readonly", "static"}
    client = (VSCODE / "src" / "extension.ts").read_text(encoding="utf-8")
    told = {f"bivalence.{what}" for what in (*answers.COMMANDS, "counterexample")}
    assert told == set(re.findall(r'"(bivalence\.(?!restart)\w+)"', client)) - {"bivalence.command"}
    for path in (contributed["grammars"][0]["path"], contributed["languages"][0]["configuration"]):
        assert json.loads((VSCODE / path).read_text(encoding="utf-8"))


@pytest.mark.browser
def test_the_page_in_a_webview_and_the_editor_tell_one_another_the_step(tmp_path: Path) -> None:
    """In Chromium, with a stand-in for what an editor gives to a webview."""
    node, chromium = shutil.which("node"), shutil.which("chromium")
    if node is None or chromium is None:
        pytest.skip("no node, or no Chromium")
    from playwright.sync_api import sync_playwright

    from checker.cli.main import main

    run, page = tmp_path / "run.json", tmp_path / "page.html"
    spec = resources.specs() / "total_order/sequencer_takeover.bcast"
    main(["check", f"{spec}::crash_one", "--no-explain", "--trace-out", str(run), "-q"])
    assert main(["view", str(run), "--html", str(page)]) == 0
    code = (
        f'import {{ bridged }} from "{(VSCODE / "src" / "page.mjs").as_uri()}";'
        'import { readFileSync, writeFileSync } from "node:fs";'
        f'const page = "{page}"; writeFileSync(page, bridged(readFileSync(page, "utf8")));'
    )
    subprocess.run([node, "--input-type=module", "-e", code], check=True)
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        shown = browser.new_page()
        problems: list[str] = []
        shown.on("pageerror", lambda problem: problems.append(str(problem)))
        shown.add_init_script(
            "globalThis.said = []; globalThis.acquireVsCodeApi = () =>"
            " ({ postMessage: (message) => said.push(message.step) })"
        )
        shown.goto(page.as_uri())
        last = shown.evaluate("said.at(-1)")
        assert isinstance(last, int) and last > 3
        shown.keyboard.press("ArrowLeft")
        shown.wait_for_function(f"said.at(-1) === {last - 1}")
        shown.evaluate("postMessage({ step: 2 })")
        shown.wait_for_function("said.at(-1) === 2")
        assert shown.locator("output.count").inner_text().startswith("step 2 of")
        browser.close()
    assert problems == []
