"""Types how often handlers may run, and alternatives be taken: ``at most 2 elects``."""

from __future__ import annotations

from collections.abc import Iterator

from checker.language.syntax import ast_clauses, typed
from checker.language.syntax.stack import layers_of, stands_for
from checker.language.typecheck.exactly_once import statements_of
from checker.language.typecheck.expressions import check
from checker.language.typecheck.scope import Hole, Home, Scope, suggestion
from checker.language.typecheck.types import INT


def budgets_of(
    items: list[ast_clauses.HandlerBudget],
    protocol: typed.Protocol,
    given: tuple[typed.Given, ...],
    home: Home,
) -> tuple[typed.HandlerBudget, ...]:
    """Returns the budgets of ``items``; errors go to the report of ``home``."""
    made: dict[tuple[str, bool], typed.HandlerBudget] = {}
    handlers = list(handlers_of(protocol, given))
    named = [handler for handler in handlers if not handler.label.startswith("upon ")]
    alternatives = {name for handler in handlers for name in _alternatives(handler)}
    for item in items:
        name, span = item.handler.text, item.handler.span
        found = [handler for handler in named if handler.label == name]
        if (name, item.per_process) in made:
            whose = " per process" * item.per_process
            home.report.add("C009", f"`{name}` already has a budget{whose}", span)
        elif not found and name not in alternatives:
            hint = suggestion(name, [*(handler.label for handler in named), *alternatives])
            hint = hint or f"give it a name: `upon condition … as {name}`, `either as {name} …`"
            no = "no handler and no alternative" if alternatives else "no handler"
            message = f"{no} is called `{name}`"
            home.report.add("C034", message, span, hint=hint)
        elif found and name in alternatives:
            message = f"a handler and an alternative of `either` are both called `{name}`"
            home.report.add("C034", message, span, hint="rename one of them")
        elif any(not _is_by_itself(handler) for handler in found):
            message = (
                f"`{name}` handles a message, request, indication or recovery, so it can't be"
                " limited"
            )
            wanted = "a handler `upon condition` or `upon timeout`"
            home.report.add("C034", message, span, wanted, "use a guard, `when` it has not run yet")
        else:
            try:
                bound = check(item.bound, Scope(home, "constant"), INT)
            except Hole:
                continue
            budget = typed.HandlerBudget(name, bound, item.per_process, item.span, not found)
            made[name, budget.per_process] = budget
    return tuple(made.values())


def _is_by_itself(handler: typed.Handler) -> bool:
    """Tells whether a process runs ``handler`` of its own accord."""
    return isinstance(handler.event, typed.OnCondition | typed.OnTimeout)


def handlers_of(
    protocol: typed.Protocol, given: tuple[typed.Given, ...]
) -> Iterator[typed.Handler]:
    """Yields the handlers of the protocol and of all layers below."""
    below = (stands_for(layer, given) for layer in layers_of(protocol, given))
    for each in (protocol, *(layer for layer in below if layer is not None)):
        for role in each.roles:
            yield from role.handlers


def _alternatives(handler: typed.Handler) -> Iterator[str]:
    """Yields the names of alternatives in ``handler``."""
    for stmt in statements_of(handler.body):
        if isinstance(stmt, typed.Either):
            yield from (name for name in stmt.names if name)
