"""Types what properties can read of an execution: histories, their order, causes, correctness."""

from __future__ import annotations

from checker.diagnostics import Span
from checker.diagnostics.english import listing
from checker.language.syntax import ast, typed
from checker.language.syntax.typed import Expr, Operator, Seq, Tuple, Type
from checker.language.typecheck.scope import OWN_CORRECT, Hole, Scope
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
        hint = OWN_CORRECT if name == "correct" and scope.mode == "code" else ""
        scope.report.fail("N018", f"`{name}(…)` is allowed only in properties", span, hint=hint)
    require_arity(name, args, HISTORY.get(name, 1), span, scope)
    if name in HISTORY and name in history_names(scope.home.interface):
        _, operator = history_names(scope.home.interface)[name]
        message = f"`{name}(…)` is reserved, and would be the history of `{operator.name}`"
        scope.report.fail("N035", message, span, hint=f"give `{operator.name}` another name")
    match name:
        case "correct" | "crashed" | "faulty":
            return typed.Correct(BOOL, name, check(args[0], scope, PROC), span)
        case "causes":
            _one_broadcast(scope, span)
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
            of, named = _which(expr, "indication", scope)
            item = check(args[1], scope, item_of(of))
            return typed.Repeated(BOOL, of.kind, of.op, of.owner, item, span, named)
        case "before" | "broadcast_before":
            of, named = _which(expr, "indication" if name == "before" else "request", scope)
            first, second = (check(arg, scope, item_of(of)) for arg in args[1:])
            return typed.HistoryOrder(BOOL, of.kind, of.op, of.owner, first, second, span, named)
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
        if scope.home.of_interface:
            message = f"`{name.text}` belongs to a protocol: an interface performs nothing"
            hint = "move the property to the protocol, or to a check"
        else:
            message = f"no handler of `{scope.home.name}` performs anything"
            hint = "write `perform e` in a handler"
        scope.report.fail("N022", message, name.span, hint=hint)
    return typed.Acts(Seq(item), name.text, name.span)


def _is_detector(name: str, scope: Scope) -> bool:
    """Tells whether ``name`` is a detector's present output, rather than the history of an
    indication."""
    interface = scope.home.interface
    if interface is None:
        return False
    of_one = {o.name for o in interface.indications if [t for _, t in o.fields] == [PROC]}
    return of_one.issuperset(_OPINIONS[name])


def _which(expr: ast.Apply, kind: str, scope: Scope) -> tuple[typed.History, bool]:
    """Returns the history that ``before(…)`` or ``repeated(…)`` is about, and whether it is named
    there, as in ``before(delivered(p), x, y)``; else it is that of the only operator of ``kind``.
    """
    from checker.language.typecheck.applications import require_arity
    from checker.language.typecheck.expressions import check

    first, name, histories = expr.args[0], expr.name, history_names(scope.home.interface)
    if isinstance(first, ast.Name) and is_acts(first.text, scope):
        acts(first, scope)
        message = f"`{name}` compares within one process, and `{first.text}` covers all processes"
        hint = f"compare positions: `i < j => {first.text}[i] … {first.text}[j]`"
        wanted = "a process, or a history such as `delivered(p)`"
        scope.report.fail("N022", message, first.span, wanted, hint)
    if isinstance(first, ast.Apply) and first.name in histories:
        kind, operator = histories[first.name]
        require_arity(first.name, first.args, 1, first.span, scope)
        owner = check(first.args[0], scope, PROC)
        entries = Seq(entry_type(operator))
        return typed.History(entries, kind, operator.name, owner, first.span), True
    rest = ", ".join(["…"] * (len(expr.args) - 1))
    shown = "repeated" if name == "repeated" else "before"
    operator = _only(kind, name, f"`{shown}({{}}(…), {rest})`", scope, expr.span)
    owner = check(first, scope, PROC)
    return typed.History(Seq(entry_type(operator)), kind, operator.name, owner, expr.span), False


def _only(kind: str, name: str, wanted: str, scope: Scope, span: Span) -> Operator:
    """Returns the interface's only operator of ``kind``.

    Raises :class:`Hole` after an error where there is none, or where there are several: ``wanted``
    says what to write then, ``{}`` being the name of a history.
    """
    operators = _operators(kind, name, scope, span)
    if len(operators) > 1:
        names = [history_name(operator.name) for operator in operators]
        shown = listing((f"`{n}`" for n in names), "or")
        message = f"ambiguous history of `{name}`: {shown}"
        hint = "write " + listing((wanted.format(n) for n in names), "or")
        scope.report.fail("N035", message, span, hint=hint)
    return operators[0]


def _one_broadcast(scope: Scope, span: Span) -> None:
    """Raises :class:`Hole` after an error where the interface's requests are not broadcasts."""
    operators = _operators("request", "causes", scope, span)
    if [[t for _, t in operator.fields] for operator in operators] != [[MSG]]:
        message = "`causes` needs an interface whose only request has one field, a `Msg`"
        scope.report.fail("N022", message, span)


def _operators(kind: str, name: str, scope: Scope, span: Span) -> tuple[Operator, ...]:
    """Returns the interface's operators of ``kind``, which ``name`` needs; raises :class:`Hole`
    after an error where there are none."""
    interface = scope.home.interface
    if "implements" in scope.home.lost:
        raise Hole
    operators: tuple[Operator, ...] = ()
    if interface is not None:
        operators = interface.requests if kind == "request" else interface.indications
    if not operators:
        hint = "" if interface else "histories need an interface: `protocol P implements I`"
        message = f"`{name}` needs an interface with {_article(kind)}"
        scope.report.fail("N022", message, span, hint=hint)
    return operators


def _article(kind: str) -> str:
    return "an indication" if kind == "indication" else "a request"
