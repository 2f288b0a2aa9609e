"""Resolves names and fields."""

from __future__ import annotations

from checker.diagnostics import Span
from checker.diagnostics.english import count, listing
from checker.language.syntax import ast, typed
from checker.language.syntax.typed import Enum, Expr, Set, Type
from checker.language.typecheck.histories import acts, is_acts
from checker.language.typecheck.inline import inline
from checker.language.typecheck.scope import OWN_CORRECT, UNKNOWN, Hole, Scope, suggestion
from checker.language.typecheck.types import INT, MESSAGE, MSG, PROC, PROCS, show


def check_name(expr: ast.Name, scope: Scope, expected: Type | None) -> Expr:
    """Resolves a name; labels of enums by the expected type."""
    name, span = expr.text, expr.span
    local = _local(expr, scope)
    if local is not None:
        if isinstance(expected, Enum) and name in expected.labels and local.type != expected:
            return _label(expected, name, span)
        return local
    if isinstance(expected, Enum) and name in expected.labels:
        return _label(expected, name, span)
    declared = _check_declared(expr, scope)
    if declared is not None:
        return declared
    if name == typed.NOW and scope.mode == "code":
        return typed.StateRef(INT, name, typed.CLOCKS, None, span)
    return _label_or_process(expr, scope, expected)


def _label(enum: Enum, name: str, span: Span) -> Expr:
    return typed.Literal(enum, enum.labels.index(name), span)


def _local(expr: ast.Name, scope: Scope) -> Expr | None:
    """Resolves locals, ``self``, state variables, parameters."""
    name, span, home = expr.text, expr.span, scope.home
    if name in scope.names:
        known = scope.names[name].type
        if known == UNKNOWN:
            raise Hole
        return typed.Local(known, name, span)
    if scope.free is not None and name in scope.free:
        return typed.Local(scope.free[name], name, span)
    if name == "self":
        if scope.mode in ("code", "initial", "choice") and scope.role is not None:
            return typed.Self(PROC, span)
        hint = "quantify: `forall p in Proc: …`"
        scope.report.fail("N021", "`self` is defined only in handlers", span, hint=hint)
    seen = scope.role if scope.mode in ("code", "initial", "choice") else None
    found = home.state(name, seen)
    if found is not None:
        if scope.mode in ("initial", "constant"):
            message = f"`{name}` is a state variable; this must be known before the run"
            scope.report.fail("N023", message, span)
        role, type_ = found
        if type_ == UNKNOWN:
            raise Hole
        return typed.StateRef(type_, name, role, None, span, (role, name) in home.ghosts)
    if name in home.params:
        if home.params[name] == UNKNOWN:
            raise Hole
        return typed.Param(home.params[name], name, span)
    if name in home.constants:
        value = home.constants[name]
        if value.type == UNKNOWN:
            raise Hole
        return inline(value, {}, None, span, scope.bound)
    return None


def _check_declared(expr: ast.Name, scope: Scope) -> Expr | None:
    """Resolves messages without fields, roles, types as sets."""
    name, span, home = expr.text, expr.span, scope.home
    if name in home.messages:
        fields = home.messages[name].fields
        if fields:
            wanted = ", ".join(n for n, _ in fields)
            message = f"`{name}` has {count(len(fields), 'field')}"
            scope.report.fail("N006", message, span, f"{name}({wanted})")
        return typed.Construct(MESSAGE, name, (), span)
    if is_acts(name, scope):
        return acts(expr, scope)
    if name == "Proc":
        return typed.Processes(PROCS, None, span)
    if name and name in home.roles:
        return typed.Processes(PROCS, name, span)
    if name in home.types:
        return _all(home.types[name], expr, scope)
    if name == "Msg":
        return typed.All(Set(MSG), MSG, span)
    return None


def _all(item: Type, expr: ast.Name, scope: Scope) -> Expr:
    if item == UNKNOWN:
        raise Hole
    if isinstance(item, typed.Int) and item.hi is None:
        message = f"`{expr.text}` is unbounded, so its members can't be enumerated"
        scope.report.fail("N007", message, expr.span, "a range with both ends")
    if item == PROC:
        return typed.Processes(PROCS, None, expr.span)
    return typed.All(Set(item), item, expr.span)


def _label_or_process(expr: ast.Name, scope: Scope, expected: Type | None) -> Expr:
    name, span, home = expr.text, expr.span, scope.home
    enums = home.labels(name)
    if len(enums) == 1:
        return _label(enums[0], name, span)
    if enums:
        shown = listing(show(e) for e in enums)
        message = f"`{name}` is a label of several types: {shown}"
        scope.report.fail("N008", message, span, hint="compare it with something of that type")
    role = home.process_role(name)
    if role is not None and scope.mode in ("property", "constant"):
        return typed.Named(PROC, name, span)
    _not_found(expr, scope, expected, role)
    raise Hole


def _not_found(expr: ast.Name, scope: Scope, expected: Type | None, role: str | None) -> None:
    name, home = expr.text, scope.home
    for owner, states in home.states.items():
        if name not in states or owner is None:
            continue
        if scope.mode == "constant":
            message = f"`{name}` is a state variable; this must be known before the run"
            scope.report.fail("N023", message, expr.span)
        if scope.mode == "property":
            hint = f"name the process: `p.{name}`"
        else:
            hint = "a process sees only its own state; use a message, or `shared state` to model it"
        where = f" of role `{owner}`" if owner else ""
        message = f"`{name}` is a state variable{where}, and out of scope here"
        scope.report.fail("N010", message, expr.span, hint=hint)
    if name == typed.NOW and scope.mode == "property":
        message = "`now` is the time on the clock of one process"
        scope.report.fail("N010", message, expr.span, hint="name the process: `p.now`")
    if role is not None:
        hint = "use a parameter: `protocol P(leader: Proc)`, and `leader = p1` in the check"
        message = f"`{name}` names a process, and protocol code can't use it"
        scope.report.fail("N002", message, expr.span, hint=hint)
    known = scope.visible()
    if isinstance(expected, Enum) and expected.labels:
        known = {*known, *(label for label in expected.labels if " " not in label)}
    own = OWN_CORRECT if name == "correct" and scope.mode == "code" else ""
    hint = own or scope.hints.get(name) or suggestion(name, known)
    scope.report.fail("N002", f"nothing is called `{name}`", expr.span, "", hint)


# ---- fields -----------------------------------------------------------------------------------


def field_of(expr: ast.FieldOf, scope: Scope) -> Expr:
    """Types ``base.name``: a record's field, or a process's state variable."""
    from checker.language.typecheck.expressions import infer

    if isinstance(expr.base, ast.Name) and expr.base.text in scope.home.layers:
        message = f"`{expr.base.text}` is a layer; only its requests can be used, as statements"
        scope.report.fail("N017", message, expr.span)
    base = infer(expr.base, scope)
    if base.type == UNKNOWN:
        raise Hole
    if isinstance(base.type, typed.Tuple) and base.type.names:
        if expr.name not in base.type.names:
            hint = suggestion(expr.name, base.type.names)
            scope.report.fail("N002", f"this record has no `{expr.name}`", expr.span, hint=hint)
        position = base.type.names.index(expr.name)
        return typed.Part(base.type.items[position], base, position, expr.span)
    if base.type == PROC:
        return _state_of(base, expr, scope)
    hint = ""
    if isinstance(base, typed.Processes):
        hint = f"a role is a set of processes: `forall p in {base.role or 'Proc'}: p.{expr.name}`"
    elif isinstance(base.type, typed.Tuple):
        hint = "use a pattern to access the components of a tuple"
    message = f"`{show(base.type)}` has no field `{expr.name}`"
    scope.report.fail("N007", message, expr.span, "a record, or a process", hint)


_ONLY_OPERATIONS = (
    "an interface has only requests and indications; a property that reads `state` belongs "
    "in the protocol"
)


def _state_of(base: Expr, expr: ast.FieldOf, scope: Scope) -> Expr:
    name, home = expr.name, scope.home
    if scope.mode != "property":
        if isinstance(base, typed.Self):
            found = home.state(name, scope.role)
            if found is not None and found[0] is not None and scope.mode == "code":
                ghost = (found[0], name) in home.ghosts
                return typed.StateRef(found[1], name, found[0], None, expr.span, ghost)
            if found is None and name == typed.NOW and scope.mode == "code":
                return typed.StateRef(INT, name, typed.CLOCKS, None, expr.span)
        message = "a process sees only its own state"
        hint = "send it in a message, or use `shared state` for a variable visible to all processes"
        scope.report.fail("N010", message, expr.span, hint=hint)
    declared = any(name in states for states in home.states.values())
    if name == typed.NOW and not declared and not home.of_interface:
        return typed.StateRef(INT, name, typed.CLOCKS, base, expr.span)
    role = _role_of(base, expr, scope)
    type_ = home.states.get(role, {}).get(name)
    if type_ is None:
        known = home.states.get(role, {}) if role is not None else _all_states(scope)
        hint = _ONLY_OPERATIONS if home.of_interface else suggestion(name, known)
        whose = f"a process of role `{role}`" if role else "a process"
        scope.report.fail("N002", f"{whose} has no `{name}`", expr.span, hint=hint)
    if type_ == UNKNOWN:
        raise Hole
    return typed.StateRef(type_, name, role, base, expr.span, (role, name) in home.ghosts)


def _all_states(scope: Scope) -> set[str]:
    return {n for role, states in scope.home.states.items() if role is not None for n in states}


def _role_of(base: Expr, expr: ast.FieldOf, scope: Scope) -> str | None:
    """Returns the role of the process ``base``, by its binder, its name or the variable read."""
    states = scope.home.states
    having = [r for r in scope.home.roles if expr.name in states.get(r, {})]
    return role_of(base, having, "a variable", expr, scope)


def role_of(
    base: Expr, having: list[str], what: str, expr: ast.FieldOf | ast.ApplyOn, scope: Scope
) -> str | None:
    """Returns the role of the process ``base``, by its binder, its name, or the one role of
    ``having``, which have ``what`` of that name; raises :class:`Hole` where there are several."""
    home = scope.home
    if len(home.roles) == 1:
        return home.roles[0]
    if isinstance(base, typed.Local) and base.name in scope.names:
        role = scope.names[base.name].role
        if role is not None:
            return role
    if isinstance(base, typed.Named):
        return home.process_role(base.name)
    if len(having) > 1:
        roles = listing(f"`{r}`" for r in having)
        message = f"`{expr.name}` is {what} of {roles}"
        hint = f"quantify over one role: `forall p in {having[0]}: …`"
        scope.report.fail("N008", message, expr.span, hint=hint)
    return having[0] if having else None
