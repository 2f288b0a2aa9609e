"""Mutants of a spec: its text with one thing made wrong, and words that say which.

What is changed is found in the parsed tree, and the change is made in the text where the tree says
that it stands; so a mutant is a spec again, with its comments and all.  What a mutant is to be
compared by stays as it is: properties, worlds and expected verdicts.  Scenarios and expected
numbers, which belong to the spec as it was, are left out.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.diagnostics import Span
from checker.language.parser.cache import parse
from checker.language.syntax import ast, ast_clauses, ast_items

EFFECTS = (ast.Send, ast.Call, ast.Perform)
MOVABLE = (*EFFECTS, ast.Assign)
WEAKER = {">": ">=", "<": "<="}
BY_ONE = {">=": " - 1", "<=": " + 1"}
"""What behind the right side of a comparison makes it true one earlier."""


@dataclass(frozen=True)
class Mutant:
    """A changed ``text`` of the spec at ``path``: a change of ``kind``, in ``protocol``."""

    path: Path
    protocol: str
    kind: str
    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}: {self.protocol}: {self.what}"


@dataclass(frozen=True)
class Edit:
    """What stands from ``start`` to ``end`` becomes ``text``."""

    start: int
    end: int
    text: str


class Source:
    """The text of a spec, its tree, and where what the tree speaks of stands in the text."""

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
        """What is written at ``span``."""
        return self.text[slice(*self.bounds(span))]

    def said(self, span: Span) -> str:
        """The same as it is quoted, on one line."""
        return f"`{' '.join(self.at(span).split())}`"

    def instead(self, span: Span, text: str) -> Edit:
        return Edit(*self.bounds(span), text)

    def edited(self, edits: Sequence[Edit]) -> str:
        text = self.text
        for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        return text

    def kept(self) -> list[Edit]:
        """What every mutant has: imports that are found from anywhere, no scenarios, no numbers."""
        edits = []
        for item in self.spec.items:
            if isinstance(item, ast_items.Import):
                whole = (self.path.parent / item.path).resolve()
                edits.append(self.instead(item.span, f'import "{whole}"'))
            elif isinstance(item, ast_items.Check):
                for part in item.items:
                    number = isinstance(part, ast_items.Expect) and isinstance(part.value, int)
                    if number or isinstance(part, ast_clauses.Scenario):
                        edits.append(self.instead(part.span, ""))
        return edits


Change = tuple[str, int, str, list[Edit]]
"""A kind, a line, what is changed in words, and how."""


def mutants(path: Path) -> list[Mutant]:
    """All mutants of the spec at ``path``, those of each protocol in the order of its text."""
    source = Source(path)
    kept = source.kept()
    found = []
    for protocol in source.spec.items:
        if not isinstance(protocol, ast_items.Protocol):
            continue
        for kind, line, what, edits in _changes(source, protocol):
            said = f"line {line}: {what}"
            text = source.edited([*kept, *edits])
            found.append(Mutant(path, protocol.name.text, kind, said, text))
    return found


def checks_of(path: Path, protocol: str) -> list[str]:
    """The checks of the spec at ``path`` that may depend on its ``protocol``, by name."""
    spec = parse(path.read_text(encoding="utf-8"), str(path))
    protocols = {p.name.text: p for p in spec.items if isinstance(p, ast_items.Protocol)}
    found = []
    for check in spec.items:
        if not isinstance(check, ast_items.Check):
            continue
        given = [g.what.text for g in check.items if isinstance(g, ast_items.Given)]
        if protocol in _below(protocols, [check.protocol.text, *given]):
            found.append(check.name.text)
    return found


def _below(protocols: dict[str, ast_items.Protocol], names: list[str]) -> set[str]:
    """Those of ``protocols`` that ``names`` may stand on, they themselves included."""
    found: set[str] = set()
    while names:
        name = names.pop()
        if name in protocols and name not in found:
            found.add(name)
            used = {u.of.text for u in protocols[name].items if isinstance(u, ast_items.Uses)}
            implement = [
                p.name.text
                for p in protocols.values()
                if p.implements is not None and p.implements.text in used
            ]
            names += [*used, *implement]
    return found


# ---- the changes --------------------------------------------------------------------------------


def _changes(source: Source, protocol: ast_items.Protocol) -> Iterator[Change]:
    for item in _items(protocol):
        match item:
            case ast_items.State(stable=True, span=span):
                start, _ = source.bounds(span)
                edit = Edit(start, start + len("stable"), "")
                yield "volatile", span.line, f"not stable: {source.said(span)}", [edit]
            case ast_items.Handler():
                said = f"no handler `{item.label}`"
                yield "no handler", item.span.line, said, [source.instead(item.span, "")]
                yield from _guards(source, item)
                yield from _moved(source, item)
                for node in nodes_of(item):
                    yield from _left_out(source, node)
                    yield from _weakened(source, node)
                for block in _blocks(item):
                    yield from _swapped(source, block)


def _items(protocol: ast_items.Protocol) -> Iterator[ast_items.ProtocolItem]:
    for item in protocol.items:
        if isinstance(item, ast_items.Role):
            yield from item.items
        else:
            yield item


def _left_out(source: Source, node: object) -> Iterator[Change]:
    """Without a statement that others see, or without a conjunct."""
    match node:
        case ast.Send(span=span) | ast.Call(span=span) | ast.Perform(span=span):
            kind = f"no {type(node).__name__.lower()}"
            yield kind, span.line, f"not {source.said(span)}", [source.instead(span, "skip")]
        case ast.Operator("and", args):
            for arg in args:
                said = f"whether or not {source.said(arg.span)}"
                yield "no conjunct", arg.span.line, said, [source.instead(arg.span, "true")]


def _guards(source: Source, handler: ast_items.Handler) -> Iterator[Change]:
    """Without a guard, of the handler or of what stands in it."""
    inside = (getattr(node, "where", None) for node in nodes_of(handler.body))
    for guard in (handler.when, *inside):
        if guard is not None:
            said = f"not only when {source.said(guard.span)}"
            yield "no guard", guard.span.line, said, [source.instead(guard.span, "true")]


def _weakened(source: Source, node: object) -> Iterator[Change]:
    """A comparison that is true one earlier, or a majority that is a half."""
    match node:
        case ast.Operator("<" | ">" | "<=" | ">=" as op, (left, right), span):
            between = source.bounds(left.span)[1], source.bounds(right.span)[0]
            end = source.bounds(right.span)[1]
            if op in WEAKER:
                text = source.text[slice(*between)].replace(op, WEAKER[op], 1)
                edit = Edit(*between, text)
            else:
                edit = Edit(end, end, BY_ONE[op])
            yield "weaker", span.line, f"one less: {source.said(span)}", [edit]
        case ast.Operator("+", (ast.Operator("div"), ast.Integer(1) as one), span):
            edit = source.instead(one.span, "0")
            yield "weaker", span.line, f"one less: {source.said(span)}", [edit]


def _swapped(source: Source, block: ast.Block) -> Iterator[Change]:
    """Two neighbours the other way round, at least one of which others see."""
    for one, other in itertools.pairwise(block):
        if not (isinstance(one, MOVABLE) and isinstance(other, MOVABLE)):
            continue
        if isinstance(one, EFFECTS) or isinstance(other, EFFECTS):
            edits = [
                source.instead(one.span, source.at(other.span)),
                source.instead(other.span, source.at(one.span)),
            ]
            said = f"{source.said(other.span)} before {source.said(one.span)}"
            yield "swapped", one.span.line, said, edits


def _moved(source: Source, handler: ast_items.Handler) -> Iterator[Change]:
    """A call or a send first, or last, in its handler."""
    body = handler.body
    for node in nodes_of(body):
        if not isinstance(node, EFFECTS):
            continue
        text = source.at(node.span)
        away = source.instead(node.span, "skip")
        first, last = source.bounds(body[0].span)[0], source.bounds(body[-1].span)[1]
        if node is not body[0]:
            said = f"{source.said(node.span)} first in `{handler.label}`"
            yield "first", node.span.line, said, [away, Edit(first, first, f"{text}  ")]
        if node is not body[-1]:
            said = f"{source.said(node.span)} last in `{handler.label}`"
            yield "last", node.span.line, said, [away, Edit(last, last, f"  {text}")]


# ---- the tree -----------------------------------------------------------------------------------


def nodes_of(root: object) -> Iterator[object]:
    """Everything in a tree, from the outside to the inside."""
    if isinstance(root, tuple):
        for part in root:
            yield from nodes_of(part)
    elif dataclasses.is_dataclass(root) and not isinstance(root, Span):
        yield root
        for field in dataclasses.fields(root):
            yield from nodes_of(getattr(root, field.name))


def _blocks(handler: ast_items.Handler) -> Iterator[ast.Block]:
    """The blocks of a handler, from the outside to the inside."""
    yield handler.body
    for node in nodes_of(handler.body):
        match node:
            case ast.If(then=then, otherwise=otherwise):
                yield from (then, otherwise)
            case ast.Loop(body=body) | ast.Atomic(body=body):
                yield body
            case ast.Either(alternatives):
                yield from (block for _, block in alternatives)
