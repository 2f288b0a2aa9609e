"""The plan of the order in which a process appends: by positions of its log, or by the sequence
numbers of a producer that repeats its requests (KIP-98)."""

from __future__ import annotations

from checker.audit.columns import Kind
from checker.audit.relations import Relation, col
from checker.audit.tables import OK, VIOLATED, Findings, Tables

_BACK = "appended out of order"
_BACK_WITHIN = "appended out of order within a transaction"


def appended_in_order(tables: Tables) -> Findings:
    """A process appends at a smaller offset than it did before; in a partition, where there are
    any.  Requests with a sequence number are ordered by these, within one session."""
    sent = tables.requests.where(col("made") & ~col("offset").is_null())
    yield from _backwards(tables, sent)


def appends_in_order(tables: Tables) -> Findings:
    """The same of an interface that has acknowledgements of their own (the second role): a request
    without an offset has that of its acknowledgement."""
    columns = ("process", "partition", "message")
    known = tables.rows_of(1).where(col("status") == OK).group(*columns, offset=("min", "offset"))
    made = tables.requests.where(col("made") & ~col("partition").is_null())
    waiting = made.where(col("offset").is_null())
    names = [*columns, *(n for n in _MORE if n in tables.engine.columns)]
    waiting = waiting.select(*names, "pos", "entry").join(known, *columns)
    own = made.where(~col("offset").is_null()).select(*names, "pos", "entry", "offset")
    yield from _backwards(tables, own.union(waiting))


_MORE = ("seq", "epoch", "transaction")


def _backwards(tables: Tables, sent: Relation) -> Findings:
    has = tables.engine.columns
    line = ("process", *(["partition"] if "partition" in has else []))
    if "seq" not in has:
        yield from _told(tables, sent, line, "pos")
        return
    line = (*line, "session", *(["epoch"] if "epoch" in has else []))
    sessions = _sessions(tables, sent)
    sent = sent.join(sessions, "process", "pos")
    numbered = sent.where(~col("seq").is_null())
    yield from _told(tables, numbered, line, "seq")
    yield from _told(tables, sent.where(col("seq").is_null()), line, "pos")


def _sessions(tables: Tables, sent: Relation) -> Relation:
    """Returns the ``session`` of each request: where its process had started or recovered last."""
    ups = tables.events.where(
        (col("kind") == int(Kind.START)) | (col("kind") == int(Kind.RECOVER))
    ).select("process", "pos", begun=col("pos"))
    rows = sent.select("process", "pos", begun=col("pos") - col("pos") - 1)
    seen = rows.union(ups).window(("process",), "pos", session=("greatest_before", "begun"))
    return seen.where(col("begun") < 0).select(
        "process", "pos", session=col("session").otherwise(-1)
    )


def _told(tables: Tables, sent: Relation, line: tuple[str, ...], order: str) -> Findings:
    """Yields what is sent behind something of the same ``line`` that has a greater offset."""
    transactions = "transaction" in tables.engine.columns
    before = {"former": ("previous", "transaction")} if transactions else {}
    seen = sent.window(line, order, highest=("greatest_before", "offset"), **before)  # type: ignore[arg-type]
    back = seen.where(col("offset") < col("highest"))
    columns = "process", "entry", "offset", "pos"
    if not transactions:
        yield _BACK, back.select(*columns, verdict=VIOLATED)
        return
    back = back.select(*columns, same=(col("transaction") == col("former")).otherwise(False))
    yield _BACK, back.where(~col("same")).select(*columns, verdict=VIOLATED)
    yield _BACK_WITHIN, back.where(col("same")).select(*columns, verdict=VIOLATED)
