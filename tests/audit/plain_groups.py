"""The properties of groups and transactions once more: plain definitions over rows, by all pairs.

Written from the formulas of `specs/interfaces/` and from docs/kafka.md; nothing here knows plans.
Each function takes the :class:`Log` of a run and returns what is said of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.audit.brute_force import FINE, UNKNOWN, VIOLATED, worst

Row = dict[str, Any]


class Log:
    """The rows of one run."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.processes = {row["process"] for row in rows}
        self.gaps = {row["process"] for row in rows if row["kind"] == "gap"}

    def of(self, kind: str, *columns: str) -> list[Row]:
        found = [r for r in self.rows if r["kind"] == kind and r.get("status", "ok") == "ok"]
        return [r for r in found if all(r.get(name) is not None for name in columns)]

    @property
    def polls(self) -> list[Row]:
        return self.of("poll")

    @property
    def committed_polls(self) -> list[Row]:
        """Those of consumers that read committed records."""
        return [r for r in self.polls if not r.get("uncommitted")]

    @property
    def commits(self) -> list[Row]:
        return self.of("commit", "offset", "partition", "generation")

    @property
    def records(self) -> list[Row]:
        """All that was acknowledged."""
        return self.of("append", "offset", "partition") + self.of("acknowledge")

    @property
    def final(self) -> list[Row]:
        """Those whose transaction, if any, is known to be committed."""
        ended = {r["transaction"] for r in self.of("commit", "transaction") if "offset" not in r}
        return [r for r in self.records if r.get("transaction") in (None, *ended)]

    def asked(self) -> list[Row]:
        return [r for r in self.rows if r["kind"] == "append" and r.get("status") != "fail"]

    def unless(self, process: str) -> str:
        return UNKNOWN if process in self.gaps else VIOLATED

    @property
    def unless_any(self) -> str:
        return UNKNOWN if self.gaps else VIOLATED


def same(one: Row, other: Row, *names: str) -> bool:
    return all(one.get(name) == other.get(name) for name in names)


def any_of(found: Iterable[object], word: str = VIOLATED) -> str:
    return word if any(found) else FINE


def one_owner(log: Log) -> str:
    some = log.of("assign")
    return any_of(
        same(x, y, "generation", "partition", "group") and x["process"] != y["process"]
        for x in some
        for y in some
    )


def polls_assigned(log: Log) -> str:
    keys = "process", "generation", "partition", "group"
    return worst(
        [
            log.unless(p["process"])
            for p in log.polls
            if not any(same(p, a, *keys) and a["pos"] < p["pos"] for a in log.of("assign"))
        ]
    )


def polled_was_appended(log: Log) -> str:
    found = []
    for p in log.polls:
        mine = [a for a in log.asked() if a["msg"] == p["msg"]]
        if not any(a.get("partition") in (None, p["partition"]) for a in mine):
            found.append(log.unless_any)
    if not _is_execution(log, {m: [] for m in ()}):
        found.append(VIOLATED)
    return worst(found)


def one_record_per_position(log: Log) -> str:
    known = log.polls + log.records
    return any_of(
        same(x, y, "partition", "offset") and x["msg"] != y["msg"] for x in known for y in known
    )


def one_position_per_record(log: Log) -> str:
    known = log.polls + log.records
    return any_of(
        same(x, y, "partition", "msg") and x["offset"] != y["offset"] for x in known for y in known
    )


LINE = "process", "generation", "partition", "group"


def polls_in_order(log: Log) -> str:
    return any_of(
        same(x, y, *LINE) and x["pos"] < y["pos"] and x["offset"] >= y["offset"]
        for x in log.polls
        for y in log.polls
    )


def polls_without_gaps(log: Log) -> str:
    found = []
    for x in log.polls:
        for y in log.polls:
            for c in log.final:
                if not (same(x, y, *LINE) and same(x, c, "partition")):
                    continue
                if x["offset"] < c["offset"] < y["offset"] and not any(
                    same(x, z, *LINE) and z["msg"] == c["msg"] for z in log.polls
                ):
                    found.append(log.unless(x["process"]))
    return worst(found)


def resumes_at_commit(log: Log) -> str:
    return any_of(
        same(c, p, "partition", "group")
        and c["generation"] < p["generation"]
        and p["offset"] < c["offset"]
        for c in log.commits
        for p in log.polls
    )


def _nobody_polls(log: Log, record: Row, group: object) -> bool:
    return not any(
        same(record, p, "partition", "msg") and p.get("group") == group for p in log.polls
    )


def nothing_lost_to_the_group(log: Log) -> str:
    return any_of(
        (
            same(x, y, "partition", "group")
            and same(x, r, "partition")
            and x["offset"] <= r["offset"] < y["offset"]
            and _nobody_polls(log, r, x.get("group"))
            for x in log.commits
            for y in log.commits
            for r in log.final
        ),
        log.unless_any,
    )


def no_lost_writes(log: Log) -> str:
    return any_of(
        (
            same(p, r, "partition")
            and r["offset"] < p["offset"]
            and _nobody_polls(log, r, p.get("group"))
            for p in log.polls
            for r in log.final
        ),
        log.unless_any,
    )


def appends_in_order(log: Log) -> str:
    sent = [{**r, "offset": _offset_of(log, r)} for r in log.of("append", "partition")]
    sent = [r for r in sent if r["offset"] is not None]
    ups = [r for r in log.rows if r["kind"] in ("start", "recover")]
    found = []
    for x in sent:
        for y in sent:
            between = [u for u in ups if same(u, x, "process") and x["pos"] < u["pos"] < y["pos"]]
            between += [u for u in ups if same(u, x, "process") and y["pos"] < u["pos"] < x["pos"]]
            if not same(x, y, "process", "partition") or x is y:
                continue
            if ("seq" in x) != ("seq" in y):
                continue
            if "seq" in x:
                found.append(not between and x["seq"] < y["seq"] and x["offset"] > y["offset"])
            elif not any("seq" in r for r in log.rows) or not between:
                found.append(x["pos"] < y["pos"] and x["offset"] > y["offset"])
    return any_of(found)


def _offset_of(log: Log, append: Row) -> Any:
    """Returns the offset of an append: its own, or that of its acknowledgement."""
    told = [a for a in log.of("acknowledge") if same(a, append, "process", "partition", "msg")]
    return append.get("offset", min((a["offset"] for a in told), default=None))


def all_are_polled(log: Log) -> str:
    polled = {p["msg"] for p in log.polls}
    return any_of((r["msg"] not in polled for r in log.final), log.unless_any)


# ---- transactions -------------------------------------------------------------------------------


def no_aborted_reads(log: Log) -> str:
    aborted = {r["transaction"] for r in log.of("abort", "transaction")}
    clean = {r["msg"] for r in log.asked() if r.get("transaction") not in aborted}
    return any_of((p["msg"] not in clean for p in log.committed_polls), log.unless_any)


def no_early_reads(log: Log) -> str:
    ends: dict[str, list[Row]] = {}
    for r in log.rows:
        if r["kind"] == "commit" and r.get("status") != "fail" and "offset" not in r:
            ends.setdefault(r["transaction"], []).append(r)
    may = {
        r["msg"] for r in log.asked() if r.get("transaction") is None or r["transaction"] in ends
    }
    found = [log.unless_any] if any(p["msg"] not in may for p in log.committed_polls) else []
    if not _is_execution(log, ends):
        found.append(VIOLATED)
    return worst(found)


def _is_execution(log: Log, ends: dict[str, list[Row]]) -> bool:
    """Whether there is an order of all events in which what is polled was appended, and, where
    ``ends`` are given, its transaction ended, before."""
    lines: dict[str, list[Row]] = {}
    for row in sorted(log.rows, key=lambda row: int(row["pos"])):
        lines.setdefault(row["process"], []).append(row)
    by_end = {id(end): t for t, some in ends.items() for end in some}
    of_transaction: dict[str, set[str]] = {}
    free, asked = set(), set()
    for r in log.asked():
        own = r.get("transaction")
        if own is not None and own in ends and ends:
            of_transaction.setdefault(own, set()).add(r["msg"])
            asked.add(r["msg"])
        elif own is None or not ends:
            asked.add(r["msg"])
            if r.get("offset") is not None:
                free.add(r["msg"])
    made = set(free)
    moved = True
    while moved:
        moved = False
        for line in lines.values():
            while line:
                row = line[0]
                waits = row["kind"] == "poll" and row.get("status", "ok") == "ok"
                waits = waits and not row.get("uncommitted")
                if waits and row["msg"] in asked and row["msg"] not in made:
                    break
                line.pop(0)
                moved = True
                if id(row) in by_end:
                    made |= of_transaction.get(by_end[id(row)], set())
                elif row["kind"] == "append" and row.get("status") != "fail":
                    if row.get("transaction") is None or not ends:
                        made.add(row["msg"])
    return not any(lines.values())


def committed_is_seen_whole(log: Log) -> str:
    ends = {
        r["transaction"]
        for r in log.rows
        if r["kind"] == "commit" and r.get("status") != "fail" and "offset" not in r
    }
    sure = [r for r in log.asked() if r.get("status", "ok") == "ok"]
    polled = {p["msg"] for p in log.polls}
    seen = {p["msg"] for p in log.committed_polls}
    found = []
    for a in sure:
        for b in sure:
            one = a.get("transaction")
            if one in ends and one == b.get("transaction") and a["msg"] in seen:
                found.append(b["msg"] not in polled)
    return any_of(found, log.unless_any)


GROUPS = {
    each.__name__: each
    for each in (
        *(one_owner, polls_assigned, polled_was_appended, one_record_per_position),
        *(one_position_per_record, polls_in_order, polls_without_gaps, resumes_at_commit),
        *(nothing_lost_to_the_group, no_lost_writes, appends_in_order, all_are_polled),
    )
}
TRANSACTIONS = {
    each.__name__: each for each in (no_aborted_reads, no_early_reads, committed_is_seen_whole)
}
