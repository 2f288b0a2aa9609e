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
    """A collection that is being read: its opening bracket, which is the character ``at`` of the
    text and on ``line``, and its items so far."""

    __slots__ = ("at", "bracket", "items", "line")

    def __init__(self, bracket: str, line: int, at: int) -> None:
        self.bracket, self.line, self.at = bracket, line, at
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
            opened = _Open(token, line, at)
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
                    begins = (stack[0].at, stack[0].line) if stack else (at, here)
                    _require_cut(text, *begins, stack)
                    raise Cut("this string is not closed", here)
                value = atoms[token] = _atom(token, here)
            where = 0
        if stack:
            _put(stack[-1].items, value)
        else:
            yield where or line + text.count("\n", before, at), value
    if stack or outer is not None:
        if stack:
            _require_cut(text, stack[0].at, stack[0].line, stack)
        raise Cut("the file ends within this form", (stack[0] if stack else outer).line)  # type: ignore[union-attr]


_SPECIALS = ('"', "#", ";", "\\", "(", ")", "\x00", "null")
"""What a line does not have from which JSON is made."""
_KEYWORD = re.compile(r":([^\s,()\[\]{}]+)")
_ENDED = re.compile(r":[^\s,()\[\]{}]+[],}]")
_SEPARATORS = (
    (", ", ","), ("\t", ","), (" ", ","), (",,", ","), (",,", ","),
    (",nil,", ",null,"), (",nil,", ",null,"), (",nil]", ",null]"), (",nil}", ",null}"),
    ("[,", "["), (",]", "]"), ("{,", "{"), (",}", "}"),
)  # fmt: skip
"""What makes JSON of EDN, besides keywords, but with a comma in place of the colon of a key."""
SAMPLE = 1 << 14
"""Characters at the beginning of a text that have its frequent keywords."""
BLOCK = 1 << 20
"""Characters that are made JSON at once."""

Maps = list[dict[Any, Any] | None]
"""The maps of a text, one on each line; ``None``: an empty line."""


def plain_maps(text: str) -> Iterator[tuple[int, Any]] | None:
    """Returns what :func:`forms` yields, much faster, for a text of maps, one on each line, perhaps
    in a vector or list; ``None`` for a text that begins otherwise."""
    begin, end, bracket = 0, len(text), ""
    bare = text[:SAMPLE].lstrip()
    if bare[:1] in ("[", "(") and bare[1:2] == "{" and text.rstrip()[-1] == _CLOSING[bare[0]]:
        bracket = bare[0]
        begin, end = text.index(bracket) + 1, text.rindex(_CLOSING[bracket])
    first = text.rfind("\n", begin, begin + SAMPLE)
    if _maps(text[begin : end if first < 0 else first]) is None:
        return None
    return _blocks(text, begin, end, bracket)


def _blocks(text: str, begin: int, end: int, bracket: str) -> Iterator[tuple[int, Any]]:
    line, at = 1 + text.count("\n", 0, begin), begin
    while at < end:
        poll()
        stop = text.find("\n", min(at + BLOCK, end), end) + 1 or end
        found = _maps(text[at:stop])
        if found is None:
            yield from _from_line(line, f"{bracket}{text[at:]}")
            return
        yield from ((line + n, row) for n, row in enumerate(found) if row is not None)
        line, at = line + text.count("\n", at, stop), stop


def _from_line(line: int, text: str) -> Iterator[tuple[int, Any]]:
    """Yields the forms of ``text``, which begins on ``line``."""
    try:
        for number, form in forms(text):
            yield line - 1 + number, form
    except (Unreadable, Cut) as problem:
        raise type(problem)(problem.why, line - 1 + problem.line) from None


def _maps(text: str) -> Maps | None:
    """Returns the map on each line of ``text``; ``None`` where there is another form."""
    separated = text
    for written, meant in _SEPARATORS:
        separated = separated.replace(written, meant)
    try:
        if not any(each in text for each in _SPECIALS):
            found = _with_keys_of_first(separated)
            if found is not None:
                return found
        pairs = zip(_quoted(separated).split("\n"), text.split("\n"), strict=True)
        return [_map(line.strip(",\r"), original) for line, original in pairs]
    except (ValueError, TypeError, KeyError, RecursionError, Unreadable, Cut):
        return None


def _quoted(text: str) -> str:
    """Returns ``text`` with strings in place of keywords, the frequent ones first."""
    for word in set(_ENDED.findall(text, 0, SAMPLE)):
        text = text.replace(word, f'"{word[1:-1]}"{word[-1]}')
    return _KEYWORD.sub(r'"\1"', text)


def _with_keys_of_first(text: str) -> Maps | None:
    """Returns the maps on the lines of ``text``, where all keys are those of the first one."""
    first = next((line for line in _stripped(text) if line), "")
    for key in _items(_quoted(first))[::2]:
        text = text.replace(f":{key},", f'"{key}"\0')
    text = _quoted(text).replace("\0", ":")
    try:
        found = [_decode(line) if line else None for line in _stripped(text)]
    except ValueError:
        return None
    return found if text.count('":') == sum(map(len, filter(None, found))) else None


def _stripped(text: str) -> Iterator[str]:
    return (line.strip(",\r") for line in text.split("\n"))


def _items(line: str) -> list[Any]:
    """Returns the keys and values of a map; raises ``ValueError`` for any other form."""
    if line[:1] != "{" or line[-1] != "}" or line.count("{") > 1:
        raise ValueError("not a map")
    found: list[Any] = _decode_items(f"[{line[1:-1]}]")
    return found


def _map(line: str, original: str) -> dict[Any, Any] | None:
    """Returns the map that ``line`` is, as JSON, and ``original``, as EDN."""
    if line.count("{") > 1 or any(each in original for each in _SPECIALS):
        found = [form for _, form in forms(original)]
        if len(found) > 1 or not all(isinstance(form, dict) for form in found):
            raise ValueError("not a map")
        return found[0] if found else None
    if not line:
        return None
    items = _items(line)
    made = dict(zip(items[::2], items[1::2], strict=True))
    if 2 * len(made) != len(items):
        raise ValueError("a key twice")
    return made


_Atom = None | bool | int | float | str
_Form = _Atom | tuple[_Atom | tuple[_Atom | tuple[_Atom | tuple[_Atom, ...], ...], ...], ...]
"""What most rows consist of: others are read in the other way."""
_decode = msgspec.json.Decoder(dict[str, _Form]).decode
_decode_items = msgspec.json.Decoder(list[_Form]).decode


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
        return _whole(_ESCAPE.sub(_character, token[1:-1]), line)
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


def _whole(text: str, line: int) -> str:
    """Returns a string in which two halves of a surrogate pair are one character."""
    if text.isascii():
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise Unreadable("a string has an unpaired surrogate", line) from None


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code[1:], 16)) if code[0] == "u" and code[1:] else _ESCAPED.get(code, code)


def _require_cut(text: str, at: int, line: int, stack: list[_Open]) -> None:
    """Raises :class:`Unreadable` unless the text may have been cut within the form that begins at
    ``at``, on ``line``: where rows follow, a bracket or quotation mark is missing in the middle.

    A row follows where one is among the items so far, or a later line opens a form no further to
    the right.
    """
    column = at - text.rfind("\n", 0, at) - 1
    later = re.compile(rf"\n[ ]{{0,{column}}}[\[({{]").search(text, at)
    items = (item for opened in stack for item in opened.items)
    if later or any(isinstance(item, dict) and "type" in item for item in items):
        raise Unreadable("this form is not closed", line)
