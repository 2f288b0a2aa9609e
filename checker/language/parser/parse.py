"""Parses text to declarations; finds every syntax error of a file, not just the first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import islice

from lark import Lark
from lark.exceptions import UnexpectedInput

from checker import resources
from checker.diagnostics import Diagnostic, Span, SpecError
from checker.language.parser import tables
from checker.language.parser.build import DEPTH, Builder, NumberTooLarge, TooDeep
from checker.language.parser.keywords import reserved_names
from checker.language.parser.recover import (
    LIMIT,
    balance,
    blank_item,
    pieces,
    unclosed_by_indentation,
    without_word_before,
    word_before,
)
from checker.language.parser.words import MISSPELT, is_for_a_refused_name, syntax_error, whole_word
from checker.language.syntax import ast_items
from checker.language.syntax.ast import LARGEST
from checker.records import replace

_ODD = re.compile("[\r\ufeff\u2028\u2029\u0085\x0b]")
_BRACKETS = 200
KEPT = 10
"""The largest number of cached grammar tables; the oldest are removed first."""


def parse(text: str, file: str) -> ast_items.Spec:
    """Returns the declarations of ``text``; ``file`` is the file name in locations.

    Raises :class:`SpecError` with up to 20 syntax errors, sorted by location.
    """
    text = plain_text(text)
    try:
        if not any(reserved_names(text, file)):
            tree = parser().parse(text)
            return ast_items.Spec(file, Builder(file, text).spec(tree))
    except (UnexpectedInput, TooDeep, NumberTooLarge):
        pass
    raise SpecError(syntax_errors(text, file, pieces(text)))


def syntax_errors(
    text: str, file: str, wrong: Iterable[tuple[str, int, int]]
) -> tuple[Diagnostic, ...]:
    """Returns up to 20 syntax errors of ``text``, sorted by location; ``wrong``: those of its
    :func:`pieces` that may have any."""
    found: list[Diagnostic] = []
    refused: set[str] = set()
    for piece, line, column in wrong:
        found.extend(_shift(one, line, column) for one in _wrong(piece, file, refused))
        if len(found) >= LIMIT:
            break
    else:
        found = found or _wrong(text, file, refused)
    found.sort(key=_place)
    return tuple(found[:LIMIT])


def _shift(found: Diagnostic, line: int, column: int) -> Diagnostic:
    """Returns a diagnostic of a piece with its location in the whole text; the piece begins at
    ``line`` and ``column``, counted from 0."""
    span = found.span
    assert span is not None
    moved = Span(
        span.file,
        span.line + line,
        span.column + (column if span.line == 1 else 0),
        span.end_line + line,
        span.end_column + (column if span.end_line == 1 else 0),
    )
    return replace(found, span=moved)


def plain_text(text: str) -> str:
    """Returns ``text`` with every line end a single newline, as locations count them."""
    if not _ODD.search(text):
        return text
    text = text.replace("\r\n", " \n").replace("\r", "\n")
    return text.removeprefix("\ufeff")


def _place(diagnostic: Diagnostic) -> tuple[int, int]:
    span = diagnostic.span
    return (span.line, span.column) if span else (0, 0)


def _wrong(piece: str, file: str, refused: set[str]) -> list[Diagnostic]:
    """Returns the errors in ``piece``, which is parsed alone: with its own lines and columns.

    ``refused``: words of the language that were used as names.  Where one is declared nothing else
    is reported, as what follows from it is not known.
    """
    if words := list(islice(reserved_names(piece, file), LIMIT)):
        return words
    uneven = balance(piece)
    # The step of a scenario is the rest of its line, whatever brackets and quotes there are in it.
    if uneven is not None and (uneven[1] == "deep" or not _is_accepted(piece)):
        return [_error_before(piece, file, uneven) or _unbalanced_error(piece, file, uneven)]
    found: list[Diagnostic] = []
    while len(found) < LIMIT and piece.strip():
        try:
            Builder(file, piece).spec(parser().parse(piece))
            break
        except UnexpectedInput as error:
            offset, diagnostic = syntax_error(error, piece, file)
            start, before = word_before(piece, offset)
            if before in refused:
                piece = _renamed(piece, start, before)
                continue
            word = whole_word(piece, offset)
            if is_for_a_refused_name(error, word, refused):
                piece = _renamed(piece, offset, word)
                continue
            if diagnostic.code == "S006":
                found.append(diagnostic)
                refused.add(word)
                piece = _renamed(piece, offset, word)
                continue
            if MISSPELT in diagnostic.hint:  # the same error would be found again
                piece = without_word_before(piece, offset)
            if all(d.span != diagnostic.span for d in found):
                found.append(diagnostic)
        except TooDeep as deep:
            message = f"this nests more than {DEPTH} levels deep"
            hint = "name a part of it with `let`, or move it to another handler"
            found.append(Diagnostic("S004", message, deep.span, hint=hint))
            offset = offset_of(piece, deep.span)
        except NumberTooLarge as large:
            message = f"this number is larger than {LARGEST}"
            found.append(Diagnostic("S005", message, large.span))
            offset = offset_of(piece, large.span)
        piece = blank_item(piece, offset)
    return [each for each in found if each.code == "S006"] or found


def _is_accepted(piece: str) -> bool:
    """Tells whether the grammar has ``piece``."""
    try:
        parser().parse(piece)
    except UnexpectedInput:
        return False
    return True


def _renamed(text: str, offset: int, word: str) -> str:
    """Returns ``text`` with another name, as long as it, in place of the ``word`` at ``offset``."""
    return text[:offset] + "x" * len(word) + text[offset + len(word) :]


def _error_before(piece: str, file: str, uneven: tuple[int, str]) -> Diagnostic | None:
    """Returns the syntax error before a ``}`` that closes nothing, where there is one: what should
    have been opened is missing there."""
    offset, kind = uneven
    if kind != "close":
        return None
    try:
        parser().parse(piece)
    except UnexpectedInput as error:
        place, diagnostic = syntax_error(error, piece, file)
        return diagnostic if place < offset else None
    return None


def offset_of(text: str, span: Span) -> int:
    start = 0
    for _ in range(span.line - 1):
        start = text.find("\n", start) + 1
    return start + span.column - 1


def _unbalanced_error(piece: str, file: str, uneven: tuple[int, str]) -> Diagnostic:
    offset, kind = uneven
    hint = ""
    unclosed = unclosed_by_indentation(piece) if kind == "open" else None
    if unclosed is not None:
        offset, end = unclosed
        last = piece[:end].rstrip().rpartition("\n")[2].strip()
        hint = f"by the indentation, its `}}` is missing after `{last[:60]}`"
    line = piece.count("\n", 0, offset) + 1
    column = offset - (piece.rfind("\n", 0, offset) + 1) + 1
    span = Span(file, line, column, line, column + 1)
    bracket = piece[offset]
    if kind == "deep":
        message = f"brackets nest more than {_BRACKETS} levels deep"
        return Diagnostic("S004", message, span)
    if kind == "open":
        return Diagnostic("S003", f"this `{bracket}` is never closed", span, hint=hint)
    if kind == "string":
        hint = 'a string ends with `"` on the line where it begins'
        return Diagnostic("S003", "this string is never closed", span, hint=hint)
    return Diagnostic("S003", f"this `{bracket}` is unmatched", span)


@cache
def parser() -> Lark:
    grammar = resources.grammar().read_text(encoding="utf-8")
    name = f"{tables.key(grammar)}.marshal"
    shipped = resources.grammar().with_name(f"tables-{name}")
    found = tables.load(shipped.read_bytes()) if shipped.is_file() else None
    if found is not None:
        return found
    folder = resources.cache_folder()
    cached = None if folder is None else folder / f"grammar-{name}"
    data = None if cached is None else resources.load_cached(cached)
    found = None if data is None else tables.load(data)
    if found is not None:
        return found
    computed = tables.compute(grammar)
    if cached is not None:
        resources.store_cached(cached, tables.dump(computed), KEPT)
    return computed
