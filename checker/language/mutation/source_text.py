"""The text of a spec with its syntax tree, and edits of the text at places of the tree."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from checker.diagnostics import Span
from checker.language.parser.cache import parse
from checker.language.syntax import ast_clauses, ast_items


class Edit(Struct, frozen=True):
    """The characters from ``start`` to ``end`` become ``text``."""

    start: int
    end: int
    text: str


class Source:
    """The text of a spec, its tree, and the place in the text of each part of the tree."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.spec = parse(self.text, str(path))
        lines = self.text.split("\n")
        self.starts = [0, *itertools.accumulate(len(line) + 1 for line in lines)]

    def bounds(self, span: Span) -> tuple[int, int]:
        """Where ``span`` begins and ends."""
        return (
            self.starts[span.line - 1] + span.column - 1,
            self.starts[span.end_line - 1] + span.end_column - 1,
        )

    def at(self, span: Span) -> str:
        """The text at ``span``."""
        return self.text[slice(*self.bounds(span))]

    def quoted(self, span: Span) -> str:
        """The text at ``span`` on one line, quoted."""
        return f"`{' '.join(self.at(span).split())}`"

    def instead(self, span: Span, text: str) -> Edit:
        return Edit(*self.bounds(span), text)

    def edited(self, edits: Sequence[Edit]) -> str:
        text = self.text
        for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        return text

    def kept(self) -> list[Edit]:
        """The edits of every mutant: imports with absolute paths; no scenarios, no mutants of
        its author, no numbers."""
        edits = []
        for item in self.spec.items:
            if isinstance(item, ast_items.Import):
                whole = (self.path.parent / item.path).resolve()
                edits.append(self.instead(item.span, f'import "{whole}"'))
            elif isinstance(item, ast_items.Check):
                for part in item.items:
                    number = isinstance(part, ast_items.Expect) and isinstance(part.value, int)
                    if number or isinstance(part, ast_clauses.Scenario | ast_items.Mutant):
                        edits.append(self.instead(part.span, ""))
        return edits
