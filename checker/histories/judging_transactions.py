"""From the transactions of a history to the report on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from checker.engines import budgets
from checker.histories import list_append, rw_register
from checker.histories.cycles import (
    G0,
    G1C,
    ITEM,
    NONADJACENT,
    SEVERITY,
    SINGLE,
    Edge,
    anomalous_cycles,
)
from checker.histories.dependencies import (
    KINDS,
    MOST_PAIRS,
    REALTIME,
    RW,
    WR,
    WW,
    Finding,
    Graph,
    Observed,
    add_realtime,
)
from checker.histories.pairing import Operation
from checker.histories.schedules import without_order
from checker.histories.transactions import (
    LISTS,
    REGISTERS,
    Transaction,
    name_of,
    transactions_of,
)
from checker.histories.wording import recorded
from checker.records import replace
from checker.results.answer import stop_reason
from checker.results.judgement import Anomaly, Dependency, Judgement, Recorded
from checker.results.verdict import Word

LIST_APPEND, RW_REGISTER = "ListAppend", "RwRegister"
TRANSACTIONS = (LIST_APPEND, RW_REGISTER)
"""The names of what transactions are judged as."""
LINEARIZABLE_KEYS = "linearizable-keys"
"""The assumption that each register alone is linearizable."""

NO_ORDER = "no-order"
_NEVER = ("incompatible-order", "duplicate-elements", "unwritten-read", "cyclic-versions")
_COMMITTED = (*_NEVER, "G1a", "G1b", G0, G1C)
_SNAPSHOT = (*_COMMITTED, "internal", "lost-update", SINGLE, NONADJACENT, NO_ORDER)
_SERIALIZABLE = (*_SNAPSHOT, ITEM)
COMMITTED = "read-committed"
STRICT = "strict-serializable"
SNAPSHOT = "snapshot-isolation"
SERIALIZABLE = "serializable"
MODELS: Mapping[str, tuple[str, ...]] = {
    COMMITTED: _COMMITTED,
    SNAPSHOT: _SNAPSHOT,
    SERIALIZABLE: _SERIALIZABLE,
    STRICT: (*_SERIALIZABLE, *(f"{name}-realtime" for name in SEVERITY)),
}
"""The anomalies that each consistency model forbids."""

SENTENCES = {
    G0: "writes of transactions come one after the other in a cycle",
    G1C: "transactions read and overwrite one another's writes in a cycle",
    SINGLE: "a transaction both sees and misses what another one did",
    NONADJACENT: "a cycle in which no two misses are adjacent",
    ITEM: "transactions miss one another's writes in a cycle",
}
"""What each anomaly is, in words."""


def judge_transactions(
    operations: Sequence[Operation], model: str, report: Judgement, assumed: Sequence[str] = ()
) -> Judgement:
    """Returns the report on the transactions that ``operations`` are.

    Raises :class:`SpecError`: E095 for what is no such transaction, E102 for a value that is
    written twice.
    """
    found: list[Anomaly] = []
    reads, stopped, unknown = 0, None, ""
    try:
        with budgets.raising_when_exhausted():
            seen = _observed(operations, report.object, assumed)
            reads = seen.reads
            found += _of_findings(seen.findings, operations)
            graph, is_complete = seen.dependencies()
            if not is_complete:
                unknown = f"more than {MOST_PAIRS:,} reads lack an append that no read has"
            found += _of_cycles(anomalous_cycles(graph, WW | WR | RW), seen, operations)
            if model == STRICT:
                add_realtime(graph, seen.transactions)
                every = anomalous_cycles(graph, WW | WR | RW | REALTIME)
                timed = (each for each in every if each[0].endswith("-realtime"))
                found += _of_cycles(timed, seen, operations)
            keys = _on_which_it_depends(found, model, seen)
            if keys:
                anomaly, unknown = _unordered(keys, graph, model, seen, operations)
                found += anomaly
    except KeyboardInterrupt as problem:
        stopped = stop_reason(problem)
    forbidden = tuple(each for each in found if each.name in MODELS[model])
    allowed = tuple(each.name for each in found if each.name not in MODELS[model])
    notes = (*report.notes, *(f"assumed: {each}" for each in assumed))
    report = replace(report, anomalies=forbidden, allowed=allowed, stopped=stopped, notes=notes)
    return _verdict(report, model, reads, unknown)


def _observed(operations: Sequence[Operation], name: str, assumed: Sequence[str]) -> Observed:
    if name == LIST_APPEND:
        return list_append.observe(transactions_of(operations, LISTS))
    transactions = transactions_of(operations, REGISTERS)
    return rw_register.observe(transactions, is_linearizable=LINEARIZABLE_KEYS in assumed)


def _on_which_it_depends(found: Sequence[Anomaly], model: str, seen: Observed) -> list[Any]:
    """Returns the keys on whose order, which no read shows, the verdict depends; none where it is
    known.

    Of appends that no read has any order is as good, unless there are cycles that snapshot
    isolation allows: two transactions that append to the same key may not overlap.
    """
    names = {each.name for each in found}
    if names & {*MODELS[model]} or model == COMMITTED:
        return []
    if isinstance(seen, list_append.Lists) and (model != SNAPSHOT or ITEM not in names):
        return []
    return seen.unordered()


def _unordered(
    keys: Sequence[Any], graph: Graph, model: str, seen: Observed, operations: Sequence[Operation]
) -> tuple[list[Anomaly], str]:
    """Returns what is wrong, whatever the order of the writes to ``keys``; or why that is not
    known."""
    some = without_order(seen, graph, snapshots=model == SNAPSHOT)
    named = ", ".join(map(name_of, keys[:5])) + (", …" if len(keys) > 5 else "")
    if some is None:
        return [], f"no read shows the order of all writes to {named}, on which it depends"
    if not some:
        return [], ""
    what = {SNAPSHOT: "order of starts and commits", STRICT: "serial order in real time"}
    sentence = f"no {what.get(model, 'serial order')} of these explains what they read"
    return [Anomaly(NO_ORDER, sentence, tuple(_recorded(one, operations) for one in some))], ""


def _verdict(report: Judgement, model: str, reads: int, unknown: str) -> Judgement:
    if report.anomalies:
        names = ", ".join(each.name for each in report.anomalies)
        return replace(report, word=Word.VIOLATED, sentence=f"not {model}: {names}")
    if report.stopped is not None:
        return replace(report, sentence=f"{model}? {report.stopped}")
    if unknown:
        return replace(report, sentence=f"{model}? {unknown}", undecided=(unknown,))
    if not reads:
        why = "no committed transaction reads anything, so nothing is checked"
        return replace(report, word=Word.VACUOUS, sentence=why)
    return replace(report, word=Word.HOLDS, sentence=model)


def _of_findings(findings: Iterable[Finding], operations: Sequence[Operation]) -> list[Anomaly]:
    """Returns one anomaly for each name, with how many there are."""
    groups: dict[str, list[Finding]] = {}
    for each in findings:
        groups.setdefault(each.name, []).append(each)
    return [
        Anomaly(
            name,
            group[0].sentence,
            tuple(_recorded(each, operations) for each in group[0].transactions),
            times=len(group),
        )
        for name, group in groups.items()
    ]


def _of_cycles(
    cycles: Iterator[tuple[str, list[Edge]]], seen: Observed, operations: Sequence[Operation]
) -> list[Anomaly]:
    """Returns one anomaly for each name, with a shortest one of the cycles."""
    groups: dict[str, list[list[Edge]]] = {}
    for name, cycle in cycles:
        groups.setdefault(name, []).append(cycle)
    return [
        _of_cycle(name, min(groups[name], key=len), len(groups[name]), seen, operations)
        for name in sorted(groups, key=lambda name: SEVERITY.index(name.removesuffix("-realtime")))
    ]


def _of_cycle(
    name: str, cycle: list[Edge], times: int, seen: Observed, operations: Sequence[Operation]
) -> Anomaly:
    places = {before: number for number, (before, _, _) in enumerate(cycle)}
    all_of = seen.transactions
    return Anomaly(
        name,
        SENTENCES[name.removesuffix("-realtime")],
        tuple(_recorded(all_of[before], operations) for before, _, _ in cycle),
        tuple(
            Dependency(
                places[before],
                places[after],
                KINDS[kind],
                seen.evidence(all_of[before], all_of[after], kind),
            )
            for before, after, kind in cycle
        ),
        times,
    )


def _recorded(one: Transaction, operations: Sequence[Operation]) -> Recorded:
    was = one.recorded
    end = max(operations[-1].called, was.returned or 0)
    return recorded(one.text, was.process, was.call, was.called, was.answer, end, was.returned)
