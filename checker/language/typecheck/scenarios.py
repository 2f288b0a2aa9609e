"""Types the scenarios of a check: described executions, and the claims about them."""

from __future__ import annotations

from collections.abc import Iterable, Set
from difflib import get_close_matches

from checker.diagnostics import SpecError
from checker.language.parser.cache import parse
from checker.language.syntax import ast_clauses, ast_items, typed_check
from checker.language.typecheck.scope import Reporter

OF_PROPERTIES = ("violated", "holds")
"""The claims that a scenario can make about a property."""

OF_RUNS = ("ends", "continues", "fails")
"""The claims that a scenario can make about its execution, which is called ``it``."""


def scenarios_of(
    items: list[ast_clauses.Scenario], asked: Set[str], report: Reporter
) -> tuple[typed_check.Scenario, ...]:
    """Returns the scenarios of a check whose properties are ``asked``.

    Whether their steps are possible is determined when they are executed.
    """
    made: dict[str, typed_check.Scenario] = {}
    for item in items:
        name = item.name.text
        if name in made:
            report.add("C009", f"duplicate scenario `{name}`", item.name.span)
            continue
        claims = tuple(claim for c in item.claims if (claim := _claim(c, item, asked, report)))
        steps = tuple(typed_check.Happening(s.text, s.span) for s in item.steps)
        again = tuple(typed_check.Happening(s.text, s.span) for s in item.again)
        made[name] = typed_check.Scenario(name, steps, again, claims, item.name.span)
    return tuple(made.values())


def _claim(
    item: ast_clauses.Claim, scenario: ast_clauses.Scenario, asked: Set[str], report: Reporter
) -> typed_check.Claim | None:
    what, word = item.what.text, item.word.text
    words = OF_RUNS if what == "it" else OF_PROPERTIES
    if what != "it" and what not in asked:
        near = _near(what, (*asked, "it"))
        hint = near or "add it to `prove`: a scenario claims only properties that the check proves"
        report.add("C019", f"this check has no property `{what}`", item.what.span, hint=hint)
        return None
    if word not in words:
        expected = ", ".join(f"`{what} {each}`" for each in words)
        message = f"`then {what} {word}` is not a valid claim"
        report.add("C019", message, item.word.span, expected, _near(word, words))
        return None
    if what == "it" and scenario.again and word != "continues":
        message = f"an infinite run never {word}"
        report.add("C019", message, item.word.span, hint="leave it out")
        return None
    return typed_check.Claim(what, word, item.span)


def _near(word: str, known: Iterable[str]) -> str:
    """Asks whether one of the words ``known`` is meant; empty where none is similar."""
    near = get_close_matches(word, sorted(known), 1)
    return f"did you mean `{near[0]}`?" if near else ""


WRAP = "check saved of Saved {", "}"
"""The lines around a clause that stands alone, to parse it."""


def scenario_in(text: str, file: str, asked: Set[str]) -> typed_check.Scenario | None:
    """Returns the only clause ``scenario`` in ``text``, whose first and last lines have room for
    more, of a check whose properties are ``asked``; ``None`` where there is none, or several.

    Raises :class:`SpecError`.
    """
    report = Reporter()
    spec = parse(WRAP[0] + text + WRAP[1], file)
    checks = [item for item in spec.items if isinstance(item, ast_items.Check)]
    items = [item for check in checks for item in check.items]
    found = [item for item in items if isinstance(item, ast_clauses.Scenario)]
    made = scenarios_of(found, asked, report)
    if report.found:
        raise SpecError(tuple(report.found))
    return made[0] if len(made) == len(items) == 1 else None
