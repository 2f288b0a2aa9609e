"""Types procedures: a call of one is its body, with what its parameters are at the call."""

from __future__ import annotations

from checker.diagnostics.english import count
from checker.language.syntax import ast, ast_items, typed
from checker.language.syntax.typed import Expr, Type
from checker.language.typecheck.declarations import Declared
from checker.language.typecheck.expressions import safe
from checker.language.typecheck.ghosts import separate
from checker.language.typecheck.inline import called
from checker.language.typecheck.patterns import fresh
from checker.language.typecheck.scope import (
    UNKNOWN,
    Hole,
    Home,
    Known,
    Reporter,
    Scope,
    another_name,
)
from checker.language.typecheck.types import PROC, resolve, resolve_key
from checker.records import replace


def check_procedures(home: Home) -> None:
    """Reports the errors in the procedures of ``home`` that no call shows, in the first role if one
    can stand in none."""
    for place, known in home.procedures.items():
        roles = home.roles if place is None else (place,)
        for procedure in known.values():
            if all(_errors(procedure, role, replace(home, report=Reporter())) for role in roles):
                _errors(procedure, roles[0], home)


def _errors(procedure: ast_items.Procedure, role: str, home: Home) -> bool:
    """Types ``procedure`` as one of ``role``, where nothing is known of what it is called with;
    tells whether something is wrong."""
    name, before = procedure.name.text, len(home.report.found)
    types = {
        param.name.text: UNKNOWN if param.type is None else resolve(param.type, home)
        for param in procedure.parameters
    }
    for stmt in ast.statements_in(procedure.body):
        if isinstance(stmt, ast.Yield | ast.Await):
            message = f"`{type(stmt).__name__.lower()}` can't split the handler inside a procedure"
            hint = "move it to the top level of the handler, between two calls"
            home.report.add("N028", message, stmt.span, hint=hint)
    try:
        _body(procedure, types, Scope(home, "code", role, inside=(name,)))
    except Hole:
        pass
    return len(home.report.found) > before


def _place(procedure: ast_items.Procedure) -> tuple[int, int]:
    return procedure.span.line, procedure.span.column


def call(stmt: ast.Call, procedure: ast_items.Procedure, scope: Scope) -> typed.Stmt:
    """Types a call of ``procedure``; raises :class:`Hole` after reporting an error."""
    name, params = procedure.name.text, procedure.parameters
    if name in scope.inside:
        circle = scope.inside[scope.inside.index(name) :]
        others = (scope.home.procedure(each, scope.role) for each in circle)
        if any(o and _place(o) < _place(procedure) for o in others):
            raise Hole  # reported where the first of them is called
        chain = " calls ".join(f"`{each}`" for each in (*circle, name))
        hint = "use `for` or `while some`: procedures are expanded where they are called"
        scope.report.fail("N033", f"cyclic procedures: {chain}", stmt.target.span, hint=hint)
    if len(stmt.args) != len(params):
        wanted = f"{name}({', '.join(p.name.text for p in params)})"
        message = f"`{name}` takes {count(len(params), 'argument')}, not {len(stmt.args)}"
        scope.report.fail("N006", message, stmt.span, wanted)
    args: list[tuple[str, Expr]] = []
    declared: list[tuple[str, Type]] = []
    for arg, param in zip(stmt.args, params, strict=True):
        type_ = None if param.type is None else resolve(param.type, scope.home)
        typed_param = (f"{p.name.text}{': T' if p is param else ''}" for p in params)
        hint = f"give the parameter a type: `procedure {name}({', '.join(typed_param)})`"
        args.append((param.name.text, safe(arg, replace(scope, untyped=hint), type_)))
        if type_ is not None:
            declared.append((param.name.text, type_))
    types = {param: value.type for param, value in args}
    body = _body(procedure, types, replace(scope, inside=(*scope.inside, name)))
    made = called(body, stmt.span)
    return typed.Inlined(name, tuple(args), made, stmt.span, tuple(declared))


def _body(procedure: ast_items.Procedure, types: dict[str, Type], around: Scope) -> typed.Block:
    """Types the body of ``procedure``, which sees its parameters, of ``types``, and the
    protocol."""
    from checker.language.typecheck.statements import block

    scope = replace(around, names={}, free=None)
    for param in procedure.parameters:
        fresh(param.name, scope)
        scope = scope.bind({param.name.text: Known(types[param.name.text])})
    body = block(procedure.body, scope)
    # What is of an unknown type is left out of the body, which is only looked through for errors.
    if UNKNOWN not in types.values():
        separate(body, scope.report)  # for its errors: a call may be part of other ghost code
    return body


def declare_procedures(
    decls: list[ast_items.Procedure], role: str | None, home: Home, declared: Declared
) -> None:
    """Adds the procedures of ``role`` (``None``: that stand outside of roles) to ``home``."""
    known = home.procedures.setdefault(role, {})
    indications = home.interface.indications if home.interface else ()
    for decl in decls:
        name = decl.name.text
        if any(operator.name == name for operator in indications):
            message = f"`{name}` is already an indication"
            home.report.add("N004", message, decl.name.span, hint=another_name(name))
        elif declared.add(decl.name, "a procedure"):
            known[name] = decl
        else:
            home.lost.add(name)


# ---- timers -----------------------------------------------------------------------------------


def timers_of(role: ast_items.Role, home: Home) -> dict[str, Type | None]:
    """Returns the timers that ``role`` waits for, each with the type of its keys, where it has
    any; two handlers of one timer agree on it."""
    found: dict[str, Type | None] = {}
    silent = replace(home, report=Reporter())
    for item in role.items:
        if not (
            isinstance(item, ast_items.Handler) and isinstance(item.event, ast_items.OnTimeout)
        ):
            continue
        timer, key = item.event.timer, item.event.key
        if timer is None:
            continue
        try:
            type_ = None if key is None else key_type(key, silent)
        except Hole:
            continue
        if found.setdefault(timer.text, type_) != type_:
            message = f"the handlers of the timer `{timer.text}` have different keys"
            hint = "write the same key, and its type, in each `upon timeout`"
            home.report.add("N034", message, timer.span, hint=hint)
    return found


def key_type(key: ast_items.TimerKey, home: Home) -> Type:
    """Returns the type of the keys of a timer: processes, unless another one is written."""
    return PROC if key.type is None else resolve_key(key.type, home, "timer")


def never_started(role: ast_items.Role, home: Home) -> None:
    """Reports timers that ``role`` waits for and never starts."""
    handlers = [i for i in role.items if isinstance(i, ast_items.Handler)]
    places = (role.name.text, None)
    procedures = [p for place in places for p in home.procedures.get(place, {}).values()]
    bodies = [*(h.body for h in handlers), *(p.body for p in procedures)]
    statements = (stmt for body in bodies for stmt in ast.statements_in(body))
    started = {s.name.text for s in statements if isinstance(s, ast.Timer) and s.kind == "start"}
    for each in handlers:
        if isinstance(each.event, ast_items.OnTimeout) and each.event.timer is not None:
            name = each.event.timer
            if name.text not in started:
                hint = f"write `start {name.text}`"
                message = f"the timer `{name.text}` is never started"
                home.report.add("N027", message, name.span, hint=hint)
