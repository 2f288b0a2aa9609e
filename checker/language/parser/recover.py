"""Recovers from syntax errors: selects which part of the text to leave out."""

from __future__ import annotations

import re
from collections.abc import Iterator

LIMIT = 20
"""The largest number of syntax errors of one file that are reported."""
DEEPEST = 200
"""The largest nesting depth of brackets."""

_SCAN = re.compile(r'//[^\n]*|"[^"\n]*"|"|[{}()\[\]]|[A-Za-z_]\w*')
_NAMED = re.compile(r'[ \t]+[A-Za-z_"]')
_TOP = frozenset("import interface object protocol variant check type const define".split())
_PROTOCOL = (
    "may upon state stable shared ghost message property uses role init type invariant "
    "const define procedure"
)
_CHECK = (
    "faults links timing detector given clients prove expect allow crash scenario mutant"
    " property invariant"
)
_INNER = {
    "interface": frozenset("request indication property properties type".split()),
    "object": frozenset("state operation type const define".split()),
    "protocol": frozenset(_PROTOCOL.split()),
    "variant": frozenset(_PROTOCOL.split()) | {"without", "replace"},
    "check": frozenset(_CHECK.split()),
}
"""The words that begin an item inside of a top-level item."""
_PREFIXES = frozenset(("may", "upon", "stable", "shared", "ghost", "without"))
_BEFORE_NAMES = frozenset(
    ("interface", "object", "protocol", "variant", "check", "of", "implements")
)
"""Words behind which a name stands."""
_CRASH_POINTS = re.compile(r"crash[ \t]+points\b")
_CLOSES = {")": "(", "]": "[", "}": "{"}


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    for match in _SCAN.finditer(text):
        word = match.group()
        if not word.startswith("//") and (len(word) == 1 or word[0] != '"'):
            yield match.start(), word


def pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Yields the top-level items of ``text``, each with the line and the column, counted from 0, at
    which it begins.

    An item begins with its keyword outside of all braces, or at the start of a line and followed by
    a name: so a missing brace does not swallow the rest of the file.
    """
    starts: list[int] = []
    depth = 0
    last = ""
    for offset, word in _tokens(text):
        if word == "{":
            depth += 1
        elif word == "}":
            depth = max(0, depth - 1)
        elif word in _TOP and (
            (depth == 0 and last not in _BEFORE_NAMES) or _heads_line(text, offset, word)
        ):
            starts.append(offset)
            depth = 0
        last = word
    if not starts or _blank(text[: starts[0]]).strip():
        starts.insert(0, 0)
    else:
        starts[0] = 0
    line = column = 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        piece = text[start:end]
        yield piece, line, column
        line, column = _behind(piece, line, column)


def _behind(piece: str, line: int, column: int) -> tuple[int, int]:
    """Returns where ``piece``, which begins at ``line`` and ``column``, ends."""
    lines = piece.count("\n")
    if not lines:
        return line, column + len(piece)
    return line + lines, len(piece) - piece.rfind("\n") - 1


def _heads_line(text: str, offset: int, word: str) -> bool:
    if offset > 0 and text[offset - 1] != "\n":
        return False
    return _NAMED.match(text, offset + len(word)) is not None


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _blank(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def balance(text: str) -> tuple[int, str] | None:
    """Returns the first bracket or quote that has no partner, and ``open``, ``close``, ``string``
    or ``deep``; ``None`` where all have one."""
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


def unclosed_by_indentation(text: str) -> tuple[int, int] | None:
    """Returns the first ``{`` whose block ends, by the indentation, without a ``}``, and the offset
    of the line before which that is missing; ``None`` where there is none."""
    opened: list[tuple[int, int]] = []  # the offset of a brace, the indentation of its line
    start = indent = -1
    for offset, word in (*_tokens(text), (len(text), "")):
        begin = text.rfind("\n", 0, offset) + 1 if word else len(text)
        if begin != start:
            start, indent = begin, _indentation(text[begin:])
            if opened and _ends_before(text, opened[-1], indent, word):
                return opened[-1][0], start
        if word == "{":
            opened.append((offset, indent))
        elif word == "}" and opened:
            opened.pop()
    return None


def _ends_before(text: str, brace: tuple[int, int], indent: int, word: str) -> bool:
    """Tells whether the block of ``brace`` ends before a line with this indentation and first
    word."""
    offset, outer = brace
    if word == "}":
        return indent < outer
    ends_line = not _blank(text[offset + 1 :].split("\n", 1)[0]).strip()
    return ends_line and indent <= outer


def _indentation(line: str) -> int:
    whole = line.split("\n", 1)[0].expandtabs()
    return len(whole) - len(whole.lstrip())


def _mismatch(opened: list[tuple[int, str]], offset: int, word: str) -> tuple[int, str]:
    """Returns which of two mismatched brackets is at fault: the inner one was not closed, or this
    one is too much."""
    if any(bracket == _CLOSES[word] for _, bracket in opened):
        return opened[-1][0], "open"
    return offset, "close"


def blank_item(text: str, offset: int) -> str:
    """Returns ``text`` without the innermost item that contains the error at ``offset``."""
    start, end = _item(text, offset)
    if not text[start:end].strip():
        return _spaces(text)
    return text[:start] + _spaces(text[start:end]) + text[end:]


def word_before(text: str, offset: int) -> tuple[int, str]:
    """Returns the word that ends right before ``offset``, blanks aside, and where it begins; an
    empty word where there is none."""
    end = len(text[:offset].rstrip())
    start = end
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    word = text[start:end].lstrip("0123456789")
    return (end - len(word), word) if word else (offset, "")


def without_word_before(text: str, offset: int) -> str:
    """Returns ``text`` without the word that ends right before ``offset``."""
    start, _ = word_before(text, offset)
    return text[:start] + _spaces(text[start:offset]) + text[offset:]


def _begins_item(text: str, offset: int, word: str) -> bool:
    """Tells whether ``word`` at ``offset`` may begin an item of the top-level item ``text``."""
    if word == "crash" and not _CRASH_POINTS.match(text, offset):
        return False
    first = next((word for _, word in _tokens(text)), "")
    return word in _INNER.get(first, frozenset().union(*_INNER.values()))


def _item(text: str, offset: int) -> tuple[int, int]:
    """Returns the extent of the item at ``offset``: from its keyword to the next at its depth, or
    the closing brace.

    An error at an item's own keyword is attributed to the item before it, if there is one.
    """
    open_items: list[tuple[int, int]] = []
    depth = 0
    best = (0, len(text))
    last = ""
    for at, word in (*_tokens(text), (len(text), "}")):
        if word == "{":
            depth += 1
        elif word == "}" or (_begins_item(text, at, word) and depth and last not in _PREFIXES):
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


def enclosing_words(text: str) -> list[str]:
    """Returns the words that begin the lists with braces that ``text`` leaves open, outermost
    first: ``protocol``, ``upon``; empty words for blocks inside of handlers and for sets."""
    opened: list[str] = []
    begins = ""
    known = frozenset().union(*_INNER.values()) | _TOP | {"procedure", "operation", "clients"}
    for offset, word in _tokens(text):
        heads_line = not text[text.rfind("\n", 0, offset) + 1 : offset].strip()
        if word == "{":
            opened.append(begins)
            begins = ""
        elif word == "}":
            if opened:
                opened.pop()
            begins = ""
        elif word in _TOP and (not opened or word not in ("type", "const", "define")):
            if word in ("protocol", "variant", "interface", "object", "check"):
                opened.clear()
            begins = word
        elif word in known and (heads_line or word in ("upon", "clients") or not begins):
            begins = word
    return opened
