"""Resolves each name in a file to what it is declared as, for definition, references and rename.

It works on syntax trees, so that it also answers where the text has errors; what a name means is
said by the type check (:mod:`checker.language.typecheck`), and a test holds this to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from checker.diagnostics import Span
from checker.editor.declarations import Declaration, Names, Visible, of_item
from checker.language.syntax import ast, ast_clauses, ast_draws, ast_items, ast_objects
from checker.language.syntax.verbs import verbs
from checker.language.typecheck.histories import history_name
from checker.records import fields, is_record, replace

_WORD = re.compile(r"[A-Za-z_]\w*'*")


class Occurrence(Struct, frozen=True):
    """A name in a text, at ``span``; ``is_declaration``: it stands where it is declared;
    ``renames``: its text is the name itself, and not a form of it (``broadcasts``)."""

    span: Span
    of: Declaration
    is_declaration: bool = False
    renames: bool = True


def index(spec: ast_items.Spec, text: str, visible: Visible) -> list[Occurrence]:
    """Returns all names in ``spec``, which ``text`` was parsed to, that are declared anywhere, in
    the order of the text."""
    found = _Index(text, visible)
    for item in spec.items:
        found.item(item)
    unique = {
        (o.span.line, o.span.column): o for o in found.occurrences if o.span.file == spec.file
    }
    return [unique[place] for place in sorted(unique)]


class _Index:
    def __init__(self, text: str, visible: Visible) -> None:
        self.occurrences: list[Occurrence] = []
        self._lines = text.replace("\r\n", " \n").replace("\r", "\n").split("\n")
        self._visible = visible
        self._module: Names = Names()
        self._called = ""
        self._scopes: list[Names] = [visible.top]
        self._binds_free_names = False

    # ---- names ----------------------------------------------------------------------------------

    def _find(self, name: str) -> Declaration | None:
        inner = (names.find(name) for names in reversed(self._scopes))
        return next((each for each in inner if each is not None), None)

    def _refer(self, span: Span, found: Declaration | None, renames: bool = True) -> None:
        if found is not None:
            self.occurrences.append(Occurrence(span, found, span == found.span, renames))

    def _name(self, name: ast.Name | None) -> None:
        if name is not None:
            self._refer(name.span, self._find(name.text))

    def _bind(self, name: ast.Name) -> None:
        if name.text != "_":
            declared = Declaration(name.text, "local", name.span, name.span)
            self._scopes[-1].of[name.text] = declared
            self._refer(name.span, declared)

    @contextmanager
    def _inside(self, *names: Names) -> Iterator[None]:
        self._scopes += [*names, Names()]
        yield
        del self._scopes[-len(names) - 1 :]

    def _part(self, span: Span, name: str, after: Span | None = None) -> Span:
        """Returns where ``name`` is written in an expression at ``span``: behind ``after``, or at
        its beginning."""
        line, column = (after.end_line, after.end_column) if after else (span.line, span.column)
        for number in range(line, span.end_line + 1):
            text = self._lines[number - 1] if number <= len(self._lines) else ""
            match = re.compile(rf"\b{re.escape(name)}(?![\w'])").search(text, column - 1)
            if match is not None:
                return Span(span.file, number, match.start() + 1, number, match.end() + 1)
            column = 1
        return span

    # ---- items ----------------------------------------------------------------------------------

    def item(self, item: object) -> None:
        for declared in of_item(item):
            if declared.kind and declared.kind != "label":
                self._refer(declared.span, declared)
        match item:
            case (
                ast_items.Protocol()
                | ast_items.Variant()
                | ast_items.Interface()
                | ast_objects.Object()
            ):
                self._items_of(item)
            case ast_items.Role() | ast_items.RoleChange():
                self._name(item.name)
                self._any(item.size)
                self._name(item.lead)
                with self._inside(self._module.role(item.name.text) or Names()):
                    self._each(item.items)
            case ast_items.Check():
                self._check(item)
            case ast_items.Handler():
                self._handler(item)
            case (
                ast_items.WithoutHandler(event=event, at=at, when=when)
                | ast_items.HandlerHead(event=event, at=at, when=when)
            ):
                with self._inside():
                    self._event(event)
                    self._all((at, when))
            case ast_items.EditsIn(where=where, edits=edits):
                self._edits(where, edits)
            case ast_items.WithoutStatement() | ast_items.Replacement():
                self._edit(item)
            case _:
                with self._inside():
                    self._any(item)

    def _each(self, items: Iterable[object]) -> None:
        for item in items:
            self.item(item)

    def _items_of(
        self,
        item: ast_items.Protocol | ast_items.Variant | ast_items.Interface | ast_objects.Object,
    ) -> None:
        outer, self._module = self._module, self._visible.names(item.name.text)
        self._name(getattr(item, "implements", None))
        self._name(getattr(item, "of", None))
        with self._inside(self._module):
            for parameter in getattr(item, "parameters", ()):
                self.item(parameter)
            self._any(getattr(item, "requires", None))
            self._each(item.items)
        self._module = outer

    def _handler(self, item: ast_items.Handler) -> None:
        with self._inside():
            self._event(item.event)
            self._all((item.at, item.when))
            self._block(item.body)

    def _edits(
        self, where: ast.Name | ast_items.HandlerHead, edits: Iterable[ast_items.Edit]
    ) -> None:
        with self._inside():
            if isinstance(where, ast.Name):
                self._refer(where.span, self._module.find_anywhere(where.text))
            else:
                self._event(where.event)
                self._all((where.at, where.when))
            for edit in edits:
                self._edit(edit)

    def _edit(self, edit: ast_items.Edit) -> None:
        """Indexes the names of an edit, without those that the changed handler binds."""
        with self._inside():
            if isinstance(edit, ast_items.Replacement):
                self._all((edit.old, edit.new))
            else:
                self._any(edit.statement)

    def _event(self, event: ast_items.Event) -> None:
        match event:
            case ast_items.OnRequest(op, args) | ast_items.OnReceive(op, args, _):
                self._refer(op.span, self._module.find_anywhere(op.text) or self._find(op.text))
                self._patterns(args)
                if isinstance(event, ast_items.OnReceive) and event.sender is not None:
                    self._patterns((event.sender,))
            case ast_items.OnIndication(layer, key, op, args):
                self._name(layer)
                self._refer(op.span, self._of_layer(layer.text, op.text))
                self._patterns((*([key] if key is not None else []), *args))
            case ast_items.OnCondition(condition):
                self._binds_free_names = True
                self._any(condition)
                self._binds_free_names = False
            case ast_items.OnTimeout(timer, key):
                self._name(timer)
                if key is not None:
                    self._any(key.type)
                    self._bind(key.name)
            case ast_items.OnDisconnected(process):
                self._patterns((process,))
            case _:
                pass

    def _patterns(self, patterns: Iterable[ast.Expr]) -> None:
        """Names that mean something are compared, all others are bound."""
        for pattern in patterns:
            match pattern:
                case ast.Name(text, _) if self._find(text) is None:
                    self._bind(pattern)
                case ast.Display("tuple", items, _):
                    self._patterns(items)
                case ast.Apply(name, args, span):
                    self._refer(self._part(span, name), self._find(name))
                    self._patterns(args)
                case _:
                    self._any(pattern)

    def _of_layer(self, layer: str, op: str) -> Declaration | None:
        declared = self._find(layer)
        if declared is None or declared.kind != "layer":
            return None
        below = self._uses.get((declared.span.line, declared.span.column, declared.span.file))
        return self._visible.names(below).find(op) if below is not None else None

    @property
    def _uses(self) -> dict[tuple[int, int, str], str]:
        """The module behind each layer, by where the layer is declared."""
        found = {}
        for item in self._visible.items():
            for inner in getattr(item, "items", ()):
                if isinstance(inner, ast_items.Uses):
                    span = inner.name.span
                    found[span.line, span.column, span.file] = inner.of.text
        return found

    # ---- checks ---------------------------------------------------------------------------------

    def _check(self, item: ast_items.Check) -> None:
        self._name(item.protocol)
        outer, self._module = self._module, self._visible.names(item.protocol.text)
        self._called = item.protocol.text
        with self._inside(self._module):
            for inner in item.items:
                for declared in of_item(inner):
                    self._scopes[-1].of[declared.name] = declared
            for inner in item.items:
                self._clause(inner)
        self._module = outer

    def _clause(self, item: object) -> None:
        match item:
            case ast_items.Prove(names, _):
                self._asked(names)
            case ast_items.Expect(what, _, _, _, _) | ast_clauses.Claim(what, _, _):
                self._asked((what,))
            case ast_items.Client(_, verb, items, _):
                request = self._verb(verb.text)
                self._refer(verb.span, request, request is None or request.name == verb.text)
                self._all(items)
            case ast_clauses.HandlerBudget(bound, handler, _, _):
                self._any(bound)
                self._refer(handler.span, self._module.find_anywhere(handler.text))
            case ast_clauses.FairHandlers(_, names, _):
                for name in names:
                    self._refer(name.span, self._module.find_anywhere(name.text))
            case ast_clauses.Scenario(_, steps, again, claims, _):
                for step in (*steps, *again):
                    self._step(step)
                for claim in claims:
                    self._clause(claim)
            case ast_items.Mutant(name, items, _):
                self._refer(name.span, next(of_item(item)))
                for inner in items:
                    self._clause(inner)
            case ast_items.Fault(_, bound, role, receiver, _):
                self._any(bound)
                self._name(role)
                self._name(receiver)
            case ast_items.Link() | ast_items.CrashPoints() | ast_items.Allow():
                pass
            case ast_items.LinkRule(sender, receiver, _, _):
                self._name(sender)
                self._name(receiver)
            case ast_items.Timing(_, _, value, until, _):
                self._any(value)
                self._any(until)
            case ast_items.Detector(_, _, noise, _):
                self._all(noise or ())
            case _:
                self.item(item)

    def _asked(self, names: Iterable[ast.Name]) -> None:
        for name in names:
            first = name.text.split()[0] if name.text else ""
            found = self._find(first) or self._visible.property(first, self._called)
            self._refer(self._part(name.span, first), found)
            last = name.text.split()[-1]
            if last != first:
                self._refer(self._part(name.span, last), self._find(last))

    def _verb(self, verb: str) -> Declaration | None:
        for name, declared in self._module.every().items():
            if declared.kind == "request" and verb in (*verbs(name), name):
                return declared
        return None

    def _step(self, step: ast.Name) -> None:
        """What a step of a scenario speaks of: messages, handlers, requests."""
        for match in _WORD.finditer(step.text):
            found = self._module.find_anywhere(match.group())
            if found is not None and found.kind in (
                "message",
                "handler",
                "alternative",
                "request",
                "label",
            ):
                start = step.span.column + match.start()
                end = start + len(match.group())
                self._refer(replace(step.span, column=start, end_column=end), found)

    # ---- statements and expressions -------------------------------------------------------------

    def _block(self, body: ast.Block) -> None:
        with self._inside():
            for stmt in body:
                self._any(stmt)

    def _all(self, nodes: Iterable[object]) -> None:
        for node in nodes:
            self._any(node)

    def _any(self, node: object) -> None:
        special = _SPECIAL.get(type(node))
        if special is not None:
            special(self, node)
        elif isinstance(node, tuple):
            self._all(node)
        elif is_record(node) and not isinstance(node, Span):
            self._all(getattr(node, each.name) for each in fields(node))

    def _use(self, node: ast.Name) -> None:
        found = self._find(node.text)
        if found is None and self._binds_free_names and node.text != "_":
            self._bind_in_handler(node)
        self._refer(node.span, found)

    def _bind_in_handler(self, node: ast.Name) -> None:
        if node.text not in ("self", "n", "f", "all"):
            self._bind(node)

    def _apply(self, node: ast.Apply) -> None:
        found = self._find(node.name) or self._history(node.name)
        self._refer(
            self._part(node.span, node.name), found, found is None or found.name == node.name
        )
        self._all(node.args)

    def _history(self, name: str) -> Declaration | None:
        for op, declared in self._module.every().items():
            if declared.kind in ("request", "indication") and history_name(op) == name:
                return declared
        return None

    def _member(self, node: ast.FieldOf | ast.ApplyOn) -> None:
        self._any(node.base)
        found = None
        if isinstance(node.base, ast.Name):
            found = self._of_layer(node.base.text, node.name)
        if found is None:
            declared = self._module.find_anywhere(node.name)
            if declared is not None and declared.kind.endswith(("state", "definition")):
                found = declared
        self._refer(self._part(node.span, node.name, node.base.span), found)
        self._all(getattr(node, "args", ()))

    def _binders(self, binders: tuple[ast.Binder, ...], *inner: object) -> None:
        with self._inside():
            for binder in binders:
                self._any(binder.domain)
                self._pattern(binder.pattern)
                self._any(binder.where)
            self._all(inner)

    def _pattern(self, pattern: ast.Expr) -> None:
        match pattern:
            case ast.Name():
                self._bind(pattern)
            case ast.Display("tuple", items, _):
                for item in items:
                    self._pattern(item)
            case _:
                self._any(pattern)

    def _typed_name(self, node: ast.NamedType) -> None:
        self._refer(node.span, self._find(node.name))

    def _enum(self, node: ast.EnumType) -> None:
        for label in node.labels:
            self._refer(label.span, self._find(label.text))

    def _choose(self, node: ast.Choose | ast_draws.Draw) -> None:
        self._any(node.domain)
        self._pattern(node.pattern)
        self._any(node.where)

    def _weighed(self, node: ast_draws.WeighedDraw) -> None:
        self._any(node.weights)
        self._pattern(node.pattern)

    def _loop(self, node: ast.Loop) -> None:
        self._any(node.domain)
        with self._inside():
            self._pattern(node.pattern)
            self._any(node.where)
            self._block(node.body)

    def _if(self, node: ast.If) -> None:
        self._any(node.condition)
        self._block(node.then)
        self._block(node.otherwise)

    def _either(self, node: ast.Either) -> None:
        for guard, body in node.alternatives:
            self._any(guard)
            self._block(body)
        for name in node.names:
            if name is not None:
                self._refer(name.span, self._module.find_anywhere(name.text))

    def _sync(self, node: ast.Sync) -> None:
        self._all(node.names)
        self._block(node.otherwise)

    def _let(self, node: ast.Let) -> None:
        self._any(node.value)
        self._pattern(node.pattern)

    def _var(self, node: ast.Var) -> None:
        self._all((node.type, node.value))
        self._bind(node.name)

    def _with_fields(
        self, node: ast_items.Definition | ast_items.Procedure | ast_objects.Operation
    ) -> None:
        parameters = node.parameters if isinstance(node, ast_items.Procedure) else node.fields
        for each in parameters:
            self._any(each.type)
            self._bind(each.name)
        if isinstance(node, ast_items.Definition):
            self._all((node.type, node.value))
        else:
            self._block(node.body)

    def _field(self, node: ast.Field) -> None:
        self._any(node.type)


def _of(binders: str, *inner: str) -> Callable[[_Index, object], None]:
    """Returns how an expression with binders is resolved, of which ``inner`` are the fields."""

    def resolve(self: _Index, node: object) -> None:
        self._binders(getattr(node, binders), *(getattr(node, each) for each in inner))

    return resolve


_SPECIAL: dict[type, Callable[[_Index, Any], None]] = {
    ast.Name: _Index._use,
    ast.Apply: _Index._apply,
    ast.ApplyOn: _Index._member,
    ast.FieldOf: _Index._member,
    ast.NamedType: _Index._typed_name,
    ast.EnumType: _Index._enum,
    ast.Field: _Index._field,
    ast.Quantified: _of("binders", "body"),
    ast.Comprehension: _of("binders", "item"),
    ast.SeqComprehension: _of("binders", "item"),
    ast.Aggregate: _of("binders", "item"),
    ast.MapDisplay: _of("binders", "key", "value"),
    ast.Choose: _Index._choose,
    ast_draws.Draw: _Index._choose,
    ast_draws.WeighedDraw: _Index._weighed,
    ast.Loop: _Index._loop,
    ast.If: _Index._if,
    ast.Either: _Index._either,
    ast.Sync: _Index._sync,
    ast.Let: _Index._let,
    ast.Var: _Index._var,
    ast_items.Definition: _Index._with_fields,
    ast_items.Procedure: _Index._with_fields,
    ast_objects.Operation: _Index._with_fields,
}
