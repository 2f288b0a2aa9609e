"""The plans of properties, by their formulas: those of the library's interfaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from checker.audit import plans_of_counts as counts
from checker.audit import plans_of_groups as groups
from checker.audit import plans_of_messages as messages
from checker.audit import plans_of_order as order
from checker.audit import plans_of_sends as sends
from checker.audit import plans_of_transactions as transactions
from checker.audit import plans_of_values as values
from checker.audit.plans_of_counts import Plan
from checker.audit.relations import Relation
from checker.audit.tables import Tables

Premise = Callable[[Tables], Relation]


class Rule(Struct, frozen=True):
    """How a property is asked of a log.

    ``premise``: the rows that it is about; without any it is vacuous.  ``complete``: logs with
    gaps can't show that it holds; ``correct``: it is about correct processes only;
    ``needs``: columns that it is asked with; ``by_role``: with those of the arguments, too, as the
    plan takes the events of its requests and indications apart; ``whole``: a part of a log says
    nothing about it.
    """

    plan: Plan
    premise: Premise
    complete: bool = False
    correct: bool = False
    needs: tuple[str, ...] = ()
    by_role: bool = False
    whole: bool = False


def deliveries(tables: Tables) -> Relation:
    return tables.firsts


def requests(tables: Tables) -> Relation:
    return messages.asked_of_correct(tables)


def everything(tables: Tables) -> Relation:
    return tables.requests.select("process").union(tables.firsts.select("process"))


def performed(tables: Tables) -> Relation:
    return tables.performed


_PLAIN: Mapping[str, Rule] = {
    # broadcasts
    "forall p, q in Proc, m in Msg: correct(p) and correct(q) and m in broadcast(p)"
    " ~> (p, m) in delivered(q)": Rule(messages.validity_for_all, requests, True, True),
    "forall p in Proc, m in Msg: correct(p) and m in broadcast(p) ~> (p, m) in delivered(p)": Rule(
        messages.validity_of_own, requests, True, True
    ),
    "always forall p in Proc, x in delivered(p): not repeated(p, x)": Rule(
        messages.no_duplication, deliveries
    ),
    "always forall p in Proc, (s, m) in delivered(p): m in broadcast(s)": Rule(
        messages.no_creation, deliveries
    ),
    "forall p, q, s in Proc, m in Msg: correct(p) and correct(q) and (s, m) in delivered(p)"
    " ~> (s, m) in delivered(q)": Rule(messages.agreement, deliveries, True, True),
    "forall p, q, s in Proc, m in Msg: correct(q) and (s, m) in delivered(p)"
    " ~> (s, m) in delivered(q)": Rule(messages.uniform_agreement, deliveries, True, True),
    "always forall s, p in Proc, m1 in broadcast(s), m2 in broadcast(s): correct(p)"
    " and broadcast_before(s, m1, m2) and (s, m2) in delivered(p)"
    " => before(p, (s, m1), (s, m2))": Rule(order.fifo_order, deliveries, False, True),
    "always forall p, s, t in Proc, m1 in broadcast(s), m2 in broadcast(t):"
    " causes((s, m1), (t, m2)) and (t, m2) in delivered(p)"
    " => before(p, (s, m1), (t, m2))": Rule(order.causal_order, deliveries),
    "always forall p, q in Proc, (s, m1) in delivered(p), (t, m2) in delivered(p):"
    " correct(p) and correct(q) and before(p, (s, m1), (t, m2)) and (s, m1) in delivered(q)"
    " and (t, m2) in delivered(q) => before(q, (s, m1), (t, m2))": Rule(
        order.total_order, deliveries, False, True
    ),
    "always forall p, q in Proc, (s, m1) in delivered(p), (t, m2) in delivered(p):"
    " before(p, (s, m1), (t, m2)) and (s, m1) in delivered(q) and (t, m2) in delivered(q)"
    " => before(q, (s, m1), (t, m2))": Rule(order.uniform_total_order, deliveries),
    "always forall p, q in Proc: delivered(p) prefix delivered(q)"
    " or delivered(q) prefix delivered(p)": Rule(order.prefix_order, deliveries, True),
    # one broadcast of a Byzantine world
    "always forall p in Proc, x, y in delivered(p): correct(p)"
    " => x == y and not repeated(p, x)": Rule(values.one_at_each_correct, deliveries, False, True),
    "always forall p in Proc, (s, m) in delivered(p): correct(p) and correct(s)"
    " => m in broadcast(s)": Rule(
        values.integrity_of_correct, deliveries, False, True, ("sender",)
    ),
    "always forall p, q in Proc, x in delivered(p), y in delivered(q): correct(p) and correct(q)"
    " => x == y": Rule(values.same_at_correct, deliveries, False, True),
    "forall p, q in Proc: correct(p) and correct(q) and (exists x in delivered(p): true)"
    " ~> exists y in delivered(q): true": Rule(values.some_at_all_or_none, deliveries, True, True),
    # links
    "always forall q in Proc, x in delivered(q): not repeated(q, x)": Rule(
        messages.no_duplication, deliveries
    ),
    "always forall q in Proc, (p, m) in delivered(q): (q, m) in sent(p)": Rule(
        messages.no_creation_on_links, deliveries, needs=("sender", "to_process")
    ),
    "forall p, q in Proc, m in Msg: correct(p) and correct(q) and (q, m) in sent(p)"
    " ~> (p, m) in delivered(q)": Rule(
        messages.reliable_delivery, requests, True, True, ("sender", "to_process")
    ),
    "forall p, q in Proc, m in Msg: correct(p) and correct(q) and (q, m) in sent(p)"
    " ~> repeated(q, (p, m))": Rule(
        messages.stubborn_delivery, requests, True, True, ("sender", "to_process")
    ),
    # queues
    "always forall p in Proc, m in delivered(p): exists q in Proc: m in submitted(q)": Rule(
        messages.requested_by_some, deliveries
    ),
    "forall p in Proc, m in Msg: correct(p) and m in submitted(p)"
    " ~> exists q in Proc: m in delivered(q)": Rule(messages.handed_to_some, requests, True, True),
    "always forall p, q in Proc, m in delivered(p): not repeated(p, m)"
    " and (m in delivered(q) => p == q)": Rule(messages.single_delivery, deliveries),
    # consensus and commit
    "forall p in Proc: correct(p) ~> exists v in decided(p): true": Rule(
        values.some_at_each, everything, True, True
    ),
    "always forall p in Proc, v in decided(p): exists q in Proc: v in proposed(q)": Rule(
        messages.requested_by_some, deliveries
    ),
    "always forall p in Proc, v, w in decided(p): v == w and not repeated(p, v)": Rule(
        values.one_at_each, deliveries
    ),
    "always forall p in Proc, v, w in decided(p): correct(p)"
    " => v == w and not repeated(p, v)": Rule(values.one_at_each_correct, deliveries, False, True),
    "always forall p, q in Proc, v in decided(p), w in decided(q): correct(p) and correct(q)"
    " => v == w": Rule(values.same_at_correct, deliveries, False, True),
    "always forall p, q in Proc, v in decided(p), w in decided(q): v == w": Rule(
        values.same_at_all, deliveries
    ),
    "always forall p in Proc, v in decided(p), w in (0..1): correct(p)"
    " and (forall q in Proc: w in proposed(q) or faulty(q)) => v == w": Rule(
        values.unanimous_value, deliveries, False, True
    ),
    "always forall p in Proc: 0 in decided(p)"
    " => exists q in Proc: 0 in proposed(q) or crashed(q)": Rule(
        values.abort_with_reason, deliveries
    ),
    "always forall p in Proc: 1 in decided(p) => forall q in Proc: not (0 in proposed(q))": Rule(
        values.commit_unanimous, deliveries
    ),
    # replication
    "always forall p in Proc, (k, m) in committed(p): exists q in Proc: m in appended(q)": Rule(
        messages.requested_by_some, deliveries
    ),
    "always forall p, q in Proc, (k, m) in committed(p), (j, l) in committed(q):"
    " k == j => m == l": Rule(values.one_value_per_offset, deliveries, needs=("offset",)),
    "always forall p in Proc, (k, m) in committed(p): not repeated(p, (k, m))"
    " and (k > 0 => exists (j, l) in committed(p): j == k - 1)": Rule(
        values.no_gaps, deliveries, needs=("offset",)
    ),
    "forall p, q in Proc, m in Msg: correct(p) and correct(q) and m in appended(p)"
    " ~> exists (k, l) in committed(q): l == m": Rule(
        values.appended_is_learned, requests, True, True
    ),
    "forall p in Proc: correct(p) and #executed(p) > #responded(p)"
    " ~> #executed(p) == #responded(p)": Rule(counts.operations_return, requests, True, True),
    "forall p in Proc: (correct(p) and #read(p) > #read_returned(p)"
    " ~> #read(p) == #read_returned(p)) and (correct(p) and #written(p) > #write_returned(p)"
    " ~> #written(p) == #write_returned(p))": Rule(counts.operations_return, requests, True, True),
}
"""How each formula about requests of one kind and indications of one kind is asked."""


def _by_role(plan: Plan, at: int, complete: bool = False, correct: bool = False) -> Rule:
    """Returns the rule of a property that is about the role at that place of its formula."""
    return Rule(plan, lambda tables: tables.rows_of(at), complete, correct, by_role=True)


def _of_records(plan: Plan, at: int, complete: bool = False, correct: bool = False) -> Rule:
    """Returns the rule of a property that is about records whose acknowledgement is the role at
    that place; it is vacuous where no record is known to be committed."""
    return Rule(plan, lambda tables: groups.records(tables, at), complete, correct, by_role=True)


_BY_ROLE: Mapping[str, Rule] = {
    "always forall p, q in Proc, x in assigned(p), y in assigned(q): x == y => p == q": _by_role(
        groups.one_owner, 0
    ),
    "always forall p in Proc, (g, k, i, m) in polled(p): (g, k) in assigned(p)": _by_role(
        groups.polls_assigned, 0
    ),
    "always forall p in Proc, (g, k, i, m) in polled(p): exists q in Proc: (k, m) in"
    " appended(q)": _by_role(groups.polled_was_appended, 0),
    "(always forall p, q in Proc, (g, k, i, m) in polled(p), (h, l, j, w) in polled(q): k =="
    " l and i == j => m == w) and (always forall p, q in Proc, (k, i, m) in acknowledged(p),"
    " (h, l, j, w) in polled(q): k == l and i == j => m == w) and (always forall p, q in"
    " Proc, (k, i, m) in acknowledged(p), (l, j, w) in acknowledged(q): k == l and i == j =>"
    " m == w)": _by_role(groups.one_record_per_position, 0),
    "(always forall p, q in Proc, (g, k, i, m) in polled(p), (h, l, j, w) in polled(q): k =="
    " l and m == w => i == j) and (always forall p, q in Proc, (k, i, m) in acknowledged(p),"
    " (h, l, j, w) in polled(q): k == l and m == w => i == j) and (always forall p, q in"
    " Proc, (k, i, m) in acknowledged(p), (l, j, w) in acknowledged(q): k == l and m == w =>"
    " i == j)": _by_role(groups.one_position_per_record, 0),
    "always forall p in Proc, (g, k, i, m) in polled(p), (h, l, j, w) in polled(p): not"
    " repeated(polled(p), (g, k, i, m)) and (g == h and k == l and before(polled(p), (g, k,"
    " i, m), (h, l, j, w)) => i < j)": _by_role(groups.polls_in_order, 0),
    "always forall p, q in Proc, (g, k, i, m) in polled(p), (h, l, j, w) in polled(p), (o, c,"
    " d) in acknowledged(q): g == h and k == l and k == o and i < c and c < j => exists (a,"
    " b,"
    " e, v) in polled(p): a == g and b == k and v == d": _of_records(groups.polls_without_gaps, 1),
    "always forall p, q in Proc, (g, k, i) in committed(p), (h, l, j, m) in polled(q): g < h"
    " and k == l => i <= j": _by_role(groups.resumes_at_commit, 0),
    "always forall p, q, r in Proc, (g, k, i) in committed(p), (h, l, j) in committed(q), (o,"
    " c, m) in acknowledged(r): k == l and k == o and i <= c and c < j => exists s in Proc,"
    " (a,"
    " b, e, v) in polled(s): b == k and v == m": _of_records(groups.nothing_lost_to_the_group, 1),
    "always forall p, q in Proc, (o, c, m) in acknowledged(p), (g, k, i, l) in polled(q): o"
    " == k and c < i => exists s in"
    " Proc, (a, b, e, v) in polled(s): b == k and v == m": _of_records(groups.no_lost_writes, 0),
    "always forall p in Proc, (k, m) in appended(p), (l, w) in appended(p), (a, i, c) in"
    " acknowledged(p), (b, j, d) in acknowledged(p): before(appended(p), (k, m), (l, w)) and"
    " k == l and"
    " k == a and l == b and c == m and d == w => i < j": _by_role(sends.appends_in_order, 0),
    "forall p in Proc, m in Msg: correct(p) and (exists (k, i, l) in acknowledged(p): l == m)"
    " ~> exists q in Proc, (g, h, j, w) in"
    " polled(q): w == m": _of_records(groups.all_are_polled, 0, True, True),
    "always forall p in Proc, (k, i, m) in polled(p): exists q in Proc, (t, l, w) in"
    " appended(q): w == m and"
    " (forall r in Proc: not (t in aborted(r)))": _by_role(transactions.no_aborted_reads, 0),
    "always forall p in Proc, (k, i, m) in polled(p): exists q in Proc, (t, l, w) in"
    " appended(q): w"
    " == m and (exists r in Proc: t in committed(r))": _by_role(transactions.no_early_reads, 0),
    "forall p, q in Proc, m, w in Msg: correct(p) and (exists (k, i, a) in polled(p), (t, l,"
    " b) in appended(q), (u, o, c) in appended(q), r in Proc: a == m and b == m and c == w"
    " and t == u and t in committed(r)) ~> exists s in Proc, (h, j,"
    " d) in polled(s): d == w": _by_role(transactions.committed_is_seen_whole, 2, True, True),
}
"""The same about groups and transactions, whose formulas have several requests or indications."""

RULES: Mapping[str, Rule] = {**_PLAIN, **_BY_ROLE}
"""How each formula is asked."""

OVERLAP = "only clocks show which operations overlap, and a log orders only one process"
_FOREVER = "a finite log can't show that something holds forever"
NOT_ASKED: Mapping[str, str] = {
    "atomicity": OVERLAP,
    "regularity": OVERLAP,
    "one_machine": OVERLAP,
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
MORE: Mapping[str, tuple[tuple[str, str, Rule], ...]] = {
    "total_order": (
        (
            GLOBAL,
            "Defago, Schiper and Urban 2004 compare such definitions: There is one order of all"
            " entries with which the deliveries of every process agree; the orders of any two"
            " processes may agree where those of three do not.",
            Rule(order.global_order, deliveries),
        ),
    ),
    "log_agreement": (
        (
            "no_lost_writes",
            "Jepsen's lost-write: What was acknowledged at an offset below the greatest that a"
            " process has read was read by that process.",
            Rule(values.acknowledged_is_read, requests, False, False, ("offset",)),
        ),
        (
            "appends_in_order",
            "Jepsen's nonmonotonic-send: What a process appends is at a greater offset than what it"
            " appended before.",
            Rule(sends.appended_in_order, requests, False, False, ("offset",)),
        ),
    ),
}
"""Properties that only logs are asked, by one that the interface has."""
MORE = {**MORE, "uniform_total_order": MORE["total_order"]}

PAYLOAD = (
    "payload_integrity",
    "What is delivered has the payload that was requested: their hashes are equal.",
    Rule(counts.same_payload, deliveries, needs=("payload_hash",)),
)
