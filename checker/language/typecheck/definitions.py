"""Types constants and definitions, and calls of definitions, which are inlined."""

from __future__ import annotations

from collections.abc import Iterable

from checker.diagnostics import Span
from checker.language.syntax import ast, ast_items, typed
from checker.language.syntax.typed import Expr
from checker.language.typecheck.expressions import check, infer, safe
from checker.language.typecheck.inline import inline, size
from checker.language.typecheck.patterns import fresh
from checker.language.typecheck.scope import (
    UNKNOWN,
    Definition,
    Hole,
    Home,
    Known,
    Reporter,
    Scope,
)
from checker.language.typecheck.types import PROC, field_names, resolve
from checker.records import replace

LARGEST = 10_000
"""The largest number of nodes of an expression in which all calls are inlined."""


def constant(decl: ast_items.Constant, home: Home) -> Expr:
    """Returns the value of ``const``, which is known before the run; errors are reported."""
    type_ = None if decl.type is None else resolve(decl.type, home)
    return safe(decl.value, Scope(home, "initial"), type_)


def define(decls: Iterable[ast_items.Definition], role: str | None, home: Home) -> None:
    """Adds the definitions of ``role`` (``None``: that stand outside of roles) to ``home``."""
    known = home.definitions.setdefault(role, {})
    for decl in decls:
        names = field_names(decl.fields, home)
        types = (resolve(f.type, home) for f in decl.fields)
        params = tuple(zip(names, types, strict=True))
        known[decl.name.text] = Definition(decl, home, params, resolve(decl.type, home))


def check_definitions(home: Home) -> None:
    """Reports the errors in all definitions of ``home``: of each in the first mode, if it can stand
    in none."""
    for role, known in home.definitions.items():
        roles = home.roles if role is None else (role,)
        for definition in known.values():
            if definition.home is not home or not _has_types(definition):
                continue
            for name, _ in definition.params:
                _require_fresh(definition, name, roles[0])
            ways: list[tuple[str, str | None]]
            ways = [("code", each) for each in roles] + [("property", None), ("initial", None)]
            if all(_body(definition, *way) is None for way in ways):
                _type(definition, *_best(definition, ways), home.report)


def _best(definition: Definition, ways: list[tuple[str, str | None]]) -> tuple[str, str | None]:
    """Returns the mode and role in which ``definition`` has the fewest errors."""

    def errors(way: tuple[str, str | None]) -> int:
        report = Reporter()
        _type(definition, *way, report)
        return len(report.found)

    return min(ways, key=errors)


def _has_types(definition: Definition) -> bool:
    return UNKNOWN not in (definition.result, *(type_ for _, type_ in definition.params))


def _require_fresh(definition: Definition, name: str, role: str) -> None:
    """Reports a parameter whose name has a meaning already."""
    decl = next(f for f in definition.decl.fields if f.name.text == name)
    try:
        fresh(decl.name, Scope(definition.home, "code", role))
    except Hole:
        pass


def _type(definition: Definition, mode: str, role: str | None, report: Reporter) -> Expr | None:
    """Types the body of ``definition``; errors go to ``report``."""
    home = replace(definition.home, report=report)
    names = {name: Known(type_) for name, type_ in definition.params}
    key = (mode, role)
    definition.open.add(key)
    try:
        built = check(definition.decl.value, Scope(home, mode, role, names), definition.result)
    except Hole:
        return None
    finally:
        definition.open.discard(key)
    if key in definition.recursive:
        definition.recursive[key].body = built
    return None if report.found else built


def _body(definition: Definition, mode: str, role: str | None) -> Expr | None:
    """Returns the body of ``definition`` where it stands in ``mode``; ``None`` where it can't."""
    key = (mode, role)
    if key not in definition.bodies:
        definition.bodies[key] = None
        definition.bodies[key] = _type(definition, mode, role, Reporter())
    return definition.bodies[key]


# ---- calls ------------------------------------------------------------------------------------


def call(expr: ast.Apply, definition: Definition, scope: Scope) -> Expr:
    """Types ``name(args)`` where that is a definition; raises :class:`Hole` after an error."""
    args = _arguments(expr.name, expr.args, definition, expr.span, scope)
    mode = scope.mode if scope.mode in ("code", "property") else "initial"
    role = _role(definition, scope.role) if mode == "code" else None
    if (mode, role) in definition.open:
        new = typed.Recursive(expr.name, definition.params)
        known = definition.recursive.setdefault((mode, role), new)
        return typed.Again(definition.result, known, tuple(args.values()), None, expr.span)
    body = _body(definition, mode, role)
    if body is None:
        _fail_misplaced(expr.name, definition, mode, scope, expr.span)
        raise Hole
    return _inlined(body, args, None, expr.span, scope)


def call_at(expr: ast.ApplyOn, base: Expr, definition: Definition, role: str, scope: Scope) -> Expr:
    """Types ``p.name(args)`` in a property: ``definition`` as the process ``base`` of ``role`` sees
    it; raises :class:`Hole` after an error."""
    args = _arguments(expr.name, expr.args, definition, expr.span, scope)
    body = _body(definition, "code", _role(definition, role))
    if body is None:
        if _body(definition, "property", None) is not None:
            message = f"`{expr.name}` does not read the state of one process"
            scope.report.add("N010", message, expr.span, hint=f"write `{expr.name}(…)`")
        raise Hole
    return _inlined(body, args, base, expr.span, scope)


def _role(definition: Definition, role: str | None) -> str | None:
    return role if role in definition.home.roles else definition.home.roles[0]


def _arguments(
    name: str, args: tuple[ast.Expr, ...], definition: Definition, span: Span, scope: Scope
) -> dict[str, Expr]:
    from checker.language.typecheck.applications import require_arity

    if not _has_types(definition):
        raise Hole
    require_arity(name, args, len(definition.params), span, scope)
    pairs = zip(args, definition.params, strict=True)
    return {param: check(arg, scope, type_) for arg, (param, type_) in pairs}


def _fail_misplaced(name: str, definition: Definition, mode: str, scope: Scope, span: Span) -> None:
    """Reports a definition that can stand elsewhere and not here; what can stand nowhere is
    reported where it is defined."""
    roles = definition.home.roles
    in_code = any(_body(definition, "code", role) is not None for role in roles)
    if mode == "code" and _body(definition, "property", None) is not None:
        message = f"only a property can use `{name}`"
        scope.report.add("N010", message, span, hint="a process sees only its own state")
    elif mode == "code" and in_code:
        message = f"`{name}` reads state that is not visible here"
        scope.report.add("N010", message, span, hint="a process sees only its own state")
    elif mode == "property" and in_code:
        message = f"`{name}` reads the state of one process"
        scope.report.add("N010", message, span, hint=f"name the process: `p.{name}(…)`")
    elif in_code or _body(definition, "property", None) is not None:
        message = f"`{name}` reads state; this must be known before the run"
        scope.report.add("N023", message, span)


def _inlined(
    body: Expr, args: dict[str, Expr], owner: Expr | None, span: Span, scope: Scope
) -> Expr:
    made = inline(body, args, owner, span, scope.bound)
    if size(made) > LARGEST:
        message = "this is too large once definitions are expanded"
        hint = "bind repeated expressions with `let` first"
        scope.report.fail("N032", message, span, hint=hint)
    return made


def process_call(expr: ast.ApplyOn, scope: Scope) -> Expr | None:
    """Types ``p.name(args)`` where ``name`` is a definition; ``None`` where it is none."""
    from checker.language.typecheck.names import role_of

    home = scope.home
    having = [role for role in home.roles if home.definition(expr.name, role) is not None]
    if scope.mode != "property" or not having:
        return None
    base = infer(expr.base, scope)
    if base.type != PROC:
        return None
    if home.definition(expr.name, None) is not None and len(home.roles) > 1:
        definition = home.definition(expr.name, None)
        assert definition is not None
        having = [r for r in having if _body(definition, "code", _role(definition, r)) is not None]
    role = role_of(base, having, "a definition", expr, scope)
    found = None if role is None else home.definition(expr.name, role)
    if role is None or found is None:
        return None
    return call_at(expr, base, found, role, scope)
