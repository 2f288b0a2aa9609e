"""Parses a text that may be half-written: what can be parsed of it, beside its errors."""

from __future__ import annotations

import re

from lark.exceptions import UnexpectedInput
from msgspec import Struct

from checker.diagnostics import Diagnostic, Span
from checker.language.parser.build import Builder, NumberTooLarge, TooDeep
from checker.language.parser.keywords import reserved_names
from checker.language.parser.parse import offset_of, parser, plain_text, syntax_errors
from checker.language.parser.recover import (
    LIMIT,
    balance,
    blank_item,
    pieces,
    unclosed_by_indentation,
)
from checker.language.parser.words import syntax_error
from checker.language.syntax import ast_items

_WORD = re.compile(r"[A-Za-z_]\w*'*")
_STEPS = 4 * LIMIT
"""So many items of one piece are left out before all of it is."""


class Partial(Struct, frozen=True):
    """What can be parsed of a text: ``spec``; ``errors``: its syntax errors, sorted by location;
    ``lost``: the words of what could not be parsed, which is not in ``spec``."""

    spec: ast_items.Spec
    errors: tuple[Diagnostic, ...] = ()
    lost: frozenset[str] = frozenset()


Pieces = dict[tuple[str, str, int, int], tuple[ast_items.Item, ...]]
"""The items of pieces that could be parsed, by file, text and the place where they begin."""


def parse_partially(text: str, file: str, known: Pieces | None = None) -> Partial:
    """Returns the declarations of ``text`` that can be parsed, at their places; the innermost item
    around an error is left out, and a missing brace is put where the indentation ends its block.

    ``known``: pieces that were parsed before, which are not parsed again; those of ``text`` are
    what is in it afterwards.
    """
    text = plain_text(text)
    seen = {} if known is None else dict(known)
    now: Pieces = {} if known is None else known
    now.clear()
    items: list[ast_items.Item] = []
    lost: set[str] = set()
    wrong: list[tuple[str, int, int]] = []
    is_refused = any(reserved_names(text, file))
    for piece, line, column in pieces(text):
        key = file, piece, line, column
        placed = "\n" * line + " " * column + piece
        found = None if is_refused else seen.get(key) or _whole(placed, file)
        if found is None:
            wrong.append((piece, line, column))
            found, left = _items(placed, file)
            lost |= _words_lost(placed, left)
        else:
            now[key] = found
        items += found
    spec = ast_items.Spec(file, tuple(items))
    errors = syntax_errors(text, file, wrong) if wrong else ()
    return Partial(spec, errors, frozenset(lost))


def _whole(text: str, file: str) -> tuple[ast_items.Item, ...] | None:
    """Returns the items of ``text``; ``None`` where not all of it can be parsed."""
    try:
        return Builder(file, text).spec(parser().parse(text))
    except (UnexpectedInput, TooDeep, NumberTooLarge):
        return None


def _items(text: str, file: str) -> tuple[tuple[ast_items.Item, ...], str]:
    """Returns the items of ``text``, and what was parsed of it."""
    for _ in range(_STEPS):
        if not text.strip():
            break
        uneven = balance(text)
        if uneven is not None:
            text = _balanced(text, *uneven)
            continue
        try:
            return Builder(file, text).spec(parser().parse(text)), text
        except UnexpectedInput as error:
            offset, _ = syntax_error(error, text, file)
        except (TooDeep, NumberTooLarge) as error:
            offset = offset_of(text, error.span)
        text = blank_item(text, offset)
    return (), ""


def _balanced(text: str, offset: int, kind: str) -> str:
    """Returns ``text`` with one bracket or quote without partner less, no other character moved to
    another line or column before it."""
    if kind == "open" and text[offset] == "{":
        unclosed = unclosed_by_indentation(text)
        end = len(text) if unclosed is None else unclosed[1]
        if unclosed is None:
            return f"{text}\n}}"
        return f"{text[:end]}}}{text[end + 1 if text[end : end + 1] == ' ' else end :]}"
    if kind in ("open", "deep"):
        return blank_item(text, offset)
    end = text.find("\n", offset)
    last = offset + 1 if kind == "close" else (len(text) if end < 0 else end)
    return text[:offset] + " " * (last - offset) + text[last:]


def _words_lost(text: str, left: str) -> set[str]:
    """Returns the words of ``text`` that are not in ``left`` as often."""
    words = _WORD.findall(text)
    kept = _WORD.findall(left)
    count: dict[str, int] = {}
    for word in words:
        count[word] = count.get(word, 0) + 1
    for word in kept:
        count[word] = count.get(word, 0) - 1
    return {word for word, number in count.items() if number > 0}


def concerns(found: Diagnostic, text: str, lost: frozenset[str]) -> bool:
    """Tells whether an error of names or types may follow from what was ``lost``: it speaks of a
    word of that, or stands at one in ``text``."""
    said = " ".join((found.message, found.hint, found.expected))
    words = {word for quoted in re.findall(r"`([^`]*)`", said) for word in _WORD.findall(quoted)}
    return bool(lost & (words | set(_WORD.findall(_at(text, found.span)))))


def _at(text: str, span: Span | None) -> str:
    if span is None:
        return ""
    lines = text.split("\n")[span.line - 1 : span.end_line]
    if not lines:
        return ""
    lines[-1] = lines[-1][: span.end_column - 1]
    return "\n".join(lines)[span.column - 1 :]
