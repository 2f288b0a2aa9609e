"""Runs plans as operations on Spark's DataFrames: built-ins only, no code of ours on executors.

Values of the engine's own are texts here: a process is its run and its name, an entry its run, its
sender (where deliveries name one) and the message, with a separator between them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as SparkWindow
from pyspark.sql import functions as F

from checker.audit import relations as rel
from checker.audit.restrict import LOTS
from checker.extensions.tables import ON_CLUSTER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

APART = "\x1f"
"""Between the parts of a value: a character that separates units, and that no name has."""

_BINARY: Mapping[str, Callable[[Any, Any], Column]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "otherwise": lambda a, b: F.coalesce(a, b),
}
_AGGREGATES = {"min": F.min, "max": F.max, "sum": F.sum}
_HOW = {"inner": "inner", "left": "left_outer", "semi": "left_semi", "anti": "left_anti"}


class SparkEngine:
    """Runs plans over ``events``, a DataFrame with the columns of
    :class:`~checker.audit.engine.Engine`, ``file`` and ``row``; an ``Engine``."""

    name = ON_CLUSTER
    is_remote = True

    def __init__(self, spark: SparkSession, events: DataFrame, named: bool) -> None:
        self._spark = spark
        self._frames: dict[str, DataFrame] = {"events": events}
        self._events = events
        self._named = named
        self._kept: dict[rel.Keep, DataFrame] = {}
        self._values: list[str] | None = None
        self._added: list[str] = []

    @property
    def columns(self) -> frozenset[str]:
        """The columns of ``events``."""
        return frozenset(self._frames["events"].columns)

    def define(self, name: str, relation: rel.Relation) -> None:
        """Makes the rows of ``relation`` known as ``name``."""
        self._frames[name] = self._frame(relation)

    def add(self, name: str, table: pa.Table) -> None:
        """Makes a small table known as ``name``."""
        self._frames[name] = F.broadcast(self._spark.createDataFrame(table))

    def values(self) -> list[str]:
        """Returns all processes that the log names."""
        if self._values is None:
            named = [n for n in ("process", "sender", "to_process") if n in self._events.columns]
            frames = [self._events.select(F.col(name).alias("process")) for name in named]
            union = frames[0]
            for frame in frames[1:]:
                union = union.union(frame)
            found = union.where(F.col("process").isNotNull()).distinct().collect()
            self._values = sorted(row["process"] for row in found)
        return [*self._values, *self._added]

    def add_process(self, run: str, name: str) -> str:
        """Returns the value of a process that the log does not name."""
        self._added.append(f"{run}{APART}{name}")
        return self._added[-1]

    def processes_table(self, values: list[Any]) -> rel.Relation:
        """Returns a relation with the column ``process``, which has these values."""
        return self.column("process", values)

    def column(self, name: str, values: list[Any]) -> rel.Relation:
        """Returns a relation with one column."""
        key = f"@{len(self._frames)}"
        self._frames[key] = F.broadcast(
            self._spark.createDataFrame([(value,) for value in values], f"{name} string")
        )
        return rel.Scan(key)

    def messages_called(self, name: str) -> rel.Relation:
        """Returns a relation with the column ``message``: those of all runs with that name."""
        messages = self._frames["events"].select("message").distinct()
        self._frames[f"@called {name}"] = messages.where(
            F.element_at(F.split("message", APART), -1) == name
        )
        return rel.Scan(f"@called {name}")

    def lots(self) -> rel.Relation:
        """Returns a relation of each ``message`` and its ``lot``, drawn by its name alone."""
        message = F.element_at(F.split("message", APART), -1)
        lot = (F.crc32(message.cast("binary")) % LOTS).alias("lot")
        messages = self._events.select("message").where(F.col("message").isNotNull()).distinct()
        self._frames["lots"] = messages.select("message", lot)
        return rel.Scan("lots")

    def partition(self, value: Any) -> str:
        """Returns the name of a partition."""
        return str(value)

    def process(self, value: Any) -> tuple[str, str]:
        """Returns the run and the name of a process."""
        run, _, name = str(value).partition(APART)
        return run, name

    def entry(self, value: Any) -> tuple[str | None, str]:
        """Returns who sent what is delivered (``None``: that is not said), and the message."""
        parts = str(value).split(APART)
        return (parts[1] if self._named else None), parts[-1]

    def run_of_entry(self, value: Any) -> str:
        """Returns the run in which something is requested or delivered."""
        return str(value).partition(APART)[0]

    def message(self, value: Any) -> str:
        """Returns the name of a message."""
        return str(value).split(APART)[-1]

    def has_rows(self, relation: rel.Relation) -> bool:
        """Returns whether there are any rows."""
        return bool(self._frame(relation).limit(1).collect())

    def rows(self, relation: rel.Relation) -> pa.Table:
        """Returns the rows."""
        return self._frame(relation).toArrow()

    def findings(self, relation: rel.Relation, most: int) -> tuple[dict[int, int], pa.Table]:
        """Returns how many rows have each ``verdict``, and the first of them: those that violate,
        then those that may, by their positions."""
        frame = self._frame(relation)
        counts = {
            row["verdict"]: row["count"] for row in frame.groupBy("verdict").count().collect()
        }
        if not counts:
            return {}, frame.limit(0).toArrow()
        order = [name for name in ("verdict", "pos", "entry") if name in frame.columns]
        return counts, frame.orderBy(*order).limit(most).toArrow()

    def places(self, table: pa.Table) -> list[tuple[str, int | None]]:
        """Returns the file and the row of each event, named by ``process`` and ``pos``."""
        if not table.num_rows:
            return []
        asked = table.select(["process", "pos"]).group_by(["process", "pos"]).aggregate([])
        wanted = F.broadcast(self._spark.createDataFrame(asked))
        found = self._events.join(wanted, ["process", "pos"]).select(
            "process", "pos", "file", "row"
        )
        known = {(r["process"], r["pos"]): (r["file"], r["row"]) for r in found.collect()}
        return [known[row["process"], row["pos"]] for row in table.to_pylist()]

    def forget(self, but: Collection[rel.Relation] = ()) -> None:
        """Forgets what was kept, but for these relations."""
        for relation in [kept for kept in self._kept if kept not in but]:
            self._kept.pop(relation).unpersist()

    def _frame(self, relation: rel.Relation) -> DataFrame:
        """Returns the rows of ``relation``."""
        match relation:
            case rel.Scan(name):
                return self._frames[name]
            case rel.Keep(source):
                if relation not in self._kept:
                    kept = self._frame(source).persist(StorageLevel.MEMORY_AND_DISK)
                    self._kept[relation] = kept
                return self._kept[relation]
            case rel.Where(source, condition):
                return self._frame(source).where(_column(condition))
            case rel.Select(source, columns):
                named = [_column(value).alias(name) for name, value in columns.items()]
                return self._frame(source).select(*named)
            case rel.Join(left, right, on, how):
                return self._join(left, right, on, how)
            case rel.Group(source, by, aggregates):
                made = [_aggregate(*each).alias(name) for name, each in aggregates.items()]
                return self._frame(source).groupBy(*by).agg(*made)
            case rel.Window(source, by, order, computed):
                return _windowed(self._frame(source), by, order, computed)
            case rel.Union(one, other):
                first, second = self._frame(one), self._frame(other)
                return first.unionByName(second.select(*first.columns))
        raise TypeError(f"{relation} is no relation")

    def _join(
        self, left: rel.Relation, right: rel.Relation, on: tuple[str, ...], how: rel.How
    ) -> DataFrame:
        one, other = self._frame(left), self._frame(right)
        if how in ("semi", "anti"):
            other = other.select(*on)
        return one.join(other, [*on], _HOW[how])


def _column(expression: rel.Expr) -> Column:
    match expression:
        case rel.Column(name):
            return F.col(name)
        case rel.Constant(value):
            return F.lit(value)
        case rel.Apply("not", (operand,)):
            return ~_column(operand)
        case rel.Apply("is null", (operand,)):
            return _column(operand).isNull()
        case rel.Apply("if", (condition, then, otherwise)):
            return F.when(_column(condition), _column(then)).otherwise(_column(otherwise))
        case rel.Apply(operation, (one, other)):
            return _BINARY[operation](_column(one), _column(other))
    raise TypeError(f"{expression} is no expression")


def _aggregate(function: str, column: str) -> Column:
    return F.count(F.lit(1)) if function == "count" else _AGGREGATES[function](column)


def _windowed(
    frame: DataFrame, by: tuple[str, ...], order: str, computed: Mapping[str, rel.WindowFunction]
) -> DataFrame:
    line = SparkWindow.partitionBy(*by).orderBy(order)
    before = line.rowsBetween(SparkWindow.unboundedPreceding, -1)
    for name, (function, column) in computed.items():
        if function == "number":
            value = F.row_number().over(line).cast("long")
        elif function == "previous":
            value = F.lag(column).over(line)
        else:
            value = F.max(column).over(before)
        frame = frame.withColumn(name, value)
    return frame
