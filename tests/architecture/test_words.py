"""Text that people see uses the field's terms: words of our own that were replaced stay away."""

from __future__ import annotations

import re
from pathlib import Path

from checker.resources import specs

ROOT = specs().parent
TERMS = {
    r"in the end": "eventually",
    r"for ever": "forever",
    r"(go|goes|going|went) round": "has a cycle, repeats, a lasso",
    r"made (again|a second time) by": "replayed by",
    r"nothing more has to happen": "quiescent",
    r"what would be without": "counterfactuals",
    r"made smaller": "minimised",
    r"(is|are|was|were|not|:|scenarios?) as told": "passed, FAILED",
    r"fault of the tool": "internal error",
    r"promises? of the world|the world('s)? promises?|owed": "fairness assumptions, pending",
    r"(must|has to) come about": "must eventually happen",
    r"timer( `\S+`| \{\w+\})? is over": "the timer expires",
    r"wrong words?": "false suspicions, mistakes",
    r"a ledger": "a fairness justification",
}
"""Expressions of our own, as patterns, and the field's terms for what they mean."""
SEEN = ("README.md", "CONTRIBUTING.md", "docs", "specs", "grammar", "checker")
WRITTEN = {".md", ".bcast", ".lark", ".html", ".js", ".py"}
NAMES = {"specs/links/crash_and_recovery.bcast": "owed"}
"""Where one of the words is a name in a protocol."""


def texts() -> list[Path]:
    found = [ROOT / name for name in SEEN]
    inside = (path for folder in found if folder.is_dir() for path in folder.rglob("*"))
    return [path for path in (*found, *inside) if path.suffix in WRITTEN]


def in_one_line(path: Path) -> str:
    """Returns the text of a file, its strings and comments whole, whatever their lines are."""
    return re.sub(
        r'("\s*\n\s*f?")|\s+(//|#)?\s*',
        lambda m: "" if m[1] else " ",
        path.read_text(encoding="utf-8"),
    )


def test_words_of_our_own_stay_away() -> None:
    words = [re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE) for pattern in TERMS]
    anything = re.compile("|".join(word.pattern for word in words), re.IGNORECASE)
    found: dict[str, str] = {}
    for path in texts():
        name = str(path.relative_to(ROOT))
        text = in_one_line(path).replace(NAMES.get(name, "\0"), "")
        for match in anything.finditer(text):
            term = next(t for w, t in zip(words, TERMS.values(), strict=True) if w.match(match[0]))
            found[f"{name}: {text[max(0, match.start() - 30) : match.end() + 30]}"] = term
    assert found == {}, "each is to be written as the term beside it"
