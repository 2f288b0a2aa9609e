"""Plans of properties of a log with transactions, for consumers that read committed records.

Polls of uncommitted records, by the column ``uncommitted``, are not asked about.
A record outside transactions is a transaction by itself, committed when it is appended.
"""

from __future__ import annotations

from checker.audit.plans_of_groups import sure_rows
from checker.audit.plans_of_requests import LINE, requested_first
from checker.audit.relations import Relation, col, either
from checker.audit.tables import FAIL, UNKNOWN, VIOLATED, Findings, Tables, verdict

_OF = ("run", "transaction")
_KINDS = {
    "delivered before it was requested": "polled before its commit",
    "a circle": "a circle of transactions",
}


def _appended(tables: Tables) -> Relation:
    """Returns what was appended, or may have been."""
    columns = ["process", "pos", "entry", "message", "transaction", "made"]
    columns += ["offset"] if "offset" in tables.engine.columns else []
    return tables.about(tables.requests.select(*columns), "run")


def _polled(tables: Tables) -> Relation:
    """Returns the first of each indication at each process, as far as it reads committed records:
    ``process``, ``pos``, ``entry``, ``message``."""
    if "uncommitted" not in tables.engine.columns:
        return tables.firsts
    committed = tables.deliveries.where(~col("uncommitted").otherwise(False))
    first = committed.window(("process", "entry"), "pos", number=("number", "pos"))
    return first.where(col("number") == 1).select("process", "pos", "entry", "message")


def no_aborted_reads(tables: Tables) -> Findings:
    """A record is polled that was appended in aborted transactions alone, or never."""
    aborted = sure_rows(tables, 2).select(*_OF)
    appended = _appended(tables)
    plain = appended.where(col("transaction").is_null())
    within = appended.where(~col("transaction").is_null())
    clean = plain.union(within.join(aborted, *_OF, how="anti"))
    wrong = tables.about(_polled(tables).join(clean, "message", how="anti"), "run")
    wrong = wrong.join(tables.runs.select("run", "whole"), "run")
    said = either(col("whole"), VIOLATED, UNKNOWN)
    for kind, how in (("created", "anti"), ("polled from an aborted transaction", "semi")):
        rows = wrong.join(tables.requests, "message", how=how)  # type: ignore[arg-type]
        yield kind, rows.select("process", "entry", "pos", verdict=said)


def no_early_reads(tables: Tables) -> Findings:
    """A record is polled whose transaction is not committed, or can have been only afterwards."""
    events = tables.about(tables.rows_of(2).where(col("status") != FAIL), "run")
    commits = events.select("process", "pos", *_OF)
    appended = _appended(tables)
    plain = appended.where(col("transaction").is_null())
    within = appended.where(~col("transaction").is_null())
    of_each = within.group(*_OF, "message", entry=("min", "entry"))
    asked = commits.join(of_each, *_OF).select(*LINE[:3], "message", asks=True, placed=True)
    asked = asked.union(_asked_plainly(tables, plain))
    polled = _polled(tables)
    open_ = tables.about(polled.join(asked, "message", how="anti"), "run")
    open_ = open_.join(tables.runs.select("run", "whole"), "run")
    said = either(col("whole"), VIOLATED, UNKNOWN)
    yield "polled without a commit", open_.select("process", "entry", "pos", verdict=said)
    waits = polled.select(*LINE[:3], "message", asks=False, placed=True)
    for kind, found in requested_first(tables, asked.union(waits), "message"):
        yield _KINDS.get(kind, kind), found


def _asked_plainly(tables: Tables, plain: Relation) -> Relation:
    """Returns the appends without a transaction as events; one with an offset was written when it
    was acknowledged, so it may have been made at any time before."""
    placed = col("pos") == col("pos")
    if "offset" in tables.engine.columns:
        placed = col("offset").is_null()
    return plain.select(*LINE[:3], "message", asks=True, placed=placed)


def committed_is_seen_whole(tables: Tables) -> Findings:
    """A correct process polls a record of a transaction that was committed, and another record of
    it is polled by nobody."""
    commits = tables.about(tables.rows_of(2), "run").select(*_OF)
    within = _appended(tables).where(~col("transaction").is_null() & col("made"))
    within = within.join(commits, *_OF, how="semi")
    of_each = within.group(*_OF, "message", entry=("min", "entry")).keep()
    polled = _polled(tables).select("process", "pos", "message")
    known = tables.about(polled, "correct", "sure", "late_from")
    known = known.where(col("correct")).select(
        "message", "sure", early=col("pos") < col("late_from")
    )
    seen = of_each.select(*_OF, "message").join(known, "message")
    seen = seen.group(*_OF, sure=("max", "sure"), early=("max", "early"))
    missing = of_each.join(seen, *_OF).join(tables.firsts, "message", how="anti")
    missing = missing.join(tables.runs.select("run", "whole"), "run")
    said = verdict(col("whole") & col("sure"), col("early"))
    yield "seen in part", missing.select("entry", verdict=said)
