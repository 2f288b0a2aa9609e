"""Types parametric checks: ``for all n, T, f when n > 3 * T and f <= T``."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from checker.diagnostics import Span
from checker.language.syntax import ast_chance, ast_clauses, ast_items, typed
from checker.language.typecheck.expressions import check
from checker.language.typecheck.scope import Hole, Home, Scope, suggestion
from checker.language.typecheck.types import BOOL

NO_PROOF = "a proof covers all states and runs, and {} leaves some out"


class Every(Struct, frozen=True):
    """``names``: the universally quantified parameters; ``when``: the condition on them."""

    names: tuple[str, ...] = ()
    when: typed.Expr | None = None
    span: Span | None = None


def every_of(
    items: list[ast_items.Every], settings: Mapping[str, typed.Setting], home: Home
) -> Every:
    """Returns the clause of a check, empty where it has none; errors go to the report of
    ``home``."""
    if not items:
        return Every()
    item, *more = items
    for other in more:
        home.report.add("C009", "duplicate `for all`", other.span)
    names: list[str] = []
    for name in item.names:
        known = home.params.get(name.text)
        if known is None:
            hint = suggestion(name.text, _numbers(home))
            message = f"`{home.name}` has no parameter `{name.text}`"
            home.report.add("C002", message, name.span, hint=hint)
        elif not isinstance(known, typed.Int):
            message = f"`{name.text}` is not numeric; `for all` takes numeric parameters"
            home.report.add("C020", message, name.span, hint=suggestion("", _numbers(home)))
        elif name.text in names:
            home.report.add("C009", f"duplicate `{name.text}`", name.span)
        elif name.text in settings:
            message = f"the check sets `{name.text}`, and `for all` names it"
            hint = "leave out one of the two; `--set` gives a value for one run"
            home.report.add("C020", message, settings[name.text].span, hint=hint)
        else:
            names.append(name.text)
    return Every(tuple(names), _when(item, home), item.span)


def _numbers(home: Home) -> list[str]:
    return [name for name, type_ in home.params.items() if isinstance(type_, typed.Int)]


def _when(item: ast_items.Every, home: Home) -> typed.Expr | None:
    if item.when is None:
        return None
    try:
        return check(item.when, Scope(home, "constant"), BOOL)
    except Hole:
        return None


def require_general(
    every: Every, items: tuple[ast_items.CheckItem, ...], counts: tuple[str, ...], home: Home
) -> None:
    """Reports what a parametric check can't have: scenarios, and expected numbers of one search."""
    if every.span is None:
        return
    for item in items:
        if isinstance(item, ast_clauses.Scenario):
            message = "a scenario belongs to one size, and this check covers all sizes"
            home.report.add(
                "C021", message, item.name.span, hint="write a separate check that sets the sizes"
            )
        elif isinstance(item, ast_chance.ProveChance | ast_chance.ExpectChance):
            message = "a probability belongs to one size, and this check covers all sizes"
            home.report.add(
                "C021", message, item.span, hint="write a separate check that sets the sizes"
            )
        elif isinstance(item, ast_items.Expect) and (item.what.text in counts or item.without):
            what = "without" if item.without else item.what.text
            message = f"`{what}` belongs to one size, and this check covers all sizes"
            home.report.add(
                "C021", message, item.span, hint="write a separate check that sets the sizes"
            )
        elif isinstance(item, ast_clauses.StateBound | ast_clauses.View):
            what = "a `bound`" if isinstance(item, ast_clauses.StateBound) else "a `view`"
            message, hint = NO_PROOF.format(what), "leave it out, or set the sizes in the check"
            home.report.add("C031", message, item.span, hint=hint)
