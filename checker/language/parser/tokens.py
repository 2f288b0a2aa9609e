"""Splits a text into its tokens, each with the rules of the grammar around it, and its comments."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from lark import Token, Tree
from lark.exceptions import UnexpectedInput
from msgspec import Struct

from checker.language.parser.parse import parse, parser

COMMENT = re.compile(r"//[^\n]*")
STEP = "HAPPENING"
"""The token of a scenario's step: the rest of a line."""
CONTAINERS = frozenset(
    "start interface object protocol variant role role_change edits_in block check scenario mutant"
    " again".split()
)
"""The rules that have items or statements between braces (``start``: between nothing)."""
_LISTS = frozenset(("steps", "claims"))
_PARTS = frozenset(("fault", "link", "client", "handler_budget"))
"""Children of a check that are parts of a clause."""
_CLAUSES = frozenset(("FAULTS", "LINKS", "CLIENTS", "_AT_MOST"))
"""The first tokens of clauses of a check that are no rules of their own."""


class Lexeme(Struct):
    """A token with its range in the text (offsets), the name of the innermost rule around it, and
    what it begins and ends.

    ``is_head``: it is the first of an item, a clause or a statement; ``is_first``: it is the first
    of its rule; ``is_container``: it is the brace of such a list; ``head``: the index of the token
    that begins the item around it.
    """

    kind: str
    text: str
    start: int
    end: int
    rule: str = "start"
    is_head: bool = False
    is_first: bool = False
    is_container: bool = False
    head: int = 0


def lexemes(text: str, file: str) -> list[Lexeme]:
    """Returns the tokens of ``text``, whose line ends are single newlines; raises
    :class:`SpecError` where ``text`` can't be parsed."""
    found: list[Token] = []
    try:
        reading = parser().parse_interactive(text)
        found.extend(reading.iter_parse())
        tree = reading.feed_eof(found[-1] if found else None)  # type: ignore[no-untyped-call]
    except UnexpectedInput:
        parse(text, file)
        raise
    parse(text, file)
    tokens = [_lexeme(token) for token in found]
    _Rules(tokens).mark(tree)
    _mark_braces(tokens)
    return tokens


def _lexeme(token: Token) -> Lexeme:
    assert token.start_pos is not None
    text = str(token).rstrip() if token.type == STEP else str(token)
    return Lexeme(token.type, text, token.start_pos, token.start_pos + len(text))


class _Rules:
    """Notes at each token which rules it is in."""

    def __init__(self, tokens: list[Lexeme]) -> None:
        self._tokens = tokens
        self._starts = [token.start for token in tokens]

    def mark(self, tree: Tree[Any]) -> None:
        if tree.meta.empty:
            return
        first = bisect_left(self._starts, tree.meta.start_pos)
        behind = bisect_left(self._starts, tree.meta.end_pos)
        for token in self._tokens[first:behind]:
            token.rule = tree.data
            token.is_first = False
        self._tokens[first].is_first = True
        inner = [child for child in tree.children if isinstance(child, Tree)]
        for child in inner:
            self.mark(child)
        if tree.data in CONTAINERS | _LISTS:
            brace = self._brace(tree.data, first, behind) if tree.data in CONTAINERS else 0
            for child in inner:
                if not child.meta.empty and child.data not in _PARTS:
                    begins = bisect_left(self._starts, child.meta.start_pos)
                    self._tokens[begins].is_head |= begins >= brace

    def _brace(self, rule: str, first: int, behind: int) -> int:
        """Returns the index of the brace behind which the items of ``rule`` are."""
        if rule == "start":
            return first
        found = (i for i in range(first, behind) if self._tokens[i].text == "{")
        return next((i for i in found if self._tokens[i].rule == rule), behind)


def _mark_braces(tokens: list[Lexeme]) -> None:
    """Notes which braces contain items, and in which item each token is."""
    opened: list[tuple[bool, int]] = []
    heads = [0]
    for index, token in enumerate(tokens):
        if token.rule == "check" and token.kind in _CLAUSES:
            token.is_head = True
        in_clients = bool(opened) and tokens[opened[-1][1]].rule == "check" and token.is_first
        if token.rule == "client" and in_clients:
            token.is_head = True
        if token.is_head:
            heads[-1] = index
        if token.text == "{":
            token.is_container = token.rule in CONTAINERS
            opened.append((token.is_container, index))
            if token.is_container:
                token.head = heads[-1]
                heads.append(index)
                continue
        elif token.text == "}" and opened:
            token.is_container, _ = opened.pop()
            if token.is_container:
                heads.pop()
        token.head = heads[-1]


def comments(text: str, tokens: list[Lexeme]) -> Iterator[tuple[int, str]]:
    """Yields the comments of ``text``, which ``tokens`` are all other text of: where each begins,
    and its text without the blanks at its end."""
    ends = [0, *(token.end for token in tokens)]
    starts = [*(token.start for token in tokens), len(text)]
    for end, start in zip(ends, starts, strict=True):
        for match in COMMENT.finditer(text, end, start):
            yield match.start(), match.group().rstrip()
