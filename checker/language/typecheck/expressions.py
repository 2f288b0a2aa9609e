"""Types expressions: resolves every name and gives every part a type."""

from __future__ import annotations

from typing import assert_never

from checker.diagnostics import Span
from checker.language.syntax import ast, typed
from checker.language.syntax.typed import Bag, Expr, Int, Map, Seq, Set, Tuple, Type
from checker.language.typecheck.histories import is_acts
from checker.language.typecheck.names import check_name, field_of
from checker.language.typecheck.scope import UNKNOWN, Hole, Reporter, Scope
from checker.language.typecheck.types import BOOL, INT, PROC, fits, show
from checker.records import replace


def check(expr: ast.Expr, scope: Scope, expected: Type) -> Expr:
    """Types ``expr`` as a value of ``expected``; raises :class:`Hole` after reporting an error."""
    built = infer(expr, scope, expected)
    if not fits(built.type, expected):
        mismatch(built, scope, expected, expr.span)
    return built


def check_stored(expr: ast.Expr, type_: Type, scope: Scope) -> Expr:
    """Types ``expr`` as what a variable of ``type_`` is given: one value where a map is expected
    is that of all entries.  Raises :class:`Hole` after reporting an error."""
    empty = isinstance(expr, ast.Display) and expr.kind == "set" and not expr.items
    if empty and isinstance(type_, Map) and not isinstance(type_.value, (Map, Set)):
        return check(expr, scope, type_)  # an empty map was meant
    if isinstance(type_, Map) and not _is_map(expr, type_, scope):
        return typed.Fill(type_, check_stored(expr, type_.value, scope), expr.span)
    return check(expr, scope, type_)


def _is_map(expr: ast.Expr, type_: Map, scope: Scope) -> bool:
    """Tells whether ``expr`` is a map, and not the value of all entries of one of ``type_``."""
    match expr:
        case ast.MapDisplay():
            return True
        case ast.Conditional(_, then, otherwise):
            return _is_map(then, type_, scope) or _is_map(otherwise, type_, scope)
        case _ if needs_type(expr, scope):
            return False
    try:
        found = infer(expr, replace(scope, home=replace(scope.home, report=Reporter()))).type
    except Hole:
        return True
    return isinstance(found, Map) and not fits(found, type_.value)


def mismatch(built: Expr, scope: Scope, expected: Type, span: Span | None = None) -> None:
    """Reports that ``built``, written at ``span``, has the wrong type and raises :class:`Hole`."""
    message = f"this is {_article(built.type)}, not {_article(expected)}"
    hint = ""
    if expected == PROC and isinstance(built, typed.Processes):
        hint = "a role is a set of processes; write `p in …`, or choose one"
    elif isinstance(built.type, typed.Option) and fits(built.type.item, expected):
        hint = "`get(…)` returns the value of an option"
    elif isinstance(expected, typed.Option) and fits(built.type, expected.item):
        hint = "write `some(…)`"
    elif expected == INT and built.type == PROC:
        hint = "`rank(p)` is the number of a process"
    elif isinstance(expected, typed.Map):
        hint = _every_key(expected)
    scope.report.fail("N003", message, span or built.span, show(expected), hint)


def _every_key(type_: typed.Map) -> str:
    """Returns the hint how a value of the map type ``type_`` is written."""
    key, value = show(type_.key), show(type_.value)
    return (
        f"a map has a value for every key: `{{ k -> e for k in {key} }}`; if some keys"
        f" have no value, "
        f"its type is `map<{key}, option<{value}>>`"
    )


def _article(type_: Type) -> str:
    shown = show(type_)
    return shown if shown.startswith("a ") else f"`{shown}`"


def hole(expr: ast.Expr) -> Expr:
    """Returns a placeholder for an expression whose error was reported."""
    return typed.Literal(UNKNOWN, 0, expr.span)


def safe(expr: ast.Expr, scope: Scope, expected: Type | None = None) -> Expr:
    """Acts as :func:`check` or :func:`infer`, but an error becomes a hole."""
    try:
        return infer(expr, scope) if expected is None else check(expr, scope, expected)
    except Hole:
        return hole(expr)


def infer(expr: ast.Expr, scope: Scope, expected: Type | None = None) -> Expr:
    """Infers the type of ``expr``; ``expected`` is only a hint.  Raises :class:`Hole` after
    reporting an error."""
    from checker.language.typecheck.applications import (
        check_aggregate,
        check_apply,
        check_apply_on,
    )
    from checker.language.typecheck.blanks import check_blank
    from checker.language.typecheck.operators import check_operator, conditional

    match expr:
        case ast.Name(_, _):
            return check_name(expr, scope, expected)
        case ast.Integer(value, span):
            return typed.Literal(INT, value, span)
        case ast.Truth(value, span):
            return typed.Literal(BOOL, value, span)
        case ast.NoneWord(span):
            return _nothing(span, scope, expected)
        case ast.BoolWord(span):
            return typed.All(Set(BOOL), BOOL, span)
        case ast.Apply():
            return check_apply(expr, scope, expected)
        case ast.ApplyOn():
            return check_apply_on(expr, scope)
        case ast.FieldOf():
            return field_of(expr, scope)
        case ast.IndexOf():
            return _entry(expr, scope)
        case ast.Operator():
            return check_operator(expr, scope, expected)
        case ast.RangeOf(lo, hi, span):
            return typed.Range(Set(INT), safe(lo, scope, INT), safe(hi, scope, INT), span)
        case ast.Display():
            return _display(expr, scope, expected)
        case ast.RecordDisplay():
            return _record(expr, scope, expected)
        case ast.Comprehension():
            return _comprehension(expr, scope, expected)
        case ast.SeqComprehension():
            return _seq_comprehension(expr, scope, expected)
        case ast.Aggregate():
            return check_aggregate(expr, scope)
        case ast.MapDisplay():
            return _map(expr, scope, expected)
        case ast.Quantified(kind, binders, body, span):
            bound, inner = bind(binders, scope)
            return typed.Quantified(BOOL, kind, bound, check(body, inner, BOOL), span)
        case ast.Conditional():
            return conditional(expr, scope, expected)
        case ast.Blank():
            return check_blank(expr, scope, expected)
        case ast.Consistent(_, _, span):
            message = "this describes runs, so it belongs in a property or in `prove`"
            scope.report.fail("N018", message, span)
        case _:
            assert_never(expr)


def _nothing(span: Span, scope: Scope, expected: Type | None) -> Expr:
    if isinstance(expected, typed.Option):
        return typed.Nothing(expected, span)
    if expected is not None and expected != UNKNOWN:
        shown = show(expected)
        scope.report.fail("N003", f"`none` is not {_article(expected)}", span, shown)
    return _unclear("`none`", span, scope)


def _unclear(what: str, span: Span, scope: Scope) -> Expr:
    hint = scope.untyped
    hint = hint or "give the state variable a type, or compare with something that has one"
    scope.report.fail("N005", f"the type of {what} is not known here", span, hint=hint)


def _entry(expr: ast.IndexOf, scope: Scope) -> Expr:
    base = infer(expr.base, scope)
    match base.type:
        case Map(key, value):
            return typed.Entry(value, base, check(expr.key, scope, key), expr.span)
        case Seq(item):
            if isinstance(expr.key, ast.RangeOf):
                ends = safe(expr.key.lo, scope, INT), safe(expr.key.hi, scope, INT)
                return typed.Operation(base.type, "slice", (base, *ends), expr.span)
            return typed.Entry(item, base, check(expr.key, scope, INT), expr.span)
        case other if other == UNKNOWN:
            raise Hole
        case other:
            message = f"{_article(other)} can't be indexed"
            scope.report.fail("N007", message, base.span, "a map or a seq")


# ---- displays ---------------------------------------------------------------------------------


def _display(expr: ast.Display, scope: Scope, expected: Type | None) -> Expr:
    if expr.kind == "tuple":
        return _tuple(expr, scope, expected)
    made: dict[str, type[Set] | type[Seq] | type[Bag]] = {"set": Set, "seq": Seq, "bag": Bag}
    kind = made[expr.kind]
    item = expected.item if isinstance(expected, kind) else None
    if not expr.items:
        if item is not None and expected is not None:
            return typed.Display(expected, (), expr.span)
        if expected is not None and expected != UNKNOWN:
            message = f"this is an empty {expr.kind}, not {_article(expected)}"
            hint = _every_key(expected) if isinstance(expected, typed.Map) else ""
            scope.report.fail("N003", message, expr.span, hint=hint)
        return _unclear(f"an empty {expr.kind}", expr.span, scope)
    items = check_same_type(expr.items, scope, item)
    return typed.Display(kind(item or items[0].type), items, expr.span)


def check_same_type(
    exprs: tuple[ast.Expr, ...], scope: Scope, item: Type | None
) -> tuple[Expr, ...]:
    """Types expressions of one type: ``item``, or that of the first whose type can be inferred."""
    if item is None:
        first = next((e for e in exprs if not needs_type(e, scope)), exprs[0])
        item = infer(first, scope).type
    return tuple(check(e, scope, item) for e in exprs)


def _tuple(expr: ast.Display, scope: Scope, expected: Type | None) -> Expr:
    hints: tuple[Type | None, ...] = (None,) * len(expr.items)
    if isinstance(expected, Tuple) and len(expected.items) == len(expr.items):
        hints = expected.items
    items = tuple(
        infer(e, scope) if hint is None else check(e, scope, hint)
        for e, hint in zip(expr.items, hints, strict=True)
    )
    return typed.Display(Tuple(tuple(e.type for e in items)), items, expr.span)


def _record(expr: ast.RecordDisplay, scope: Scope, expected: Type | None) -> Expr:
    given = dict(expr.items)
    if len(given) != len(expr.items):
        scope.report.fail("N004", "duplicate field in this record", expr.span)
    if isinstance(expected, Tuple) and expected.names:
        if set(given) != set(expected.names):
            wanted = ", ".join(expected.names)
            scope.report.fail("N006", "this record has other fields", expr.span, wanted)
        pairs = zip(expected.names, expected.items, strict=True)
        items = tuple(check(given[name], scope, type_) for name, type_ in pairs)
        return typed.Display(expected, items, expr.span)
    items = tuple(infer(e, scope) for e in given.values())
    return typed.Display(Tuple(tuple(e.type for e in items), tuple(given)), items, expr.span)


def _comprehension(expr: ast.Comprehension, scope: Scope, expected: Type | None) -> Expr:
    binders, inner = bind(expr.binders, scope)
    if isinstance(expected, Set):
        item = check(expr.item, inner, expected.item)
    else:
        item = infer(expr.item, inner)
    return typed.Comprehension(Set(item.type), item, binders, expr.span)


def _seq_comprehension(expr: ast.SeqComprehension, scope: Scope, expected: Type | None) -> Expr:
    if len(expr.binders) > 1:
        message = "a seq is built from one collection, in its order"
        hint = "bind one name, or build a set: `{ … for x in S, y in T }`"
        scope.report.fail("N024", message, expr.binders[1].span, hint=hint)
    (binder,), inner = bind(expr.binders, scope)
    match binder.domain.type:
        case Seq() | Set(typed.Int()):
            pass
        case other:
            hint = "iterate over a seq or a set of numbers, or build a set: `{ … for … }`"
            message = f"the members of {_article(other)} are unordered, and a seq needs an order"
            scope.report.fail("N007", message, binder.domain.span, hint=hint)
    if isinstance(expected, Seq):
        item = check(expr.item, inner, expected.item)
    else:
        item = infer(expr.item, inner)
    return typed.Comprehension(Seq(item.type), item, (binder,), expr.span)


def _map(expr: ast.MapDisplay, scope: Scope, expected: Type | None) -> Expr:
    wrong = len(expr.binders) != 1 or expr.binders[0].where is not None
    name = expr.binders[0].pattern
    if (
        wrong
        or not isinstance(name, ast.Name)
        or not isinstance(expr.key, ast.Name)
        or name.text != expr.key.text
    ):
        wrong = True
    if wrong or not isinstance(name, ast.Name):
        hint = "write `{ k -> value for k in K }`, where K has all keys"
        scope.report.fail("N024", "a map has one entry for every key", expr.span, hint=hint)
    (binder,), inner = bind(expr.binders, scope)
    key = _whole(binder.domain)
    if key is None or (isinstance(expected, Map) and not _same_keys(key, expected.key)):
        hint = "K is a type, such as `Proc`, or the range in the map's type"
        scope.report.fail(
            "N024", "a map has one entry for every key", binder.domain.span, hint=hint
        )
    value_hint = expected.value if isinstance(expected, Map) else None
    if value_hint is None:
        value = infer(expr.value, inner)
    else:
        value = check(expr.value, inner, value_hint)
    type_ = expected if isinstance(expected, Map) else Map(key, value.type)
    return typed.MapDisplay(type_, name.text, value, expr.span)


def _whole(domain: Expr) -> Type | None:
    """Returns the type of whose values ``domain`` is the complete set; ``None`` for other
    domains."""
    match domain:
        case typed.All(_, item, _):
            return item
        case typed.Processes(_, None, _):
            return PROC
        case typed.Range(_, lo, hi, _):
            return Int(lo, hi)
        case _:
            return None


def _same_keys(one: Type, other: Type) -> bool:
    if isinstance(one, Int) and isinstance(other, Int):
        return same_size(one.lo, other.lo) and same_size(one.hi, other.hi)
    return fits(one, other)


def same_size(one: Expr | None, other: Expr | None) -> bool:
    """Tells whether two sizes are written alike."""
    match one, other:
        case typed.Literal(_, a, _), typed.Literal(_, b, _):
            return a == b
        case typed.Param(_, a, _), typed.Param(_, b, _):
            return a == b
        case typed.Operation(_, op, left, _), typed.Operation(_, other_op, right, _):
            return op == other_op and all(map(same_size, left, right))
        case _:
            return False


def needs_type(expr: ast.Expr, scope: Scope) -> bool:
    """Tells whether the type of ``expr`` can only be determined from the expected one."""
    match expr:
        case ast.NoneWord():
            return True
        case ast.Blank(options, _):
            return all(needs_type(e, scope) for e in options)
        case ast.Name(text, _):
            return not is_value(text, scope)
        case ast.Display(kind, items, _):
            if kind == "tuple":
                return any(needs_type(e, scope) for e in items)
            return all(needs_type(e, scope) for e in items)
        case ast.RecordDisplay(items, _):
            return any(needs_type(e, scope) for _, e in items)
        case ast.Apply("some", (arg,), _):
            return needs_type(arg, scope)
        case ast.Operator("union" | "intersect" | "minus" | "++", args, _):
            return all(needs_type(e, scope) for e in args)
        case ast.Operator("+" | "-", (left, _), _):
            return needs_type(left, scope)
        case ast.Conditional(_, then, otherwise, _):
            return needs_type(then, scope) and needs_type(otherwise, scope)
        case _:
            return False


def is_value(name: str, scope: Scope) -> bool:
    """Tells whether ``name`` is something else than the label of an enum."""
    known = scope.meaning_of(name) or is_acts(name, scope)
    return bool(known) or scope.home.process_role(name) is not None


# ---- binders ----------------------------------------------------------------------------------


def bind(binders: tuple[ast.Binder, ...], scope: Scope) -> tuple[tuple[typed.Binder, ...], Scope]:
    """Types binders from left to right; returns them with the scope behind them."""
    made: list[typed.Binder] = []
    for position, binder in enumerate(binders):
        domain = next((b.domain for b in binders[position:] if b.domain is not None), None)
        if domain is None:
            hint = "write `p in S`; `p, q in S` gives both the same set"
            scope.report.fail("N024", "this variable has no domain", binder.span, hint=hint)
        pattern, over, scope = bind_one(binder.pattern, domain, scope)
        where = None if binder.where is None else check(binder.where, scope, BOOL)
        made.append(typed.Binder(pattern, over, where))
    return tuple(made), scope


def bind_one(
    pattern: ast.Expr, domain: ast.Expr, scope: Scope
) -> tuple[typed.Pattern, Expr, Scope]:
    """Types ``pattern in domain``; returns the pattern, the domain, the scope behind."""
    from checker.language.typecheck.patterns import binder_pattern

    over = members_of(domain, scope)
    role = over.role if isinstance(over, typed.Processes) else None
    made, names = binder_pattern(pattern, item_of(over), scope, role)
    return made, over, scope.bind(names)


def members_of(domain: ast.Expr, scope: Scope) -> Expr:
    """Types ``domain`` as a collection: a set, a bag or a seq."""
    over = infer(domain, scope)
    if not isinstance(over.type, Set | Bag | Seq):
        if over.type == UNKNOWN:
            raise Hole
        message = f"{_article(over.type)} can't be iterated over"
        scope.report.fail("N003", message, over.span, "a set, a bag or a seq")
    return over


def item_of(over: Expr) -> Type:
    assert isinstance(over.type, Set | Bag | Seq)
    return over.type.item
