"""Which properties are asked of a log: those whose formulas have a plan.

A property is known by its formula, not by its name: several interfaces have a `validity`, and they
differ.  An author's own property that says the same as one of the library is asked by the same
plan, whatever the names in it are (:mod:`checker.audit.shapes`).  A formula without a plan is not
asked, and the report says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from msgspec import Struct

from checker.audit import plans_of_counts as counts
from checker.audit import plans_of_messages as messages
from checker.audit import plans_of_order as order
from checker.audit import plans_of_values as values
from checker.audit.columns import COLUMNS, Kind, Role, operators_of, roles_of
from checker.audit.declared import Declared
from checker.audit.plans_of_counts import Plan, once
from checker.audit.relations import Relation
from checker.audit.shapes import nodes_of, shape_of
from checker.audit.tables import Tables
from checker.diagnostics import Diagnostic, SpecError
from checker.language.library import prelude
from checker.language.syntax import typed
from checker.language.typecheck.exactly_once import OVER, TIMES, definition
from checker.language.typecheck.scope import suggestion

Premise = Callable[[Tables], Relation]


class Rule(Struct, frozen=True):
    """How a property is asked of a log.

    ``premise``: what it is about; where there is none of it, it is vacuous.  ``complete``: that it
    holds can't be said of logs with gaps; ``correct``: it speaks of correct processes only;
    ``needs``: columns that it is asked with; ``by_role``: with those of the arguments, too, as the
    plan takes the events of its requests and indications apart.
    """

    plan: Plan
    premise: Premise
    complete: bool = False
    correct: bool = False
    needs: tuple[str, ...] = ()
    by_role: bool = False


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


def _deliveries(tables: Tables) -> Relation:
    return tables.firsts


def _requests(tables: Tables) -> Relation:
    return messages.asked_of_correct(tables)


def _everything(tables: Tables) -> Relation:
    return tables.requests.select("process").union(tables.firsts.select("process"))


def _performed(tables: Tables) -> Relation:
    return tables.performed


RULES: Mapping[str, Rule] = {
    # broadcasts
    "forall p, q in Proc, m in Msg: correct(p) and correct(q) and m in broadcast(p)"
    " ~> (p, m) in delivered(q)": Rule(messages.validity_for_all, _requests, True, True),
    "forall p in Proc, m in Msg: correct(p) and m in broadcast(p) ~> (p, m) in delivered(p)": Rule(
        messages.validity_of_own, _requests, True, True
    ),
    "always forall p in Proc, x in delivered(p): not repeated(p, x)": Rule(
        messages.no_duplication, _deliveries
    ),
    "always forall p in Proc, (s, m) in delivered(p): m in broadcast(s)": Rule(
        messages.no_creation, _deliveries
    ),
    "forall p, q, s in Proc, m in Msg: correct(p) and correct(q) and (s, m) in delivered(p)"
    " ~> (s, m) in delivered(q)": Rule(messages.agreement, _deliveries, True, True),
    "forall p, q, s in Proc, m in Msg: correct(q) and (s, m) in delivered(p)"
    " ~> (s, m) in delivered(q)": Rule(messages.uniform_agreement, _deliveries, True, True),
    "always forall s, p in Proc, m1 in broadcast(s), m2 in broadcast(s): correct(p)"
    " and broadcast_before(s, m1, m2) and (s, m2) in delivered(p)"
    " => before(p, (s, m1), (s, m2))": Rule(order.fifo_order, _deliveries, False, True),
    "always forall p, s, t in Proc, m1 in broadcast(s), m2 in broadcast(t):"
    " causes((s, m1), (t, m2)) and (t, m2) in delivered(p)"
    " => before(p, (s, m1), (t, m2))": Rule(order.causal_order, _deliveries),
    "always forall p, q in Proc, (s, m1) in delivered(p), (t, m2) in delivered(p):"
    " correct(p) and correct(q) and before(p, (s, m1), (t, m2)) and (s, m1) in delivered(q)"
    " and (t, m2) in delivered(q) => before(q, (s, m1), (t, m2))": Rule(
        order.total_order, _deliveries, False, True
    ),
    "always forall p, q in Proc, (s, m1) in delivered(p), (t, m2) in delivered(p):"
    " before(p, (s, m1), (t, m2)) and (s, m1) in delivered(q) and (t, m2) in delivered(q)"
    " => before(q, (s, m1), (t, m2))": Rule(order.uniform_total_order, _deliveries),
    "always forall p, q in Proc: delivered(p) prefix delivered(q)"
    " or delivered(q) prefix delivered(p)": Rule(order.prefix_order, _deliveries, True),
    # one broadcast of a Byzantine world
    "always forall p in Proc, x, y in delivered(p): correct(p)"
    " => x == y and not repeated(p, x)": Rule(values.one_at_each_correct, _deliveries, False, True),
    "always forall p in Proc, (s, m) in delivered(p): correct(p) and correct(s)"
    " => m in broadcast(s)": Rule(
        values.integrity_of_correct, _deliveries, False, True, ("sender",)
    ),
    "always forall p, q in Proc, x in delivered(p), y in delivered(q): correct(p) and correct(q)"
    " => x == y": Rule(values.same_at_correct, _deliveries, False, True),
    "forall p, q in Proc: correct(p) and correct(q) and (exists x in delivered(p): true)"
    " ~> exists y in delivered(q): true": Rule(values.some_at_all_or_none, _deliveries, True, True),
    # links
    "always forall q in Proc, x in delivered(q): not repeated(q, x)": Rule(
        messages.no_duplication, _deliveries
    ),
    "always forall q in Proc, (p, m) in delivered(q): (q, m) in sent(p)": Rule(
        messages.no_creation_on_links, _deliveries, needs=("sender", "to_process")
    ),
    "forall p, q in Proc, m in Msg: correct(p) and correct(q) and (q, m) in sent(p)"
    " ~> (p, m) in delivered(q)": Rule(
        messages.reliable_delivery, _requests, True, True, ("sender", "to_process")
    ),
    "forall p, q in Proc, m in Msg: correct(p) and correct(q) and (q, m) in sent(p)"
    " ~> repeated(q, (p, m))": Rule(
        messages.stubborn_delivery, _requests, True, True, ("sender", "to_process")
    ),
    # queues
    "always forall p in Proc, m in delivered(p): exists q in Proc: m in submitted(q)": Rule(
        messages.requested_by_some, _deliveries
    ),
    "forall p in Proc, m in Msg: correct(p) and m in submitted(p)"
    " ~> exists q in Proc: m in delivered(q)": Rule(messages.handed_to_some, _requests, True, True),
    "always forall p, q in Proc, m in delivered(p): not repeated(p, m)"
    " and (m in delivered(q) => p == q)": Rule(messages.single_delivery, _deliveries),
    # consensus and commit
    "forall p in Proc: correct(p) ~> exists v in decided(p): true": Rule(
        values.some_at_each, _everything, True, True
    ),
    "always forall p in Proc, v in decided(p): exists q in Proc: v in proposed(q)": Rule(
        messages.requested_by_some, _deliveries
    ),
    "always forall p in Proc, v, w in decided(p): v == w and not repeated(p, v)": Rule(
        values.one_at_each, _deliveries
    ),
    "always forall p in Proc, v, w in decided(p): correct(p)"
    " => v == w and not repeated(p, v)": Rule(values.one_at_each_correct, _deliveries, False, True),
    "always forall p, q in Proc, v in decided(p), w in decided(q): correct(p) and correct(q)"
    " => v == w": Rule(values.same_at_correct, _deliveries, False, True),
    "always forall p, q in Proc, v in decided(p), w in decided(q): v == w": Rule(
        values.same_at_all, _deliveries
    ),
    "always forall p in Proc, v in decided(p), w in (0..1): correct(p)"
    " and (forall q in Proc: w in proposed(q) or faulty(q)) => v == w": Rule(
        values.unanimous_value, _deliveries, False, True
    ),
    "always forall p in Proc: 0 in decided(p)"
    " => exists q in Proc: 0 in proposed(q) or crashed(q)": Rule(
        values.abort_with_reason, _deliveries
    ),
    "always forall p in Proc: 1 in decided(p) => forall q in Proc: not (0 in proposed(q))": Rule(
        values.commit_unanimous, _deliveries
    ),
    # replication
    "always forall p in Proc, (k, m) in committed(p): exists q in Proc: m in appended(q)": Rule(
        messages.requested_by_some, _deliveries
    ),
    "always forall p, q in Proc, (k, m) in committed(p), (j, l) in committed(q):"
    " k == j => m == l": Rule(values.one_value_per_offset, _deliveries, needs=("offset",)),
    "always forall p in Proc, (k, m) in committed(p): not repeated(p, (k, m))"
    " and (k > 0 => exists (j, l) in committed(p): j == k - 1)": Rule(
        values.no_gaps, _deliveries, needs=("offset",)
    ),
    "forall p, q in Proc, m in Msg: correct(p) and correct(q) and m in appended(p)"
    " ~> exists (k, l) in committed(q): l == m": Rule(
        values.appended_is_learned, _requests, True, True
    ),
    "forall p in Proc: correct(p) and #executed(p) > #responded(p)"
    " ~> #executed(p) == #responded(p)": Rule(counts.operations_return, _requests, True, True),
    "forall p in Proc: (correct(p) and #read(p) > #read_returned(p)"
    " ~> #read(p) == #read_returned(p)) and (correct(p) and #written(p) > #write_returned(p)"
    " ~> #written(p) == #write_returned(p))": Rule(counts.operations_return, _requests, True, True),
}
"""How each formula is asked."""

_OVERLAP = "only clocks show which operations overlap, and a log orders only one process"
_FOREVER = "a finite log can't show that something holds forever"
NOT_ASKED: Mapping[str, str] = {
    "atomicity": _OVERLAP,
    "regularity": _OVERLAP,
    "one_machine": _OVERLAP,
    "strong_accuracy": "only clocks show whether a suspicion preceded a crash",
    "weak_accuracy": "suspicions are not deliveries",
    "strong_completeness": _FOREVER,
    "weak_completeness": _FOREVER,
    "eventual_strong_accuracy": _FOREVER,
    "eventual_weak_accuracy": _FOREVER,
    "eventual_leadership": _FOREVER,
}
"""Properties of the library that can't be asked of logs, and why."""

GLOBAL = "global_order"
_MORE: Mapping[str, tuple[tuple[str, str, Rule], ...]] = {
    "total_order": (
        (
            GLOBAL,
            "Defago, Schiper and Urban 2004 compare such definitions: There is one order of all"
            " entries with which the deliveries of every process agree; the orders of any two"
            " processes may agree where those of three do not.",
            Rule(order.global_order, _deliveries),
        ),
    ),
    "log_agreement": (
        (
            "no_lost_writes",
            "Jepsen's lost-write: What was acknowledged at an offset below the greatest that a"
            " process has read was read by that process.",
            Rule(values.acknowledged_is_read, _requests, False, False, ("offset",)),
        ),
        (
            "appends_in_order",
            "Jepsen's nonmonotonic-send: What a process appends is at a greater offset than what it"
            " appended before.",
            Rule(values.appended_in_order, _requests, False, False, ("offset",)),
        ),
    ),
}
"""Properties that only logs are asked, by one that the interface has."""
_MORE = {**_MORE, "uniform_total_order": _MORE["total_order"]}

PAYLOAD = (
    "payload_integrity",
    "What is delivered has the payload that was requested: their hashes are equal.",
    Rule(counts.same_payload, _deliveries, needs=("payload_hash",)),
)


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
        if rule is None:
            refused.append(_refused(each, about))
            continue
        of = tuple(roles[name] for name in shape.operators)
        found.append(Question(each.name, meaning, rule, of))
        found += [Question(*more, of) for more in _MORE.get(known, ()) if more[0] not in names]
    found += [_once(name, tuple(roles.values())) for name in over]
    if "payload_hash" in columns or PAYLOAD[0] in only:
        found.append(Question(*PAYLOAD))
    asked = []
    for question in found:
        needs = (*question.rule.needs, *(_columns_of(question) if question.rule.by_role else ()))
        lacking = [name for name in dict.fromkeys(needs) if name not in columns]
        if lacking:
            named = " and ".join(f"`{_written(name)}`" for name in lacking)
            why = f"the log has no column {named}"
            refused.append(Refused(question.name, question.definition, why))
        else:
            asked.append(question)
    if not only:
        return asked, refused
    return [q for q in asked if q.name in only], [r for r in refused if r.name in only]


def _columns_of(question: Question) -> tuple[str, ...]:
    """Returns the columns that the arguments of its requests and indications are."""
    return tuple(name for role in question.roles for name in role.columns if name != "msg")


def _refused(each: typed.PropertyDef, about: Declared) -> Refused:
    """Returns a property that has no plan; an author's own with a warning (E106)."""
    meaning = each.document or each.text
    if not about.is_own:
        why = NOT_ASKED.get(each.name, "its formula is unsupported")
        return Refused(each.name, meaning, why)
    why, hint = _no_plan(each)
    message = f"`{each.name}` can't be checked in a log: {why}"
    expected = "a formula that says what a property of the library says"
    warning = Diagnostic("E106", message, each.span, expected, hint, severity="warning")
    return Refused(each.name, meaning, why, warning)


def _no_plan(each: typed.PropertyDef) -> tuple[str, str]:
    """Returns why a log can't be asked a formula, and what can be done."""
    for node in nodes_of(each.formula):
        match node:
            case typed.StateRef():
                return (
                    f"it reads the state `{node.name}`, and a log has no states",
                    "write it with requests and indications, or use `bivalence conform`",
                )
            case typed.Consistent():
                return _OVERLAP, "judge recorded histories with `bivalence judge`"
            case typed.Opinion():
                return "it reads what failure detectors say now", ""
            case typed.Acts() | typed.RepeatedAct():
                return (
                    "it reads external actions",
                    "`--over` asks how often they happen, such as `exactly_once over effects`",
                )
    alike = (i for i in prelude().interfaces.values() for p in i.properties if p.name == each.name)
    texts = (p.text for i in alike for p in i.properties if p.name == each.name and p.text in RULES)
    text = next(texts, "")
    hint = f"the library's `{each.name}` is `{text}`" if text else ""
    return "no plan for logs fits its formula", hint


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
    premise = _everything if over == "deliveries" else _performed
    if times != "at_most_once":
        premise = _requests
    least = times != "at_most_once"
    rule = Rule(once(times, over), premise, least, least)
    return Question(name, definition(times, over), rule)
