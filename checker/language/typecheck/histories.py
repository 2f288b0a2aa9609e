"""Types what properties can read of an execution: histories, their order, causes, correctness."""

from __future__ import annotations

from checker.diagnostics import Span
from checker.language.syntax import ast, typed
from checker.language.syntax.typed import Expr, Operator, Seq, Tuple, Type
from checker.language.typecheck.scope import Hole, Scope
from checker.language.typecheck.types import BOOL, MSG, PROC, PROCS

HISTORY = {
    "before": 3,
    "broadcast_before": 3,
    "repeated": 2,
    "causes": 2,
    "correct": 1,
    "crashed": 1,
    "faulty": 1,
}
ACTS = ("performed", "effects")
_OPINIONS = {"suspected": ("suspect", "restore"), "trusted": ("trust",)}
_IRREGULAR = {
    "broadcast": "broadcast",
    "commit": "committed",
    "submit": "submitted",
    "send": "sent",
    "get": "got",
    "put": "put",
    "read": "read",
    "write": "written",
}


def history_name(op: str) -> str:
    """Returns the name of the history of ``op``: ``deliver`` gives ``delivered``."""
    if op in _IRREGULAR:
        return _IRREGULAR[op]
    if op.endswith("ed"):
        return op
    if op.endswith("e"):
        return op + "d"
    if op.endswith("y") and op[-2:-1] not in "aeiou":
        return op[:-1] + "ied"
    return op + "ed"


def history_names(interface: typed.Interface | None) -> dict[str, tuple[str, Operator]]:
    """Returns the names of the interface's histories: the kind of each and its operator."""
    if interface is None:
        return {}
    found: dict[str, tuple[str, Operator]] = {}
    for kind, operators in (
        ("request", interface.requests),
        ("indication", interface.indications),
    ):
        for operator in operators:
            found.setdefault(history_name(operator.name), (kind, operator))
    return found


def entry_type(operator: Operator) -> Type:
    """Returns the type of an entry of the history of ``operator``."""
    types = tuple(t for _, t in operator.fields)
    return types[0] if len(types) == 1 else Tuple(types)


def history(expr: ast.Apply, scope: Scope) -> Expr:
    """Types a function of the history; only in properties."""
    from checker.language.typecheck.applications import require_arity
    from checker.language.typecheck.expressions import check, item_of

    name, args, span = expr.name, expr.args, expr.span
    if scope.mode != "property":
        scope.report.fail("N018", f"`{name}(…)` can only stand in a property", span)
    require_arity(name, args, HISTORY.get(name, 1), span, scope)
    match name:
        case "correct" | "crashed" | "faulty":
            return typed.Correct(BOOL, name, check(args[0], scope, PROC), span)
        case "causes":
            _first("request", name, scope, span)
            pair = Tuple((PROC, MSG))
            return typed.Causes(
                BOOL, check(args[0], scope, pair), check(args[1], scope, pair), span
            )
        case "repeated" if isinstance(args[0], ast.Name) and is_acts(args[0].text, scope):
            item = check(args[1], scope, item_of(acts(args[0], scope)))
            return typed.RepeatedAct(BOOL, args[0].text, item, span)
        case "suspected" | "trusted" if _is_detector(name, scope):
            return typed.Opinion(PROCS, name, check(args[0], scope, PROC), span)
        case "repeated":
            operator = _first("indication", name, scope, span)
            owner = check(args[0], scope, PROC)
            item = check(args[1], scope, entry_type(operator))
            return typed.Repeated(BOOL, "indication", operator.name, owner, item, span)
        case "before" | "broadcast_before":
            kind = "indication" if name == "before" else "request"
            operator = _first(kind, name, scope, span)
            owner, entry = check(args[0], scope, PROC), entry_type(operator)
            first, second = check(args[1], scope, entry), check(args[2], scope, entry)
            return typed.HistoryOrder(BOOL, kind, operator.name, owner, first, second, span)
        case _:
            kind, operator = history_names(scope.home.interface)[name]
            owner = check(args[0], scope, PROC)
            return typed.History(Seq(entry_type(operator)), kind, operator.name, owner, span)


def is_acts(name: str, scope: Scope) -> bool:
    """Tells whether ``name`` denotes a history of acts, rather than a declaration of the
    protocol."""
    if name not in ACTS or scope.mode != "property" or scope.meaning_of(name):
        return False
    return scope.home.acts is not None or not scope.home.labels(name)


def acts(name: ast.Name, scope: Scope) -> typed.Acts:
    """Types ``performed`` or ``effects``; raises :class:`Hole` where the protocol performs
    nothing."""
    item = scope.home.acts
    if item is None:
        message = f"`{name.text}` is about what is performed, and nothing is performed here"
        scope.report.fail("N022", message, name.span, hint="write `perform e` in a handler")
    return typed.Acts(Seq(item), name.text, name.span)


def _is_detector(name: str, scope: Scope) -> bool:
    """Tells whether ``name`` is a detector's present output, rather than the history of an
    indication."""
    interface = scope.home.interface
    if interface is None:
        return False
    of_one = {o.name for o in interface.indications if [t for _, t in o.fields] == [PROC]}
    return of_one.issuperset(_OPINIONS[name])


def _first(kind: str, name: str, scope: Scope, span: Span) -> Operator:
    interface = scope.home.interface
    if "implements" in scope.home.lost:
        raise Hole
    operators = (
        ()
        if interface is None
        else (interface.requests if kind == "request" else interface.indications)
    )
    if not operators:
        hint = "" if interface else "histories need an interface: `protocol P implements I`"
        message = f"`{name}` needs an interface with {_article(kind)}"
        scope.report.fail("N022", message, span, hint=hint)
    return operators[0]


def _article(kind: str) -> str:
    return "an indication" if kind == "indication" else "a request"
