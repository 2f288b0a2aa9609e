"""Types how often handlers may run: ``at most 2 elects``."""

from __future__ import annotations

from collections.abc import Iterator

from checker.language.syntax import ast_clauses, typed
from checker.language.typecheck.expressions import check
from checker.language.typecheck.layers import layers_of, stands_for
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
    named = list(_named(protocol, given))
    for item in items:
        name, span = item.handler.text, item.handler.span
        found = [handler for handler in named if handler.label == name]
        if (name, item.per_process) in made:
            whose = " per process" * item.per_process
            home.report.add("C009", f"`{name}` already has a budget{whose}", span)
        elif not found:
            hint = suggestion(name, [handler.label for handler in named])
            hint = hint or f"give it a name: `upon condition … as {name}`"
            home.report.add("C034", f"no handler is called `{name}`", span, hint=hint)
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
            budget = typed.HandlerBudget(name, bound, item.per_process, item.span)
            made[name, budget.per_process] = budget
    return tuple(made.values())


def _is_by_itself(handler: typed.Handler) -> bool:
    """Tells whether a process runs ``handler`` of its own accord."""
    return isinstance(handler.event, typed.OnCondition | typed.OnTimeout)


def _named(protocol: typed.Protocol, given: tuple[typed.Given, ...]) -> Iterator[typed.Handler]:
    """Yields the handlers with a name, of the protocol and of all layers below."""
    below = (stands_for(layer, given) for layer in layers_of(protocol, given))
    for each in (protocol, *(layer for layer in below if layer is not None)):
        for role in each.roles:
            yield from (h for h in role.handlers if not h.label.startswith("upon "))
