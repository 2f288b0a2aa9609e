"""Builds the syntax tree from the parser's tree.

The grammar says what a node is: a rule that is called as a class of the syntax tree becomes an
instance of it, with a field for each child in turn; a last field that is a tuple takes all children
that are left.  Any other rule becomes a tuple of its children.  What is built otherwise is listed
in ``MAKERS``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, get_args

from lark import Token, Tree
from msgspec import Struct

from checker.diagnostics import Span
from checker.language.syntax import ast, ast_chance, ast_clauses, ast_draws, ast_items, ast_objects
from checker.records import fields, is_record, replace

DEPTH = 60
"""The largest nesting depth of expressions, types and blocks."""


class TooDeep(Exception):
    """Raised where something nests too deeply; ``span`` is where."""

    def __init__(self, span: Span) -> None:
        super().__init__("too deep")
        self.span = span


class NumberTooLarge(Exception):
    """Raised where a number is too large; ``span`` is where."""

    def __init__(self, span: Span) -> None:
        super().__init__("too large")
        self.span = span


_ABSENT = {"str": "", "bool": False, "tuple": ()}
"""What a field of a type is where nothing is written for it; ``None`` for all other types."""


class _Shape(Struct, frozen=True):
    """How children become an instance of ``kind``: the ``types`` of its fields in turn, those of
    ``_ABSENT`` and others; ``is_open``: one more field takes the children that are left."""

    kind: type
    types: tuple[str, ...]
    is_open: bool
    has_span: bool


def _shape(kind: type) -> _Shape:
    declared = {field.name: str(field.type) for field in fields(kind)}
    has_span = declared.pop("span", None) is not None
    types = [re.sub(r"^(tuple\b|(ast\.)?Block$).*", "tuple", name) for name in declared.values()]
    is_open = types[-1:] == ["tuple"]
    return _Shape(kind, tuple(types[:-1] if is_open else types), is_open, has_span)


def rule_of(kind: type) -> str:
    """Returns the name of the rule whose trees become instances of ``kind``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


_PREFIXES = {"-": "neg", "#": "size"}


class Builder:
    """Builds the declarations of one text; raises :class:`TooDeep` and :class:`NumberTooLarge`."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._lines = text.split("\n")
        self._depth = 0

    def spec(self, tree: Tree[Any]) -> tuple[ast_items.Item, ...]:
        return tuple(map(self._build, tree.children))

    # ---- from the grammar ---------------------------------------------------------------------

    def _build(self, part: Tree[Any] | Token | None) -> Any:
        """Returns the node or tuple of a tree, the value of a word, ``None`` for nothing."""
        if part is None:
            return None
        if isinstance(part, Token):
            return self._integer(part) if part.type == "INT" else self._word(part)
        make: Maker = MAKERS.get(part.data, Builder._list)
        if part.data not in _NESTING:
            return make(self, part)
        self._depth += 1
        if self._depth > DEPTH:
            raise TooDeep(self._span(part))
        built = make(self, part)
        self._depth -= 1
        return built

    def _list(self, tree: Tree[Any]) -> tuple[Any, ...]:
        return tuple(map(self._build, tree.children))

    def _node(self, tree: Tree[Any], shape: _Shape) -> Any:
        children, types = tree.children, shape.types
        parts = list(map(self._field, types, children))
        parts += map(_ABSENT.get, types[len(children) :])
        left = children[len(types) :]
        parts += [self._all(left)] if shape.is_open else left
        if shape.has_span:
            parts.append(self._span(tree))
        return shape.kind(*parts)

    def _field(self, type_: str, part: Tree[Any] | Token | None) -> Any:
        """Returns the value of a field of a type: of a string or flag, that of the word alone."""
        if part is None:
            return _ABSENT.get(type_)
        if type_ == "str":
            return str(part).strip('"')
        return True if type_ == "bool" else self._build(part)

    def _all(self, parts: list[Any]) -> tuple[Any, ...]:
        """Returns what is built from each of ``parts``, or from the one that is a list of them."""
        built = tuple(self._build(part) for part in parts if part is not None)
        return built[0] if len(built) == 1 and isinstance(built[0], tuple) else built

    # ---- locations ----------------------------------------------------------------------------

    def _span(self, part: Tree[Any] | Token) -> Span:
        place: Any = part if isinstance(part, Token) else part.meta
        return Span(self._file, place.line, place.column, place.end_line, place.end_column)

    def _source(self, span: Span) -> str:
        """Returns the text at ``span``, with white space and comments replaced by single blanks."""
        lines = self._lines[span.line - 1 : span.end_line]
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return " ".join(" ".join(line.split("//")[0] for line in lines).split())

    # ---- by hand: words -----------------------------------------------------------------------

    def _word(self, word: Token) -> ast.Name:
        return ast.Name(str(word), self._span(word))

    def _integer(self, word: Token) -> int:
        if len(word) > 10 or int(word) > ast.LARGEST:
            raise NumberTooLarge(self._span(word))
        return int(word)

    def _make_name(self, tree: Any) -> ast.Name:
        return ast.Name(" ".join(" ".join(tree.children).split()), self._span(tree))

    def _make_to_role(self, tree: Any) -> ast.Name:
        word = tree.children[0].split()[-1]
        whole = self._span(tree)
        return ast.Name(word, replace(whole, column=whole.end_column - len(word)))

    # ---- by hand: expressions and statements --------------------------------------------------

    def _make_operator(self, tree: Any) -> ast.Operator:
        words = [part for part in tree.children if isinstance(part, Token)]
        operands = self._all([part for part in tree.children if isinstance(part, Tree)])
        op = " ".join(dict.fromkeys(words))
        op = _PREFIXES.get(op, op) if len(operands) == 1 else op
        return ast.Operator(op, operands, self._span(tree))

    def _make_truth(self, tree: Any) -> ast.Truth:
        return ast.Truth(tree.children[0] == "true", self._span(tree))

    def _make_display(self, tree: Any) -> ast.Display:
        return ast.Display(str(tree.data), self._all(tree.children), self._span(tree))

    def _make_entry(self, tree: Any) -> tuple[str, ast.Expr]:
        name, value = tree.children
        return str(name), self._build(value)

    def _make_timer(self, tree: Any) -> ast.Timer:
        name, key, *duration = map(self._build, tree.children)
        kind = tree.data.removesuffix("_timer")
        return ast.Timer(kind, name, key, duration[0] if duration else None, self._span(tree))

    def _make_either(self, tree: Any) -> ast.Either:
        built = [tuple(map(self._build, each.children)) for each in tree.children]
        alternatives = tuple((when, body) for _, when, body in built)
        return ast.Either(alternatives, self._span(tree), tuple(name for name, *_ in built))

    def _make_sync(self, tree: Any) -> ast.Sync:
        *names, otherwise = map(self._build, tree.children)
        return ast.Sync(names[0] if names else (), otherwise or (), self._span(tree))

    # ---- by hand: declarations and checks -----------------------------------------------------

    def _make_property(self, tree: Any) -> ast_items.PropertyDecl:
        *_, name, document, formula = tree.children
        built = self._build(formula)
        return ast_items.PropertyDecl(
            self._build(name),
            self._field("str", document),
            built,
            self._source(built.span),
            self._span(tree),
            tree.data == "invariant",
        )

    def _make_state(self, tree: Any) -> ast_items.State:
        *synced, name, type_, initial = map(self._build, tree.children)
        words = tree.data.split("_")
        shared, stable, ghost = (word in words for word in ("shared", "stable", "ghost"))
        span = self._span(tree)
        return ast_items.State(name, type_, initial, shared, stable, span, ghost, any(synced))

    def _make_handler(self, tree: Any) -> ast_items.Handler:
        may, event, at, when, named, body = tree.children
        span = self._span(tree)
        return ast_items.Handler(
            self._label(span, event, named or body),
            self._build(event),
            self._build(at),
            self._build(when),
            self._build(body),
            replace(span, end_line=body.meta.line, end_column=body.meta.column),
            span,
            may and self._span(may),
            self._build(named),
        )

    def _make_head(self, tree: Any) -> ast_items.WithoutHandler | ast_items.HandlerHead:
        *_, event, at, when = tree.children
        span = self._span(tree)
        label = self._label(span, event, None)
        made = ast_items.WithoutHandler
        kind = made if tree.data == "without_handler" else ast_items.HandlerHead
        return kind(label, self._build(event), self._build(at), self._build(when), span)

    def _make_edit(self, tree: Any) -> ast_items.Edit:
        what, *new = map(self._build, tree.children)
        text, span = self._source(what.span), self._span(tree)
        if new:
            return ast_items.Replacement(what, new[0], text, self._source(new[0].span), span)
        return ast_items.WithoutStatement(what, text, span)

    def _make_edits_in(self, tree: Any) -> ast_items.EditsIn:
        where, *edits = map(self._build, tree.children)
        return ast_items.EditsIn(where, tuple(edits), self._span(tree))

    def _label(self, span: Span, event: Tree[Any], following: Tree[Any] | None) -> str:
        """Returns the event of what stands at ``span``, from ``upon`` on; of a condition all that
        stands before ``following``."""
        upon = self._span(event)
        label = replace(span, end_line=upon.end_line, end_column=upon.end_column)
        if event.data == "on_condition":
            label = span
            if following is not None:
                end = self._span(following)
                label = replace(span, end_line=end.line, end_column=end.column)
        return re.sub(r"^(without )?(may )?", "", self._source(label))

    def _make_last(self, tree: Any) -> Any:
        return self._build(tree.children[-1])

    def _make_noise(self, tree: Any) -> tuple[Any, ...]:
        return tuple(self._build(child) for child in tree.children[1:])

    def _make_state_bound(self, tree: Any) -> ast_clauses.StateBound:
        formula = self._build(tree.children[0])
        return ast_clauses.StateBound(formula, self._source(formula.span), self._span(tree))

    def _make_view(self, tree: Any) -> ast_clauses.View:
        terms = tuple(self._build(child) for child in tree.children)
        texts = tuple(self._source(term.span) for term in terms)
        return ast_clauses.View(terms, texts, self._span(tree))

    def _make_expect(self, tree: Any) -> ast_items.Expect:
        what, value, words = tree.children
        word = self._integer(value) if value.type == "INT" else " ".join(value.split())
        without = None if words is None else ast.Name(words[1:-1], self._span(words))
        return ast_items.Expect(
            self._build(what), word, self._span(value), without, self._span(tree)
        )

    # ---- by hand: questions about chance ------------------------------------------------------

    def _make_chance(self, tree: Any) -> ast_chance.ChanceQuestion:
        *parts, some = tree.children
        counts = tree.data == "expected_steps"
        if counts:
            handler, _, goal = (self._build(parts.pop(0)) for _ in range(3))
            path = ast_chance.ChancePath(goal, None, None, handler)
        else:
            path = self._build(parts.pop(0))
        return ast_chance.ChanceQuestion(
            path,
            self._build(parts[0]) if parts else None,
            counts,
            some is not None,
            self._source(self._span(tree)),
            self._span(tree),
        )

    def _make_chance_bound(self, tree: Any) -> ast_chance.ChanceBound:
        numerator, denominator = self._build(tree.children[0])
        return ast_chance.ChanceBound(tree.data == "at_least", numerator, denominator)

    def _make_weight(self, tree: Any) -> ast_draws.Weight:
        value, (numerator, denominator) = map(self._build, tree.children)
        return ast_draws.Weight(value, numerator, denominator, self._span(tree))

    def _make_ratio(self, tree: Any) -> tuple[ast.Expr, ast.Expr | None]:
        """Returns a sum of fractions as one: numerator, and denominator, if there is one."""
        span = self._span(tree)

        def times(one: ast.Expr, other: ast.Expr | None) -> ast.Expr:
            return one if other is None else ast.Operator("*", (one, other), span)

        first, *others = tree.children
        numerator, denominator = self._build(first)
        for sign, quotient in zip(others[::2], others[1::2], strict=True):
            more, below = self._build(quotient)
            terms = times(numerator, below), times(more, denominator)
            numerator = ast.Operator(str(sign), terms, span)
            denominator = below if denominator is None else times(denominator, below)
        return numerator, denominator

    def _make_formula(self, tree: Any) -> ast_chance.ChancePath:
        goal, steps, handler = map(self._build, tree.children)
        return ast_chance.ChancePath(goal, None, steps, handler)

    def _make_until(self, tree: Any) -> ast_chance.ChancePath:
        keeps, _, *rest = tree.children
        goal, steps, handler = map(self._build, rest)
        return ast_chance.ChancePath(goal, self._build(keeps), steps, handler)


_CHANCE = ("almost_surely", "chance_of", "expected_steps")
_DISPLAYS = ("tuple", "set", "seq", "bag")
_NESTING = {"block", *_DISPLAYS, *map(rule_of, get_args(ast.Expr) + get_args(ast.Type))}
"""The rules whose nesting is bounded; all recursion goes through them."""

Maker = Callable[[Builder, Tree[Any]], Any]


def nodes(module: ModuleType) -> dict[str, Maker]:
    """Returns how the rules that are called as records of ``module`` are built."""
    kinds = (kind for kind in vars(module).values() if is_record(kind))
    return {
        rule_of(kind): partial(Builder._node, shape=_shape(kind))
        for kind in kinds
        if isinstance(kind, type) and kind is not Span
    }


MAKERS: dict[str, Maker] = {
    **nodes(ast),
    **nodes(ast_items),
    **nodes(ast_objects),
    **nodes(ast_clauses),
    **nodes(ast_draws),
    **nodes(ast_chance),
    "name": Builder._make_name,
    "to_role": Builder._make_to_role,
    "operator": Builder._make_operator,
    "truth": Builder._make_truth,
    **dict.fromkeys(_DISPLAYS, Builder._make_display),
    "entry": Builder._make_entry,
    **dict.fromkeys(("start_timer", "cancel_timer"), Builder._make_timer),
    **dict.fromkeys(("sync", "sync_all"), Builder._make_sync),
    **dict.fromkeys(("property", "invariant"), Builder._make_property),
    **dict.fromkeys(("state", "shared", "stable", "ghost", "ghost_shared"), Builder._make_state),
    "handler": Builder._make_handler,
    **dict.fromkeys(("without_handler", "handler_head"), Builder._make_head),
    **dict.fromkeys(("without_statement", "replacement"), Builder._make_edit),
    "edits_in": Builder._make_edits_in,
    "handler_name": Builder._make_last,
    "either": Builder._make_either,
    "alternative_name": Builder._make_last,
    "clocks_end": Builder._make_last,
    "noise": Builder._make_noise,
    "state_bound": Builder._make_state_bound,
    "view": Builder._make_view,
    "expect": Builder._make_expect,
    **dict.fromkeys(_CHANCE, Builder._make_chance),
    **dict.fromkeys(("at_most", "at_least"), Builder._make_chance_bound),
    "weight": Builder._make_weight,
    "ratio": Builder._make_ratio,
    "formula": Builder._make_formula,
    "until": Builder._make_until,
}
"""How the tree of a rule is built, where it is not a tuple of its children."""
