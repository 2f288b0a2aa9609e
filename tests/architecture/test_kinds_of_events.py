"""Events are data: they are put into words in one place, and the recipe for a new kind is true."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

from checker.model.mark_kinds import WORLD, MarkKind
from checker.results import events

ROOT = Path(__file__).parents[2]
CHECKER = ROOT / "checker"
KINDS = {kind.__name__: str(kind.__struct_config__.tag) for kind in get_args(events.Event)}
SILENT = {"branch", "message", "point"}
"""Marks that are no events."""


def recipe() -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    return text.partition("## How to add a kind of event\n")[2].partition("\n## ")[0]


def bullet(beginning: str) -> set[str]:
    """The files that a point of the recipe names."""
    (found,) = (part for part in recipe().split("\n- ") if part.startswith(beginning))
    return set(re.findall(r"`(checker/\S+\.py)`", found))


def sources() -> dict[str, str]:
    paths = [path for path in CHECKER.rglob("*.py") if "__pycache__" not in path.parts]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}


def kinds_in(text: str) -> set[str]:
    """The kinds of events that a module names."""
    nodes = list(ast.walk(ast.parse(text)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return (names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}) & {*KINDS}


def test_a_kind_is_one_class_and_one_mark() -> None:
    assert len(set(KINDS.values())) == len(KINDS)
    assert {*KINDS.values()} == {kind.value for kind in MarkKind} - SILENT
    of_world = {name for name in KINDS if issubclass(getattr(events, name), events.World)}
    assert {KINDS[name] for name in of_world} == {kind.value for kind in WORLD}


def test_the_recipe_names_the_modules_that_mypy_lists() -> None:
    closed = {
        file
        for file, text in sources().items()
        if (re.search(r"assert_never\((event|info\.kind)\)", text) and kinds_in(text))
        or file == "checker/results/mark_events.py"
    }  # fmt: skip
    assert bullet("What mypy lists") == closed


def test_the_recipe_names_the_modules_with_many_kinds() -> None:
    words = {file: set(re.findall(r"\w+", text)) & {*KINDS} for file, text in sources().items()}
    candidates = {file: text for file, text in sources().items() if len(words[file]) >= 8}
    many = {file for file, text in candidates.items() if len(kinds_in(text)) >= 8}
    named = set(re.findall(r"`(checker/\S+\.py)`", recipe()))
    known = {
        "checker/words/steps.py",  # what a step is called after
        "checker/explain/slice.py",  # faults
        "checker/formats/format_4.py",  # an earlier format, which has no new kinds
        "checker/explain/trace_equivalence.py",  # names and messages of any event
    }
    assert many - known <= named
    assert known < many


def test_no_event_holds_a_sentence() -> None:
    for name in KINDS:
        assert "sentence" not in getattr(events, name).__struct_fields__
    for file, text in sources().items():
        assert not re.search(r"\b(event|e|step)\.(sentence|headline)\b", text), file
