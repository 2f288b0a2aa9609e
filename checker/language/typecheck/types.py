"""Resolves types, compares and prints them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from checker.diagnostics import Span
from checker.language.syntax import ast, typed
from checker.language.syntax.typed import (
    Bag,
    Bool,
    Enum,
    Int,
    Map,
    Msg,
    Option,
    Proc,
    Seq,
    Set,
    Tuple,
)
from checker.language.typecheck.scope import UNKNOWN, Hole, Home, Scope, suggestion

BOOL = Bool()
INT = Int(None, None)
PROC = Proc()
MSG = Msg()
MESSAGE = typed.Message()
PROCS = Set(PROC)
_BUILTIN: dict[str, typed.Type] = {"bool": BOOL, "Proc": PROC, "Msg": MSG}


def fits(actual: typed.Type, expected: typed.Type) -> bool:
    """Tells whether a value of ``actual`` may stand where ``expected`` is required, ranges
    aside."""
    match actual, expected:
        case (Enum(_, ()), _) | (_, Enum(_, ())):
            return True
        case Enum(_, a), Enum(_, b):
            return a == b
        case Tuple(a, _), Tuple(b, _):
            return len(a) == len(b) and all(fits(x, y) for x, y in zip(a, b, strict=True))
        case Map(k, v), Map(l, w):
            return fits(k, l) and fits(v, w)
        case (Option(a), Option(b)) | (Set(a), Set(b)) | (Seq(a, _), Seq(b, _)) | (Bag(a), Bag(b)):
            return fits(a, b)
        case _:
            return type(actual) is type(expected)


def show(type_: typed.Type) -> str:
    """Returns ``type_`` as text for users."""
    match type_:
        case Bool():
            return "bool"
        case Int():
            return "a number"
        case Enum(name, labels):
            return name if name else "enum { " + ", ".join(labels) + " }"
        case Proc():
            return "Proc"
        case Msg():
            return "Msg"
        case typed.Message():
            return "a message"
        case Tuple(items, names) if names:
            parts = (f"{n}: {_part(t)}" for n, t in zip(names, items, strict=True))
            return "record { " + ", ".join(parts) + " }"
        case Tuple(items):
            return "(" + ", ".join(_part(t) for t in items) + ")"
        case Option(item):
            return f"option<{_part(item)}>"
        case Set(item):
            return f"set<{_part(item)}>"
        case Map(key, value):
            return f"map<{_part(key)}, {_part(value)}>"
        case Seq(item):
            return f"seq<{_part(item)}>"
        case Bag(item):
            return f"bag<{_part(item)}>"
        case _:
            assert_never(type_)


def _part(type_: typed.Type) -> str:
    if isinstance(type_, Int):
        return "number"
    return "message" if isinstance(type_, typed.Message) else show(type_)


def resolve(type_: ast.Type, home: Home, alias: str = "") -> typed.Type:
    """Returns ``type_`` with its names resolved; reports errors and returns ``UNKNOWN`` for
    them."""
    match type_:
        case ast.NamedType(name, span):
            if name in home.types:
                return home.types[name]
            if name in _BUILTIN:
                return _BUILTIN[name]
            if name in home.role_types:
                return PROC
            words = {
                *home.types,
                *_BUILTIN,
                *filter(None, home.roles),
                "Nat",
                "set",
                "map",
                "seq",
                "bag",
                "option",
                "enum",
            }
            home.report.add("N011", f"no type `{name}`", span, hint=suggestion(name, words))
            return UNKNOWN
        case ast.NatType(bound, span):
            return Int(_zero(span), None if bound is None else size_of(bound, home))
        case ast.RangeType(lo, hi):
            return Int(size_of(lo, home), size_of(hi, home))
        case ast.EnumType():
            return _enum(type_, home, alias)
        case ast.TupleType(items):
            return Tuple(tuple(resolve(t, home) for t in items))
        case ast.RecordType(fields):
            return Tuple(tuple(resolve(f.type, home) for f in fields), field_names(fields, home))
        case ast.CollectionType(kind, item, cap):
            return _collection(kind, resolve(item, home), cap, home)
        case ast.MapType(key, value):
            return Map(resolve_key(key, home), resolve(value, home))
        case _:
            assert_never(type_)


def _zero(span: Span) -> typed.Expr:
    return typed.Literal(INT, 0, span)


def _enum(type_: ast.EnumType, home: Home, alias: str) -> typed.Type:
    labels: list[str] = []
    for label in type_.labels:
        if label.text in labels:
            home.report.add("N004", f"duplicate label `{label.text}`", label.span)
        else:
            labels.append(label.text)
    enum = Enum(alias, tuple(labels))
    return home.enums.setdefault(enum.labels, enum)


def field_names(fields: tuple[ast.Field, ...], home: Home) -> tuple[str, ...]:
    """Returns the names of ``fields``; duplicates are reported."""
    seen: list[str] = []
    for field in fields:
        if field.name.text in seen:
            home.report.add("N004", f"duplicate field `{field.name.text}`", field.name.span)
        seen.append(field.name.text)
    return tuple(seen)


def _collection(kind: str, item: typed.Type, cap: ast.Expr | None, home: Home) -> typed.Type:
    bound = None if cap is None else size_of(cap, home)
    match kind:
        case "option":
            return Option(item)
        case "set":
            return Set(item)
        case "seq":
            return Seq(item, bound)
        case _:
            return Bag(item, bound)


def resolve_key(key: ast.Type, home: Home, of: str = "map") -> typed.Type:
    """Resolves the key of a map or a timer: a type whose values can be enumerated."""
    resolved = resolve(key, home)
    if not _listable(resolved):
        message = f"{show(resolved)} can't be the key type of a {of}"
        hint = "keys are bool, enum, Proc, Msg, ranges with both ends, and tuples of these"
        home.report.add("N007", message, key.span, hint=hint)
    return resolved


def _listable(type_: typed.Type) -> bool:
    match type_:
        case Bool() | Enum() | Proc() | Msg():
            return True
        case Int(_, hi):
            return hi is not None
        case Tuple(items):
            return all(_listable(t) for t in items)
        case Option(item) | Set(item):
            return _listable(item)
        case _:
            return False


def enums_in(type_: typed.Type) -> Iterator[Enum]:
    """Yields the enums inside of ``type_``."""
    match type_:
        case Enum():
            yield type_
        case Tuple(items):
            for item in items:
                yield from enums_in(item)
        case Option(item) | Set(item) | Seq(item) | Bag(item):
            yield from enums_in(item)
        case Map(key, value):
            yield from enums_in(key)
            yield from enums_in(value)
        case _:
            return


def size_of(expr: ast.Expr, home: Home) -> typed.Expr:
    """Types a size: numbers and parameters only.  Errors are reported."""
    from checker.language.typecheck.expressions import check

    scope = Scope(home, "constant")
    try:
        return check(expr, scope, INT)
    except Hole:
        return typed.Literal(UNKNOWN, 0, expr.span)
