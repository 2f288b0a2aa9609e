"""A log as a DataFrame: read by Spark, with the columns that plans have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from checker.audit.columns import COLUMNS, READ, REQUIRED, STATUS, Holds, Kind
from checker.audit.files import LogFile
from checker.audit.mapping import FILE, ROW, Mapping_
from checker.audit.reading import Reader
from checker.audit.spark_engine import APART
from checker.diagnostics import Diagnostic, SpecError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {Holds.INTEGER: "long", Holds.BOOLEAN: "boolean", Holds.NUMBER: "double"}
BROKEN = "_corrupt_record"


@dataclass
class SparkLog:
    """A log that Spark has read: its ``events``, whether deliveries are ``named`` after senders,
    and how many rows there are, in all and of each kind."""

    events: DataFrame
    named: bool
    rows: int
    kinds: tuple[tuple[str, int], ...]
    warnings: list[Diagnostic] = field(default_factory=list)


def read_log(
    spark: SparkSession, files: list[LogFile], mapping: Mapping_, kinds: Mapping[str, Kind]
) -> SparkLog:
    """Reads ``files``; raises :class:`SpecError` as the embedded engine does, with the file.

    The order of rows in a file is not looked at, only positions are.
    """
    reader = Reader(mapping)
    frame = _whole(spark, files, reader)
    number = F.coalesce(*[F.when(F.col("kind") == n, F.lit(int(k))) for n, k in kinds.items()])
    frame = frame.withColumn("of_kind", F.coalesce(number, F.lit(int(Kind.OTHER))))
    frame = frame.withColumn("wrong", F.coalesce("wrong", _wrong(set(frame.columns))))
    frame = frame.persist(StorageLevel.MEMORY_AND_DISK)
    seen = _seen(frame)
    named = _is_named(frame, seen)
    events = _coded(frame, named)
    _require_once(events)
    counts = {(row["of_kind"], row["kind"]): row["rows"] for row in seen}
    return SparkLog(events, named, sum(counts.values()), _kinds(counts), reader.warnings)


def _seen(frame: DataFrame) -> list[Row]:
    """Returns of each kind how many rows there are, and how many name a sender; raises
    :class:`SpecError` for a row that is wrong."""
    bad = F.when(F.col("wrong").isNotNull(), F.struct("wrong", "file", "row"))
    sender = F.col("sender") if "sender" in frame.columns else F.lit(None)
    seen = (
        frame.groupBy("of_kind", "kind")
        .agg(
            F.count(F.lit(1)).alias("rows"),
            F.count(sender).alias("named"),
            F.min(bad).alias("bad"),
        )
        .collect()
    )
    for row in seen:
        if row["bad"] is not None:
            code, said = row["bad"]["wrong"].split(" ", 1)
            raise _problem(code, said, row["bad"]["file"], row["bad"]["row"])
    return seen


def _wrong(has: set[str]) -> Column:
    """Returns what is wrong with a row: a code and a sentence; null for nothing."""
    about = F.col("of_kind").isin(int(Kind.REQUEST), int(Kind.INDICATION), int(Kind.PERFORM))
    lacks = F.col("msg").isNull() if "msg" in has else F.lit(True)
    found = [
        F.when(F.col(name).isNull(), F.lit(f"E081 a row has no `{name}`")) for name in REQUIRED
    ]
    found.append(F.when(about & lacks, F.lit("E081 an event has no `msg`")))
    if "status" in has:
        odd = F.col("status").isNotNull() & ~F.col("status").isin(*STATUS)
        said = "E088 a `status` is none of " + ", ".join(STATUS)
        found.append(F.when(odd, F.lit(said)))
    return F.coalesce(*found)


def _problem(code: str, said: str, file: str, row: int | None) -> SpecError:
    where = file if row is None else f"{file}, row {row:,}"
    return SpecError((Diagnostic(code, f"{where}: {said}"),))


def _kinds(counts: Mapping[tuple[int, str], int]) -> tuple[tuple[str, int], ...]:
    """Returns how many events there are of each kind, and of kinds that nothing is asked of."""
    found: dict[str, int] = {}
    for (of, name), number in sorted(counts.items()):
        said = Kind(of).name.lower() if of else f"{name} (not asked about)"
        found[said] = found.get(said, 0) + number
    known = [item for item in found.items() if "(" not in item[0]]
    return (*known, *(item for item in found.items() if "(" in item[0]))


def _whole(spark: SparkSession, files: list[LogFile], reader: Reader) -> DataFrame:
    """Returns all rows; what no property reads is told of the first file of each format."""
    frames = []
    for kind in ("parquet", "ndjson", "csv"):
        of_kind = [file for file in files if file.format == kind]
        if not of_kind:
            continue
        paths = [file.path for file in of_kind]
        if kind == "parquet":
            frame = spark.read.parquet(*paths)
        elif kind == "csv":
            frame = spark.read.option("header", True).csv(paths)
        else:
            frame = spark.read.json(paths, columnNameOfCorruptRecord=BROKEN)
        reader.tell_unknown(of_kind[0], [name for name in frame.columns if name != BROKEN])
        frames.append(_named_columns(frame, reader.mapping, kind == "parquet"))
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionByName(frame, allowMissingColumns=True)
    return whole


def _named_columns(frame: DataFrame, mapping: Mapping_, rows: bool) -> DataFrame:
    """Returns our columns, of our types, with the file and, in Parquet, the row (from 1)."""
    row = (F.col("_metadata.row_index") + 1) if rows else F.lit(None).cast("long")
    file = F.regexp_replace(F.col("_metadata.file_path"), "^file:(//)?", "")
    columns: dict[str, Column] = {}
    for name in READ:
        theirs = mapping.name_of(name)
        if theirs == FILE:
            columns[name] = F.regexp_extract(file, r"([^/.]*)[^/]*$", 1)
        elif theirs == ROW and rows:
            columns[name] = row
        elif theirs in frame.columns:
            columns[name] = F.col(f"`{theirs}`")
        elif theirs == ROW:
            message = "positions that are rows are in Parquet only, where Spark reads the log"
            raise SpecError((Diagnostic("E086", message),))
    for name in REQUIRED:
        if name not in columns:
            raise SpecError((Diagnostic("E081", f"the log has no column `{name}`"),))
    typed = [
        value.try_cast(TYPES.get(COLUMNS[name], "string")).alias(name)
        for name, value in columns.items()
    ]
    wrong = [F.lit(None).cast("string")]
    if BROKEN in frame.columns:
        broken = F.lit("E080 a line is no JSON object")
        wrong.append(F.when(F.col(BROKEN).isNotNull(), broken))
    for name, value in columns.items():
        if COLUMNS[name] in (Holds.INTEGER, Holds.BOOLEAN):
            odd = value.isNotNull() & value.try_cast(TYPES[COLUMNS[name]]).isNull()
            said = f"E088 a `{name}` is not {COLUMNS[name].value}"
            wrong.append(F.when(odd, F.lit(said)))
    told = F.coalesce(*wrong).alias("wrong")
    return frame.select(*typed, file.alias("file"), row.alias("row"), told)


def _is_named(frame: DataFrame, seen: list[Row]) -> bool:
    """Returns whether deliveries name their senders; raises :class:`SpecError` (E089) where only
    some do."""
    delivered = [row for row in seen if row["of_kind"] == Kind.INDICATION]
    named, rows = sum(r["named"] for r in delivered), sum(r["rows"] for r in delivered)
    if 0 < named < rows:
        silent = (F.col("of_kind") == int(Kind.INDICATION)) & F.col("sender").isNull()
        first = frame.where(silent).limit(1).collect()[0]
        said = "a delivery names no `sender`, and others do"
        raise _problem("E089", said, first["file"], first["row"])
    return bool(named)


def _coded(frame: DataFrame, named: bool) -> DataFrame:
    """Returns the events with the values of the Spark engine."""
    has = set(frame.columns)
    run = F.coalesce(F.col("run"), F.lit("")) if "run" in has else F.lit("")

    def within_run(name: str) -> Column:
        value = F.concat(run, F.lit(APART), F.col(name))
        return F.when(F.col(name).isNotNull(), value)

    requested = F.col("of_kind") == int(Kind.REQUEST)
    message = within_run("msg")
    columns: list[Column] = [
        within_run("process").alias("process"),
        F.col("pos"),
        F.col("of_kind").alias("kind"),
        _status(has).alias("status"),
        message.alias("message"),
    ]
    if named:
        owner = F.when(requested, F.col("process")).otherwise(F.col("sender"))
        entry = F.concat(run, F.lit(APART), owner, F.lit(APART), F.col("msg"))
        columns.append(entry.alias("entry"))
        columns.append(
            F.when(requested, within_run("process")).otherwise(within_run("sender")).alias("sender")
        )
    else:
        columns.append(message.alias("entry"))
    if "to" in has:
        columns.append(within_run("to").alias("to_process"))
    more = ("partition", "offset", "effect", "ts", "payload_hash")
    columns += [F.col(name) for name in (*more, "file", "row") if name in has]
    return frame.select(*columns)


def _status(has: set[str]) -> Column:
    if "status" not in has:
        return F.lit(STATUS.index("ok"))
    found = [F.when(F.col("status") == name, F.lit(at)) for at, name in enumerate(STATUS)]
    return F.coalesce(*found, F.lit(STATUS.index("ok")))


def _require_once(events: DataFrame) -> None:
    twice = events.groupBy("process", "pos").agg(
        F.count(F.lit(1)).alias("times"), F.min("file").alias("file"), F.max("row").alias("row")
    )
    found = twice.where(F.col("times") > 1).limit(1).collect()
    if found:
        said = "a process has a position twice"
        raise _problem("E083", said, found[0]["file"], found[0]["row"])
