"""Types handlers: their events and their bodies."""

from __future__ import annotations

from checker.language.syntax import ast, ast_items, typed
from checker.language.typecheck.expressions import check, safe
from checker.language.typecheck.ghosts import refuse_reads, separate
from checker.language.typecheck.patterns import (
    Names,
    after_condition,
    binder_pattern,
    handler_patterns,
    pattern_of,
)
from checker.language.typecheck.procedures import key_type
from checker.language.typecheck.scope import Hole, Home, Known, Reporter, Scope, suggestion
from checker.language.typecheck.statements import (
    below_fields,
    block,
    layer_called,
    require_instance,
)
from checker.language.typecheck.types import BOOL, PROC
from checker.records import replace

_OF_THEMSELVES = typed.OnCondition | typed.OnTimeout
"""Events that no other process or layer causes, so that they may be exempt from fairness."""


def handler(decl: ast_items.Handler, role: str, home: Home) -> typed.Handler | None:
    """Returns the handler ``decl`` of ``role``; ``None`` where its event has an error, which is
    reported."""
    scope = Scope(home, "code", role)
    names: Names = {}
    try:
        event = _event(decl, scope, names)
    except Hole:
        return None
    asked = decl.event.condition if isinstance(decl.event, ast_items.OnCondition) else decl.when
    inner = after_condition(asked, scope.bind(names))
    at = None if decl.at is None else safe(decl.at, inner, PROC)
    when = None if decl.when is None else safe(decl.when, inner, BOOL)
    body = separate(block(decl.body, inner), home.report)
    refuse_reads((event, at, when), home.report)
    for stmt in decl.body:
        _splits_inside(stmt, scope)
        if isinstance(stmt, ast.Yield) and isinstance(event, typed.OnInit):
            message = "`upon init` runs before all other steps, so nothing can interleave"
            scope.report.add("N028", message, stmt.span, hint="leave out `yield`")
    if decl.may is not None and not isinstance(event, _OF_THEMSELVES):
        message = "`may` applies only to `upon condition` and `upon timeout`"
        hint = "make statements inside it optional: `either { … } or { skip }`"
        scope.report.add("N031", message, decl.may, hint=hint)
    label = decl.label if decl.name is None else decl.name.text
    return typed.Handler(label, event, at, when, body, decl.head, decl.may is None)


def _event(decl: ast_items.Handler, scope: Scope, names: Names) -> typed.Event:
    match decl.event:
        case ast_items.OnRequest(op, args):
            return _on_request(op, args, scope, names)
        case ast_items.OnReceive(message, args, sender):
            return _on_receive(message, args, sender, scope, names)
        case ast_items.OnIndication():
            return _on_indication(decl.event, scope, names)
        case ast_items.OnCondition(condition):
            return _on_condition(condition, scope, names)
        case (ast_items.OnInit() | ast_items.OnRecover()) as event:
            return event
        case ast_items.OnTimeout(timer, key):
            return _on_timeout(timer, key, scope, names)
        case ast_items.OnDisconnected(process):
            return typed.OnDisconnected(pattern_of(process, PROC, scope, names))


def _on_timeout(
    timer: ast.Name | None, key: ast_items.TimerKey | None, scope: Scope, names: Names
) -> typed.Event:
    if timer is None or key is None:
        return typed.OnTimeout(None if timer is None else timer.text, None)
    type_ = key_type(key, scope.home)
    names.update(binder_pattern(key.name, type_, scope)[1])
    return typed.OnTimeout(timer.text, (key.name.text, type_))


def _on_request(
    op: ast.Name, args: tuple[ast.Expr, ...], scope: Scope, names: Names
) -> typed.Event:
    interface = scope.home.interface
    if interface is None:
        assert "implements" in scope.home.lost
        raise Hole
    for operator in interface.requests:
        if operator.name == op.text:
            patterns = handler_patterns(args, operator.fields, op.text, op.span, scope, names)
            return typed.OnRequest(op.text, patterns)
    hint = suggestion(op.text, (o.name for o in interface.requests))
    message = f"`{interface.name}` has no request `{op.text}`"
    scope.report.fail("N017", message, op.span, hint=hint)


def _on_receive(
    message: ast.Name,
    args: tuple[ast.Expr, ...],
    sender: ast.Expr | None,
    scope: Scope,
    names: Names,
) -> typed.Event:
    messages = scope.home.messages
    if message.text not in messages:
        hint = suggestion(message.text, messages)
        scope.report.fail("N012", f"no message `{message.text}`", message.span, hint=hint)
    fields = messages[message.text].fields
    patterns = handler_patterns(args, fields, message.text, message.span, scope, names)
    source: typed.Pattern = typed.Ignore(PROC)
    if sender is not None:
        source = pattern_of(sender, PROC, scope, names)
    return typed.OnReceive(message.text, patterns, source)


def _on_indication(event: ast_items.OnIndication, scope: Scope, names: Names) -> typed.Event:
    name, op = event.layer, event.op
    layer = layer_called(name.text, name.span, scope)
    require_instance(layer, event.index is not None, name.span, scope)
    interface = layer.interface
    if interface is None:
        raise Hole
    for operator in interface.indications:
        if operator.name == op.text:
            index = None
            if event.index is not None and layer.index is not None:
                index = pattern_of(event.index, layer.index, scope, names)
            what = f"{name.text}.{op.text}"
            fields = below_fields(operator)
            patterns = handler_patterns(event.args, fields, what, op.span, scope, names)
            return typed.OnIndication(name.text, op.text, patterns, index)
    hint = suggestion(op.text, (o.name for o in interface.indications))
    message = f"`{interface.name}` has no indication `{op.text}`"
    scope.report.fail("N017", message, op.span, hint=hint)


def _splits_inside(stmt: ast.Stmt, scope: Scope) -> None:
    """Reports a ``yield`` or ``await`` inside of ``stmt``."""
    for inner in ast.blocks_of(stmt):
        for each in inner:
            if isinstance(each, ast.Yield | ast.Await):
                message = f"`{type(each).__name__.lower()}` can't split the handler inside a block"
                hint = "move it to the top level of the handler, or send a message to `self`"
                scope.report.add("N028", message, each.span, hint=hint)
            _splits_inside(each, scope)


def _on_condition(condition: ast.Expr, scope: Scope, names: Names) -> typed.Event:
    """Types ``upon condition e``: names that only ``received`` binds are bound for the handler."""
    free: dict[str, typed.Type] = {}
    silent = Scope(replace(scope.home, report=Reporter()), scope.mode, scope.role, {}, free)
    safe(condition, silent, BOOL)
    built = check(condition, replace(scope, free=free), BOOL)
    names.update({name: Known(type_) for name, type_ in free.items()})
    return typed.OnCondition(built, tuple(free.items()))
