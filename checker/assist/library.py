"""Finds specs, interfaces, pages and codes of the tool by words."""

from __future__ import annotations

import re
from pathlib import Path

from checker import resources
from checker.assist.answer import Answer
from checker.assist.arguments import Library
from checker.assist.refusals import ARGUMENTS, Refused

_INTERFACE = re.compile(r"^interface (\w+)", re.MULTILINE)


def answer(asked: Library) -> Answer:
    """Returns what is found; raises :class:`Refused` (A001)."""
    if (asked.query is None) == (asked.code is None):
        raise Refused(ARGUMENTS, "name a `query` or a `code`", "one of the two")
    if asked.code is not None:
        from checker.diagnostics.codes import page

        try:
            lines = tuple(page(asked.code).splitlines())
        except KeyError:
            raise Refused(ARGUMENTS, "no such code", "codes are like N003") from None
        return Answer("shown", f"What {asked.code} means.", lines=lines)
    assert asked.query is not None
    entries = _entries(asked.kind)
    if asked.kind is not None and asked.query in entries:
        return Answer(
            "shown", f"The {asked.kind} {asked.query}.", lines=_whole(entries[asked.query])
        )
    words = re.findall(r"\w+", asked.query.lower())
    scores = {name: _score(name, text, words) for name, text in entries.items()}
    best = sorted((n for n, score in scores.items() if score), key=lambda n: (-scores[n], n))
    lines = tuple(f"{name}: {_first(entries[name])}" for name in best)
    return Answer("shown", f"{len(best)} match; a whole name with its kind shows one.", lines=lines)


def _entries(kind: str | None) -> dict[str, str]:
    """Returns the texts of a kind, or of all, by name."""
    found: dict[str, str] = {}
    if kind in (None, "spec"):
        for name in resources.spec_names():
            if not name.startswith("interfaces/"):
                found[name] = _text(resources.specs() / f"{name}.bcast")
    if kind in (None, "interface"):
        for file in sorted(resources.interfaces().glob("*.bcast")):
            text = _text(file)
            found |= {name: text for name in _INTERFACE.findall(text)}
    if kind in (None, "page"):
        folder = resources.documents()
        for page in sorted(folder.rglob("*.md")):
            name = page.relative_to(folder).with_suffix("").as_posix()
            if not name.startswith("decisions/"):
                found.setdefault(name, _text(page))
    return found


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _score(name: str, text: str, words: list[str]) -> int:
    low, head = name.lower(), text[:600].lower()
    return sum(5 * (word in low) + (word in head) for word in words)


def _first(text: str) -> str:
    """Returns the first sentence of a text."""
    lines = [line.lstrip("/# ").strip() for line in text.splitlines()]
    return next((line for line in lines if line), "")


def _whole(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line.strip())
