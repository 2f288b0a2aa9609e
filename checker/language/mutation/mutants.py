"""Mutants of a spec: its text with one fault, and words that name it.

A fault is found in the syntax tree, and made in the text at the place that the tree names; so a
mutant is a spec again, with its comments.  Properties, worlds and expected verdicts stay as they
are.  Scenarios and expected numbers, which belong to the original, are left out.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from checker.diagnostics import Span
from checker.language.mutation.source_text import Edit, Source
from checker.language.mutation.unread import unread_assignments
from checker.language.syntax import ast, ast_items
from checker.language.syntax.walk import nodes_of
from checker.records import replace

_STABLE = re.compile(r"stable(\s+synced)?")
"""The words of a declaration of what is stable."""

EFFECTS = (ast.Send, ast.Call, ast.Perform)
MOVABLE = (*EFFECTS, ast.Assign)
OTHERS = (
    *(ast.Assign, ast.If, ast.Loop, ast.Either, ast.Require, ast.Timer, ast.Atomic),
    *(ast.Sync, ast.Await),
)
"""The statements besides these that bind no name."""

WEAKER = {">": ">=", "<": "<="}
STRICTER = {">=": ">", "<=": "<"}
BY_ONE = {">=": " - 1", "<=": " + 1"}
"""The text after a comparison that makes it true one earlier."""

OPPOSITE = {"==": "!=", "!=": "==", "and": "or", "or": "and"}


class Mutant(Struct, frozen=True):
    """A changed ``text`` of the spec at ``path``: a change of ``kind`` in line ``line`` of
    ``protocol``, which touches the lines up to ``last``; ``change``: it in words.

    ``variants``: the same text with a variant of the protocol, by its name; it may be invalid: a
    variant can be equal to a mutant, or change what a mutant lacks.  ``unread``: the state that it
    stores another value in, or none, where that is all of the change and nothing reads it."""

    path: Path
    protocol: str
    kind: str
    line: int
    change: str
    text: str
    last: int
    variants: Mapping[str, str] = {}
    unread: str = ""

    @property
    def what(self) -> str:
        """The change, with its line."""
        return f"line {self.line}: {self.change}"

    def touches(self, lines: Collection[int]) -> bool:
        """Returns whether it changes one of these lines."""
        return any(line in lines for line in range(self.line, self.last + 1))

    def __str__(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}: {self.protocol}: {self.what}"


_Changed = ast_items.Protocol | ast_items.Variant

Change = tuple[str, int, str, list[Edit]]
"""A kind, a line, what is changed in words, and how."""


def mutants(path: Path) -> list[Mutant]:
    """All mutants of the spec at ``path``, those of each protocol in the order of its text, then
    those of what each variant adds or replaces."""
    source = Source(path)
    items = source.spec.items
    protocols = {p.name.text: p for p in items if isinstance(p, ast_items.Protocol)}
    variants = [each for each in items if isinstance(each, ast_items.Variant)]
    found: dict[str, Mutant] = {}
    everything: list[_Changed] = [*protocols.values(), *variants]
    for changed in everything:
        base = protocols.get(source.made_of(changed.name.text)[-1])
        unread = [] if base is None else unread_assignments(source.spec, base)
        for mutant in _mutants_of(source, changed, unread):
            found.setdefault(mutant.text, mutant)
    return told_apart(found.values())


def _mutants_of(
    source: Source, changed: _Changed, unread: list[tuple[Span, str]]
) -> Iterator[Mutant]:
    name = changed.name.text
    kept = source.kept(name)
    of_this = {
        each: source.kept(each)
        for each in sorted(source.lonely_variants() - {name})
        if name in source.made_of(each)
    }
    for kind, line, what, edits in _changes(source, changed):
        text = source.edited([*kept, *edits])
        last = max(source.line_of(edit.end) for edit in edits)
        variants = {v: source.edited([*kept, *edits]) for v, kept in of_this.items()}
        stored = next((state for span, state in unread if source.has(span, edits)), "")
        yield Mutant(source.path, name, kind, line, what, text, last, variants, stored)


def told_apart(found: Iterable[Mutant]) -> list[Mutant]:
    """Returns the mutants; the second and later ones of a protocol that read alike are numbered."""
    times = Counter[tuple[str, str]]()
    numbered = []
    for each in found:
        times[each.protocol, each.change] += 1
        number = times[each.protocol, each.change]
        numbered.append(each if number == 1 else replace(each, change=f"{each.change} ({number})"))
    return numbered


def checks_of(path: Path, protocol: str) -> dict[str, str]:
    """The checks of the spec at ``path`` that may depend on its ``protocol``, or variant, by name:
    each with the variant that its text needs (:attr:`Mutant.variants`), empty where it needs none.
    """
    source = Source(path)
    alone = source.lonely_variants()
    protocols = {p.name.text: p for p in source.spec.items if isinstance(p, ast_items.Protocol)}
    found = {}
    for check in source.spec.items:
        if not isinstance(check, ast_items.Check):
            continue
        given = [g.what.text for g in check.items if isinstance(g, ast_items.Given)]
        of = check.protocol.text
        made_of = source.made_of(of)
        if protocol in (*made_of, *given, *_below(protocols, [made_of[-1], *given])):
            found[check.name.text] = of if of in alone and of != protocol else ""
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


def _changes(source: Source, protocol: _Changed) -> Iterator[Change]:
    for item in _items(protocol):
        match item:
            case ast_items.State(stable=True, span=span):
                start, _ = source.bounds(span)
                words = _STABLE.match(source.at(span))
                assert words is not None
                edit = Edit(start, start + words.end(), "")
                yield "volatile", span.line, f"not stable: {source.quoted(span)}", [edit]
            case ast_items.Handler():
                label = f"no handler `{item.label}`"
                yield "no handler", item.span.line, label, [source.instead(item.span, "")]
                yield from _guards(source, item)
                yield from _moved(source, item)
                yield from _inside(source, item)
                for block in _blocks(item.body):
                    yield from _swapped(source, block)
            case ast_items.Procedure(body=body):
                yield from _inner_guards(source, body)
                yield from _inside(source, body)
                for block in _blocks(body):
                    yield from _swapped(source, block)
            case ast_items.Definition(value=value):
                yield from _inside(source, value)


def _inside(source: Source, root: object) -> Iterator[Change]:
    """The changes of single statements and operators."""
    for node in nodes_of(root):
        yield from _left_out(source, node)
        yield from _dissolved(source, node)
        yield from _weakened(source, node)
        yield from _replaced(source, node)


def _items(protocol: _Changed) -> Iterator[object]:
    for item in protocol.items:
        if isinstance(item, ast_items.Role | ast_items.RoleChange):
            yield from item.items
        else:
            yield item


def _left_out(source: Source, node: object) -> Iterator[Change]:
    """Without a statement that others see, or without a conjunct."""
    match node:
        case ast.Send(span=span) | ast.Call(span=span) | ast.Perform(span=span):
            kind = f"no {type(node).__name__.lower()}"
            yield kind, span.line, f"without {source.quoted(span)}", [source.instead(span, "skip")]
        case _ if isinstance(node, OTHERS):
            edit = source.instead(node.span, "skip")
            yield "no statement", node.span.line, f"without {source.quoted(node.span)}", [edit]
        case ast.Operator("and", args):
            for arg in args:
                label = f"without {source.quoted(arg.span)}"
                yield "no conjunct", arg.span.line, label, [source.instead(arg.span, "true")]


def _dissolved(source: Source, node: object) -> Iterator[Change]:
    """The statements of an atomic block, one after the other."""
    match node:
        case ast.Atomic((first, *_) as body, span):
            start, end = source.bounds(span)
            inside = source.bounds(first.span)[0], source.bounds(body[-1].span)[1]
            edits = [Edit(start, inside[0], ""), Edit(inside[1], end, "")]
            yield "not atomic", span.line, f"not atomic: {source.quoted(span)}", edits


def _guards(source: Source, handler: ast_items.Handler) -> Iterator[Change]:
    """Without a guard, of the handler or of a choice or binder in it."""
    if handler.when is not None:
        yield _unguarded(source, handler.when)
    yield from _inner_guards(source, handler.body)


def _inner_guards(source: Source, body: ast.Block) -> Iterator[Change]:
    guards = (getattr(node, "where", None) for node in nodes_of(body))
    yield from (_unguarded(source, guard) for guard in guards if guard is not None)


def _unguarded(source: Source, guard: ast.Expr) -> Change:
    label = f"without the guard {source.quoted(guard.span)}"
    return "no guard", guard.span.line, label, [source.instead(guard.span, "true")]


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
            yield "weaker", span.line, f"one less: {source.quoted(span)}", [edit]
        case ast.Operator("+", (ast.Operator("div"), ast.Integer(1) as one), span):
            edit = source.instead(one.span, "0")
            yield "weaker", span.line, f"one less: {source.quoted(span)}", [edit]


def _replaced(source: Source, node: object) -> Iterator[Change]:
    """Another operator, or a number that is one off."""
    match node:
        case ast.Operator("<=" | ">=" as op, args, span):
            edits = operators(source, op, STRICTER[op], args)
            yield "stricter", span.line, f"`{STRICTER[op]}` in {source.quoted(span)}", edits
        case ast.Operator("==" | "!=" | "and" | "or" as op, args, span):
            edits = operators(source, op, OPPOSITE[op], args)
            kind = "negated" if "=" in op else "and, or"
            yield kind, span.line, f"`{OPPOSITE[op]}` in {source.quoted(span)}", edits
        case ast.Integer(value, span):
            for other in (value - 1, value + 1):
                if 0 <= other <= ast.LARGEST:
                    label = f"{other} for {value}, column {span.column}"
                    yield "one off", span.line, label, [source.instead(span, str(other))]


def operators(source: Source, op: str, other: str, args: tuple[ast.Expr, ...]) -> list[Edit]:
    """Returns the edits by which each ``op`` between operands becomes ``other``."""
    edits = []
    for left, right in itertools.pairwise(args):
        start, end = source.bounds(left.span)[1], source.bounds(right.span)[0]
        between = re.sub(rf"(?<![<>=!\w]){op}(?![=\w])", other, source.text[start:end], count=1)
        edits.append(Edit(start, end, between))
    return edits


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
            label = f"{source.quoted(other.span)} before {source.quoted(one.span)}"
            yield "swapped", one.span.line, label, edits


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
            label = f"{source.quoted(node.span)} first in `{handler.label}`"
            yield "first", node.span.line, label, [away, Edit(first, first, f"{text}  ")]
        if node is not body[-1]:
            label = f"{source.quoted(node.span)} last in `{handler.label}`"
            yield "last", node.span.line, label, [away, Edit(last, last, f"  {text}")]


# ---- the tree -----------------------------------------------------------------------------------


def _blocks(body: ast.Block) -> Iterator[ast.Block]:
    """The blocks of a body, from the outside to the inside."""
    yield body
    for node in nodes_of(body):
        yield from ast.blocks_of(node)
