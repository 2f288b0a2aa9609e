"""Reports declarations whose names are reserved words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checker.diagnostics import Diagnostic, Span

STATEMENTS = frozenset(
    "send if for while choose either require let skip perform atomic yield else or".split()
)
"""Words that begin or continue a statement, so that they begin no assignment or call."""

EXPRESSIONS = frozenset(
    "not always eventually forall exists if true false none bool record".split()
)
"""Words that begin an expression."""

_WORDS = re.compile(r'//[^\n]*|"[^"\n]*"|[A-Za-z_]\w*|[^\s\w]')

_DECLARATIONS = {
    "state": ("a state variable", STATEMENTS | EXPRESSIONS),
    "uses": ("a layer", STATEMENTS),
    "indication": ("an indication", STATEMENTS),
    "let": ("a value", EXPRESSIONS),
}


def reserved_names(text: str, file: str) -> Iterator[Diagnostic]:
    """Yields the declarations in ``text`` whose name is a reserved word (S006)."""
    before = ""
    for match in _WORDS.finditer(text):
        word = match.group()
        what, reserved = _DECLARATIONS.get(before, ("", frozenset()))
        if word in reserved:
            line = text.count("\n", 0, match.start()) + 1
            column = match.start() - text.rfind("\n", 0, match.start())
            span = Span(file, line, column, line, column + len(word))
            begins = "a statement" if word in STATEMENTS else "an expression"
            message = f"`{word}` begins {begins}, so {what} can't be called that"
            if word in ("else", "or"):
                message = f"`{word}` goes on with a statement, so {what} can't be called that"
            yield Diagnostic("S006", message, span, hint=f"another name, such as `{word}_`")
        before = word
