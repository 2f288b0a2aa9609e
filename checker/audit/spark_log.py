"""A log as a DataFrame: read by Spark, with the columns that plans have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from checker.audit.columns import COLUMNS, READ, REQUIRED, STATUS, Holds, Kind, Kinds, Operators
from checker.audit.files import LogFile
from checker.audit.reading import Reader
from checker.audit.spark_engine import APART
from checker.audit.spark_text import TextFile, read_texts, said_of
from checker.diagnostics import Diagnostic, SpecError
from checker.logs.mapping import LogMapping
from checker.logs.paths import CONST, FILE, LINE, ROW

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {Holds.INTEGER: "long", Holds.BOOLEAN: "boolean", Holds.NUMBER: "double"}


class SparkLog(Struct):
    """A log that Spark has read: its ``events``, whether deliveries are ``named`` after senders,
    how many rows there are, in all and of each kind; ``torn``: the processes of files whose last
    line is cut short, and of files that have no whole line (``unnamed``)."""

    events: DataFrame
    named: bool
    rows: int
    kinds: tuple[tuple[str, int], ...]
    warnings: list[Diagnostic] = field(default_factory=list)
    torn: dict[str, str] = field(default_factory=dict)
    unnamed: list[LogFile] = field(default_factory=list)


def read_log(
    spark: SparkSession,
    files: list[LogFile],
    mapping: LogMapping,
    kinds: Kinds,
    operators: Operators,
) -> SparkLog:
    """Reads ``files``; raises :class:`SpecError` as the embedded engine does, with the file.

    Files of text are read by this project's own reader, one a task; Parquet by Spark, where the
    order of rows in a file is not looked at, only positions are.
    """
    reader = Reader(mapping)
    texts = [file for file in files if file.format != "parquet"]
    tables = [file for file in files if file.format == "parquet"]
    frames, said = [], []
    if texts:
        rows = read_texts(spark, texts, mapping, operators).persist(StorageLevel.MEMORY_AND_DISK)
        said = said_of(rows)
        for each in said:
            texts[each.number].lines[:] = each.lines
        lines = rows.where(F.col("said").isNull()).drop("said")
        frames.append(lines.withColumn("wrong", F.lit(None).cast("string")))
        reader.warnings += _warnings(texts, said)
    if tables:
        frames.append(_parquet(spark, tables, reader))
    frame = frames[0]
    for more in frames[1:]:
        frame = frame.unionByName(more, allowMissingColumns=True)
    number = F.coalesce(*[F.when(F.col("kind") == n, F.lit(int(k))) for n, k in kinds.items()])
    frame = frame.withColumn("of_kind", F.coalesce(number, F.lit(int(Kind.OTHER))))
    if kinds.numbers:
        roles = [F.when(F.col("kind") == n, F.lit(at)) for n, at in kinds.numbers.items()]
        frame = frame.withColumn("operator", F.coalesce(*roles))
    frame = frame.withColumn("wrong", F.coalesce("wrong", _wrong(set(frame.columns))))
    frame = frame.persist(StorageLevel.MEMORY_AND_DISK)
    seen = _seen(frame, files)
    if texts:
        rows.unpersist()
    named = _is_named(frame, seen, files)
    nulls = [n for n in _optional(frame) if not any(row[f"with_{n}"] for row in seen)]
    events = _coded(frame.drop(*nulls), named)
    for file in said:
        if file.back:
            raise SpecError(file.back)
    _require_once(events, files)
    counts = {(row["of_kind"], row["kind"]): row["rows"] for row in seen}
    log = SparkLog(events, named, sum(counts.values()), _kinds(counts), reader.warnings)
    for file in said:
        if file.torn and not file.processes:
            log.unnamed.append(texts[file.number])
        elif file.torn:
            path = texts[file.number].path
            log.torn |= {f"{run}{APART}{name}": path for run, name in file.processes}
    return log


def _warnings(files: list[LogFile], said: list[TextFile]) -> list[Diagnostic]:
    """Returns what is strange in files of text: of a column that is not read, the first file."""
    found: dict[tuple[str, str, object], Diagnostic] = {}
    for each in said:
        for warning in each.warnings:
            message = warning.message.removeprefix(f"{files[each.number].path}: ")
            found.setdefault((warning.code, message, warning.span), warning)
    return [*found.values()]


def _optional(frame: DataFrame) -> list[str]:
    """Returns the columns that a log may have."""
    return [name for name in READ if name in frame.columns and name not in REQUIRED]


def _seen(frame: DataFrame, files: list[LogFile]) -> list[Row]:
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
            *(F.count(name).alias(f"with_{name}") for name in _optional(frame)),
        )
        .collect()
    )
    for row in seen:
        if row["bad"] is not None:
            code, said = row["bad"]["wrong"].split(" ", 1)
            raise _problem(files, code, said, row["bad"]["file"], row["bad"]["row"])
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


def _problem(files: list[LogFile], code: str, said: str, file: str, row: int | None) -> SpecError:
    known = next((each for each in files if each.path == file), LogFile(file, "parquet"))
    return SpecError((known.problem(code, row, said),))


def _kinds(counts: Mapping[tuple[int, str], int]) -> tuple[tuple[str, int], ...]:
    """Returns how many events there are of each kind, and of kinds that nothing is asked of."""
    found: dict[str, int] = {}
    for (of, name), number in sorted(counts.items()):
        said = Kind(of).name.lower() if of else f"{name} (not checked)"
        found[said] = found.get(said, 0) + number
    known = [item for item in found.items() if "(" not in item[0]]
    return (*known, *(item for item in found.items() if "(" in item[0]))


def _parquet(spark: SparkSession, files: list[LogFile], reader: Reader) -> DataFrame:
    """Returns the rows of ``files``; what no property reads is told of the first one."""
    frame = spark.read.parquet(*(file.path for file in files))
    reader.tell_unknown(files[0], frame.columns, reader.mapping)
    return _named_columns(frame, reader.mapping)


def _named_columns(frame: DataFrame, mapping: LogMapping) -> DataFrame:
    """Returns our columns, of our types, with the file and the row (from 1)."""
    row = F.col("_metadata.row_index") + 1
    file = F.regexp_replace(F.col("_metadata.file_path"), "^file:(//)?", "")
    columns: dict[str, Column] = {}
    for name in READ:
        found = _column(name, frame, mapping, file, row)
        if found is not None:
            columns[name] = found
    for name in REQUIRED:
        if name not in columns:
            raise SpecError((Diagnostic("E081", f"the log has no column `{name}`"),))
    typed = [
        value.try_cast(TYPES.get(COLUMNS[name], "string")).alias(name)
        for name, value in columns.items()
    ]
    wrong = [F.lit(None).cast("string")]
    for name, value in columns.items():
        if COLUMNS[name] in (Holds.INTEGER, Holds.BOOLEAN):
            odd = value.isNotNull() & value.try_cast(TYPES[COLUMNS[name]]).isNull()
            said = f"E088 a `{name}` is not {COLUMNS[name].value}"
            wrong.append(F.when(odd, F.lit(said)))
    told = F.coalesce(*wrong).alias("wrong")
    return frame.select(*typed, file.alias("file"), row.alias("row"), told)


def _column(
    name: str, frame: DataFrame, mapping: LogMapping, file: Column, row: Column
) -> Column | None:
    """Returns the column ``name`` with our values, where there is one; kinds are renamed later."""
    special = mapping.special(name)
    if special == FILE:
        found = F.regexp_extract(file, r"([^/.]*)[^/]*$", 1)
    elif special.startswith(CONST):
        found = F.lit(special.removeprefix(CONST))
    elif special in (ROW, LINE):
        found = row
    else:
        theirs = [F.col(f"`{each}`") for each in mapping.theirs(name) if each in frame.columns]
        if not theirs:
            return None
        found = theirs[0] if len(theirs) == 1 else F.coalesce(*(t.cast("string") for t in theirs))
    table = {} if name == "kind" else mapping.values.get(name, {})
    if table:
        text = found.cast("string")
        found = F.coalesce(*(F.when(text == n, F.lit(ours)) for n, ours in table.items()), text)
    return found


def _is_named(frame: DataFrame, seen: list[Row], files: list[LogFile]) -> bool:
    """Returns whether deliveries name their senders; raises :class:`SpecError` (E089) where only
    some do."""
    delivered = [row for row in seen if row["of_kind"] == Kind.INDICATION]
    named, rows = sum(r["named"] for r in delivered), sum(r["rows"] for r in delivered)
    if 0 < named < rows:
        silent = (F.col("of_kind") == int(Kind.INDICATION)) & F.col("sender").isNull()
        first = frame.where(silent).limit(1).collect()[0]
        said = "a delivery has no `sender`, but others do"
        raise _problem(files, "E089", said, first["file"], first["row"])
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
    more = [n for n in READ if n not in (*REQUIRED, "run", "msg", "sender", "to", "status")]
    if "group" in has:  # rows without one are of one, too
        frame = frame.withColumn("group", F.coalesce("group", F.lit("")))
    columns += [F.col(name) for name in (*more, "operator", "file", "row") if name in has]
    return frame.select(*columns)


def _status(has: set[str]) -> Column:
    if "status" not in has:
        return F.lit(STATUS.index("ok"))
    found = [F.when(F.col("status") == name, F.lit(at)) for at, name in enumerate(STATUS)]
    return F.coalesce(*found, F.lit(STATUS.index("ok")))


def _require_once(events: DataFrame, files: list[LogFile]) -> None:
    twice = events.groupBy("process", "pos").agg(
        F.count(F.lit(1)).alias("times"), F.min("file").alias("file"), F.max("row").alias("row")
    )
    found = twice.where(F.col("times") > 1).limit(1).collect()
    if found:
        said = "a process has a position twice"
        raise _problem(files, "E083", said, found[0]["file"], found[0]["row"])
