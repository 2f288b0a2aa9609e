"""Corrections of errors: what a hint says, where the text without the error proves it right."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span
from checker.editor.document import Desk, Document

TRIED = 6
"""The largest number of corrections of one error that are tried."""
_CODE = re.compile(r"`([^`…]+)`")


class Fix(Struct, frozen=True):
    """``text`` in place of what is at ``span``; ``title``: what that does."""

    title: str
    span: Span
    text: str


def fixes(found: Diagnostic, document: Document, desk: Desk) -> list[Fix]:
    """Returns the corrections of an error of ``document``: those without which it is gone, and
    nothing else is wrong that was right."""
    before = _errors(document)
    good = []
    for fix in list(dict.fromkeys(_candidates(found, document)))[:TRIED]:
        after = _errors(desk.changed(document.path, applied(document, [fix])))
        if len(after) < len(before):
            good.append(fix)
    return good


def _errors(document: Document) -> list[Diagnostic]:
    found = document.analysis.diagnostics
    return [d for d in found if d.span is not None and d.span.file == str(document.path)]


def applied(document: Document, changes: list[Fix]) -> str:
    """Returns the text of ``document`` with changes, none of which overlap."""
    lines = list(document.lines)
    for fix in sorted(changes, key=lambda f: (f.span.line, f.span.column), reverse=True):
        span = fix.span
        before = lines[span.line - 1][: span.column - 1]
        behind = lines[span.end_line - 1][span.end_column - 1 :]
        lines[span.line - 1 : span.end_line] = (before + fix.text + behind).split("\n")
    return "\n".join(lines)


def _candidates(found: Diagnostic, document: Document) -> Iterator[Fix]:
    span = found.span
    if span is None or span.file != str(document.path) or span.line < 1:
        return
    top = Span(span.file, 1, 1, 1, 1)
    for said in (found.hint, found.expected):
        for code in _CODE.findall(said):
            if code.startswith("import "):
                place = _before_first_item(document) or top
                yield Fix(f"add `{code}`", place, f"{code}\n\n")
                continue
            yield Fix(f"write `{code}`", span, code)
            word = _word_in(span, document, found.message)
            if word is not None:
                yield Fix(f"write `{code}`", word, code)
    if "leave it out" in found.hint or "leave out" in found.hint:
        yield Fix("leave it out", _with_line(span, document), "")


def _word_in(span: Span, document: Document, message: str) -> Span | None:
    """Returns where the first name that ``message`` quotes stands in ``span``."""
    quoted = _CODE.search(message)
    if quoted is None or span.line != span.end_line:
        return None
    text = document.lines[span.line - 1][span.column - 1 : span.end_column - 1]
    match = re.search(rf"\b{re.escape(quoted[1])}\b", text) if quoted[1].isidentifier() else None
    if match is None:
        return None
    column = span.column + match.start()
    return Span(span.file, span.line, column, span.line, column + len(quoted[1]))


def _before_first_item(document: Document) -> Span | None:
    """Returns the beginning of the line of the first item, or of the comment right above it."""
    if not document.spec.items:
        return None
    line = document.spec.items[0].span.line
    while line > 1 and document.lines[line - 2].startswith("//"):
        line -= 1
    if line == 1:  # the comment is the file's
        line = document.spec.items[0].span.line
    return Span(str(document.path), line, 1, line, 1)


def _with_line(span: Span, document: Document) -> Span:
    """Returns ``span``, or its whole line where nothing else is there."""
    if span.line != span.end_line or span.end_line >= len(document.lines):
        return span
    line = document.lines[span.line - 1]
    if (line[: span.column - 1] + line[span.end_column - 1 :]).strip():
        return span
    return Span(span.file, span.line, 1, span.line + 1, 1)
