"""Reads EDN, the notation of Jepsen's histories, as far as histories use it.

The notation: https://github.com/edn-format/edn.  Keywords and symbols become strings, tags are
skipped, maps become dictionaries; other collections become tuples and frozen sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from checker.histories.rows import frozen
from checker.logs.content import Unreadable
from checker.logs.objects import Cut
from checker.polling import poll

_TOKEN = re.compile(
    r"""[\s,]+|;[^\n]*|("(?:[^"\\]|\\.)*"|\#\{|\#_|[][(){}]|\\.[^\s,()\[\]{}";]*"""
    r"""|\#[^\s,()\[\]{}";]*|[^\s,()\[\]{}";]+|.)""",
    re.S,
)
_CLOSING = {"[": "]", "(": ")", "{": "}", "#{": "}"}
_NUMBER = re.compile(r"[+-]?\d+(N|(\.\d+)?([eE][+-]?\d+)?M?)")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.S)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = {"nil": None, "true": True, "false": False}
_DEEPEST = 500


class _Skip:
    """Stands for ``#_`` until the next value is read."""


_SKIP = _Skip()


class _Open:
    """A collection that is being read: its opening bracket, line and items so far."""

    __slots__ = ("bracket", "items", "line")

    def __init__(self, bracket: str, line: int) -> None:
        self.bracket, self.line = bracket, line
        self.items: list[Any] = []


def forms(text: str) -> Iterator[tuple[int, Any]]:
    """Yields the forms of ``text`` with the lines on which they begin: those at the top, or the
    items of a vector or list there whose first item is a collection.

    Raises :class:`Unreadable` for text that is not EDN; :class:`Cut` where it ends within a form,
    after all complete ones.
    """
    stack: list[_Open] = []
    outer: _Open | None = None
    atoms: dict[str, Any] = {}
    line, before = 1, 0
    for found in _TOKEN.finditer(text):
        poll()
        token, at = found[1], found.start()
        if token is None:
            continue
        if token in _CLOSING:
            line, before = line + text.count("\n", before, at), at
            opened = _Open(token, line)
            if not stack and outer is None and _holds_collections(token, text, at + 1):
                outer = opened
            else:
                stack.append(opened)
                if len(stack) > _DEEPEST:
                    raise Unreadable("this form is nested too deeply", line)
            continue
        if token in ("]", ")", "}"):
            here = line + text.count("\n", before, at)
            if not stack and outer is not None and _CLOSING[outer.bracket] == token:
                outer = None
                continue
            if not stack or _CLOSING[stack[-1].bracket] != token:
                raise Unreadable(f"unmatched `{token}`", here)
            closed = stack.pop()
            value, where = _built(closed), closed.line
        elif token == "#_":
            if not stack:
                here = line + text.count("\n", before, at)
                raise Unreadable("`#_` is supported only inside a row", here)
            value, where = _SKIP, 0
        elif token[0] == "#" and token[1:2].isalpha():
            continue
        else:
            value = atoms.get(token, _SKIP)
            if value is _SKIP:
                here = line + text.count("\n", before, at)
                if token == '"':
                    raise Cut("this string is not closed", here)
                value = atoms[token] = _atom(token, here)
            where = 0
        if stack:
            _put(stack[-1].items, value)
        else:
            yield where or line + text.count("\n", before, at), value
    if stack or outer is not None:
        _require_cut(stack)
        raise Cut("the file ends within this form", (stack[0] if stack else outer).line)  # type: ignore[union-attr]


_SPECIAL = re.compile(r'["#;\\()\x00]|null')
_KEYWORD = re.compile(r":([^\s,()\[\]{}]+)")
_SEPARATORS = (
    ("\t", " "), (",", " "), ("  ", " "), ("  ", " "), (" ", ","),
    (",nil,", ",null,"), (",nil,", ",null,"), (",nil]", ",null]"), (",nil}", ",null}"),
    ("[,", "["), (",]", "]"), ("{,", "{"), (",}", "}"),
)  # fmt: skip
_BRACKETS = (("{", '{"":['), ("}", "]}"))
"""What makes JSON of plain EDN, besides keywords: maps become objects whose only value is the list
of their items.  A text for which this is not enough is no JSON after it."""
SAMPLE = 1 << 14
"""Characters at the beginning of a text that have its frequent keywords."""


def plain_maps(text: str) -> list[tuple[int, dict[Any, Any]]] | None:
    """Returns what :func:`forms` yields for a text of maps, one on each line, without strings,
    comments, tags, sets and maps inside; ``None`` for any other text.  It is much faster."""
    bare = text.strip()
    if bare[:1] in ("[", "(") and bare[1:2] == "{" and bare[-1] == _CLOSING[bare[0]]:
        first, last = text.index(bare[0]), text.rindex(bare[-1])
        text = f"{text[:first]} {text[first + 1 : last]}"
    if _SPECIAL.search(text):
        return None
    for written, meant in _SEPARATORS:
        text = text.replace(written, meant)
    for word in set(_KEYWORD.findall(text, 0, SAMPLE)):
        for end in ",]}":
            text = text.replace(f":{word}{end}", f'"{word}"{end}')
    text = _KEYWORD.sub(r'"\1"', text)
    for written, meant in _BRACKETS:
        text = text.replace(written, meant)
    found = []
    try:
        for line, row in enumerate(text.split("\n"), start=1):
            poll()
            whole = row.strip(",\r")
            if whole.count("{") > 1:
                return None
            if whole:
                found.append((line, _map(_decode(whole))))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return found


def _map(found: dict[str, Any]) -> dict[Any, Any]:
    items = found[""]
    made = dict(zip(items[::2], items[1::2], strict=True))
    if 2 * len(made) != len(items):
        raise ValueError("a key twice")
    return made


_decode = msgspec.json.Decoder().decode


def value_of(text: str, line: int) -> Any:
    """Returns the single value that ``text``, on ``line``, is; raises :class:`Unreadable`."""
    try:
        found = [value for _, value in forms(f"[[{text}]]")]
    except Unreadable as problem:
        raise type(problem)(problem.why, line) from None
    if len(found) != 1 or not isinstance(found[0], tuple) or not found[0]:
        raise Unreadable(f"`{text}` is not a value", line)
    return frozen(found[0][0])


def _holds_collections(token: str, text: str, at: int) -> bool:
    """Returns whether ``token`` opens a vector or list whose first item, from ``at`` on, is a
    collection, or that is empty."""
    tokens = (found[1] for found in _TOKEN.finditer(text, at) if found[1])
    first = next(tokens, "") if token in ("[", "(") else ""
    return first in _CLOSING or first in ("]", ")") or first.startswith("#")


def _put(items: list[Any], value: Any) -> None:
    if items and items[-1] is _SKIP and value is not _SKIP:
        items.pop()
    else:
        items.append(value)


def _built(closed: _Open) -> Any:
    items = closed.items
    if items and items[-1] is _SKIP:
        raise Unreadable("`#_` must be followed by a value", closed.line)
    if closed.bracket == "{":
        if len(items) % 2:
            raise Unreadable("this map has a key without a value", closed.line)
        try:
            found = dict(zip(items[::2], items[1::2], strict=True))
        except TypeError:
            keys = [frozen(key) for key in items[::2]]
            found = dict(zip(keys, items[1::2], strict=True))
        if 2 * len(found) != len(items):
            raise Unreadable("this map has a key twice", closed.line)
        return found
    if closed.bracket == "#{":
        return frozenset(map(frozen, items))
    return tuple(items)


def _atom(token: str, line: int) -> Any:
    if token[0] == '"':
        return _ESCAPE.sub(_character, token[1:-1])
    if token in _WORDS:
        return _WORDS[token]
    number = _NUMBER.fullmatch(token)
    if number is not None:
        plain = token.rstrip("MN")
        if len(plain) > 4000:
            raise Unreadable("this number is too long", line)
        return float(plain) if number[2] or number[3] else int(plain)
    if token[0].isdigit() or token[0] == "#":
        raise Unreadable(f"`{token}` is not EDN", line)
    return token[1:] if token[0] in ":\\" else token


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code[1:], 16)) if code[0] == "u" and code[1:] else _ESCAPED.get(code, code)


def _require_cut(stack: list[_Open]) -> None:
    """Raises :class:`Unreadable` unless the text ends soon after the form that is open begins: a
    bracket that is missing in the middle is a mistake, not a cut."""
    for opened in stack:
        for item in opened.items:
            if isinstance(item, dict) and "type" in item:
                raise Unreadable("this form is not closed", stack[0].line)
