"""Splits the text of a threshold automaton into words, with their places."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

from checker.diagnostics import Diagnostic, Span, SpecError

_WORD = re.compile(
    r"(?:\s+|/\*.*?\*/|//[^\n]*)*"
    r"(?:(?P<name>[A-Za-z_]\w*)|(?P<number>\d+)"
    r"|(?P<sign><>|\[\]|->|&&|\|\||==|!=|<=|>=|[-+*<>!(){}\[\];:,']|/(?!\*))|(?P<end>\Z))",
    re.S | re.A,
)
_SPACE = re.compile(r"(?:\s+|/\*.*?\*/|//[^\n]*)*", re.S | re.A)

LONGEST = 18
"""The largest number of digits of a number."""


class Token(NamedTuple):
    """A word of ``kind`` ``name``, ``number``, ``sign`` or ``end``, at ``start`` of the text."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass
class Source:
    """The text of a file, and where its lines begin."""

    file: str
    text: str
    lines: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.lines = [0, *(found.end() for found in re.finditer("\n", self.text))]

    def span(self, start: int, end: int) -> Span:
        """Returns the place of a part of the text."""
        first, last = (bisect_right(self.lines, at) for at in (start, end))
        return Span(
            self.file, first, start - self.lines[first - 1] + 1,
            last, end - self.lines[last - 1] + 1,
        )  # fmt: skip

    def error(self, code: str, message: str, start: int, end: int, hint: str = "") -> SpecError:
        """Returns the error about a part of the text."""
        return SpecError((Diagnostic(code, message, self.span(start, end), hint=hint),))

    def tokens(self) -> list[Token]:
        """Returns the words; the last one is the end.  Raises :class:`SpecError` (E117)."""
        found: list[Token] = []
        at = 0
        while not found or found[-1].kind != "end":
            match = _WORD.match(self.text, at)
            if match is None or match.lastgroup is None:
                space = _SPACE.match(self.text, at)
                raise self._unreadable(at if space is None else space.end())
            kind = match.lastgroup
            at = match.end()
            found.append(Token(kind, match[kind], match.start(kind)))
            if kind == "number" and len(match[kind]) > LONGEST:
                message = f"a number has more than {LONGEST} digits"
                raise self.error("E117", message, match.start(kind), at)
        found[-1] = Token("end", "", len(self.text.rstrip()))
        return found

    def _unreadable(self, at: int) -> SpecError:
        if self.text.startswith("/*", at):
            return self.error("E117", "a comment has no end", at, at + 2, "end it with `*/`")
        message = f"`{self.text[at]}` is not part of the format"
        return self.error("E117", message, at, at + 1)
