"""Reports declarations whose names would be taken for the beginning of a statement."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checker.diagnostics import Diagnostic, Span

STATEMENTS = frozenset(("send", "perform", "atomic", "yield", "var"))
"""Words that begin a statement, so that they begin no assignment or call, and may be names of
anything that is neither assigned nor called.  Other words of the language are no names at all."""

_WORDS = re.compile(r'//[^\n]*|"[^"\n]*"|[A-Za-z_]\w*|[^\s\w]')

_DECLARATIONS = {"state": "a state variable", "uses": "a layer", "indication": "an indication"}


def reserved_names(text: str, file: str) -> Iterator[Diagnostic]:
    """Yields the declarations in ``text`` whose name is one of :data:`STATEMENTS`
    (S006)."""
    before = ""
    for match in _WORDS.finditer(text):
        word = match.group()
        if word in STATEMENTS and before in _DECLARATIONS:
            line = text.count("\n", 0, match.start()) + 1
            column = match.start() - text.rfind("\n", 0, match.start())
            span = Span(file, line, column, line, column + len(word))
            what = _DECLARATIONS[before]
            message = f"`{word}` begins a statement, so {what} can't be called that"
            yield Diagnostic("S006", message, span, hint=another_name(word))
        before = word


def another_name(word: str) -> str:
    """Returns the hint for a ``word`` of the language that stands where a name is expected."""
    return f"use another name, such as `{word}_`"
