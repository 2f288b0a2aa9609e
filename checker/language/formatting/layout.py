"""Formats a spec: its blanks, its indentation and its blank lines; never its tokens or comments.

Where a line ends is the author's choice, except at the braces of a list of items or statements: it
is on one line, or each of its braces ends one.  Items are indented by two blanks for each list
around them; the further lines of an item keep their indentation relative to its first line, as the
columns of comments behind code are kept where the code leaves them room.
"""

from __future__ import annotations

import re
from itertools import groupby

from msgspec import Struct

from checker.language.formatting.spacing import blanks
from checker.language.parser.tokens import STEP, Lexeme, comments, lexemes

INDENT = 2
BEFORE_COMMENT = 2
"""The smallest number of blanks between code and a comment behind it."""
_BLANKS = re.compile(r"[ \t\r\n]+")


class FormattingError(Exception):
    """The formatted text would not have the tokens and comments of the original."""


def format_text(text: str, file: str) -> str:
    """Returns ``text`` formatted; the function is idempotent, and the result has the same tokens
    and comments, blanks at the ends of lines aside.

    Raises :class:`SpecError` with every syntax error where ``text`` can't be parsed.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    tokens = lexemes(text, file)
    written = _Layout(text, tokens).text()
    if _words(written, lexemes(written, file)) != _words(text, tokens):
        raise FormattingError(f"{file}: formatting would change its meaning")
    return written


def _words(text: str, tokens: list[Lexeme]) -> list[tuple[str, str]]:
    """Returns what must not change: the tokens and the comments, in their order."""
    found = [(token.start, token.kind, _spelled(token)) for token in tokens]
    found += [(start, "COMMENT", comment) for start, comment in comments(text, tokens)]
    return [(kind, word) for _, kind, word in sorted(found)]


def _spelled(token: Lexeme) -> str:
    """Returns the text of a token, whose words (``crash points``) are a blank apart."""
    return token.text if token.kind in (STEP, "STRING") else _BLANKS.sub(" ", token.text)


class _Line(Struct):
    """A line that is written: its indentation, its code and the comment behind that; ``column``:
    where that comment began in the original."""

    indent: int
    code: str = ""
    comment: str = ""
    column: int = 0

    @property
    def width(self) -> int:
        return self.indent + len(self.code)


class _Layout:
    """Writes the tokens of a text line by line."""

    def __init__(self, text: str, tokens: list[Lexeme]) -> None:
        self._text = text
        self._tokens = tokens
        self._comments = list(comments(text, tokens))
        self._lines: list[_Line | None] = []
        """``None`` is a blank line."""
        self._depth = 0
        self._of_token: list[tuple[int, int]] = []
        """The indentations of the line of each token: the original one, and that written."""
        self._breaks = self._broken_braces()

    def text(self) -> str:
        """Returns the whole text as formatted."""
        position = 0
        for index, token in enumerate(self._tokens):
            self._between(position, token.start, index)
            self._write(index, token)
            position = token.end
        self._between(position, len(self._text), len(self._tokens))
        while self._lines and self._lines[-1] is None:
            self._lines.pop()
        _align_comments(self._lines)
        return "".join(f"{_written(line)}\n" for line in self._lines)

    # ---- lines ----------------------------------------------------------------------------------

    def _broken_braces(self) -> set[int]:
        """Returns the braces of lists that are on several lines: after one that opens, and before
        one that closes, a line ends."""
        opened: list[int] = []
        broken: set[int] = set()
        for index, token in enumerate(self._tokens):
            if token.is_container and token.text == "{":
                opened.append(index)
            elif token.is_container and opened:
                begin = opened.pop()
                if "\n" in self._text[self._tokens[begin].end : token.start]:
                    broken |= {begin, index}
        return broken

    def _between(self, start: int, end: int, index: int) -> None:
        """Writes the comments and the line ends before the token ``index``, or the end."""
        token = self._tokens[index] if index < len(self._tokens) else None
        fresh = index == 0 or (index - 1 in self._breaks and self._tokens[index - 1].text == "{")
        position = start
        for at, comment in (found for found in self._comments if start <= found[0] < end):
            ends = self._text.count("\n", position, at)
            position = at + len(comment)
            if not ends and index and self._lines[-1] is not None:
                self._lines[-1].comment = comment
                self._lines[-1].column = self._column(at)
                continue
            column = self._column(at)
            if ends == 1 and self._goes_on(column):
                self._lines.append(_Line(0, "", comment, column))
                continue
            self._blank_line(ends, fresh)
            fresh = False
            self._lines.append(_Line(self._comment_indent(at, index), "", comment))
        if token is None:
            return
        ends = self._text.count("\n", position, token.start)
        commented = position != start
        opens = token.is_container and token.text == "{"
        closes = token.is_container and token.text == "}"
        if index == 0 or commented or (ends and not opens) or self._is_broken_at(index):
            if not closes:
                self._blank_line(ends, fresh)
            self._lines.append(_Line(self._indent(token)))

    def _is_broken_at(self, index: int) -> bool:
        """Tells whether a line ends before the token ``index`` because of a brace."""
        before = self._tokens[index - 1]
        return (index - 1 in self._breaks and before.text == "{") or (
            index in self._breaks and self._tokens[index].text == "}"
        )

    def _blank_line(self, ends: int, fresh: bool) -> None:
        if ends > 1 and not fresh and self._lines and self._lines[-1] is not None:
            self._lines.append(None)

    def _write(self, index: int, token: Lexeme) -> None:
        line = self._lines[-1]
        assert line is not None
        if line.code:
            line.code += " " * blanks(self._tokens[index - 1], token)
        line.code += _spelled(token)
        self._of_token.append((self._original_indent(token.start), line.indent))
        if token.is_container:
            self._depth += 1 if token.text == "{" else -1

    # ---- columns --------------------------------------------------------------------------------

    def _indent(self, token: Lexeme) -> int:
        """Returns the indentation of the line that ``token`` begins."""
        if token.is_container and token.text == "}":
            return INDENT * (self._depth - 1)
        if _stands_like_an_item(token):
            return INDENT * self._depth
        return self._continued(token.start, self._of_token[token.head])

    def _continued(self, at: int, head: tuple[int, int]) -> int:
        """Returns the indentation of a further line of an item; ``at``: an offset in that line,
        ``head``: the indentations of the item's first line."""
        original, written = head
        least = 0 if self._text[at] in ")]}" else INDENT
        return written + max(least, self._original_indent(at) - original)

    def _comment_indent(self, at: int, index: int) -> int:
        """Returns the indentation of a comment on a line of its own before the token ``index``."""
        if index < len(self._tokens):
            token = self._tokens[index]
            opens = token.is_container and token.text == "{"
            if not opens and not token.is_container and not _stands_like_an_item(token):
                return self._continued(at, self._of_token[token.head])
        return INDENT * self._depth

    def _goes_on(self, column: int) -> bool:
        """Tells whether a comment that begins in ``column`` goes on with that behind the code of
        the line before it."""
        last = self._lines[-1] if self._lines else None
        return last is not None and 0 < last.column == column

    def _original_indent(self, at: int) -> int:
        line = self._text[self._text.rfind("\n", 0, at) + 1 :].split("\n", 1)[0]
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        return len(blank.expandtabs(INDENT))

    def _column(self, at: int) -> int:
        begin = self._text.rfind("\n", 0, at) + 1
        return len(self._text[begin:at].expandtabs(INDENT))


def _stands_like_an_item(token: Lexeme) -> bool:
    """Tells whether a line that ``token`` begins is indented as items around it are."""
    return (
        token.is_head
        or (token.kind == "ELSE" and token.rule == "if")
        or (token.kind == "OR" and token.rule == "either")
    )


def _align_comments(lines: list[_Line | None]) -> None:
    """Gives comments behind code that began in the same column one column again: that one, or the
    next that leaves all their lines room."""
    for column, run in groupby(lines, lambda line: line.column if line is not None else 0):
        if column:
            group = [line for line in run if line is not None]
            room = (line.width + BEFORE_COMMENT for line in group if line.code)
            target = max(column, *room)
            for line in group:
                line.column = target


def _written(line: _Line | None) -> str:
    if line is None:
        return ""
    code = " " * line.indent + line.code
    if line.column:
        code = code.ljust(line.column)
    return (code + line.comment).rstrip() if line.column or not line.code else code
