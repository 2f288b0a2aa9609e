"""Builds declarations and statements from the parser's tree; see also ``parse_expr`` and
``parse_check``."""

from __future__ import annotations

from typing import Any

from lark import Tree

from checker.diagnostics import Span
from checker.lang import ast, ast_items
from checker.lang.parse_check import CheckBuilder
from checker.lang.parse_expr import is_tree


class Builder(CheckBuilder):
    """Builds the declarations of one text; raises ``TooDeep`` and ``NumberTooLarge`` (see
    parse_expr)."""

    # ---- top ----------------------------------------------------------------------------------

    def spec(self, tree: Any) -> tuple[ast_items.Item, ...]:
        return tuple(getattr(self, f"top_{child.data}")(child) for child in _trees(tree.children))

    def top_import_(self, tree: Any) -> ast_items.Import:
        return ast_items.Import(str(tree.children[0])[1:-1], self.span(tree))

    def top_interface(self, tree: Any) -> ast_items.Interface:
        name, *items = tree.children
        built = tuple(getattr(self, f"item_{i.data}")(i) for i in items)
        return ast_items.Interface(self.name(name), built, self.span(tree))

    def top_protocol(self, tree: Any) -> ast_items.Protocol:
        name, parameters, implements, requires, *items = tree.children
        return ast_items.Protocol(
            self.name(name),
            tuple(self.parameter(p) for p in parameters.children) if parameters else (),
            self.name(implements.children[0]) if implements else None,
            self.expr(requires.children[0]) if requires else None,
            tuple(getattr(self, f"item_{i.data}")(i) for i in items),
            self.span(tree),
        )

    # ---- items of interfaces and protocols ----------------------------------------------------

    def item_request_decl(self, tree: Any) -> ast_items.OperatorDecl:
        return self._operator("request", tree)

    def item_indication_decl(self, tree: Any) -> ast_items.OperatorDecl:
        return self._operator("indication", tree)

    def _operator(self, kind: str, tree: Any) -> ast_items.OperatorDecl:
        name, fields = tree.children
        return ast_items.OperatorDecl(kind, self.name(name), self.fields(fields), self.span(tree))

    def item_properties(self, tree: Any) -> ast_items.PropertyList:
        return ast_items.PropertyList(self.names(tree.children[0]), self.span(tree))

    def item_type_alias(self, tree: Any) -> ast_items.TypeAlias:
        name, type_ = tree.children
        return ast_items.TypeAlias(self.name(name), self.type(type_), self.span(tree))

    def item_property(self, tree: Any) -> ast_items.PropertyDecl:
        return self.formula_of(tree, tree.children)

    def item_invariant(self, tree: Any) -> ast_items.PropertyDecl:
        return self.check_invariant(tree)

    def item_role(self, tree: Any) -> ast_items.Role:
        name, size, *items = tree.children
        built = tuple(getattr(self, f"item_{i.data}")(i) for i in items)
        return ast_items.Role(self.name(name), self.expr(size), built, self.span(tree))

    def item_uses(self, tree: Any) -> ast_items.Uses:
        name, index, of = tree.children
        type_ = None if index is None else self.type(index.children[0])
        return ast_items.Uses(self.name(name), self.name(of), type_, self.span(tree))

    def item_message(self, tree: Any) -> ast_items.Message:
        name, fields = tree.children
        built = self.fields(fields.children[0]) if fields else ()
        return ast_items.Message(self.name(name), built, self.span(tree))

    def item_state(self, tree: Any) -> ast_items.State:
        return self._state(tree)

    def item_shared(self, tree: Any) -> ast_items.State:
        return self._state(tree, shared=True)

    def item_stable(self, tree: Any) -> ast_items.State:
        return self._state(tree, stable=True)

    def _state(self, tree: Any, shared: bool = False, stable: bool = False) -> ast_items.State:
        name, type_, initial = tree.children
        return ast_items.State(
            self.name(name),
            self.type(type_) if type_ is not None else None,
            self.optional(initial),
            shared,
            stable,
            self.span(tree),
        )

    def item_init_choose(self, tree: Any) -> ast_items.InitChoice:
        name, domain, where = tree.children
        return ast_items.InitChoice(
            self.name(name), self.optional(domain), self.optional(where), self.span(tree)
        )

    def parameter(self, tree: Any) -> ast_items.Parameter:
        name, type_, default = tree.children
        return ast_items.Parameter(
            self.name(name), self.type(type_), self.optional(default), self.span(tree)
        )

    # ---- handlers -----------------------------------------------------------------------------

    def item_handler(self, tree: Any) -> ast_items.Handler:
        may, event, at, when, body = tree.children
        whole = self.span(tree)
        head = self.until(whole, body)
        rest = body if event.data == "on_condition" else at or when or body
        label = self.source(self.until(whole, rest))
        if may is not None:
            label = label.removeprefix(str(may)).lstrip()
        built = getattr(self, f"event_{event.data}")(event, whole)
        if at is not None:
            at = self.expr(at.children[0])
        if when is not None:
            when = self.expr(when.children[0])
        free = None if may is None else self.span(may)
        return ast_items.Handler(label, built, at, when, self.block(body), head, whole, free)

    def event_on_request(self, tree: Any, _: Span) -> ast_items.Event:
        op, args = tree.children
        return ast_items.OnRequest(self.name(op), self.arguments(args))

    def event_on_receive(self, tree: Any, _: Span) -> ast_items.Event:
        message, args, sender = tree.children
        built = self.arguments(args.children[0]) if args else ()
        return ast_items.OnReceive(self.name(message), built, self.optional(sender))

    def event_on_indication(self, tree: Any, _: Span) -> ast_items.Event:
        layer, instance, op, args = tree.children
        index = None if instance is None else self.expr(instance.children[0])
        return ast_items.OnIndication(self.name(layer), index, self.name(op), self.arguments(args))

    def event_on_condition(self, tree: Any, _: Span) -> ast_items.Event:
        return ast_items.OnCondition(self.expr(tree.children[0]))

    def event_on_init(self, _: Any, __: Span) -> ast_items.Event:
        return ast_items.OnInit()

    def event_on_timeout(self, tree: Any, _: Span) -> ast_items.Event:
        timer = tree.children[0]
        return ast_items.OnTimeout(None if timer is None else self.name(timer))

    def event_on_recover(self, _: Any, __: Span) -> ast_items.Event:
        return ast_items.OnRecover()

    # ---- statements ---------------------------------------------------------------------------

    def block(self, tree: Any) -> ast.Block:
        with self.deeper(tree):
            return tuple(getattr(self, f"stmt_{s.data}")(s) for s in tree.children)

    def stmt_assign(self, tree: Any) -> ast.Stmt:
        target, op, value = tree.children
        return ast.Assign(self.place(target), str(op), self.expr(value), self.span(tree))

    def stmt_send(self, tree: Any) -> ast.Stmt:
        message, to = tree.children
        receivers: ast.Expr | None = None
        if to.data == "to_expr":
            receivers = self.expr(to.children[0])
        elif to.data == "to_role":
            whole = to.children[0]
            word = str(whole).split()[-1]
            receivers = ast.Name(word, self.tail(whole, len(word)))
        return ast.Send(self.expr(message), receivers, self.span(tree))

    def stmt_call(self, tree: Any) -> ast.Stmt:
        target, args = tree.children
        return ast.Call(self.place(target), self.arguments(args), self.span(tree))

    def stmt_if_(self, tree: Any) -> ast.Stmt:
        condition, then, otherwise = tree.children
        rest: ast.Block = ()
        if otherwise is not None:
            inner = otherwise.children[0]
            if inner.data == "if_":
                with self.deeper(inner):
                    rest = (self.stmt_if_(inner),)
            else:
                rest = self.block(inner)
        return ast.If(self.expr(condition), self.block(then), rest, self.span(tree))

    def stmt_for_(self, tree: Any) -> ast.Stmt:
        return self._loop("for", tree)

    def stmt_while_(self, tree: Any) -> ast.Stmt:
        return self._loop("while", tree)

    def _loop(self, kind: str, tree: Any) -> ast.Loop:
        pattern, domain, when, body = tree.children
        return ast.Loop(
            kind,
            self.pattern(pattern),
            self.expr(domain),
            self.expr(when.children[0]) if when else None,
            self.block(body),
            self.span(tree),
        )

    def stmt_choose(self, tree: Any) -> ast.Stmt:
        name, domain, when = tree.children
        where = self.expr(when.children[0]) if when else None
        return ast.Choose(self.name(name), self.expr(domain), where, self.span(tree))

    def stmt_either(self, tree: Any) -> ast.Stmt:
        made = []
        for alternative in tree.children:
            when, body = alternative.children
            made.append((self.expr(when.children[0]) if when else None, self.block(body)))
        return ast.Either(tuple(made), self.span(tree))

    def stmt_require(self, tree: Any) -> ast.Stmt:
        return ast.Require(self.expr(tree.children[0]), self.span(tree))

    def stmt_let(self, tree: Any) -> ast.Stmt:
        name, value = tree.children
        return ast.Let(self.name(name), self.expr(value), self.span(tree))

    def stmt_skip(self, tree: Any) -> ast.Stmt:
        return ast.Skip(self.span(tree))

    def stmt_perform(self, tree: Any) -> ast.Stmt:
        idempotent, value = tree.children
        return ast.Perform(self.expr(value), idempotent is not None, self.span(tree))

    def stmt_atomic(self, tree: Any) -> ast.Stmt:
        return ast.Atomic(self.block(tree.children[0]), self.span(tree))

    def stmt_yield_(self, tree: Any) -> ast.Stmt:
        return ast.Yield(self.span(tree))

    def stmt_start_timer(self, tree: Any) -> ast.Stmt:
        name, duration = tree.children
        return ast.Timer("start", self.name(name), self.optional(duration), self.span(tree))

    def stmt_cancel_timer(self, tree: Any) -> ast.Stmt:
        return ast.Timer("cancel", self.name(tree.children[0]), None, self.span(tree))


def _trees(children: list[Any]) -> list[Tree[Any]]:
    return [child for child in children if is_tree(child)]
