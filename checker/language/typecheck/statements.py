"""Types statements of handlers."""

from __future__ import annotations

from typing import assert_never

from checker.diagnostics import Span
from checker.diagnostics.english import count
from checker.language.syntax import ast, ast_draws, typed
from checker.language.syntax.typed import Expr, Map, Operator, Option, Seq, Set, Stmt, Tuple, Type
from checker.language.typecheck import procedures
from checker.language.typecheck.draws import choose
from checker.language.typecheck.expressions import bind_one, check, check_stored, infer, safe
from checker.language.typecheck.flips import lift_flips
from checker.language.typecheck.operators import add_to
from checker.language.typecheck.patterns import (
    after_condition,
    binder_pattern,
    fresh,
    pattern_names,
)
from checker.language.typecheck.scope import UNKNOWN, Hole, Known, Reporter, Scope, suggestion
from checker.language.typecheck.state import type_of_first
from checker.language.typecheck.types import (
    BOOL,
    INT,
    MESSAGE,
    MSG,
    PROC,
    PROCS,
    fits,
    resolve,
    show,
)
from checker.records import replace


def block(stmts: ast.Block, scope: Scope) -> typed.Block:
    """Types the statements of a block; an error in one is reported and the others are kept."""
    made: list[Stmt] = []
    for written in stmts:
        choices, stmt = lift_flips(written, frozenset(scope.names))
        for each in (*choices, stmt):
            try:
                built, scope = _statement(each, scope)
                made.extend(built)
            except Hole:
                scope = _after(each, scope)
    return tuple(made)


def _after(stmt: ast.Stmt, scope: Scope) -> Scope:
    """Returns the scope behind an erroneous statement: what it should have bound has an unknown
    type."""
    if isinstance(stmt, ast.Let | ast.Choose | ast_draws.Draw | ast_draws.WeighedDraw):
        return scope.bind({name: Known(UNKNOWN) for name in pattern_names(stmt.pattern)})
    if isinstance(stmt, ast.Var):
        return scope.bind({stmt.name.text: Known(UNKNOWN, varies=True)})
    return scope


def _statement(stmt: ast.Stmt, scope: Scope) -> tuple[tuple[Stmt, ...], Scope]:
    match stmt:
        case ast.Assign():
            return (assign(stmt, scope),), scope
        case ast.Send():
            return (_send(stmt, scope),), scope
        case ast.Call(ast.Name(name)) if found := scope.home.procedure(name, scope.role):
            return (procedures.call(stmt, found, scope),), scope
        case ast.Call():
            return (_call(stmt, scope),), scope
        case ast.If(condition, then, otherwise, span):
            asked = safe(condition, scope, BOOL)
            met = block(then, after_condition(condition, scope))
            return (typed.If(asked, met, block(otherwise, scope), span),), scope
        case ast.Loop():
            return (_loop(stmt, scope),), scope
        case ast.Choose() | ast_draws.Draw() | ast_draws.WeighedDraw():
            return choose(stmt, scope)
        case ast.Either(alternatives, span, called):
            ways = _alternatives(alternatives, scope)
            return (typed.Either(ways, span, _names(called, scope)),), scope
        case ast.Require(condition, span):
            return (typed.Require(check(condition, scope, BOOL), span),), scope
        case ast.Let(pattern, value, span):
            made = infer(value, scope)
            parts, names = binder_pattern(pattern, made.type, scope)
            return (typed.LetIn(parts, made, span),), scope.bind(names)
        case ast.Var():
            return _var(stmt, scope)
        case ast.Skip():
            return (), scope
        case ast.Perform():
            return (_perform(stmt, scope),), scope
        case ast.Timer():
            return (_timer(stmt, scope),), scope
        case ast.Atomic(body, span):
            return (typed.Atomic(block(body, scope), span),), scope
        case ast.Sync():
            return (_sync(stmt, scope),), scope
        case ast.Yield():
            return (stmt,), scope
        case ast.Await(condition, span):
            _refuse_call(condition, scope)
            until = None if condition is None else safe(condition, scope, BOOL)
            return (typed.Await(until, span),), scope
        case ast.Return():
            message = "only operations of objects have `return`"
            hint = "a protocol returns with an indication: `read_return(v)`"
            scope.report.fail("N060", message, stmt.span, hint=hint)
        case _:
            assert_never(stmt)


def _refuse_call(condition: ast.Expr | None, scope: Scope) -> None:
    """Reports (N028) a call that stands on the line of ``await`` and was meant as a statement."""
    if not isinstance(condition, ast.Apply):
        return
    told = () if scope.home.interface is None else scope.home.interface.indications
    name = condition.name
    if scope.home.procedure(name, scope.role) or any(operator.name == name for operator in told):
        message = f"`{name}(…)` is a statement, not a condition that `await` could wait for"
        hint = "put what follows `await` on a line of its own"
        scope.report.fail("N028", message, condition.span, hint=hint)


def _var(stmt: ast.Var, scope: Scope) -> tuple[tuple[Stmt, ...], Scope]:
    fresh(stmt.name, scope)
    if stmt.type is None:
        type_ = type_of_first(stmt.name, stmt.value, "var", scope)
    else:
        type_ = resolve(stmt.type, scope.home)
    if type_ == UNKNOWN:
        raise Hole
    if not isinstance(type_, Map) or _is_map(stmt.value, scope):
        value = check(stmt.value, scope, type_)
    else:
        value = check_stored(stmt.value, type_, scope)
    made = typed.Var(stmt.name.text, type_, value, stmt.span)
    return (made,), scope.bind({stmt.name.text: Known(type_, varies=True)})


def _is_map(value: ast.Expr, scope: Scope) -> bool:
    """Tells whether ``value`` is a whole map, and not the one value of all entries."""
    silent = replace(scope, home=replace(scope.home, report=Reporter()))
    return isinstance(safe(value, silent).type, Map)


def _alternatives(
    alternatives: tuple[tuple[ast.Expr | None, ast.Block], ...], scope: Scope
) -> tuple[tuple[Expr | None, typed.Block], ...]:
    made = []
    for when, body in alternatives:
        guard = None if when is None else safe(when, scope, BOOL)
        made.append((guard, block(body, scope)))
    return tuple(made)


def _names(names: tuple[ast.Name | None, ...], scope: Scope) -> tuple[str, ...]:
    """Returns the names of the alternatives of one ``either``, which differ."""
    found: list[str] = []
    for name in names:
        if name is not None and name.text in found:
            message = f"two alternatives of this `either` are called `{name.text}`"
            scope.report.add("N004", message, name.span)
        found.append("" if name is None else name.text)
    return tuple(found)


def _loop(stmt: ast.Loop, scope: Scope) -> Stmt:
    pattern, domain, inner = bind_one(stmt.pattern, stmt.domain, scope)
    where = None if stmt.where is None else safe(stmt.where, inner, BOOL)
    kind = typed.For if stmt.kind == "for" else typed.While
    return kind(pattern, domain, where, block(stmt.body, inner), stmt.span)


# ---- assignments ------------------------------------------------------------------------------


def assign(stmt: ast.Assign, scope: Scope) -> Stmt:
    """Types ``place := e``, ``+=`` and ``-=``."""
    target = _target(stmt.target, scope)
    if stmt.op == ":=":
        return typed.Assign(target, check_stored(stmt.value, target.type, scope), stmt.span)
    value = add_to(stmt.op[0], target, stmt.value, scope, stmt.span)
    return typed.Assign(target, value, stmt.span)


def _target(place: ast.Expr, scope: Scope) -> Expr:
    root = place
    while isinstance(root, ast.FieldOf | ast.IndexOf):
        if isinstance(root, ast.FieldOf) and _is_self(root.base):
            break
        root = root.base
    if isinstance(root, ast.Name):
        _assignable(root, scope)
    target = infer(place, scope)
    inner: Expr = target
    while isinstance(inner, typed.Part | typed.Entry):
        inner = inner.base
    if isinstance(inner, typed.Operation) and inner.op == "slice":
        hint = "assign one entry, or the whole sequence: `q := take(q, k) ++ r`"
        scope.report.fail("N009", "a part of a seq can't be assigned", place.span, hint=hint)
    if not isinstance(inner, typed.StateRef | typed.Local):
        scope.report.fail("N009", "this can't be assigned", place.span, "a state variable")
    return target


def _is_self(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Name) and expr.text == "self"


def _assignable(name: ast.Name, scope: Scope) -> None:
    if name.text in scope.names:
        known = scope.names[name.text]
        if known.varies:
            return
        message = f"`{name.text}` is a name bound by a pattern or `let`; its value is fixed"
        if known.type == PROC:
            message = f"`{name.text}` is a process; its state can't be assigned from here"
        expected = "a state variable, or a local that is declared with `var`"
        scope.report.fail("N009", message, name.span, expected)
    home = scope.home
    if name.text in home.constants:
        message = f"`{name.text}` is a constant; its value is fixed"
        scope.report.fail("N009", message, name.span, "a state variable")
    if name.text in home.params and home.state(name.text, scope.role) is None:
        message = f"`{name.text}` is a parameter; its value is fixed"
        scope.report.fail("N009", message, name.span, "a state variable")
    if home.state(name.text, scope.role) is None and name.text != "self":
        others = [r for r, s in home.states.items() if r and name.text in s]
        if others:
            message = f"`{name.text}` is state of role `{others[0]}`"
            hint = "a process assigns only its own state; send a message"
            scope.report.fail("N009", message, name.span, hint=hint)
        known_names = {n for r in (scope.role, None) for n in home.states.get(r, ())}
        hint = suggestion(name.text, known_names) or f"declare it: `state {name.text} : T = …`"
        message = f"there is no state variable `{name.text}`"
        scope.report.fail("N002", message, name.span, hint=hint)


# ---- acts and timers ---------------------------------------------------------------------------


def _perform(stmt: ast.Perform, scope: Scope) -> Stmt:
    """Types ``perform e``: all acts of a protocol are of one type."""
    value = infer(stmt.value, scope, scope.home.acts)
    known = scope.home.acts
    if value.type == UNKNOWN:
        raise Hole
    if known is None:
        scope.home.acts = value.type
    elif not fits(value.type, known):
        message = f"this is {_type_name(value.type)}, and other actions are {_type_name(known)}"
        hint = "perform tuples or records of one type"
        scope.report.fail("N003", message, value.span, show(known), hint)
    return typed.Perform(value, stmt.idempotent, stmt.span)


def _type_name(type_: Type) -> str:
    shown = show(type_)
    return shown if shown.startswith("a ") else f"`{shown}`"


def _timer(stmt: ast.Timer, scope: Scope) -> Stmt:
    """Types ``start t[k] after e`` and ``cancel t[k]``."""
    known = scope.home.timers.get(scope.role or "", {})
    name = stmt.name.text
    if name not in known:
        hint = suggestion(name, known) or f"write `upon timeout {name} {{ … }}`"
        scope.report.add(
            "N027", f"no handler waits for the timer `{name}`", stmt.name.span, hint=hint
        )
    type_ = known.get(name)
    if name in known and (type_ is None) != (stmt.key is None):
        does = f"{stmt.kind} {name}"
        if type_ is None:
            message, hint = f"the timer `{name}` has no keys", f"write `{does}`"
        else:
            message = f"missing key of the timer `{name}`"
            hint = f"write `{does}[…]`, with a value of type {show(type_)}"
        scope.report.fail("N034", message, stmt.name.span, hint=hint)
    key = None if stmt.key is None or type_ is None else check(stmt.key, scope, type_)
    duration = None if stmt.duration is None else check(stmt.duration, scope, INT)
    return typed.Timer(stmt.kind, name, key, duration, stmt.span)


def _sync(stmt: ast.Sync, scope: Scope) -> Stmt:
    """Types ``sync v else { … }``; without a name all stable variables of the process in this
    protocol."""
    role, home = scope.role, scope.home
    known = [n for n in home.states.get(role, {}) if (role, n) in home.stable]
    for name in stmt.names:
        if name.text not in known:
            hint = suggestion(name.text, known) or f"declare it: `stable state {name.text} = …`"
            message = f"no stable state of the process is called `{name.text}`"
            home.report.add("N002", message, name.span, hint=hint)
    written = stmt.names or tuple(ast.Name(text, stmt.span) for text in known)
    states = tuple(
        typed.StateRef(home.states[role][name.text], name.text, role, None, name.span)
        for name in {name.text: name for name in written}.values()
        if name.text in known
    )
    return typed.Sync(states, block(stmt.otherwise, scope), stmt.span)


# ---- messages and calls -----------------------------------------------------------------------


def _send(stmt: ast.Send, scope: Scope) -> Stmt:
    message = safe(stmt.message, scope)
    if not fits(message.type, MESSAGE):
        hint = "declare one: `message M(…)`"
        name = next(iter(scope.home.messages), "")
        if message.type == MSG:
            for own in scope.home.messages.values():
                if any(t == MSG for _, t in own.fields):
                    name = own.name
        if name:
            hint = f"wrap it in a message: `{name}(…)`"
        shown = f"this is `{show(message.type)}`, and only messages can be sent"
        scope.report.add("N020", shown, message.span, "a message of the protocol", hint)
    if stmt.receivers is None:
        receivers: Expr = typed.Processes(PROCS, None, stmt.span)
    else:
        receivers = safe(stmt.receivers, _among_processes(stmt.receivers, scope))
        if not fits(receivers.type, PROC) and not fits(receivers.type, PROCS):
            shown = f"this is `{show(receivers.type)}`; messages go to processes"
            scope.report.add("N003", shown, receivers.span, "a process, or a set of processes")
    return typed.Send(message, receivers, stmt.span)


def _among_processes(expr: ast.Expr, scope: Scope) -> Scope:
    """Returns ``scope`` with the hint to name processes, if ``expr`` is a name that is unknown."""
    if not isinstance(expr, ast.Name):
        return scope
    states = {
        n: t for role in (scope.role, None) for n, t in scope.home.states.get(role, {}).items()
    }
    types = {**states, **scope.home.params, **{n: k.type for n, k in scope.names.items()}}
    known = {n for n, t in types.items() if t in (PROC, PROCS)}
    known |= {"all", "self", *(role or "Proc" for role in scope.home.roles)}
    return replace(scope, hints={expr.text: suggestion(expr.text, known)})


def below(type_: Type) -> Type:
    """Returns a type of the layer below as the layer above sees it: its ``Msg`` are our
    messages."""
    match type_:
        case typed.Msg():
            return MESSAGE
        case Tuple(items, names):
            return Tuple(tuple(below(t) for t in items), names)
        case Option(item):
            return Option(below(item))
        case Set(item):
            return Set(below(item))
        case Seq(item, cap):
            return Seq(below(item), cap)
        case typed.Bag(item, cap):
            return typed.Bag(below(item), cap)
        case Map(key, value):
            return Map(below(key), below(value))
        case _:
            return type_


def below_fields(operator: Operator) -> tuple[tuple[str, Type], ...]:
    """Returns the arguments of a layer's operator as the layer above sees them."""
    return tuple((name, below(type_)) for name, type_ in operator.fields)


def _call(stmt: ast.Call, scope: Scope) -> Stmt:
    match stmt.target:
        case ast.Name(op, span):
            operator = _indication(op, span, scope)
            args = _arguments(op, stmt, operator.fields, scope)
            return typed.Call(None, op, args, stmt.span)
        case ast.FieldOf(ast.Name(layer, span), op, whole):
            operator = _request(layer, op, span, whole, None, scope)
            args = _arguments(f"{layer}.{op}", stmt, below_fields(operator), scope)
            return typed.Call(layer, op, args, stmt.span)
        case ast.FieldOf(ast.IndexOf(ast.Name(layer, span), key, _), op, whole):
            operator = _request(layer, op, span, whole, key, scope)
            args = _arguments(f"{layer}.{op}", stmt, below_fields(operator), scope)
            index = check(key, scope, INT)
            return typed.Call(layer, op, args, stmt.span, index)
        case _:
            expected = "`deliver(…)` or `layer.request(…)`"
            scope.report.fail("N017", "this can't be called", stmt.target.span, expected)


def _indication(op: str, span: Span, scope: Scope) -> Operator:
    interface = scope.home.interface
    if "implements" in scope.home.lost or op in scope.home.lost:
        raise Hole
    if interface is None:
        hint = "name its interface: `protocol P implements I`"
        if op in scope.home.messages:
            hint = f"write `send {op}(…) to …`"
        message = f"`{op}(…)` would be an indication, and the protocol has no interface"
        scope.report.fail("N022", message, span, hint=hint)
    for operator in interface.indications:
        if operator.name == op:
            return operator
    hint = suggestion(op, (o.name for o in interface.indications))
    if op in scope.home.messages:
        hint = f"write `send {op}(…) to …`"
    elif any(o.name == op for o in interface.requests):
        hint = f"`{op}` is a request of this protocol; layers below are called `layer.{op}(…)`"
    message = f"`{interface.name}` has no indication `{op}`"
    scope.report.fail("N017", message, span, hint=hint)


def layer_called(name: str, span: Span, scope: Scope) -> typed.Layer:
    """Returns the layer ``name``; raises :class:`Hole` where there is none, which is reported."""
    layers = scope.home.layers
    if name in scope.home.lost:
        raise Hole
    if name not in layers:
        hint = suggestion(name, layers) or "declare it: `uses x : Interface`"
        if scope.home.state(name, scope.role) is not None:
            hint = f"`{name}` is a state variable: members are added by `{name} += x`"
        scope.report.fail("N013", f"no layer `{name}`", span, hint=hint)
    return layers[name]


def require_instance(layer: typed.Layer, indexed: bool, span: Span, scope: Scope) -> None:
    """Reports a family of layers used without an index, or one layer with an index."""
    name = layer.name
    if indexed and layer.index is None:
        hint = f"leave the index out, or declare `uses {name}[Nat] : …`"
        scope.report.fail("N029", f"`{name}` is one layer, not a family", span, hint=hint)
    if not indexed and layer.index is not None:
        message = f"`{name}` is a family of layers, and the index is missing"
        scope.report.fail("N029", message, span, f"`{name}[…]`")


def _request(
    name: str, op: str, span: Span, whole: Span, index: ast.Expr | None, scope: Scope
) -> Operator:
    layer = layer_called(name, span, scope)
    require_instance(layer, index is not None, span, scope)
    interface = layer.interface
    if interface is None:
        raise Hole
    for operator in interface.requests:
        if operator.name == op:
            return operator
    hint = suggestion(op, (o.name for o in interface.requests))
    message = f"`{interface.name}` has no request `{op}`"
    scope.report.fail("N017", message, whole, hint=hint)


def _arguments(
    what: str, stmt: ast.Call, fields: tuple[tuple[str, Type], ...], scope: Scope
) -> tuple[Expr, ...]:
    if len(stmt.args) != len(fields):
        wanted = f"{what}({', '.join(n for n, _ in fields)})"
        message = f"`{what}` takes {count(len(fields), 'argument')}, not {len(stmt.args)}"
        scope.report.fail("N006", message, stmt.span, wanted)
    made = []
    for arg, (_, type_) in zip(stmt.args, fields, strict=True):
        built = infer(arg, scope, type_)
        if type_ == MESSAGE and not fits(built.type, MESSAGE):
            _wrap(built, scope)
        elif not fits(built.type, type_):
            built = check(arg, scope, type_)
        made.append(built)
    return tuple(made)


def _wrap(built: Expr, scope: Scope) -> None:
    """Reports that a layer below carries only this protocol's own messages."""
    shown = show(built.type)
    inner = built.name if isinstance(built, typed.Local) else "…"
    hint = f"declare `message DATA({inner if inner != '…' else 'm'}: {shown})` and wrap it"
    for own in scope.home.messages.values():
        if len(own.fields) == 1 and fits(built.type, own.fields[0][1]):
            hint = f"wrap it: `{own.name}({inner})`"
    message = f"the layer carries this protocol's messages, and this is `{shown}`"
    scope.report.fail("N020", message, built.span, "a message of the protocol", hint)
