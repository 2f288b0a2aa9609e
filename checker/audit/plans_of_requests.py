"""The plan of what each property says that has a request before its indication: all logs together
are an execution.

A log may be fine by itself, and so may every other, when all of them are not: p1 delivers b and
then requests a, p2 delivers a and then requests b.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from checker.audit.circles import MOST, Circle, Lines, lines_of
from checker.audit.columns import Kind
from checker.audit.relations import Relation, col, either
from checker.audit.tables import FAIL, OK, VIOLATED, Findings, Tables

LINE = ("process", "pos", "entry", "asks", "placed")
"""Columns of events: whose, where, what is requested or delivered; whether it ``asks`` for that;
and whether the request was made where it stands (``placed``)."""


def requests_and_indications(tables: Tables, *more: str) -> Relation:
    """Returns the events with the columns :data:`LINE`, and ``more`` of them.

    A request with an offset was written when it was acknowledged, so it may have been made at any
    time before.
    """
    asks = col("kind") == int(Kind.REQUEST)
    made = asks & (col("status") != FAIL)
    indicated = (col("kind") == int(Kind.INDICATION)) & (col("status") == OK)
    acknowledged = "offset" in tables.engine.columns
    placed = ~asks | col("offset").is_null() if acknowledged else col("pos") == col("pos")
    rows = tables.events.where(made | indicated)
    return rows.select("process", "pos", "entry", *more, asks=asks, placed=placed)


def requested_first(tables: Tables, events: Relation, *by: str) -> Findings:
    """Yields what is indicated before it can have been requested.

    ``events``: with the columns :data:`LINE`; those are about the same that are equal in ``by``,
    and no others.  What is requested nowhere is not looked at.
    """
    if tables.engine.is_remote:
        cut = _suspicious(tables, events, by)
        if cut is None:
            return
        events = cut
    table = tables.engine.rows(events)
    if not table.num_rows:
        return
    lines, table = lines_of(table, by)
    found = sorted(itertools.islice(lines.circles(), MOST), key=len)
    early = lines.early()
    crashed = table["entry"].is_null().to_numpy()[lines.offer(early)]
    for kind, some in (
        ("delivered before it was requested", early[~crashed]),
        ("aborted before it crashed", early[crashed]),
    ):
        if len(some):
            yield kind, _early(lines, table, some)
    if found:
        yield "a circle", _circles(lines, table, found)


def _early(lines: Lines, table: pa.Table, early: object) -> pa.Table:
    """Returns findings: a process delivers what only it requests, and only afterwards."""
    line, key = lines.line_of(early), lines.key[early]
    first = np.unique(np.stack([line, key]), axis=1, return_index=True)[1]
    at = np.sort(early[first])  # type: ignore[index]
    rows = table.take(pa.array(at)).select(["process", "entry", "pos"])
    asked = pa.chunked_array([table["pos"].take(pa.array(lines.offer(at))).combine_chunks()])
    rows = rows.append_column("pos2", asked)
    return rows.append_column("verdict", pa.array([VIOLATED] * rows.num_rows, pa.int64()))


def _circles(lines: Lines, table: pa.Table, found: Iterable[Circle]) -> pa.Table:
    """Returns findings: ``process`` delivers ``entry`` at ``pos``, and behind that requests
    ``entry2``, as others may, too (``shared``); the rows of one ``circle`` are one finding."""
    numbered = [(number, *step) for number, circle in enumerate(found) for step in circle]
    circle, waits, offers = (list(column) for column in zip(*numbered, strict=True))
    delivered = table.take(pa.array(waits)).select(["process", "entry", "pos"])
    asked = table.take(pa.array(offers)).select(["entry", "pos"])
    for name in asked.column_names:
        delivered = delivered.append_column(f"{name}2", asked[name])
    delivered = delivered.append_column("shared", pa.array(lines.is_shared(np.array(waits))))
    verdicts = pa.array([VIOLATED] * len(circle), pa.int64())
    return delivered.append_column("verdict", verdicts).append_column("circle", pa.array(circle))


# ---- what need not be brought here --------------------------------------------------------------


def _suspicious(tables: Tables, events: Relation, at: tuple[str, ...]) -> Relation | None:
    """Returns those ``events`` that can be on a circle; ``None`` where there is none.

    Each message has a number: twice its place in the log of a pivot, or where that lacks it one
    more than the greatest of those that its process had delivered before the request.  Along a
    circle numbers can't always grow: some request has a number not above the greatest delivered
    before it, and the numbers of a circle lie between such two, as one that falls past a number
    somewhere comes back up past it.  So what is outside of all these intervals is left out.
    """
    asked = events.where(col("asks")).group(*at, times=("count", ""))
    if tables.engine.has_rows(asked.where(col("times") > 1)):
        return events  # what follows is about messages with one request each
    by = tuple(dict.fromkeys(("run", *at)))
    events = (events if "run" in at else tables.about(events, "run")).keep()
    number = col("number")
    seen = _with_greatest(events.join(_numbers(tables, events, by), *by), by, "number").keep()
    falls = seen.where(col("asks") & (number <= col("greatest")))
    if not tables.engine.has_rows(falls):
        return None
    ends = falls.select(*by, "number", until=col("greatest"), order=number + number)
    asks = seen.where(col("asks"))
    asks = asks.select(*by, "number", until=-1, order=number + number + 1)
    swept = ends.union(asks).window(("run",), "order", reach=("greatest_before", "until"))
    within = swept.where((col("until") == -1) & (col("reach") >= number))
    return events.join(within.select(*by), *by, how="semi")


def _numbers(tables: Tables, events: Relation, by: tuple[str, ...]) -> Relation:
    """Returns the number of each message that is requested, by the log of one pivot of each run."""
    indicated = events.where(~col("asks"))
    pivots = tables.engine.processes_table([of[0] for of in tables.by_size(indicated)])
    first = indicated.join(pivots, "process", how="semi")
    first = first.window(("process",), "pos", rank=("number", "pos"))
    ranks = first.group(*by, rank=("min", "rank"))
    seen = _with_greatest(events.join(ranks, *by, how="left"), by, "rank")
    rank, greatest = col("rank"), col("greatest")
    after = greatest + greatest + 1
    return seen.where(col("asks")).select(*by, number=either(rank.is_null(), after, rank + rank))


def _with_greatest(events: Relation, by: tuple[str, ...], name: str) -> Relation:
    """Returns ``events`` with the ``greatest`` value of a column that their process had delivered
    before, -1 where there is none."""
    value = either(col("asks"), -1, col(name).otherwise(-1))
    line = events.select("process", "pos", "asks", *by, name, value=value)
    seen = line.window(("process",), "pos", greatest=("greatest_before", "value"))
    columns = "process", "pos", "asks", *by, name
    return seen.select(*columns, greatest=col("greatest").otherwise(-1))
