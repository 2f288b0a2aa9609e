"""Holes of a spec (``??``), and the texts that may fill each: expressions of its type over the
names in sight, thresholds over the sizes of the system, or those that the author lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.graphs import reached
from checker.language.library import Library, open_source, prelude
from checker.language.load import sort_diagnostics
from checker.language.mutation.source_text import Edit, Source
from checker.language.parser.parse import parse
from checker.language.syntax import ast, ast_items, typed
from checker.language.syntax.walk import nodes_of
from checker.language.typecheck.blanks import HOLE, Blank
from checker.language.typecheck.expressions import check
from checker.language.typecheck.scope import UNKNOWN, Reporter, Scope
from checker.language.typecheck.scope import Hole as TypingFailed
from checker.language.typecheck.types import BOOL, INT, PROC, fits, show
from checker.language.typed_module import module_of
from checker.records import replace

ORDERED = ("<", "<=", "==", "!=", ">=", ">")
EQUAL = ("==", "!=")
"""The comparisons of numbers, and of other values."""
LARGEST = 4
"""The size up to which numbers are tried where no check says ``n``."""
_SIMPLE = typed.Proc | typed.Msg | typed.Enum
"""The types of values that are compared for equality in guards."""


class Hole(Struct, frozen=True):
    """The hole number ``number`` of a file, at ``span``, in the declaration ``of``; ``type``: in
    words; ``candidates``: what may fill it.  ``sizes``: those of them that are numbers which
    follow from the sizes of a system, typed."""

    number: int
    span: Span
    of: str
    type: str
    candidates: tuple[str, ...]
    compares: bool
    sizes: Mapping[str, typed.Expr]


class HoledSpec:
    """A spec with holes; ``holes``: in the order of the text."""

    def __init__(self, path: Path) -> None:
        """Raises :class:`SpecError`: what is wrong with the spec besides, E153 where a hole has no
        candidates, E154 where one stands where none can be filled, E155 where there is none."""
        self._source = Source(path)
        blanks = _blanks(self._source)
        if not blanks:
            hint = "write `??` for an expression or a comparison that is to be found"
            raise SpecError((Diagnostic("E155", f"{path} has no hole", hint=hint),))
        _require_fillable(self._source, blanks)
        self.holes = tuple(
            self._hole(number, blank) for number, blank in enumerate(blanks, start=1)
        )

    def _hole(self, number: int, blank: Blank) -> Hole:
        item = _item_at(self._source, blank.span)
        found = tuple(dict.fromkeys(_candidates(self._source, item, blank)))
        wanted = "a comparison" if blank.compares else show(blank.type)
        if not found:
            what = "this hole" if blank.type == UNKNOWN else f"`{wanted}`"
            message = f"there is no finite list of candidates for {what}"
            hint = "list what may stand here: `??(first, second)`"
            raise SpecError((Diagnostic("E153", message, blank.span, hint=hint),))
        name = "" if item is None else _name(item)
        sizes = {} if blank.compares else _sizes(found, item, blank)
        return Hole(number, blank.span, name, wanted, found, blank.compares, sizes)

    def filled(self, values: Sequence[str]) -> str:
        """Returns the text with a candidate in each hole.  Imports have absolute paths; scenarios,
        expected numbers and the mutants of checks, which belong to a finished protocol, are left
        out."""
        source = self._source
        edits = [*source.imports(), *source.scenarios(), *_mutants_out(source)]
        for hole, value in zip(self.holes, values, strict=True):
            edits.append(self._edit(hole, value))
        return source.edited(edits)

    def shown(self, hole: Hole) -> str:
        """Returns the line of a hole, without the blanks around it."""
        return self._source.text.split("\n")[hole.span.line - 1].partition("//")[0].strip()

    def _edit(self, hole: Hole, value: str) -> Edit:
        if not hole.compares:
            return self._source.instead(hole.span, f"({value})" if " " in value else value)
        holes = (n for n in _holes_in(self._source.spec) if isinstance(n, ast.Operator))
        left, right = next(node.args for node in holes if node.span == hole.span)
        start, end = self._source.bounds(left.span)[1], self._source.bounds(right.span)[0]
        return Edit(start, end, self._source.text[start:end].replace("??", value, 1))


def _holes_in(tree: object) -> Iterator[ast.Blank | ast.Operator]:
    """Yields the holes in a syntax tree, in order."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Blank) or (isinstance(node, ast.Operator) and node.op == "??"):
            yield node


def _mutants_out(source: Source) -> Iterator[Edit]:
    for item in source.spec.items:
        parts = item.items if isinstance(item, ast_items.Check) else ()
        yield from (source.instead(p.span, "") for p in parts if isinstance(p, ast_items.Mutant))


def _blanks(source: Source) -> list[Blank]:
    """Returns the holes that the types of a file, or of what it imports, have; raises
    :class:`SpecError` with all other errors."""
    opened = open_source(source.text, source.path)
    library = Library(opened, prelude(), Reporter())
    module_of(library.sources[0], library)
    wrong = tuple(each for each in library.report.found if each.code != HOLE)
    if wrong:
        raise SpecError(sort_diagnostics(wrong, str(source.path)))
    found = dict(library.report.blanks)
    scope = Scope(library.around(str(source.path)), "constant")
    for node in _holes_in(source.spec):
        found.setdefault(node.span, Blank(node.span, UNKNOWN, scope))
    return sorted(
        found.values(), key=lambda each: (each.span.file, each.span.line, each.span.column)
    )


# ---- where holes can be filled -----------------------------------------------------------------


def _require_fillable(source: Source, blanks: Sequence[Blank]) -> None:
    """Raises :class:`SpecError` (E154) for a hole in a property, a check or an assumption, in an
    imported file, or in another hole."""
    wrong = []
    for blank in blanks:
        reason = _why_not(source, blank)
        if reason is not None:
            message, hint = reason
            wrong.append(Diagnostic("E154", message, blank.span, hint=hint))
    if wrong:
        raise SpecError(tuple(wrong))


def _why_not(source: Source, blank: Blank) -> tuple[str, str] | None:
    """Returns why a hole can't be filled, and what to do; ``None`` where it can."""
    if blank.span.file != str(source.path):
        return "this hole is in an imported file", "fill it there, or move it into this file"
    around = [node for node in nodes_of(source.spec) if _contains(node, blank.span)]
    kinds = {type(node) for node in around}
    if sum(isinstance(node, ast.Blank) for node in around) > 1:
        return "this hole is in another hole", "list expressions without holes"
    if ast_items.PropertyDecl in kinds or _names_of(around) & _in_properties(source):
        hint = "write what is required; `bivalence mutate --properties` finds stronger properties"
        return "this hole is in a property, and whatever makes it true would fill it", hint
    if ast_items.Check in kinds:
        hint = "`bivalence frontier` and `bivalence sweep` search sizes and worlds"
        return "this hole is in a check, and checks judge what fills a hole", hint
    required = (i.requires for i in around if isinstance(i, ast_items.Protocol | ast_items.Variant))
    if any(_contains(each, blank.span) for each in required):
        hint = "`bivalence frontier` finds the sizes for which a check holds"
        return "this hole is in what a protocol requires of its sizes", hint
    if not kinds & {
        ast_items.Protocol,
        ast_items.Variant,
        ast_items.Definition,
        ast_items.Constant,
    }:
        return "this hole is in no protocol", "fill holes of protocols, definitions and constants"
    return None


def _names_of(nodes: Iterable[object]) -> set[str]:
    """Returns the names of the definitions and constants among the nodes."""
    kinds = ast_items.Definition | ast_items.Constant
    return {node.name.text for node in nodes if isinstance(node, kinds)}


def _in_properties(source: Source) -> set[str]:
    """Returns the names that the properties of a file stand on."""
    uses: dict[str, set[str]] = {}
    for node in nodes_of(source.spec):
        if isinstance(node, ast_items.Definition | ast_items.Constant):
            uses.setdefault(node.name.text, set()).update(_used(node))
    asked = (node for node in nodes_of(source.spec) if isinstance(node, ast_items.PropertyDecl))
    return set(reached(set().union(*map(_used, asked)), lambda name: uses.get(name, ())))


def _used(tree: object) -> set[str]:
    nodes = [*nodes_of(tree)]
    applied = {node.name for node in nodes if isinstance(node, ast.Apply)}
    return applied | {node.text for node in nodes if isinstance(node, ast.Name)}


def _contains(node: object, span: Span) -> bool:
    around = getattr(node, "span", None)
    if not isinstance(around, Span):
        return False
    starts = (around.line, around.column) <= (span.line, span.column)
    return starts and (span.end_line, span.end_column) <= (around.end_line, around.end_column)


def _item_at(source: Source, span: Span) -> ast_items.Item | None:
    return next((item for item in source.spec.items if _contains(item, span)), None)


def _name(item: ast_items.Item) -> str:
    name = getattr(item, "name", None)
    return name.text if isinstance(name, ast.Name) else ""


# ---- candidates ---------------------------------------------------------------------------------


def _candidates(source: Source, item: ast_items.Item | None, blank: Blank) -> Iterator[str]:
    if blank.options:
        yield from (source.at(option.span) for option in blank.options)
    elif blank.compares:
        yield from ORDERED if isinstance(blank.type, typed.Int) else EQUAL
    elif blank.type != UNKNOWN:
        names = _names(blank.scope)
        match blank.type:
            case typed.Bool():
                yield from _conditions(names)
            case typed.Int():
                yield from _numbers(source, item, names, blank.scope)
            case typed.Enum(_, labels):
                yield from labels
            case typed.Option():
                yield "none"
            case typed.Set():
                yield "{}"
        plain = not isinstance(blank.type, typed.Bool | typed.Int)
        yield from (name for name, type_ in names.items() if plain and fits(type_, blank.type))


def _names(scope: Scope) -> dict[str, typed.Type]:
    """Returns the names of values that are in sight, with their types; sizes are none of them."""
    found = {name: known.type for name, known in scope.names.items()}
    if scope.mode == "code":
        for where in (scope.role, None):
            found |= scope.home.states.get(where, {})
        found["self"] = PROC
    found |= {n: t for n, t in scope.home.params.items() if not isinstance(t, typed.Int)}
    return found


def _conditions(names: dict[str, typed.Type]) -> Iterator[str]:
    """Yields simple conditions: variables, members of sets, equal values, and their negations."""
    yield from ("true", "false")
    for name, type_ in names.items():
        if type_ == BOOL:
            yield from (name, f"not {name}")
        for other, wanted in names.items():
            if isinstance(wanted, typed.Set) and fits(type_, wanted.item):
                yield from (f"{name} in {other}", f"{name} not in {other}")
            if isinstance(type_, _SIMPLE) and name < other and fits(type_, wanted):
                yield from (f"{name} == {other}", f"{name} != {other}")
        if isinstance(type_, typed.Enum):
            yield from (f"{name} == {label}" for label in type_.labels)


def _numbers(
    source: Source, item: ast_items.Item | None, names: dict[str, typed.Type], scope: Scope
) -> Iterator[str]:
    """Yields thresholds over the sizes, variables and their neighbours (one less, one more), and
    small numbers."""
    yield from ("n div 2", "n div 2 + 1")
    for size in _open_sizes(item, scope):
        yield from (size, f"{size} + 1", f"2 * {size}", f"2 * {size} + 1", f"3 * {size} + 1")
        yield from (f"n - {size}", f"n - {size} + 1", f"n - 2 * {size}")
        yield from (f"(n + {size}) div 2", f"(n + {size}) div 2 + 1")
    yield from ("n", "n - 1")
    for name, type_ in names.items():
        if isinstance(type_, typed.Int):
            yield from (name, f"{name} + 1", f"{name} - 1")
    yield from map(str, range(_largest(source) + 2))


def _open_sizes(item: ast_items.Item | None, scope: Scope) -> list[str]:
    """Returns the sizes besides ``n`` that no default determines, which a hole may stand in."""
    given = item.parameters if isinstance(item, ast_items.Protocol | ast_items.Variant) else ()
    names = {"f", *(p.name.text for p in given if p.default is None)}
    params = scope.home.params.items()
    return [name for name, type_ in params if isinstance(type_, typed.Int) and name in names]


def _sizes(
    texts: Sequence[str], item: ast_items.Item | None, blank: Blank
) -> dict[str, typed.Expr]:
    """Returns, typed, the texts whose values follow from the sizes of a system."""
    if not isinstance(blank.type, typed.Int):
        return {}
    sizes = {"n", *_open_sizes(item, blank.scope)}
    home = replace(blank.scope.home, report=Reporter(), states={}, constants={})
    home = replace(home, params={name: INT for name in home.params if name in sizes})
    found = {}
    for text in texts:
        (constant,) = parse(f"const x = {text}", "").items
        assert isinstance(constant, ast_items.Constant)
        with suppress(TypingFailed):
            found[text] = check(constant.value, Scope(home, "constant"), INT)
    return found


def _largest(source: Source) -> int:
    """Returns the largest number of processes that a check has."""
    found = [
        part.value.value
        for item in source.spec.items
        if isinstance(item, ast_items.Check)
        for part in item.items
        if isinstance(part, ast_items.Setting) and part.name.text == "n"
        if isinstance(part.value, ast.Integer)
    ]
    return max(found, default=LARGEST)
