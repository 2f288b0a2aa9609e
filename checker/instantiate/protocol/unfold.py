"""Writes out definitions that call themselves, as far as the sizes of a check determine how often.

A call is replaced by the body of its definition.  Of a conditional, and of ``and``, ``or`` and
``=>``, only those parts are kept that the sizes do not exclude; so the calls come to an end where
what they are called with is known.  Where that is not known, and the parameter is declared with a
range, there is a case for each of its values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checker.diagnostics import SpecError
from checker.instantiate.protocol.sizes import evaluate_size, refuse
from checker.language.syntax import typed
from checker.language.typecheck.inline import inline
from checker.language.typecheck.types import BOOL, INT
from checker.model import tree

DEEPEST = 32
"""Calls inside of one another; more are taken to go on forever."""
NESTED = 150
"""The largest nesting depth of an expression in which calls are written out."""
LARGEST = 20_000
"""The largest number of calls that are written out in one expression."""


def unfold(node: Any, values: Mapping[str, int]) -> Any:
    """Returns ``node``, and all below it, without calls of definitions in themselves.

    Raises :class:`SpecError` (C206) where they do not come to an end.
    """
    if not any(isinstance(each, typed.Again) for each in tree.nodes(node)):
        return node
    return _Unfolding(values).rebuild(node, 0)


class _Unfolding:
    """What one expression, or all of a check, unfolds to."""

    def __init__(self, values: Mapping[str, int]) -> None:
        self.values = values
        self.calls = 0

    def rebuild(self, node: Any, depth: int) -> Any:
        match node:
            case typed.Again():
                return self._call(node, depth)
            case typed.Operation(_, "if", (condition, then, otherwise), _):
                truth = self._known(condition, depth)
                if truth is not None:
                    return self.rebuild(then if truth else otherwise, depth)
            case typed.Operation(_, "and" | "or" | "=>" as op, args, _):
                decided = op == "or"
                for position, arg in enumerate(args[:-1]):
                    truth = self._known(arg, depth)
                    if truth is not None and bool(truth) == (decided if op != "=>" else False):
                        shorter = args[: position + 1]
                        return self._shortened(node, op, shorter, depth)
            case _:
                pass
        return tree.mapped(node, lambda part: self.rebuild(part, depth))

    def _shortened(
        self, node: typed.Operation, op: str, args: tuple[typed.Expr, ...], depth: int
    ) -> typed.Expr:
        """Returns ``node`` as ``args`` decide it, of which the last is enough."""
        if op == "=>":
            return typed.Literal(BOOL, True, node.span)
        if len(args) == 1:
            found: typed.Expr = self.rebuild(args[0], depth)
            return found
        parts = tuple(self.rebuild(arg, depth) for arg in args)
        return typed.Operation(BOOL, op, parts, node.span)

    def _call(self, call: typed.Again, depth: int) -> typed.Expr:
        definition = call.definition
        self.calls += 1
        if depth >= DEEPEST or self.calls > LARGEST:
            message = f"`{definition.name}` calls itself more than {DEEPEST} times"
            if depth < DEEPEST:
                message = f"`{definition.name}` is called more than {LARGEST:,} times"
            hint = (
                "bound the recursion by a number that the check fixes, or by a parameter with"
                " a range"
            )
            raise refuse("C206", message, call.span.caller, f"{hint}, such as `k: 0..n`")
        try:
            made = self._written_out(call, depth)
            if depth > 0 or _nesting(made) <= NESTED:
                return made
        except RecursionError:
            if depth > 0:
                raise
        message = f"`{definition.name}` nests too deeply once its recursion is expanded"
        raise refuse("C206", message, call.span.caller)

    def _written_out(self, call: typed.Again, depth: int) -> typed.Expr:
        definition = call.definition
        args = tuple(self._fixed(self.rebuild(arg, depth), depth) for arg in call.args)
        split = self._undecided(definition, args, depth)
        if split is None:
            return self._body(call, args, depth)
        position, lo, hi = split
        return self._cases(call, args, position, range(lo, hi + 1), depth)

    def _body(self, call: typed.Again, args: tuple[typed.Expr, ...], depth: int) -> typed.Expr:
        definition = call.definition
        if definition.body is None:
            message = f"`{definition.name}` reads state; this must be known before the run"
            raise refuse("N023", message, call.span.caller)
        names = (name for name, _ in definition.params)
        values = dict(zip(names, args, strict=True))
        body = inline(definition.body, values, call.owner, call.span, known=())
        made: typed.Expr = self.rebuild(body, depth + 1)
        return made

    def _undecided(
        self, definition: typed.Recursive, args: tuple[typed.Expr, ...], depth: int
    ) -> tuple[int, int, int] | None:
        """Returns the position and range of an argument on which it depends how often
        ``definition`` is called, and which is not known."""
        inner = [n for n in tree.nodes(definition.body) if isinstance(n, typed.Again)]
        for position, ((name, type_), arg) in enumerate(zip(definition.params, args, strict=True)):
            if not isinstance(type_, typed.Int) or type_.lo is None or type_.hi is None:
                continue
            others = (each.args[position] for each in inner if each.definition is definition)
            steers = any(not isinstance(o, typed.Local) or o.name != name for o in others)
            if steers and self._known(arg, depth) is None:
                lo, hi = (evaluate_size(end, self.values) for end in (type_.lo, type_.hi))
                return position, lo, hi
        return None

    def _cases(
        self,
        call: typed.Again,
        args: tuple[typed.Expr, ...],
        position: int,
        numbers: range,
        depth: int,
    ) -> typed.Expr:
        """Returns a case for each of ``numbers`` that the argument at ``position`` may be; any
        other is a run-time error."""
        arg, span = args[position], call.span
        made: typed.Expr | None = None
        for number in reversed(numbers):
            literal = typed.Literal(INT, number, span)
            now = (*args[:position], literal, *args[position + 1 :])
            fixed = typed.Again(call.type, call.definition, now, call.owner, span)
            body = self._call(fixed, depth)
            if made is None:
                behind = typed.Operation(INT, "-", (arg, literal), span)
                whole = typed.Display(typed.Seq(call.type, None), (body,), span)
                made = typed.Entry(call.type, whole, behind, span)
            else:
                is_it = typed.Operation(BOOL, "==", (arg, literal), span)
                made = typed.Operation(call.type, "if", (is_it, body, made), span)
        if made is None:
            message = f"a parameter of `{call.definition.name}` has an empty range"
            raise refuse("C206", message, span.caller)
        return made

    def _fixed(self, arg: typed.Expr, depth: int) -> typed.Expr:
        """Returns ``arg``, as a number where it is one that the sizes determine."""
        value = self._known(arg, depth) if isinstance(arg.type, typed.Int) else None
        return arg if value is None else typed.Literal(INT, value, arg.span)

    def _known(self, expr: typed.Expr, depth: int) -> int | None:
        """Returns the number, or truth as 0 or 1, that the sizes determine."""
        if not isinstance(expr.type, typed.Int | typed.Bool):
            return None
        if any(isinstance(each, typed.Again) for each in tree.nodes(expr)):
            expr = self.rebuild(expr, depth)
        try:
            return evaluate_size(expr, self.values)
        except SpecError:
            return None


def _nesting(node: Any) -> int:
    """Returns how deeply an expression nests."""
    inner: list[int] = []

    def visit(part: Any) -> Any:
        inner.append(_nesting(part))
        return part

    tree.mapped(node, visit)
    return 1 + max(inner, default=0)
