"""Types clients: which requests are made, and by whom."""

from __future__ import annotations

from checker.diagnostics import Span
from checker.diagnostics.english import count
from checker.language.syntax import ast, ast_clauses, ast_items, typed
from checker.language.syntax.typed import Expr, Operator, Type
from checker.language.syntax.verbs import verbs
from checker.language.typecheck.expressions import check
from checker.language.typecheck.scope import Hole, Home, Scope, suggestion
from checker.language.typecheck.types import MSG
from checker.records import replace

EVERYBODY = ("all", "each")
"""The words for a request that each process makes."""


def clients_of(items: list[ast_items.Client], home: Home) -> tuple[typed.Client, ...]:
    """Returns one client for each request, in the order written; errors go to the report of
    ``home``."""
    made: list[typed.Client] = []
    for item in items:
        operator = _operator(item.verb, home)
        if operator is None or not _process(item.process, home):
            continue
        for given, span in _requests(item):
            who = "all" if item.process.text in EVERYBODY else item.process.text
            client = typed.Client(who, operator.name, (), span, item.process.span)
            if isinstance(given, ast_clauses.AnyOf):
                choosing = _choosing(client, given, operator, home)
                made += [] if choosing is None else [choosing]
                continue
            args = _arguments(given, operator, span, home)
            made += [] if args is None else [replace(client, args=args)]
    return tuple(made)


def _choosing(
    client: typed.Client, given: ast_clauses.AnyOf, operator: Operator, home: Home
) -> typed.Client | None:
    """Returns ``client`` with what it can choose from; ``None`` where that has an error, which is
    reported."""
    domain, types = given.domain, tuple(type_ for _, type_ in operator.fields)
    if isinstance(domain, ast.Display) and domain.kind == "set" and domain.items:
        found = [_arguments(item, operator, item.span, home) for item in domain.items]
        whole = tuple(args for args in found if args is not None)
        return replace(client, alternatives=whole) if len(whole) == len(found) else None
    if not types or MSG in types:
        what = "payloads are opaque names" if types else f"`{operator.name}` takes no argument"
        message = f"{what}, so there is no such set to choose from"
        hint = "`any of {a, b}`" if types else f"leave out `any of`: {_form(operator)}"
        home.report.add("C033", message, domain.span, hint=hint)
        return None
    item = types[0] if len(types) == 1 else typed.Tuple(types)
    try:
        return replace(client, domain=check(domain, Scope(home, "constant"), typed.Set(item)))
    except Hole:
        return None


def _requests(item: ast_items.Client) -> list[tuple[ast.Expr | ast_clauses.AnyOf | None, Span]]:
    """Returns what each request of ``item`` is made with, and where it stands; one that stands
    alone is made with nothing."""
    if not item.items:
        return [(None, item.verb.span)]
    return [(expr, expr.span) for expr in item.items]


def _process(name: ast.Name, home: Home) -> bool:
    if name.text in EVERYBODY or home.process_role(name.text) is not None:
        return True
    forms = ", ".join(f"`{prefix}1`" for prefix in home.process_prefixes())
    message = f"no process is called `{name.text}`"
    home.report.add("C005", message, name.span, f"{forms} and so on, `all` or `each`")
    return False


def _operator(verb: ast.Name, home: Home) -> Operator | None:
    if "implements" in home.lost:
        return None
    if home.interface is None:
        message = f"`{home.name}` has no interface, so clients can't make requests"
        hint = "leave out `clients`, or write `protocol P implements I`"
        home.report.add("C011", message, verb.span, hint=hint)
        return None
    for operator in home.interface.requests:
        if verb.text in (*verbs(operator.name), operator.name):
            return operator
    known = [verbs(o.name)[0] for o in home.interface.requests]
    message = f"`{home.interface.name}` has no request for `{verb.text}`"
    home.report.add("C006", message, verb.span, hint=suggestion(verb.text, known))
    return None


def _arguments(
    expr: ast.Expr | None, operator: Operator, span: Span, home: Home
) -> tuple[Expr, ...] | None:
    given: tuple[ast.Expr, ...] = () if expr is None else (expr,)
    if len(operator.fields) > 1 and isinstance(expr, ast.Display) and expr.kind == "tuple":
        given = expr.items
    if len(given) != len(operator.fields):
        message = f"`{operator.name}` takes {count(len(operator.fields), 'argument')}"
        home.report.add("N006", message, span, _form(operator))
        return None
    try:
        pairs = zip(given, operator.fields, strict=True)
        return tuple(_argument(e, type_, home) for e, (_, type_) in pairs)
    except Hole:
        return None


def _form(operator: Operator) -> str:
    """Returns how a request is written: ``p1 swaps (a, b)``."""
    names = ", ".join(name for name, _ in operator.fields)
    given = f" ({names})" if len(operator.fields) > 1 else f" {names}"
    return f"`p1 {verbs(operator.name)[0]}{given.rstrip()}`"


def _argument(expr: ast.Expr, type_: Type, home: Home) -> Expr:
    if type_ != MSG:
        return check(expr, Scope(home, "constant"), type_)
    if isinstance(expr, ast.Name):
        return typed.Named(MSG, expr.text, expr.span)
    hint = "payloads are opaque: use any names, such as `a, b`"
    home.report.fail("N003", "a payload is a name", expr.span, "a name", hint)
