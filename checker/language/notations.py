"""What is written here for the notations of other languages: TLA+, Promela, P, CGR, Quint."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from checker.language.foreign import (
    CGR,
    MATHEMATICS,
    OTHERS,
    PROMELA,
    QUINT,
    TLA,
    Notation,
    P,
)

TABLE = {
    "TLA+": TLA,
    "Promela": PROMELA,
    "P": P,
    "the pseudocode of CGR": CGR,
    "Quint": QUINT,
    "mathematics": MATHEMATICS,
    "other languages": OTHERS,
}
"""The notations of each language, in the order in which they are looked for."""


class Found(Struct, frozen=True):
    """A notation of ``language`` in a text: the offset at which it begins, what is written there,
    and the hint what to write instead."""

    offset: int
    text: str
    language: str
    hint: str


_ASIDE = re.compile(r'//[^\n]*|"[^"\n]*"')


def _blanks(aside: re.Match[str]) -> str:
    return " " * len(aside.group())


def notation_at(text: str, offset: int) -> Found | None:
    """Returns the notation of another language at which parsing ``text`` stopped: the longest that
    is on the line of ``offset`` and contains it or ends right before it, blanks aside; ``None``
    where there is none."""
    start = text.rfind("\n", 0, len(text[:offset].rstrip())) + 1
    end = text.find("\n", offset)
    line = _ASIDE.sub(_blanks, text[start : end if end >= 0 else len(text)])
    best: tuple[int, Found] | None = None
    for language, notation in _notations():
        for match in notation.regex.finditer(line):
            length = match.end() - match.start()
            if _stops_at(line, match, offset - start) and (best is None or length > best[0]):
                group = 1 if notation.regex.groups else 0
                shown = match.group(group)
                place = start + match.start(group)
                best = length, Found(place, shown, language, notation.instead)
    return best[1] if best else None


def _stops_at(line: str, match: re.Match[str], offset: int) -> bool:
    """Tells whether ``offset`` is inside of ``match``, or only blanks are between them."""
    return match.start() <= offset and not line[match.end() : offset].strip()


def foreign_name(name: str) -> str:
    """Returns the hint for ``name``, which nothing here is called, where another language has it;
    an empty text otherwise."""
    for _, notation in _notations():
        if name in notation.names:
            return notation.instead
    return ""


def markdown() -> str:
    """Returns the tables of ``docs/notations.md``, one for each language."""
    parts = []
    for language, notations in TABLE.items():
        rows = [f"| {_cell(each.written)} | {each.instead} |" for each in notations]
        title = language[:1].upper() + language[1:]
        parts.append("\n".join([f"## {title}", "", "| there | here |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def _cell(code: str) -> str:
    escaped = code.replace("|", r"\|")
    return f"`` {escaped} ``" if "`" in code else f"`{escaped}`"


def _notations() -> Iterator[tuple[str, Notation]]:
    for language, notations in TABLE.items():
        for notation in notations:
            yield language, notation
