"""Which properties are asked of a log: those whose formulas have a plan.

A property is known by its formula, not by its name: several interfaces have a `validity`, and they
differ.  An author's own property that says the same as one of the library is asked by the same
plan, whatever the names in it are (:mod:`checker.audit.shapes`).  A formula without a plan is not
asked, and the report says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from checker.audit.columns import COLUMNS, Kind, Role, operators_of, roles_of
from checker.audit.declared import Declared
from checker.audit.evaluated import rule_of
from checker.audit.formulas import why_not
from checker.audit.plans_of_counts import once
from checker.audit.rules import (
    MORE,
    NOT_ASKED,
    OVERLAP,
    PAYLOAD,
    RULES,
    Rule,
    everything,
    performed,
    requests,
)
from checker.audit.shapes import shape_of
from checker.audit.tables import engine_column
from checker.diagnostics import Diagnostic, SpecError
from checker.language.library import prelude
from checker.language.syntax import typed
from checker.language.syntax.walk import nodes_of
from checker.language.typecheck.exactly_once import OVER, TIMES, definition
from checker.language.typecheck.scope import suggestion


class Question(Struct, frozen=True):
    """A property by its ``name``, what it means, and how it is asked; ``roles``: of which requests
    and indications."""

    name: str
    definition: str
    rule: Rule
    roles: tuple[Role, ...] = ()


class Refused(Struct, frozen=True):
    """A property by its ``name``, what it means, and why it can't be asked of a log; ``warning``:
    the same about the formula of an author's own."""

    name: str
    definition: str
    why: str
    warning: Diagnostic | None = None


@cache
def _rules() -> Mapping[object, tuple[str, Rule]]:
    """Returns the rules by the forms of the formulas of the library, each with the name that its
    property has there."""
    found: dict[object, tuple[str, Rule]] = {}
    for interface in prelude().interfaces.values():
        columns = operators_of(interface)
        for each in interface.properties:
            if each.text in RULES:
                form = shape_of(each.formula, columns).form
                found.setdefault(form, (each.name, RULES[each.text]))
    return found


def require_known(about: Declared, over: tuple[str, ...], only: tuple[str, ...]) -> None:
    """Raises :class:`SpecError`: E045 where one of ``only`` is no property that logs of the
    interface are asked, or could be with other columns; E087 as :func:`questions_of` does."""
    asked, refused = questions_of(about, over, frozenset(COLUMNS))
    known = [question.name for question in asked] + [each.name for each in refused]
    for name in only:
        if name not in known:
            message = f"`{name}` is not checked for logs of {about.name}"
            listed = ", ".join(f"`{each}`" for each in known)
            hint = suggestion(name, known)
            raise SpecError((Diagnostic("E045", message, None, listed, hint),))


def questions_of(
    about: Declared,
    over: tuple[str, ...],
    columns: frozenset[str],
    only: tuple[str, ...] = (),
) -> tuple[list[Question], list[Refused]]:
    """Returns what is asked of a log with these ``columns``, and what of the properties can't be
    asked, with the reason.

    ``over``: further questions such as ``exactly_once over effects``; ``only``: the properties that
    both are about, if not all.  Raises :class:`SpecError` (E087) where there is no such question.
    """
    roles = {role.name: role for role in roles_of(about.interface)}
    found: list[Question] = []
    refused: list[Refused] = []
    names = {each.name for each in about.properties}
    for each in about.properties:
        shape = shape_of(each.formula, operators_of(about.interface))
        known, rule = _rules().get(shape.form, ("", None))
        meaning = each.document or each.text
        if rule is None and about.is_own and not _no_plan(each)[0]:
            rule = rule_of(each, about.interface, shape.operators)
        if rule is None:
            refused.append(_refused(each, about))
            continue
        of = tuple(roles[name] for name in shape.operators)
        found.append(Question(each.name, meaning, rule, of))
        found += [Question(*more, of) for more in MORE.get(known, ()) if more[0] not in names]
    found += [_once(name, tuple(roles.values())) for name in over]
    if "payload_hash" in columns or PAYLOAD[0] in only:
        found.append(Question(*PAYLOAD))
    asked = []
    for question in found:
        needs = (*question.rule.needs, *(_columns_of(question) if question.rule.by_role else ()))
        lacking = [name for name in dict.fromkeys(needs) if name not in columns]
        if lacking:
            named = " and ".join(f"`{_written(name)}`" for name in lacking)
            refused.append(_lacking(question, about, f"the log has no column {named}"))
        else:
            asked.append(question)
    if not only:
        return asked, refused
    return [q for q in asked if q.name in only], [r for r in refused if r.name in only]


def _columns_of(question: Question) -> tuple[str, ...]:
    """Returns the columns that the arguments of its requests and indications are."""
    return tuple(engine_column(n) for role in question.roles for n in role.columns if n != "msg")


def _lacking(question: Question, about: Declared, why: str) -> Refused:
    """Returns a question that the columns of a log do not suffice for."""
    own = (p for p in about.properties if about.is_own and p.name == question.name)
    warning = next((_unasked(p, why, "a log with the columns of its arguments") for p in own), None)
    return Refused(question.name, question.definition, why, warning)


def _unasked(each: typed.PropertyDef, why: str, expected: str, hint: str = "") -> Diagnostic:
    message = f"`{each.name}` can't be checked in a log: {why}"
    return Diagnostic("E106", message, each.span, expected, hint, severity="warning")


def _refused(each: typed.PropertyDef, about: Declared) -> Refused:
    """Returns a property that has no plan; an author's own with a warning (E106)."""
    meaning = each.document or each.text
    if not about.is_own:
        why = NOT_ASKED.get(each.name, "its formula is unsupported")
        return Refused(each.name, meaning, why)
    why, hint = _no_plan(each)
    expected = "a formula about requests, indications and crashes"
    return Refused(each.name, meaning, why, _unasked(each, why, expected, hint))


def _no_plan(each: typed.PropertyDef) -> tuple[str, str]:
    """Returns why a log can't be asked a formula, and what can be done; nothing where it can."""
    for node in nodes_of(each.formula):
        match node:
            case typed.StateRef():
                return (
                    f"it reads the state `{node.name}`, and a log has no states",
                    "write it with requests and indications, or use `bivalence conform`",
                )
            case typed.Consistent():
                return OVERLAP, "judge recorded histories with `bivalence judge`"
            case typed.Opinion():
                return "it reads what failure detectors say now", ""
            case typed.Acts() | typed.RepeatedAct():
                return (
                    "it reads external actions",
                    "`--over` asks how often they happen, such as `exactly_once over effects`",
                )
    return why_not(each.formula)


def _written(column: str) -> str:
    return "to" if column == "to_process" else column


def _once(name: str, roles: tuple[Role, ...]) -> Question:
    times, _, over = name.partition(" over ")
    if times not in TIMES or over not in OVER:
        listed = ", ".join(f"`{t} over {o}`" for t in TIMES for o in OVER)
        raise SpecError((Diagnostic("E087", f"unknown property `{name}`", None, listed),))
    several = [role.name for role in roles if role.kind is Kind.INDICATION]
    if over == "deliveries" and len(several) > 1:
        listed = " and ".join(f"`{each}`" for each in several)
        message = f"`{name}` does not say which deliveries: {listed}"
        raise SpecError((Diagnostic("E087", message, None, "an interface with one indication"),))
    premise = everything if over == "deliveries" else performed
    if times != "at_most_once":
        premise = requests
    least = times != "at_most_once"
    rule = Rule(once(times, over), premise, least, least)
    return Question(name, definition(times, over), rule)
