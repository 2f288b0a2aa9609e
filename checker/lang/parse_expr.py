"""Builds expressions and types from the parser's tree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lark import Token, Tree

from checker.diagnostics import Span
from checker.lang import ast

DEPTH = 60
"""The largest nesting depth of expressions and blocks."""
LARGEST = 1_000_000_000
"""The largest number that can be written."""


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


def is_tree(node: object) -> bool:
    return isinstance(node, Tree)


class ExpressionBuilder:
    """Builds expressions and types of one text; raises :class:`TooDeep`,
    :class:`NumberTooLarge`."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.depth = 0
        self._lines = text.split("\n")

    # ---- locations ----------------------------------------------------------------------------

    def span(self, node: Any) -> Span:
        place: Any = node if isinstance(node, Token) else node.meta
        if isinstance(node, Tree) and node.meta.empty:
            return Span(self.file, 1, 1, 1, 1)
        return Span(self.file, place.line, place.column, place.end_line, place.end_column)

    def until(self, whole: Span, node: Any) -> Span:
        """Returns the span from the start of ``whole`` to just before ``node``."""
        end = self.span(node)
        return Span(self.file, whole.line, whole.column, end.line, end.column)

    def tail(self, token: Token, length: int) -> Span:
        """Returns the span of the last ``length`` characters of a token on one line."""
        line, end = token.end_line or 1, token.end_column or 1
        return Span(self.file, line, end - length, line, end)

    def source(self, span: Span) -> str:
        """Returns the text at ``span``, with white space and comments replaced by single blanks."""
        lines = self._lines[span.line - 1 : span.end_line]
        if not lines:
            return ""
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return " ".join(" ".join(line.split("//")[0] for line in lines).split())

    @contextmanager
    def deeper(self, node: Any) -> Iterator[None]:
        self.depth += 1
        if self.depth > DEPTH:
            raise TooDeep(self.span(node))
        try:
            yield
        finally:
            self.depth -= 1

    # ---- words --------------------------------------------------------------------------------

    def name(self, token: Token) -> ast.Name:
        return ast.Name(str(token), self.span(token))

    def names(self, tree: Any) -> tuple[ast.Name, ...]:
        return tuple(self.name(t) for t in tree.children)

    def integer(self, token: Token) -> int:
        if len(token) > 10 or int(token) > LARGEST:
            raise NumberTooLarge(self.span(token))
        return int(token)

    # ---- expressions --------------------------------------------------------------------------

    def optional(self, node: Any) -> ast.Expr | None:
        return None if node is None else self.expr(node)

    def arguments(self, tree: Any) -> tuple[ast.Expr, ...]:
        return tuple(self.expr(c) for c in tree.children if c is not None)

    def expr(self, tree: Any) -> ast.Expr:
        self.depth += 1
        if self.depth > DEPTH:
            raise TooDeep(self.span(tree))
        built: ast.Expr = getattr(self, f"expr_{tree.data}")(tree, self.span(tree))
        self.depth -= 1
        return built

    def exprs(self, nodes: list[Any]) -> tuple[ast.Expr, ...]:
        return tuple(self.expr(n) for n in nodes)

    def _unary(self, op: str, tree: Any, span: Span) -> ast.Expr:
        return ast.Operator(op, self.exprs(tree.children), span)

    def expr_always(self, tree: Any, span: Span) -> ast.Expr:
        return self._unary("always", tree, span)

    def expr_eventually(self, tree: Any, span: Span) -> ast.Expr:
        return self._unary("eventually", tree, span)

    def expr_leads_to(self, tree: Any, span: Span) -> ast.Expr:
        return self._unary("~>", tree, span)

    def expr_implies(self, tree: Any, span: Span) -> ast.Expr:
        return self._unary("=>", tree, span)

    def expr_or_(self, tree: Any, span: Span) -> ast.Expr:
        return self._unary("or", tree, span)

    def expr_and_(self, tree: Any, span: Span) -> ast.Expr:
        return self._unary("and", tree, span)

    def expr_not_(self, tree: Any, span: Span) -> ast.Expr:
        return self._unary("not", tree, span)

    def expr_negate(self, tree: Any, span: Span) -> ast.Expr:
        return self._unary("neg", tree, span)

    def expr_size(self, tree: Any, span: Span) -> ast.Expr:
        return self._unary("size", tree, span)

    def expr_member(self, tree: Any, span: Span) -> ast.Expr:
        return self._unary("in", tree, span)

    def expr_not_member(self, tree: Any, span: Span) -> ast.Expr:
        return self._unary("not in", tree, span)

    def expr_subset(self, tree: Any, span: Span) -> ast.Expr:
        return self._unary("subset", tree, span)

    def expr_times(self, tree: Any, span: Span) -> ast.Expr:
        return self._unary("*", tree, span)

    def expr_compare(self, tree: Any, span: Span) -> ast.Expr:
        return self.expr_binary(tree, span)

    def expr_binary(self, tree: Any, span: Span) -> ast.Expr:
        left, op, right = tree.children
        return ast.Operator(str(op), (self.expr(left), self.expr(right)), span)

    def expr_quantified(self, tree: Any, span: Span) -> ast.Expr:
        kind, binders, body = tree.children
        return ast.Quantified(str(kind), self.binders(binders), self.expr(body), span)

    def expr_conditional(self, tree: Any, span: Span) -> ast.Expr:
        condition, then, otherwise = self.exprs(tree.children)
        return ast.Conditional(condition, then, otherwise, span)

    def expr_range(self, tree: Any, span: Span) -> ast.Expr:
        lo, hi = self.exprs(tree.children)
        return ast.RangeOf(lo, hi, span)

    def expr_field_of(self, tree: Any, span: Span) -> ast.Expr:
        base, name = tree.children
        return ast.FieldOf(self.expr(base), str(name), span)

    def expr_index_of(self, tree: Any, span: Span) -> ast.Expr:
        base, key = self.exprs(tree.children)
        return ast.IndexOf(base, key, span)

    def expr_integer(self, tree: Any, span: Span) -> ast.Expr:
        return ast.Integer(self.integer(tree.children[0]), span)

    def expr_true(self, _: Any, span: Span) -> ast.Expr:
        return ast.Truth(True, span)

    def expr_false(self, _: Any, span: Span) -> ast.Expr:
        return ast.Truth(False, span)

    def expr_none(self, _: Any, span: Span) -> ast.Expr:
        return ast.NoneWord(span)

    def expr_bool_set(self, _: Any, span: Span) -> ast.Expr:
        return ast.BoolWord(span)

    def expr_name(self, tree: Any, span: Span) -> ast.Expr:
        return ast.Name(str(tree.children[0]), span)

    def expr_apply(self, tree: Any, span: Span) -> ast.Expr:
        name, args = tree.children
        return ast.Apply(str(name), self.arguments(args), span)

    def expr_apply_on(self, tree: Any, span: Span) -> ast.Expr:
        base, name, args = tree.children
        return ast.ApplyOn(self.expr(base), str(name), self.arguments(args), span)

    def expr_tuple(self, tree: Any, span: Span) -> ast.Expr:
        return ast.Display("tuple", self.exprs(tree.children), span)

    def expr_set(self, tree: Any, span: Span) -> ast.Expr:
        return ast.Display("set", self.arguments(tree.children[0]), span)

    def expr_seq(self, tree: Any, span: Span) -> ast.Expr:
        return ast.Display("seq", self.arguments(tree.children[0]), span)

    def expr_bag(self, tree: Any, span: Span) -> ast.Expr:
        return ast.Display("bag", self.arguments(tree.children[0]), span)

    def expr_record(self, tree: Any, span: Span) -> ast.Expr:
        items = ((str(n.children[0]), self.expr(n.children[1])) for n in tree.children)
        return ast.RecordDisplay(tuple(items), span)

    def expr_comprehension(self, tree: Any, span: Span) -> ast.Expr:
        item, binders = tree.children
        return ast.Comprehension(self.expr(item), self.binders(binders), span)

    def expr_map(self, tree: Any, span: Span) -> ast.Expr:
        key, value, binders = tree.children
        return ast.MapDisplay(self.expr(key), self.expr(value), self.binders(binders), span)

    def binders(self, tree: Any) -> tuple[ast.Binder, ...]:
        return tuple(self.binder(b) for b in tree.children)

    def binder(self, tree: Any) -> ast.Binder:
        pattern, domain, when = tree.children
        where = self.expr(when.children[0]) if when else None
        return ast.Binder(self.pattern(pattern), self.optional(domain), where, self.span(tree))

    def pattern(self, tree: Any) -> ast.Expr:
        """Builds ``expr_pattern``: a name, or a tuple of patterns."""
        with self.deeper(tree):
            inner = tree.children[0]
            if isinstance(inner, Token):
                return self.name(inner)
            items = tuple(self.pattern(c) for c in inner.children)
            return items[0] if len(items) == 1 else ast.Display("tuple", items, self.span(inner))

    def place(self, tree: Any) -> ast.Expr:
        """Builds the target of an assignment or a call."""
        head, *rest = tree.children
        built: ast.Expr = self.name(head)
        for step in rest:
            end = self.span(step)
            start = built.span
            span = Span(self.file, start.line, start.column, end.end_line, end.end_column)
            if step.data == "place_index":
                built = ast.IndexOf(built, self.expr(step.children[0]), span)
            else:
                built = ast.FieldOf(built, str(step.children[0]), span)
        if len(rest) > DEPTH:
            raise TooDeep(built.span)
        return built

    # ---- types --------------------------------------------------------------------------------

    def type(self, tree: Any) -> ast.Type:
        with self.deeper(tree):
            built: ast.Type = getattr(self, f"type_{tree.data}")(tree, self.span(tree))
            return built

    def fields(self, tree: Any) -> tuple[ast.Field, ...]:
        return tuple(
            ast.Field(self.name(f.children[0]), self.type(f.children[1]), self.span(f))
            for f in tree.children
            if f is not None
        )

    def type_bool_type(self, _: Any, span: Span) -> ast.Type:
        return ast.NamedType("bool", span)

    def type_name_type(self, tree: Any, span: Span) -> ast.Type:
        return ast.NamedType(str(tree.children[0]), span)

    def type_nat_type(self, tree: Any, span: Span) -> ast.Type:
        return ast.NatType(self.optional(tree.children[0]), span)

    def type_range_type(self, tree: Any, span: Span) -> ast.Type:
        lo, hi = self.exprs(tree.children)
        return ast.RangeType(lo, hi, span)

    def type_enum_type(self, tree: Any, span: Span) -> ast.Type:
        return ast.EnumType(self.names(tree.children[0]), span)

    def type_tuple_type(self, tree: Any, span: Span) -> ast.Type:
        return ast.TupleType(tuple(self.type(t) for t in tree.children), span)

    def type_record_type(self, tree: Any, span: Span) -> ast.Type:
        return ast.RecordType(self.fields(tree.children[0]), span)

    def type_generic_type(self, tree: Any, span: Span) -> ast.Type:
        kind, item = tree.children
        return ast.CollectionType(str(kind), self.type(item), None, span)

    def type_map_type(self, tree: Any, span: Span) -> ast.Type:
        key, value = tree.children
        return ast.MapType(self.type(key), self.type(value), span)

    def type_seq_type(self, tree: Any, span: Span) -> ast.Type:
        kind, item, cap = tree.children
        return ast.CollectionType(str(kind), self.type(item), self.optional(cap), span)
