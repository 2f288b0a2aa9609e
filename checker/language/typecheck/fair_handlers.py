"""Types which optional handlers are fair: ``fair takes``, ``strongly fair takes``."""

from __future__ import annotations

from checker.language.syntax import ast, ast_clauses, typed
from checker.language.typecheck.budgets import handlers_of
from checker.language.typecheck.scope import Home, suggestion


def fair_handlers_of(
    items: list[ast_clauses.FairHandlers],
    protocol: typed.Protocol,
    given: tuple[typed.Given, ...],
    home: Home,
) -> tuple[typed.FairHandler, ...]:
    """Returns the handlers that ``items`` name; errors go to the report of ``home``."""
    made: dict[str, typed.FairHandler] = {}
    handlers = [h for h in handlers_of(protocol, given) if not h.label.startswith("upon ")]
    for item in items:
        for name in item.names:
            if name.text in made:
                message = f"the fairness of `{name.text}` is given twice"
                home.report.add("C009", message, name.span, hint="leave out one of them")
            elif _can_be_fair(name, handlers, home):
                made[name.text] = typed.FairHandler(name.text, item.strongly, name.span)
    return tuple(made.values())


def _can_be_fair(name: ast.Name, handlers: list[typed.Handler], home: Home) -> bool:
    """Tells whether the handlers called ``name`` are optional conditions; reports why not."""
    found = [handler for handler in handlers if handler.label == name.text]
    if not found:
        hint = suggestion(name.text, [handler.label for handler in handlers])
        hint = hint or f"give it a name: `may upon condition … as {name.text}`"
        home.report.add("C034", f"no handler is called `{name.text}`", name.span, hint=hint)
        return False
    for handler in found:
        if not isinstance(handler.event, typed.OnCondition):
            message = f"links, timers, clients and layers determine the fairness of `{name.text}`"
            hint = "name a handler `may upon condition`"
        elif handler.is_fair:
            message = f"`{name.text}` is fair already, together with its process's other conditions"
            hint = f"write `may upon condition … as {name.text}`: then it has this fairness alone"
        else:
            continue
        home.report.add("C034", message, name.span, hint=hint)
        return False
    return True
