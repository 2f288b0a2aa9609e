"""Writes the TextMate grammar of the language for editors, from its vocabulary.

``python -m scripts.write_textmate`` writes ``editors/vscode/syntaxes/bivalence.tmLanguage.json``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from checker.render import vocabulary

TARGET = Path(__file__).parent.parent / "editors/vscode/syntaxes/bivalence.tmLanguage.json"
_NAME = r"[A-Za-z_][A-Za-z_0-9]*'*"
_SCOPES = {
    "declarations": "keyword.declaration.bivalence",
    "modifiers": "storage.modifier.bivalence",
    "control": "keyword.control.bivalence",
    "clauses": "keyword.other.clause.bivalence",
    "operators": "keyword.operator.word.bivalence",
    "types": "support.type.bivalence",
    "constants": "constant.language.bivalence",
}


def grammar() -> dict[str, Any]:
    """Returns the grammar as its JSON object."""
    named = [
        _named("protocol|interface|object|variant|check|role", "entity.name.type.bivalence"),
        _named("property|invariant|define|procedure|scenario", "entity.name.function.bivalence"),
    ]
    groups = [
        {"match": _any_of(words), "name": _SCOPES[group]}
        for group, words in vocabulary.GROUPS.items()
    ]
    return {
        "name": "Bivalence",
        "scopeName": "source.bivalence",
        "fileTypes": ["bcast"],
        "patterns": [
            {"match": "//.*$", "name": "comment.line.double-slash.bivalence"},
            {"match": '"[^"]*"', "name": "string.quoted.double.bivalence"},
            *named,
            *groups,
            {"match": _any_of(vocabulary.WORLD), "name": "support.constant.world.bivalence"},
            {"match": r"\b[A-Z][A-Z0-9_]+\b", "name": "entity.name.message.bivalence"},
            {"match": rf"\b{_NAME}(?=\()", "name": "entity.name.function.call.bivalence"},
            {"match": r"\b[0-9]+\b", "name": "constant.numeric.bivalence"},
            {
                "match": r":=|\+=|-=|=>|~>|->|\?\?|==|!=|<=|>=|\.\.|\+\+|[-+*<>=#]",
                "name": "keyword.operator.bivalence",
            },
        ],
    }


def _named(words: str, scope: str) -> dict[str, Any]:
    captures = {"1": {"name": _SCOPES["declarations"]}, "2": {"name": scope}}
    return {"match": rf"\b({words})\s+({_NAME})", "captures": captures}


def _any_of(words: frozenset[str]) -> str:
    return rf"\b({'|'.join(sorted(words))})(?![A-Za-z_0-9'])"


def text() -> str:
    """Returns the grammar's file."""
    return json.dumps(grammar(), indent=2) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
