"""Types bounds of a check: ``bound p.term <= 3``, a condition on single states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from checker.diagnostics import Span
from checker.language.syntax import ast, ast_clauses, typed
from checker.language.syntax.walk import nodes_of
from checker.language.typecheck.expressions import safe
from checker.language.typecheck.properties import temporal
from checker.language.typecheck.scope import Hole, Home, Scope
from checker.language.typecheck.types import BOOL

_Kind = TypeVar("_Kind")


def bounds_of(items: list[ast_clauses.StateBound], home: Home) -> tuple[typed.PropertyDef, ...]:
    """Returns each bound as the invariant that it is never exceeded; errors go to the report of
    ``home``."""
    found = (_bound_of(item, number, home) for number, item in enumerate(items, 1))
    return tuple(bound for bound in found if bound is not None)


def _bound_of(item: ast_clauses.StateBound, number: int, home: Home) -> typed.PropertyDef | None:
    scope = Scope(home, "property")
    try:
        if temporal(item.formula):
            message = "a bound is a state predicate, and this has a temporal operator"
            hint = (
                "leave out the temporal operator: a run is followed up to its first state"
                " outside the bound"
            )
            scope.report.fail("C030", message, item.formula.span, hint=hint)
        body = safe(_for_all_processes(item.formula, scope), scope, BOOL)
        _require_known_now(body, scope)
    except Hole:
        return None
    formula = typed.Temporal(BOOL, "always", (body,), item.formula.span)
    return typed.PropertyDef(str(number), item.text, item.text, formula, item.span)


def _require_known_now(body: typed.Expr, scope: Scope) -> None:
    """Reports what no single state tells."""
    for node in nodes_of(body):
        if isinstance(node, typed.Correct) and node.kind == "correct":
            message = "which processes are correct is known only at the end of a run"
            hint = "use `not crashed(p)` or `not faulty(p)`, which refer to the current state"
            scope.report.fail("C030", message, node.span, hint=hint)


def _for_all_processes(formula: ast.Expr, scope: Scope) -> ast.Expr:
    """Returns ``formula`` for all processes that it names without saying which: the ``p`` of
    ``p.term <= 3``."""
    binders = each_process(formula, scope)
    return ast.Quantified("forall", binders, formula, formula.span) if binders else formula


def each_process(formula: ast.Expr, scope: Scope) -> tuple[ast.Binder, ...]:
    """Returns binders of the processes that ``formula`` names without saying which: each goes over
    the role that has what is read of it."""
    taken = {name for binder in _of_kind(formula, ast.Binder) for name in _names(binder.pattern)}
    asked: dict[str, tuple[Span, set[str]]] = {}
    for node in _of_kind(formula, ast.FieldOf):
        if isinstance(node.base, ast.Name) and _is_open(node.base.text, taken, scope):
            asked.setdefault(node.base.text, (node.base.span, set()))[1].add(node.name)
    return tuple(
        ast.Binder(ast.Name(name, span), ast.Name(_whose(states, scope.home), span), None, span)
        for name, (span, states) in asked.items()
    )


def _is_open(name: str, taken: Iterable[str], scope: Scope) -> bool:
    """Tells whether ``name`` means nothing here."""
    home = scope.home
    known = scope.meaning_of(name) or home.labels(name) or name in home.layers
    return not known and name not in taken and home.process_role(name) is None


def _whose(states: Iterable[str], home: Home) -> str:
    """Returns the role that alone has ``states``, otherwise all processes."""
    roles = [
        role for role in home.roles if role and set(states) <= home.states.get(role, {}).keys()
    ]
    return roles[0] if len(roles) == 1 else "Proc"


def _names(pattern: ast.Expr) -> Iterator[str]:
    return (name.text for name in _of_kind(pattern, ast.Name))


def _of_kind(node: object, kind: type[_Kind]) -> Iterator[_Kind]:
    return (part for part in nodes_of(node) if isinstance(part, kind))
