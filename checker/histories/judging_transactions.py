"""From the transactions of a history to the report on it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from checker.engines import budgets
from checker.histories.cycles import (
    G0,
    G1C,
    ITEM,
    NONADJACENT,
    SEVERITY,
    SINGLE,
    Edge,
    anomalous_cycles,
    snapshot_order,
)
from checker.histories.list_append import (
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
    dependencies,
    evidence,
    observe,
)
from checker.histories.pairing import Operation
from checker.histories.transactions import Transaction, name_of, transactions_of
from checker.histories.wording import recorded
from checker.records import replace
from checker.results.answer import stop_reason
from checker.results.judgement import Anomaly, Dependency, Judgement, Recorded
from checker.results.verdict import Word

LIST_APPEND = "ListAppend"
"""The name of what transactions of appends and reads are judged as."""

_NEVER = ("incompatible-order", "duplicate-elements", "unwritten-read")
_COMMITTED = (*_NEVER, "G1a", "G1b", G0, G1C)
_SNAPSHOT = (*_COMMITTED, "internal", SINGLE, NONADJACENT)
_SERIALIZABLE = (*_SNAPSHOT, ITEM)
STRICT = "strict-serializable"
SNAPSHOT = "snapshot-isolation"
SERIALIZABLE = "serializable"
MODELS: Mapping[str, tuple[str, ...]] = {
    "read-committed": _COMMITTED,
    SNAPSHOT: _SNAPSHOT,
    SERIALIZABLE: _SERIALIZABLE,
    STRICT: (*_SERIALIZABLE, *(f"{name}-realtime" for name in SEVERITY)),
}
"""The anomalies that each consistency model forbids."""

SENTENCES = {
    G0: "appends of transactions come one after the other in a cycle",
    G1C: "transactions read and overwrite one another's appends in a cycle",
    SINGLE: "a transaction both sees and misses what another one did",
    NONADJACENT: "a cycle in which no two misses are adjacent",
    ITEM: "transactions miss one another's appends in a cycle",
}
"""What each anomaly is, in words."""


def judge_transactions(operations: Sequence[Operation], model: str, report: Judgement) -> Judgement:
    """Returns the report on the transactions that ``operations`` are.

    Raises :class:`SpecError` (E095) for what is no transaction of list-append.
    """
    found: list[Anomaly] = []
    reads, stopped, unknown = 0, None, ""
    try:
        with budgets.raising_when_exhausted():
            transactions = transactions_of(operations)
            seen = observe(transactions)
            reads = seen.reads
            found += _of_findings(seen.findings, operations)
            graph, is_complete = dependencies(seen)
            if not is_complete:
                unknown = f"more than {MOST_PAIRS:,} reads lack an append that no read has"
            found += _of_cycles(anomalous_cycles(graph, WW | WR | RW), seen, operations)
            if model == STRICT:
                add_realtime(graph, transactions)
                every = anomalous_cycles(graph, WW | WR | RW | REALTIME)
                timed = (each for each in every if each[0].endswith("-realtime"))
                found += _of_cycles(timed, seen, operations)
            if model == SNAPSHOT:
                unknown = _unordered(found, graph, seen)
    except KeyboardInterrupt as problem:
        stopped = stop_reason(problem)
    forbidden = tuple(each for each in found if each.name in MODELS[model])
    allowed = tuple(each.name for each in found if each.name not in MODELS[model])
    report = replace(report, anomalies=forbidden, allowed=allowed, stopped=stopped)
    return _verdict(report, model, reads, unknown)


def _unordered(found: Sequence[Anomaly], graph: Graph, seen: Observed) -> str:
    """Returns why snapshot isolation is unknown; empty where it is not.

    Two transactions that append to the same key, in an order that no read shows, may not overlap.
    Where there are cycles that the model allows, some order of such appends must forbid none of
    them; one is tried.
    """
    several = [key for key, writers in seen.unread.items() if len(writers) > 1]
    names = {each.name for each in found}
    if not several or ITEM not in names or names & {*MODELS[SNAPSHOT]}:
        return ""
    place = {node: at for at, node in enumerate(snapshot_order(graph))}
    ordered: Graph = [dict(edges) for edges in graph]
    for key in several:
        writers = sorted((one.number for one in seen.unread[key]), key=place.__getitem__)
        for before, after in itertools.pairwise(writers):
            ordered[before][after] = ordered[before].get(after, 0) | WW
    again = {name for name, _ in anomalous_cycles(ordered, WW | WR | RW)}
    if not again & {*MODELS[SNAPSHOT]}:
        return ""
    keys = ", ".join(map(name_of, several[:5])) + (", …" if len(several) > 5 else "")
    return f"no read shows the order of the last appends to {keys}, on which it depends"


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
                evidence(seen, all_of[before], all_of[after], kind),
            )
            for before, after, kind in cycle
        ),
        times,
    )


def _recorded(one: Transaction, operations: Sequence[Operation]) -> Recorded:
    was = one.recorded
    end = max(operations[-1].called, was.returned or 0)
    return recorded(one.text, was.process, was.call, was.called, was.answer, end, was.returned)
