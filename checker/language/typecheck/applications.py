"""Types applications: message constructors, functions, ``received``, histories."""

from __future__ import annotations

from difflib import get_close_matches

from checker.diagnostics import Span
from checker.diagnostics.english import count, listing
from checker.language.syntax import ast, typed
from checker.language.syntax.typed import Bag, Expr, Option, Seq, Set, Type
from checker.language.typecheck.definitions import call, process_call
from checker.language.typecheck.expressions import (
    bind,
    check,
    infer,
    item_of,
    members_of,
    mismatch,
    safe,
)
from checker.language.typecheck.histories import HISTORY, history, history_names
from checker.language.typecheck.patterns import received_pattern
from checker.language.typecheck.scope import UNKNOWN, Hole, Scope, suggestion
from checker.language.typecheck.types import BOOL, INT, MESSAGE, PROC, PROCS, fits, show

ARITY = {
    "some": 1,
    "get": 1,
    "is_some": 1,
    "head": 1,
    "last": 1,
    "tail": 1,
    "take": 2,
    "drop": 2,
    "index": 2,
    "subsets": 1,
    "min": 1,
    "max": 1,
    "sum": 1,
    "rank": 1,
    "count": 2,
}


def check_apply(expr: ast.Apply, scope: Scope, expected: Type | None) -> Expr:
    """Types ``name(args)``; raises :class:`Hole` after reporting an error."""
    name, args, span = expr.name, expr.args, expr.span
    if name in scope.home.messages:
        return construct(expr, scope)
    if name == "received":
        return check_received(args, None, scope, span)
    if name in HISTORY or name in history_names(scope.home.interface):
        return history(expr, scope)
    if name == "flip":
        require_arity(name, args, 0, span, scope)
        hint = "write `let c = flip()` first, and test `c`"
        scope.report.fail("N026", "a coin can't be flipped here", span, hint=hint)
    definition = scope.home.definition(name, scope.role)
    if definition is not None:
        return call(expr, definition, scope)
    if name in scope.home.lost:
        raise Hole
    if name not in ARITY:
        if scope.mode == "property" and "implements" in scope.home.lost:
            raise Hole
        message = f"no function or message `{name}`"
        scope.report.fail("N002", message, span, hint=_which_function(name, scope))
    require_arity(name, args, ARITY[name], span, scope)
    return _function(name, expr, scope, expected)


def _which_function(name: str, scope: Scope) -> str:
    """Returns the hint for an unknown function: which is meant, or which histories there are."""
    known = {*ARITY, *scope.home.messages, "received", *scope.home.definitions.get(None, {})}
    known |= {*scope.home.definitions.get(scope.role, {})}
    if scope.mode != "property":
        return suggestion(name, known)
    interface = scope.home.interface
    if interface is None:
        return "histories need an interface: `protocol P implements I`"
    histories = history_names(interface)
    if name.endswith("ed") and not get_close_matches(name, histories, 1, 0.8):
        shown = listing(f"`{history}(p)`" for history in histories)
        return f"the histories of `{interface.name}` are {shown}"
    return suggestion(name, {*known, *HISTORY, *histories})


def require_arity(
    name: str, args: tuple[ast.Expr, ...], wanted: int, span: Span, scope: Scope
) -> None:
    """Reports a wrong number of arguments and raises :class:`Hole`."""
    if len(args) != wanted:
        message = f"`{name}` takes {count(wanted, 'argument')}, not {len(args)}"
        scope.report.fail("N006", message, span)


def construct(expr: ast.Apply, scope: Scope) -> Expr:
    """Types a constructor of one of the protocol's own messages."""
    fields = scope.home.messages[expr.name].fields
    if len(fields) != len(expr.args):
        wanted = f"{expr.name}({', '.join(n for n, _ in fields)})" if fields else expr.name
        message = f"`{expr.name}` has {count(len(fields), 'field')}, not {len(expr.args)}"
        scope.report.fail("N006", message, expr.span, wanted)
    pairs = zip(expr.args, fields, strict=True)
    args = tuple(safe(arg, scope, type_) for arg, (_, type_) in pairs)
    return typed.Construct(MESSAGE, expr.name, args, expr.span)


def check_received(
    args: tuple[ast.Expr, ...], owner: Expr | None, scope: Scope, span: Span
) -> Expr:
    """Types ``received(M(…))``."""
    require_arity("received", args, 1, span, scope)
    if owner is None and scope.mode != "code":
        hint = "say whose: `p.received(…)`"
        scope.report.fail("N021", "`received` needs a process here", span, hint=hint)
    pattern = args[0]
    if not isinstance(pattern, ast.Name | ast.Apply) or _name(pattern) not in scope.home.messages:
        hint = suggestion(_name(pattern), scope.home.messages)
        scope.report.fail("N012", "this is not a message of the protocol", pattern.span, hint=hint)
    name = _name(pattern)
    fields = scope.home.messages[name].fields
    inner = pattern.args if isinstance(pattern, ast.Apply) else ()
    if len(inner) != len(fields):
        message = f"`{name}` has {count(len(fields), 'field')}, not {len(inner)}"
        wanted = f"{name}({', '.join('_' for _ in fields)})" if fields else name
        scope.report.fail("N006", message, pattern.span, wanted)
    pairs = zip(inner, fields, strict=True)
    patterns = tuple(received_pattern(arg, type_, scope) for arg, (_, type_) in pairs)
    return typed.Received(PROCS, name, patterns, owner, span)


def _name(expr: ast.Expr) -> str:
    match expr:
        case ast.Name(text, _) | ast.Apply(text, _, _):
            return text
        case _:
            return ""


def check_apply_on(expr: ast.ApplyOn, scope: Scope) -> Expr:
    """Types ``base.name(args)``: in an expression only ``p.received(…)``, in a property."""
    if isinstance(expr.base, ast.Name) and expr.base.text in scope.home.layers:
        message = (
            f"`{expr.base.text}.{expr.name}(…)` is a request, which is a statement, not an"
            " expression"
        )
        scope.report.fail("N017", message, expr.span)
    if expr.name == "received":
        if scope.mode != "property":
            message = "a process knows only the messages that it has received itself"
            scope.report.fail("N010", message, expr.span, hint="write `received(…)`")
        owner = check(expr.base, scope, PROC)
        return check_received(expr.args, owner, scope, expr.span)
    at_process = process_call(expr, scope)
    if at_process is not None:
        return at_process
    known = {*ARITY, *history_names(scope.home.interface)}
    hint = suggestion(expr.name, known)
    if expr.name in known:
        hint = f"write `{expr.name}(…)`"
    scope.report.fail("N002", f"unknown method `.{expr.name}(…)`", expr.span, hint=hint)


def _function(name: str, expr: ast.Apply, scope: Scope, expected: Type | None) -> Expr:
    arg, span = expr.args[0], expr.span
    match name:
        case "some":
            item = expected.item if isinstance(expected, Option) else None
            inner = infer(arg, scope) if item is None else check(arg, scope, item)
            return typed.Operation(Option(item or inner.type), "some", (inner,), span)
        case "rank":
            return typed.Operation(INT, "rank", (check(arg, scope, PROC),), span)
        case "subsets":
            base = _set(arg, scope)
            return typed.Operation(Set(base.type), "subsets", (base,), span)
        case "min" | "max" | "sum":
            base = members_of(arg, scope)
            if not fits(item_of(base), INT):
                mismatch(base, scope, Set(INT))
            return typed.Operation(INT, name, (base,), span)
        case "take" | "drop" | "index":
            return _of_seq(expr, scope)
        case "count":
            return _count(expr, scope)
        case _:
            return _check_access(name, infer(arg, scope), scope, span)


def _set(arg: ast.Expr, scope: Scope) -> Expr:
    base = infer(arg, scope)
    if base.type == UNKNOWN:
        raise Hole
    if not isinstance(base.type, Set):
        scope.report.fail("N003", f"this is `{show(base.type)}`, not a set", base.span, "a set")
    return base


def check_aggregate(expr: ast.Aggregate, scope: Scope) -> Expr:
    """Types ``sum(item for binders)``, and ``min`` and ``max``, which are those of a set."""
    if expr.name not in ("sum", "min", "max"):
        hint = "use `sum`, `min` or `max`, or build a set: `{ … for … }`"
        message = f"`{expr.name}` doesn't take `for`"
        scope.report.fail("N002", message, expr.span, hint=hint)
    binders, inner = bind(expr.binders, scope)
    item = check(expr.item, inner, INT)
    if expr.name == "sum":
        return typed.Sum(INT, item, binders, expr.span)
    members = typed.Comprehension(Set(INT), item, binders, expr.span)
    return typed.Operation(INT, expr.name, (members,), expr.span)


def _of_seq(expr: ast.Apply, scope: Scope) -> Expr:
    """Types ``take`` and ``drop`` of a seq and a number, ``index`` of a seq and an item."""
    base = infer(expr.args[0], scope)
    if not isinstance(base.type, Seq):
        if base.type == UNKNOWN:
            raise Hole
        message = f"`{expr.name}` takes a seq, and this is `{show(base.type)}`"
        scope.report.fail("N003", message, base.span, "a seq")
    if expr.name == "index":
        item = check(expr.args[1], scope, base.type.item)
        return typed.Operation(INT, "index", (base, item), expr.span)
    number = check(expr.args[1], scope, INT)
    return typed.Operation(base.type, expr.name, (base, number), expr.span)


def _count(expr: ast.Apply, scope: Scope) -> Expr:
    base = infer(expr.args[0], scope)
    if not isinstance(base.type, Bag | Seq):
        if base.type == UNKNOWN:
            raise Hole
        message = f"this is `{show(base.type)}`, not a seq or a bag"
        scope.report.fail("N003", message, base.span, "a seq or a bag")
    item = check(expr.args[1], scope, base.type.item)
    return typed.Operation(INT, "count", (base, item), expr.span)


def _check_access(name: str, base: Expr, scope: Scope, span: Span) -> Expr:
    """Types ``get is_some`` of an option, ``head last tail`` of a seq."""
    match name, base.type:
        case "get", Option(item):
            return typed.Operation(item, name, (base,), span)
        case "is_some", Option():
            return typed.Operation(BOOL, name, (base,), span)
        case (("head" | "last"), Seq(item)):
            return typed.Operation(item, name, (base,), span)
        case "tail", Seq():
            return typed.Operation(base.type, name, (base,), span)
        case _, other if other == UNKNOWN:
            raise Hole
        case _, other:
            wanted = "an option" if name in ("get", "is_some") else "a seq"
            message = f"`{name}` takes {wanted}, and this is `{show(other)}`"
            scope.report.fail("N003", message, base.span, wanted)
