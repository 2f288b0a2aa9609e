"""Plans of properties of a group whose members read a partitioned log together, as in Kafka.

A plan takes the events of each request and indication by its place in the formula (``rows_of``).
Where rows name their ``group``, each is asked about by itself.
"""

from __future__ import annotations

from checker.audit.columns import Kind
from checker.audit.plans_of_messages import never
from checker.audit.plans_of_requests import requested_first, requests_and_indications
from checker.audit.relations import Relation, col, either
from checker.audit.tables import FAIL, OK, UNKNOWN, VIOLATED, Findings, Tables

LOG = ("run", "partition")
"""The columns that identify one log."""


def _group(tables: Tables) -> tuple[str, ...]:
    return ("group",) if "group" in tables.engine.columns else ()


def sure_rows(tables: Tables, at: int) -> Relation:
    """Returns the events of a role that happened, with the ``run``, and whether the log of the
    process is ``complete``."""
    return tables.about(tables.rows_of(at).where(col("status") == OK), "run", "complete")


def records(tables: Tables, at: int, *, final: bool = True) -> Relation:
    """Returns the records that were acknowledged, by the role at that place or by a request with an
    offset: ``process``, ``pos``, ``entry``, ``message``, ``run``, ``partition``, ``offset``.

    ``final``: without those of a transaction that is not known to be committed, which readers may
    pass over.
    """
    columns = ["process", "pos", "entry", "message", "partition", "offset"]
    columns += ["transaction"] if "transaction" in tables.engine.columns else []
    told = tables.rows_of(at).where(col("status") == OK).select(*columns)
    asked = tables.requests.where(
        col("made") & ~col("offset").is_null() & ~col("partition").is_null()
    )
    found = tables.about(told.union(asked.select(*columns)), "run")
    if "transaction" not in tables.engine.columns or not final:
        return found
    plain = found.where(col("transaction").is_null())
    within = found.where(~col("transaction").is_null())
    ends = tables.events.where((col("kind") == int(Kind.NOTICE)) & (col("status") == OK))
    ends = ends.where(~col("transaction").is_null() & col("offset").is_null())
    ended = tables.about(ends, "run").select("run", "transaction")
    return plain.union(within.join(ended, "run", "transaction", how="semi"))


def _once(rows: Relation) -> Relation:
    """Returns each record of ``rows`` once, with a process to which it was acknowledged."""
    return rows.group(
        *LOG, "offset", "message", entry=("min", "entry"), process2=("min", "process")
    )


# ---- who may read what --------------------------------------------------------------------------


def one_owner(tables: Tables) -> Findings:
    """A partition is assigned to two members in one generation."""
    keys = (*LOG, "generation", *_group(tables))
    first = sure_rows(tables, 0).group("process", *keys, pos=("min", "pos")).keep()
    owners = first.group(*keys, process=("min", "process"), process2=("max", "process"))
    differ = owners.where(col("process") != col("process2")).join(first, "process", *keys)
    other = first.select(*keys, process2=col("process"), pos2=col("pos"))
    columns = "process", "process2", "pos", "pos2", "partition", "generation"
    found = differ.join(other, "process2", *keys)
    yield "assigned to two", found.select(*columns, verdict=VIOLATED)


def polls_assigned(tables: Tables) -> Findings:
    """A member polls from a partition before it was assigned that in the generation."""
    keys = ("process", "partition", "generation", *_group(tables))
    assigned = tables.rows_of(1).group(*keys, since=("min", "pos"))
    polled = sure_rows(tables, 0)
    begun = polled.group(*keys, pos=("min", "pos")).join(assigned, *keys, how="left")
    early = begun.where(col("since").is_null() | (col("pos") < col("since")))
    found = early.select("process", "pos", "partition", "generation").join(
        polled.select("process", "pos", "entry", "offset", "complete"), "process", "pos"
    )
    columns = "process", "pos", "entry", "offset", "partition", "generation"
    said = either(col("complete"), VIOLATED, UNKNOWN)
    yield "polled without assignment", found.select(*columns, verdict=said)


# ---- what a position is -------------------------------------------------------------------------


def _known(tables: Tables) -> Relation:
    columns = (*LOG, "offset", "entry")
    told = records(tables, 1, final=False).select(*columns)
    return sure_rows(tables, 0).select(*columns).union(told)


def one_record_per_position(tables: Tables) -> Findings:
    """Two records are polled from, or acknowledged at, one position of a partition."""
    bounds = _known(tables).group(*LOG, "offset", entry=("min", "entry"), entry2=("max", "entry"))
    columns = "offset", "entry", "entry2", "partition"
    differ = bounds.where(col("entry") != col("entry2"))
    yield "different entries at one position", differ.select(*columns, verdict=VIOLATED)


def one_position_per_record(tables: Tables) -> Findings:
    """A record is polled from, or acknowledged at, two positions of a partition."""
    bounds = _known(tables).group(
        *LOG, "entry", offset=("min", "offset"), offset2=("max", "offset")
    )
    columns = "entry", "offset", "offset2", "partition"
    differ = bounds.where(col("offset") != col("offset2"))
    yield "at two positions", differ.select(*columns, verdict=VIOLATED)


def polled_was_appended(tables: Tables) -> Findings:
    """A record is polled that nobody appended to the partition, or whose append failed."""
    first = tables.firsts
    whole = tables.runs.select("run", "whole")
    created = tables.about(first.join(tables.requests, "message", how="anti"), "run")
    created = created.join(whole, "run")
    failed = tables.events.where((col("kind") == int(Kind.REQUEST)) & (col("status") == FAIL))
    failed = failed.select("message")
    said = either(col("whole"), VIOLATED, UNKNOWN)
    for kind, how in (("created", "anti"), ("polled though its append failed", "semi")):
        rows = created.join(failed, "message", how=how)  # type: ignore[arg-type]
        yield kind, rows.select("process", "entry", "pos", verdict=said)
    there = tables.rows_of(1).group("message", "partition", times=("count", ""))
    anywhere = tables.requests.where(col("partition").is_null())
    elsewhere = sure_rows(tables, 0).join(there, "message", "partition", how="anti")
    elsewhere = elsewhere.join(there, "message", how="semi").join(anywhere, "message", how="anti")
    elsewhere = elsewhere.join(whole, "run")
    columns = "process", "entry", "pos", "offset", "partition"
    yield "polled from another partition", elsewhere.select(*columns, verdict=said)
    yield from requested_first(tables, requests_and_indications(tables, "message"), "message")


# ---- the order of polls -------------------------------------------------------------------------


def polls_in_order(tables: Tables) -> Findings:
    """A member polls, in a generation, at or below a position that it has polled."""
    line = ("process", "partition", "generation", *_group(tables))
    transactions = "transaction" in tables.engine.columns
    before = {"former": ("previous", "transaction")} if transactions else {}
    seen = sure_rows(tables, 0).window(
        line,
        "pos",
        highest=("greatest_before", "offset"),
        **before,  # type: ignore[arg-type]
    )
    back = seen.where(col("offset") <= col("highest"))
    columns = "process", "entry", "pos", "offset", "partition", "offset2"
    same = (
        (col("transaction") == col("former")).otherwise(False) if transactions else col("pos") < 0
    )
    back = back.select(*columns[:-1], offset2=col("highest"), same=same)
    yield "polled backwards", back.where(~col("same")).select(*columns, verdict=VIOLATED)
    if transactions:
        within = back.where(col("same")).select(*columns, verdict=VIOLATED)
        yield "polled backwards within a transaction", within


def polls_without_gaps(tables: Tables) -> Findings:
    """A member polls, in a generation, on both sides of a record, and not that."""
    line = ("process", *LOG, "generation", *_group(tables))
    polled = sure_rows(tables, 0)
    extent = {"least": ("min", "offset"), "most": ("max", "offset")}
    lines = polled.group(*line, **extent, complete=("min", "complete"))  # type: ignore[arg-type]
    known = _once(records(tables, 1))
    inside = known.join(lines, *LOG)
    inside = inside.where((col("offset") > col("least")) & (col("offset") < col("most")))
    passed = inside.join(polled, *line, "message", how="anti").keep()
    columns = ("process", "entry", "offset", "partition", "process2", "complete")
    said = either(col("complete"), VIOLATED, UNKNOWN)
    if "transaction" not in tables.engine.columns:
        yield "passed over", passed.select(*columns, verdict=said)
        return
    own = ("process", *LOG)
    within = polled.where(~col("transaction").is_null())
    ends = {"from": ("min", "offset"), "to": ("max", "offset")}
    within = within.group(*own, "transaction", **ends)  # type: ignore[arg-type]
    both = passed.select(*columns, "run").join(within, *own)
    both = both.where((col("offset") > col("from")) & (col("offset") < col("to")))
    skipped = both.select("process", "run", "partition", "offset")
    outside = passed.join(skipped, *own, "offset", how="anti")
    yield "passed over", outside.select(*columns, verdict=said)
    inner = passed.join(skipped, *own, "offset", how="semi")
    yield "passed over within a transaction", inner.select(*columns, verdict=said)


# ---- what the group has done --------------------------------------------------------------------


def resumes_at_commit(tables: Tables) -> Findings:
    """A record is polled that the group had committed in an earlier generation."""
    by = (*LOG, *_group(tables))
    committed, polled = sure_rows(tables, 0), sure_rows(tables, 1)
    reached = committed.group(*by, "generation", most=("max", "offset"))
    polls = polled.group(*by, "generation", most=("min", "offset"))
    polls = polls.select(*by, "generation", most=col("most") - col("most") - 1)
    both = reached.union(polls).group(*by, "generation", most=("max", "most"))
    line = both.window(by, "generation", highest=("greatest_before", "most"))
    line = line.select(*by, "generation", "highest")
    again = polled.join(line, *by, "generation").where(col("offset") < col("highest"))
    who = committed.group(*by, "offset", process2=("min", "process"))
    who = who.select(*by, "process2", highest=col("offset"))
    found = again.join(who, *by, "highest")
    columns = "process", "entry", "pos", "offset", "process2", "partition"
    yield (
        "polled again after its commit",
        found.select(*columns, offset2=col("highest"), verdict=VIOLATED),
    )


def nothing_lost_to_the_group(tables: Tables) -> Findings:
    """Between two positions that a group has committed a record was acknowledged, and nobody of the
    group has polled it."""
    by = (*LOG, *_group(tables))
    committed = sure_rows(tables, 0)
    bounds = committed.group(*by, least=("min", "offset"), most=("max", "offset"))
    passed = _once(records(tables, 1)).join(bounds, *LOG)
    passed = passed.where((col("offset") >= col("least")) & (col("offset") < col("most")))
    yield "lost to the group", _polled_by_none(tables, passed, sure_rows(tables, 2))


def no_lost_writes(tables: Tables) -> Findings:
    """A record was acknowledged below one that a group has polled, and nobody of it polls that."""
    by = (*LOG, *_group(tables))
    polled = sure_rows(tables, 1)
    bounds = polled.group(*by, most=("max", "offset"))
    passed = _once(records(tables, 0)).join(bounds, *LOG).where(col("offset") < col("most"))
    yield "acknowledged and passed by all", _polled_by_none(tables, passed, polled)


def _polled_by_none(tables: Tables, passed: Relation, polled: Relation) -> Relation:
    lost = passed.join(polled, *LOG, *_group(tables), "message", how="anti")
    lost = lost.join(tables.runs.select("run", "whole"), "run")
    said = either(col("whole"), VIOLATED, UNKNOWN)
    return lost.select("entry", "offset", "partition", "process2", verdict=said)


def all_are_polled(tables: Tables) -> Findings:
    """A correct process sees an append acknowledged, and nobody polls the record."""
    told = records(tables, 0).group("process", "entry", "message", pos=("min", "pos"))
    known = tables.about(told, "run", "correct", "sure", "late_from").where(col("correct"))
    yield "acknowledged and polled by nobody", never(tables, sure_rows(tables, 1), known)
