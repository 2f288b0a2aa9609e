"""Changed properties of a spec: each is stronger or weaker than the original, by what it changes.

The change of a part makes the whole stronger or weaker depending on how many negations and premises
the part is below (its polarity): without a conjunct a conclusion is weaker, and what has it as a
premise is stronger.

The properties are those that checks ask: of the file, and of interfaces declared elsewhere, which
are declared again at the end of the text with the change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from checker.diagnostics import Span
from checker.language.mutation.mutants import STRICTER, Mutant, operators, told_apart
from checker.language.mutation.mutants import WEAKER as LOOSER
from checker.language.mutation.source_text import Edit, Source
from checker.language.syntax import ast, ast_items, typed
from checker.results.mutation import STRONGER, WEAKER
from checker.results.verdict import Word

_NEVER_EMPTY = "Proc"


class _Change(Struct, frozen=True):
    """A changed formula, which is ``stronger`` or weaker; ``words``: what is changed in it."""

    stronger: bool
    span: Span
    words: str
    edits: list[Edit]


class ChangedProperty(Struct, frozen=True):
    """A ``mutant`` of a property, whose name stands for the protocol, and the ``checks`` that may
    notice it: of a weaker one those that expect it violated, of a stronger one the others."""

    mutant: Mutant
    checks: tuple[str, ...]


def property_mutants(path: Path, checks: Sequence[typed.Check]) -> list[ChangedProperty]:
    """Returns the changed properties of ``checks``, which are those of the spec at ``path``: those
    of each property together, and no stronger ones where all checks expect it violated."""
    properties: dict[tuple[str, int], typed.PropertyDef] = {}
    asking: dict[tuple[str, int], list[tuple[typed.Check, bool]]] = {}
    for check in checks:
        broken = {e.what for e in check.expect if e.value == Word.VIOLATED.value}
        for asked in check.prove:
            place = asked.span.file, asked.span.line
            if not asked.lemma and Path(place[0]).is_file():
                properties.setdefault(place, asked)
                asking.setdefault(place, []).append((check, asked.name in broken))
    here = Source(path)
    changed = []
    for place, asked in properties.items():
        there = here if place[0] == str(path) else Source(Path(place[0]))
        first = asking[place][0][0].span.line
        for mutant in told_apart(_mutants(here, there, asked, first)):
            wanted = mutant.kind == WEAKER
            judges = tuple(check.name for check, is_broken in asking[place] if is_broken == wanted)
            if judges or wanted:
                changed.append(ChangedProperty(mutant, judges))
    return changed


def _mutants(
    here: Source, there: Source, asked: typed.PropertyDef, elsewhere: int
) -> Iterator[Mutant]:
    """Yields the changes of a property that is declared ``there``; ``elsewhere``: the line of those
    that the spec itself does not declare."""
    kept = here.imports() + here.scenarios()
    for item in there.spec.items:
        declared = _declared(item, asked)
        if declared is None or (there is not here and not isinstance(item, ast_items.Interface)):
            continue
        for change in _changes(there, declared.formula, True):
            first, last = elsewhere, elsewhere
            if there is here:
                text = here.edited([*kept, *change.edits])
                first, last = change.span.line, change.span.end_line
            else:
                text = f"{here.edited(kept)}\n{there.edited(change.edits, item.span)}\n"
            kind = STRONGER if change.stronger else WEAKER
            yield Mutant(here.path, asked.name, kind, first, change.words, text, last)


def _declared(item: ast_items.Item, asked: typed.PropertyDef) -> ast_items.PropertyDecl | None:
    parts = getattr(item, "items", ())
    found = (part for part in parts if isinstance(part, ast_items.PropertyDecl))
    return next((part for part in found if part.name.span == asked.span), None)


def _changes(source: Source, formula: ast.Expr, positive: bool) -> Iterator[_Change]:
    """Yields the changes of a part of a property; ``positive``: it is below an even number of
    negations and premises, so that the whole is stronger where the part is."""

    def without(part: ast.Expr, neutral: str, stronger: bool) -> _Change:
        words = f"without {source.quoted(part.span)}"
        return _Change(stronger, part.span, words, [source.instead(part.span, neutral)])

    match formula:
        case ast.Operator("always" | "eventually", (part,)):
            yield from _changes(source, part, positive)
        case ast.Operator("not", (part,)):
            yield from _changes(source, part, not positive)
        case ast.Operator("and" | "or" as op, parts):
            for part in parts:
                neutral = "true" if op == "and" else "false"
                yield without(part, neutral, positive == (op == "or"))
                yield from _changes(source, part, positive)
        case ast.Operator("=>" | "~>", (premise, conclusion)):
            if not (isinstance(premise, ast.Operator) and premise.op == "and"):
                yield without(premise, "true", positive)
            yield from _changes(source, premise, not positive)
            yield from _changes(source, conclusion, positive)
        case ast.Operator("<=" | ">=" | "<" | ">" as op, parts, span):
            other = STRICTER.get(op) or LOOSER[op]
            edits = operators(source, op, other, parts)
            words = f"`{other}` in {source.quoted(span)}"
            yield _Change(positive == (op in STRICTER), span, words, edits)
        case ast.Quantified("forall" | "exists" as kind, binders, body):
            for binder in binders:
                if binder.where is not None:
                    yield without(binder.where, "true", positive == (kind == "forall"))
                    yield from _changes(source, binder.where, positive == (kind == "exists"))
            if kind == "exists" and _is_never_empty(binders):
                yield _for_all(source, formula, positive)
            yield from _changes(source, body, positive)
        case _:
            return


def _for_all(source: Source, formula: ast.Quantified, positive: bool) -> _Change:
    start, _ = source.bounds(formula.span)
    edit = Edit(start, start + len("exists"), "forall")
    bound = f"{source.quoted(formula.binders[0].span)[:-1]} …`"
    words = f"`forall` for `exists` before {bound}"
    return _Change(positive, formula.span, words, [edit])


def _is_never_empty(binders: tuple[ast.Binder, ...]) -> bool:
    """Returns whether what holds for all values of the names holds for some."""
    domains = [binder.domain for binder in binders if binder.domain is not None]
    return all(
        isinstance(domain, ast.Name) and domain.text == _NEVER_EMPTY for domain in domains
    ) and all(binder.where is None for binder in binders)
