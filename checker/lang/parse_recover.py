"""After a syntax error: which part of the text to leave out so that the rest can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

LIMIT = 20
"""Syntax errors of one file that are reported at most."""
DEEPEST = 200
"""Brackets nest so deep at most."""

_SCAN = re.compile(r'//[^\n]*|"[^"\n]*"|"|[{}()\[\]]|[A-Za-z_]\w*')
_TOP = frozenset(("import", "interface", "protocol", "check"))
_INNER = frozenset(
    [
        "may",
        "upon",
        "state",
        "stable",
        "shared",
        "message",
        "property",
        "properties",
        "uses",
        "role",
        "init",
        "type",
        "request",
        "indication",
        "faults",
        "links",
        "timing",
        "detector",
        "given",
        "clients",
        "prove",
        "expect",
        "allow",
        "crash",
        "scenario",
        "invariant",
    ]
)
_PREFIXES = frozenset(("may", "upon", "stable", "shared"))
_CLOSES = {")": "(", "]": "[", "}": "{"}


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    for match in _SCAN.finditer(text):
        word = match.group()
        if not word.startswith("//") and (len(word) == 1 or word[0] != '"'):
            yield match.start(), word


def pieces(text: str) -> list[str]:
    """The top-level items of ``text``, each as the whole text with all else made blank.

    An item begins with its keyword outside of all braces, or at the start of a line and followed
    by a name: so a brace that is missing does not swallow the rest of the file.
    """
    starts: list[int] = []
    depth = 0
    for offset, word in _tokens(text):
        if word == "{":
            depth += 1
        elif word == "}":
            depth = max(0, depth - 1)
        elif word in _TOP and (depth == 0 or _heads_line(text, offset, word)):
            starts.append(offset)
            depth = 0
    if not starts:
        return [text] if text.strip() else []
    if _blank(text[: starts[0]]).strip():
        starts.insert(0, 0)
    else:
        starts[0] = 0
    ends = [*starts[1:], len(text)]
    return [
        _spaces(text[:start]) + text[start:end] for start, end in zip(starts, ends, strict=True)
    ]


def _heads_line(text: str, offset: int, word: str) -> bool:
    if offset > 0 and text[offset - 1] != "\n":
        return False
    return re.match(r'[ \t]+[A-Za-z_"]', text[offset + len(word) :]) is not None


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _blank(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def balance(text: str) -> tuple[int, str] | None:
    """The first bracket or quote that has no partner, and ``open``, ``close``, ``string`` or
    ``deep``; ``None`` where all have one."""
    opened: list[tuple[int, str]] = []
    for offset, word in _tokens(text):
        if word == '"':
            return offset, "string"
        if word in "([{":
            opened.append((offset, word))
            if len(opened) > DEEPEST:
                return offset, "deep"
        elif word in _CLOSES:
            if not opened:
                return offset, "close"
            if opened[-1][1] != _CLOSES[word]:
                return _mismatch(opened, offset, word)
            opened.pop()
    return (opened[-1][0], "open") if opened else None


def _mismatch(opened: list[tuple[int, str]], offset: int, word: str) -> tuple[int, str]:
    """Of two brackets that don't fit: the inner one was not closed, or this one is too much."""
    if any(bracket == _CLOSES[word] for _, bracket in opened):
        return opened[-1][0], "open"
    return offset, "close"


def blanked(text: str, offset: int) -> str:
    """``text`` without the innermost item that holds the error at ``offset``."""
    start, end = _item(text, offset)
    if not text[start:end].strip():
        return _spaces(text)
    return text[:start] + _spaces(text[start:end]) + text[end:]


def without_word_before(text: str, offset: int) -> str:
    """``text`` without the word that ends right before ``offset``."""
    start = len(re.sub(r"[A-Za-z_]\w*\s*$", "", text[:offset]))
    return text[:start] + _spaces(text[start:offset]) + text[offset:]


def _item(text: str, offset: int) -> tuple[int, int]:
    """The item at ``offset``: from its keyword to the next at its depth, or the closing brace.

    An error at an item's own keyword is the fault of the item before it, if there is one.
    """
    open_items: list[tuple[int, int]] = []
    depth = 0
    best = (0, len(text))
    last = ""
    for at, word in (*_tokens(text), (len(text), "}")):
        if word == "{":
            depth += 1
        elif word == "}" or (word in _INNER and depth >= 1 and last not in _PREFIXES):
            while open_items and open_items[-1][1] >= depth:
                start, _ = open_items.pop()
                if start < offset == at and word != "}":
                    return start, at
                if start <= offset <= at and at - start < best[1] - best[0]:
                    best = start, at
            if word == "}":
                depth = max(0, depth - 1)
            else:
                open_items.append((at, depth))
        last = word
    return best
