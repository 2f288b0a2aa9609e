"""The text of a spec with its syntax tree, and edits of the text at places of the tree."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Collection, Sequence
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

    def line_of(self, place: int) -> int:
        """The line in which a place of the text is."""
        return bisect.bisect_right(self.starts, place)

    def at(self, span: Span) -> str:
        """The text at ``span``."""
        return self.text[slice(*self.bounds(span))]

    def quoted(self, span: Span) -> str:
        """The text at ``span`` on one line, quoted."""
        return f"`{' '.join(self.at(span).split())}`"

    def instead(self, span: Span, text: str) -> Edit:
        return Edit(*self.bounds(span), text)

    def has(self, span: Span, edits: Sequence[Edit]) -> bool:
        """Returns whether the edits change nothing but what is at ``span``."""
        start, end = self.bounds(span)
        return all(start <= edit.start and edit.end <= end for edit in edits)

    def edited(self, edits: Sequence[Edit], within: Span | None = None) -> str:
        """The text after the edits; ``within``: this part of it, which has them all."""
        start, end = (0, len(self.text)) if within is None else self.bounds(within)
        text = self.text[:end]
        for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        return text[start:]

    def kept(self, variant: str = "") -> list[Edit]:
        """The edits of every mutant of a protocol: imports with absolute paths; no scenarios, no
        mutants of its author, no numbers, and no variants that only their own checks need, since a
        mutant may be equal to one; ``variant``: this one stays, with those that it is made of."""
        alone = self.lonely_variants() - {*self.made_of(variant)}
        edits = self.imports() + self.scenarios(alone)
        for item in self.spec.items:
            name = item.protocol if isinstance(item, ast_items.Check) else None
            if isinstance(item, ast_items.Variant):
                name = item.name
            if name is not None and name.text in alone:
                edits.append(self.instead(item.span, ""))
            elif isinstance(item, ast_items.Check):
                edits += [
                    self.instead(part.span, "")
                    for part in item.items
                    if isinstance(part, ast_items.Mutant)
                ]
        return edits

    def imports(self) -> list[Edit]:
        """The edits that give imports absolute paths."""
        return [
            self.instead(item.span, f'import "{(self.path.parent / item.path).resolve()}"')
            for item in self.spec.items
            if isinstance(item, ast_items.Import)
        ]

    def scenarios(self, but_of: Collection[str] = ()) -> list[Edit]:
        """The edits that leave out scenarios and expected numbers of checks, but for those of the
        protocols ``but_of``."""
        return [
            self.instead(part.span, "")
            for item in self.spec.items
            if isinstance(item, ast_items.Check) and item.protocol.text not in but_of
            for part in item.items
            if isinstance(part, ast_clauses.Scenario)
            or (isinstance(part, ast_items.Expect) and isinstance(part.value, int))
        ]

    def made_of(self, name: str) -> list[str]:
        """The protocol or variant ``name``, and those that it is a variant of, the last one a
        protocol."""
        variants = {
            each.name.text: each for each in self.spec.items if isinstance(each, ast_items.Variant)
        }
        found = [name]
        while name in variants and variants[name].of.text not in found:
            name = variants[name].of.text
            found.append(name)
        return found

    def lonely_variants(self) -> set[str]:
        """The variants that may be left out: none where layers may be made of protocols of the
        file, since what implements an interface alone is its layer."""
        items = self.spec.items
        protocols = [each for each in items if isinstance(each, ast_items.Protocol)]
        own = {each.name.text for each in protocols}
        own |= {each.implements.text for each in protocols if each.implements is not None}
        layers = {
            part.of.text
            for each in items
            if isinstance(each, ast_items.Protocol | ast_items.Variant)
            for part in each.items
            if isinstance(part, ast_items.Uses)
        }
        given = any(
            isinstance(part, ast_items.Given)
            for each in items
            if isinstance(each, ast_items.Check)
            for part in each.items
        )
        if given or layers & own:
            return set()
        return {each.name.text for each in items if isinstance(each, ast_items.Variant)}
