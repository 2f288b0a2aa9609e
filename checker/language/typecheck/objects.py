"""Types objects: sequential specifications, and what is asked of executions with respect to one.

An object is typed as a protocol of one process that handles each operation as a request and
indicates its result under the same name.  The names behind it (``object Register<V>``) stand for
the types that an interface gives to the arguments and results of its operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.language.syntax import ast, ast_items, ast_objects, typed
from checker.language.syntax.verbs import verbs
from checker.language.syntax.walk import mapped, nodes_of
from checker.language.typecheck.declarations import Declared, declare, in_order, see
from checker.language.typecheck.protocols import protocol_of
from checker.language.typecheck.scope import Hole, Home, Reporter, suggestion
from checker.language.typecheck.types import BOOL, INT, field_names, fits, resolve, show
from checker.records import replace

KINDS = ("linearizable", "sequentially_consistent", "regular", "safe")
"""What can be asked: each of these words ``as`` an object."""

_FOREIGN = (ast.Send, ast.Perform, ast.Timer, ast.Atomic, ast.Sync, ast.Yield, ast.Await)
"""Statements of processes, which an object does not have."""

Types = Mapping[str, typed.Type]


def is_consistency(name: str) -> bool:
    """Tells whether ``name`` is of the form ``linearizable as Register``."""
    return " as " in name


# ---- what an interface has ---------------------------------------------------------------------


def results_of(interface: typed.Interface, request: typed.Operator) -> tuple[typed.Type, ...]:
    """Returns the types of what ``request``, which returns, returns."""
    found = next(o for o in interface.indications if o.name == request.returns)
    return tuple(type_ for _, type_ in found.fields)


def operations_of(interface: typed.Interface) -> tuple[typed.Operator, ...]:
    """Returns the requests of ``interface`` that return."""
    return tuple(request for request in interface.requests if request.returns is not None)


# ---- what is asked -----------------------------------------------------------------------------


def consistency_property(name: ast.Name, home: Home) -> typed.PropertyDef | None:
    """Returns the property ``linearizable as Register``; ``None`` where something is wrong, which
    is reported."""
    kind, _, of = name.text.partition(" as ")
    end = name.span.column + len(name.text)
    span = replace(name.span, column=end - len(of)) if name.span.end_column == end else name.span
    if kind not in KINDS:
        message = f"unknown consistency condition `{kind} as`"
        choices = ", ".join(f"`{each} as {of}`" for each in KINDS)
        home.report.add("C040", message, name.span, choices, suggestion(kind, KINDS))
        return None
    try:
        formula = consistency(kind, ast.Name(of, span), name.span, home)
    except Hole:
        return None
    return typed.PropertyDef(name.text, document(kind, of), name.text, formula, name.span)


_DOCUMENTS = {
    "linearizable": (
        "Herlihy and Wing 1990: the operations can be ordered so that each takes effect between"
        " its call and its return, and their results are those of a sequential {}."
    ),
    "sequentially_consistent": (
        "Lamport 1979: the operations can be ordered, those of each process as it called them, so"
        " that their results are those of a sequential {}."
    ),
    "regular": (
        "Lamport 1986: a read returns the value that was written last before it, or one that is"
        " being written meanwhile."
    ),
    "safe": (
        "Lamport 1986: a read that no write overlaps returns the value that was written last"
        " before it."
    ),
}


def document(kind: str, of: str) -> str:
    """Returns the definition of ``kind`` with respect to the object ``of``."""
    return _DOCUMENTS[kind].format(of)


def consistency(kind: str, name: ast.Name, span: Span, home: Home) -> typed.Expr:
    """Types ``kind as name``, which is about executions of a protocol with the interface of
    ``home``; raises :class:`Hole` after reporting what is wrong."""
    report, interface = home.report, home.interface
    found = home.objects.get(name.text)
    if found is None:
        hint = suggestion(name.text, home.objects)
        report.fail("C040", f"no object `{name.text}`", name.span, hint=hint)
    if interface is None:
        if "implements" in home.lost:
            raise Hole
        message = f"`{home.name}` has no interface, so clients can't call operations"
        report.fail("C040", message, span, hint="`protocol P implements I`")
    if not operations_of(interface):
        message = f"no request of `{interface.name}` returns, so it has no operations"
        report.fail("C040", message, span, hint="`request read() returns read_return(v: T)`")
    decl, around = found
    built = _object(decl, _types_in(decl, interface, around, name, report), report, around)
    parts = (typed.Consistent(BOOL, kind, built, span, asks) for asks in ("returned", "holds"))
    body = typed.Operation(BOOL, "=>", tuple(parts), span)
    return typed.Temporal(BOOL, "always", (body,), span)


def _types_in(
    decl: ast_objects.Object,
    interface: typed.Interface,
    around: Home,
    name: ast.Name,
    report: Reporter,
) -> Types:
    """Returns what the names behind the object stand for, as its operations are called in
    ``interface``; raises :class:`Hole` where they differ, which is reported."""
    free = {each.text: typed.Enum(each.text, (f"some {each.text}",)) for each in decl.types}
    home = _home(decl, free, Reporter(), around)
    meant: dict[str, typed.Type] = {}
    known = {o.name.text: o for o in decl.items if isinstance(o, ast_objects.Operation)}
    common = [request for request in operations_of(interface) if request.name in known]
    if not common:
        names = (o.name for o in operations_of(interface))
        message = f"`{decl.name.text}` has none of the operations of `{interface.name}`"
        report.fail("C040", message, name.span, hint=suggestion(next(iter(known), ""), names))
    for request in common:
        operation = known[request.name]
        wanted = [t for _, t in request.fields]
        given = [resolve(f.type, home) for f in operation.fields]
        results = results_of(interface, request)
        result = () if operation.type is None else (resolve(operation.type, home),)
        whole = results if len(results) < 2 else (typed.Tuple(results),)
        for written, asked in ((given, wanted), (result, whole)):
            pairs = zip(written, asked, strict=False)
            same = len(written) == len(asked) and all(_bind(w, a, meant) for w, a in pairs)
            if not same:
                said = f"`{operation.name.text}` of `{decl.name.text}`"
                message = f"{said} does not match the operation of `{interface.name}`"
                mine, other = _signature(given, result), _signature(wanted, whole)
                hint = f"it is {mine}, and the request is {other}"
                report.fail("C040", message, name.span, hint=hint)
    return {**free, **meant}


def _signature(takes: Any, gives: Any) -> str:
    result = f" with the result {show(gives[0])}" if gives else " without a result"
    return f"({', '.join(show(t) for t in takes)}){result}"


def _bind(written: typed.Type, asked: typed.Type, meant: dict[str, typed.Type]) -> bool:
    """Tells whether ``written`` is ``asked`` once its free names are bound in ``meant``."""
    match written, asked:
        case typed.Enum(name, (label,)), _ if label == f"some {name}":
            return fits(meant.setdefault(name, asked), asked)
        case typed.Tuple(a), typed.Tuple(b):
            return len(a) == len(b) and all(_bind(x, y, meant) for x, y in zip(a, b, strict=True))
        case (
            (typed.Option(a), typed.Option(b))
            | (typed.Set(a), typed.Set(b))
            | (typed.Seq(a), typed.Seq(b))
            | (typed.Bag(a), typed.Bag(b))
        ):
            return _bind(a, b, meant)
        case typed.Map(k, v), typed.Map(other, w):
            return _bind(k, other, meant) and _bind(v, w, meant)
        case _:
            return fits(written, asked)


# ---- objects -----------------------------------------------------------------------------------


def check_object(decl: ast_objects.Object, report: Reporter, around: Home) -> None:
    """Types ``decl`` with types of which nothing is known; errors go to ``report``."""
    _object(decl, {name.text: _some(name.text) for name in decl.types}, report, around)


def object_with(decl: ast_objects.Object, types: Types, around: Home) -> typed.SequentialObject:
    """Types ``decl``, whose free names stand for ``types``; raises :class:`SpecError`."""
    report = Reporter()
    built = _object(decl, types, report, around)
    if report.found:
        raise SpecError(tuple(report.found))
    return built


def _some(name: str) -> typed.Type:
    return typed.Enum(name, (f"a {name}", f"another {name}"))


def _home(decl: ast_objects.Object, types: Types, report: Reporter, around: Home) -> Home:
    home = Home(report, decl.name.text, params={"n": INT, "f": INT}, of_interface=True)
    see(_with(around, types), home)
    for item in in_order(decl.items, home):
        if isinstance(item, ast_items.TypeAlias | ast_items.Constant):
            declare(item, home, Declared(report))
    return home


def _with(around: Home, types: Types) -> Home:
    return replace(around, types={**around.types, **types})


def _object(
    decl: ast_objects.Object, types: Types, report: Reporter, around: Home
) -> typed.SequentialObject:
    home = _home(decl, types, Reporter(), around)
    requests, indications = [], []
    items: list[ast_items.ProtocolItem] = []
    for item in decl.items:
        if isinstance(item, ast_objects.Operation):
            name, names = item.name.text, field_names(item.fields, home)
            given = tuple(zip(names, (resolve(f.type, home) for f in item.fields), strict=True))
            result = () if item.type is None else (("result", resolve(item.type, home)),)
            requests.append(typed.Operator(name, given))
            indications.append(typed.Operator(name, result))
            _check_body(item, report)
            items.append(_handler(item))
        elif isinstance(item, ast_items.State):
            items.append(replace(item, shared=True))
        else:
            items.append(item)
    if len({o.name for o in requests}) < len(requests):
        report.add("N004", f"`{decl.name.text}` declares an operation twice", decl.name.span)
    interface = typed.Interface(
        decl.name.text, tuple(requests), tuple(indications), (), decl.name.span
    )
    written = ast_items.Protocol(decl.name, (), decl.name, None, tuple(items), decl.span)
    seen = replace(_with(around, types))
    built = protocol_of(written, report, lambda _: interface, lambda _: None, True, None, seen)
    return typed.SequentialObject(decl.name.text, built, decl.name.span)


def _handler(item: ast_objects.Operation) -> ast_items.Handler:
    """Returns the handler that stands for an operation: a ``return`` is an indication."""
    event = ast_items.OnRequest(item.name, tuple(f.name for f in item.fields))
    body = _with_calls(item.body, item.name)
    label = f"operation {item.name.text}"
    return ast_items.Handler(label, event, None, None, body, item.name.span, item.span)


def _with_calls(part: Any, name: ast.Name) -> Any:
    if isinstance(part, ast.Return):
        return ast.Call(replace(name, span=part.span), (part.value,), part.span)
    return mapped(part, lambda each: _with_calls(each, name))


def _check_body(item: ast_objects.Operation, report: Reporter) -> None:
    """Reports what an object can't do, and ways through the operation without a result."""
    name = item.name.text
    for stmt in ast.statements_in(item.body):
        if isinstance(stmt, _FOREIGN):
            message = "an object is not a process: it can only assign its state and return results"
            report.add("N060", message, stmt.span)
        if isinstance(stmt, ast.Return) and item.type is None:
            message = f"`{name}` has no result type, so it can't return a value"
            report.add("N060", message, stmt.span, f"`operation {name}(…): T {{ … }}`")
    if item.type is not None:
        wrong = _unfinished(item.body, item.name.span)
        if wrong is not None:
            message = f"`{name}` has a result, so every path must end in one `return`"
            report.add("N060", message, wrong, "`return e` as the last statement")


def _unfinished(body: ast.Block, at: Span) -> Span | None:
    """Returns where a way through ``body`` returns nothing, or goes on behind a ``return``;
    ``None``: each ends in just one.  ``at``: where the block belongs."""
    if not body:
        return at
    for stmt in ast.statements_in(body[:-1]):
        if isinstance(stmt, ast.Return):
            return stmt.span
    match body[-1]:
        case ast.Return():
            return None
        case ast.If(_, then, otherwise, span):
            return _unfinished(then, span) or _unfinished(otherwise, span)
        case ast.Either(alternatives, span, _):
            found = (_unfinished(branch, span) for _, branch in alternatives)
            return next((where for where in found if where is not None), None)
        case last:
            return last.span


# ---- in a check --------------------------------------------------------------------------------


def of_clients(check: typed.Check, report: Reporter) -> tuple[Diagnostic, ...]:
    """Reports what the clients of ``check`` lack, or have too much, for the objects that it names;
    returns warnings."""
    asked = {}
    for definition in check.prove:
        for node in consistent_in(definition.formula):
            asked[node.object.name, node.object.span] = node
    found = (_check_clients(check, node, report) for node in asked.values())
    return tuple(warning for warnings in found for warning in warnings)


def consistent_in(formula: object) -> Iterator[typed.Consistent]:
    """Yields what ``formula`` asks with respect to objects."""
    return (node for node in nodes_of(formula) if isinstance(node, typed.Consistent))


def _check_clients(
    check: typed.Check, node: typed.Consistent, report: Reporter
) -> Iterator[Diagnostic]:
    """Reports clients that call what the object of ``node`` lacks, and a check in which none calls
    it; yields a warning for each operation that no client calls."""
    interface, name = check.protocol.implements, node.object.name
    have = node.object.protocol.implements
    assert interface is not None and have is not None
    operations = {request.name for request in operations_of(interface)}
    called = {client.op: client for client in reversed(check.clients) if client.op in operations}
    if check.byzantine is not None:
        message = "operations of Byzantine processes are undefined"
        report.add("C042", message, check.span, hint=f"leave out `{node.kind} as {name}`")
    known = [operator.name for operator in have.requests]
    for op, client in called.items():
        if op not in known:
            message = f"clients call `{op}`, and `{name}` has no such operation"
            report.add("C040", message, client.span, hint=suggestion(op, known))
    if not called:
        message = f"no client calls an operation of `{name}`"
        verb = f"`clients {{ p1 {verbs(known[0])[0]} … }}`"
        report.add("C041", message, check.span, hint=verb)
        return
    if check.allow_unused:
        return
    for op in known:
        if op in operations and op not in called:
            message = f"no client calls `{op}`, so it is not checked"
            hint = "let a client call it, or write `allow unused`"
            yield Diagnostic("C041", message, check.span, hint=hint)
