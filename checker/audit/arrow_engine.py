"""Runs plans over Arrow tables in this process.

Names are numbers here (:mod:`checker.audit.arrow_log`), and a table is in the order of processes
and positions as long as nothing disturbs it: a join on a column of numbers is a gather, a window
over a process a pass.  What Arrow's kernels lack (scatters, running maxima of parts) is
NumPy's, over the same buffers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from checker.audit import relations as rel
from checker.audit.arrow_groups import grouped, grouped_together
from checker.audit.arrow_joins import Joined
from checker.audit.arrow_log import ArrowLog, lots
from checker.audit.arrow_slices import Pass, addresses, bytes_of, is_sliced, slices
from checker.audit.arrow_windows import in_order, order_of, window
from checker.engines.budgets import memory_left
from checker.polling import poll

Evaluate = Callable[..., Any]

_OPERATIONS: Mapping[str, Evaluate] = {
    "==": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
    "+": pc.add,
    "-": pc.subtract,
    "and": pc.and_kleene,
    "or": pc.or_kleene,
    "not": pc.invert,
    "is null": pc.is_null,
    "otherwise": pc.coalesce,
    "if": pc.if_else,
}

WHOLE = 30_000_000
"""Logs of more events are worked on slice by slice."""
BYTES = 160
"""What an event takes at most where the whole log is worked on at once."""


class ArrowEngine:
    """Runs plans over a log; an :class:`~checker.audit.engine.Engine`.

    ``checkpoint`` is called between any two operations; what it raises ends the work.
    """

    name = "arrow"
    is_remote = False

    def __init__(self, log: ArrowLog, checkpoint: Callable[[], None] = lambda: None) -> None:
        self.log = log
        self._tables: dict[str, pa.Table] = {"events": log.events}
        self._checkpoint = checkpoint
        self._kept: dict[rel.Keep, pa.Table] = {}
        self._pass = Pass()
        self._kept_slices: dict[rel.Keep, list[pa.Table]] = {}
        left = memory_left()
        self.whole = WHOLE if left is None else min(WHOLE, left // BYTES)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of ``events``."""
        return frozenset(self._tables["events"].column_names)

    def define(self, name: str, relation: rel.Relation) -> None:
        """Makes the rows of ``relation`` known as ``name``; events in the order of processes and
        positions, whatever a join or a union made of it."""
        table = self.table(relation)
        self._tables[name] = _in_order(table) if name == "events" else table

    def add(self, name: str, table: pa.Table) -> None:
        """Makes ``table`` known as ``name``."""
        self._tables[name] = table

    def values(self) -> list[int]:
        """Returns all processes that the log names."""
        return list(range(len(self.log.codes.processes)))

    def add_process(self, run: str, name: str) -> int:
        """Returns the value of a process that the log does not name."""
        codes = self.log.codes
        codes.processes.append((codes.runs.index(run), name))
        return len(codes.processes) - 1

    def processes_table(self, values: list[Any]) -> rel.Relation:
        """Returns a relation with the column ``process``, which has these values."""
        return self.column("process", values)

    def column(self, name: str, values: list[Any]) -> rel.Relation:
        """Returns a relation with one column."""
        self._tables[f"@{len(self._tables)}"] = pa.table({name: pa.array(values, pa.int32())})
        return rel.Scan(f"@{len(self._tables) - 1}")

    def messages_called(self, name: str) -> rel.Relation:
        """Returns a relation with the column ``message``: those of all runs with that name."""
        codes = self.log.codes
        found = [at for at in range(len(codes.messages)) if str(codes.messages[at]) == name]
        if codes.message_of is not None:
            found = np.flatnonzero(np.isin(codes.message_of, found)).tolist()
        return self.column("message", found)

    def lots(self) -> rel.Relation:
        """Returns a relation of each ``message`` and its ``lot``, drawn by its name alone."""
        drawn = lots(self.log.codes)
        numbers = np.arange(len(drawn), dtype=np.int32)
        self._tables["lots"] = pa.table({"message": numbers, "lot": drawn})
        return rel.Scan("lots")

    def partition(self, value: Any) -> str:
        """Returns the name of a partition."""
        return str(self.log.codes.partitions[value])

    def process(self, value: Any) -> tuple[str, str]:
        """Returns the run and the name of a process."""
        poll()
        return self.log.codes.run_of(value), self.log.codes.process(value)

    def entry(self, value: Any) -> tuple[str | None, str]:
        """Returns who sent what is delivered (``None``: that is not said), and the message."""
        poll()
        return self.log.codes.entry(value)

    def run_of_entry(self, value: Any) -> str:
        """Returns the run in which something is requested or delivered."""
        return self.log.codes.run_of_entry(value)

    def message(self, value: Any) -> str:
        """Returns the name of a message."""
        return self.log.codes.message(value)

    def has_rows(self, relation: rel.Relation) -> bool:
        """Returns whether there are any rows."""
        if self._is_large() and is_sliced(relation):
            return any(part.num_rows > 0 for part in self._on_slices(relation))
        return bool(self.table(relation).num_rows)

    def rows(self, relation: rel.Relation) -> pa.Table:
        """Returns the rows."""
        return self.table(relation)

    def findings(self, relation: rel.Relation, most: int) -> tuple[dict[int, int], pa.Table]:
        """Returns how many rows have each ``verdict``, and the first of them: those that violate,
        then those that may, by their positions."""
        found = self.table(relation)
        counts = found.group_by("verdict").aggregate([([], "count_all")])
        order = [(n, "ascending") for n in ("verdict", "pos", "entry") if n in found.column_names]
        numbers = zip(counts["verdict"].to_pylist(), counts["count_all"].to_pylist(), strict=True)
        return dict(numbers), found.take(_first(found, order, most))

    def places(self, table: pa.Table) -> list[tuple[str, int | None]]:
        """Returns the file and the row of each event, named by ``process`` and ``pos``."""
        events = self.log.events
        process, pos = events["process"].to_numpy(), events["pos"].to_numpy()
        found: list[tuple[str, int | None]] = []
        for row in table.to_pylist():
            poll()
            mine = np.array([row["process"], row["process"] + 1], dtype=process.dtype)
            low, high = np.searchsorted(process, mine)
            at = low + np.searchsorted(pos[low:high], row["pos"])
            file, number = self.log.place_of_event(int(at))
            found.append((file.path, number))
        return found

    def forget(self, but: Collection[rel.Relation] = ()) -> None:
        """Forgets what was kept, but for these relations."""
        self._kept = {kept: table for kept, table in self._kept.items() if kept in but}
        self._kept_slices = {kept: all_ for kept, all_ in self._kept_slices.items() if kept in but}

    def table(self, relation: rel.Relation) -> pa.Table:
        """Returns the rows of ``relation``."""
        sliced = self._is_large() and not isinstance(relation, rel.Scan)
        if sliced and isinstance(relation, rel.Group) and is_sliced(relation.source):
            return self._group_of_slices(relation)
        if sliced and is_sliced(relation):
            parts = list(self._on_slices(relation))
            return pa.concat_tables(parts).combine_chunks() if parts else self._of(relation, None)
        return self._of(relation, None)

    def _is_large(self) -> bool:
        rows: int = self.log.events.num_rows
        return rows > self.whole

    def _on_slices(self, relation: rel.Relation) -> Iterator[pa.Table]:
        """Yields the rows that ``relation`` has on each slice of the log."""
        outer, self._pass = self._pass, Pass()
        try:
            for part in slices(self._tables["events"]):
                yield self._of(relation, part)
                self._pass.slice += 1
            self._kept_slices |= self._pass.kept
        finally:
            self._pass = outer

    def _kept_slice(self, relation: rel.Keep, part: pa.Table) -> pa.Table:
        """Returns the rows of a relation that is asked for again on a slice of the log; they are
        kept while there is room."""
        at, here = self._pass.slice, self._pass.kept
        known = self._kept_slices.get(relation) or here.get(relation, [])
        if at < len(known):
            return known[at]
        table = self._of(relation.source, part)
        if at == len(known):
            here.setdefault(relation, []).append(table)
            every = [*self._kept_slices.values(), *here.values()]
            if bytes_of(itertools.chain.from_iterable(every)) > self.whole * BYTES // 2:
                del here[relation]
        return table

    def _group_of_slices(self, relation: rel.Group) -> pa.Table:
        by, aggregates = relation.by, relation.aggregates
        found = grouped_together(self._on_slices(relation.source), by, aggregates)
        return grouped(self._of(relation.source, None), by, aggregates) if found is None else found

    def _other(self, join: rel.Join, rows: int) -> Joined:
        """Returns the whole of the other side of a join with so many rows."""
        right = join.right
        if join.how in ("semi", "anti"):
            right = rel.Select(right, {name: rel.Column(name) for name in join.on})
        return Joined(self.table(right), join.on, join.how, rows)

    def _joined(self, join: rel.Join, left: pa.Table, part: pa.Table | None) -> pa.Table:
        """Returns the rows of ``left`` with those of the other side, which is made ready once for
        all slices."""
        if part is None:
            return self._other(join, left.num_rows).with_left(left)
        others = self._pass.others
        if join not in others:
            others[join] = self._other(join, self.log.events.num_rows)
        return others[join].with_left(left)

    def _of(self, relation: rel.Relation, part: pa.Table | None) -> pa.Table:
        """Returns the rows of ``relation`` on a slice of the log; ``None``: on all of it."""
        poll()
        self._checkpoint()

        def inner(source: rel.Relation) -> pa.Table:
            return self.table(source) if part is None else self._of(source, part)

        match relation:
            case rel.Scan(name):
                return self._tables[name] if part is None else part
            case rel.Keep(source):
                if part is not None:
                    return self._kept_slice(relation, part)
                if relation not in self._kept:
                    self._kept[relation] = self.table(source)
                return self._kept[relation]
            case rel.Where(source, condition):
                return _filtered(inner(source), condition)
            case rel.Select(source, columns):
                table = inner(source)
                return pa.table({name: _evaluate(e, table) for name, e in columns.items()})
            case rel.Join(left):
                return self._joined(relation, inner(left), part)
            case rel.Group(source, by, aggregates):
                return grouped(inner(source), by, aggregates)
            case rel.Window(source, by, order, computed):
                return window(inner(source), by, order, computed)
            case rel.Union(one, other):
                first, second = inner(one), inner(other)
                second = second.select(first.column_names).cast(first.schema)
                return pa.concat_tables([first, second])
        raise TypeError(f"{relation} is no relation")


def _in_order(events: pa.Table) -> pa.Table:
    """Returns ``events`` in the order of processes and positions."""
    keys = [events[name].to_numpy() for name in ("process", "pos")]
    return events if in_order(keys) else events.take(pa.array(order_of(keys)))


def _filtered(table: pa.Table, condition: rel.Expr) -> pa.Table:
    chosen = _evaluate(condition, table)
    if not chosen.null_count and pc.all(chosen, min_count=0).as_py():
        return table
    if not _has_same(table, "entry", "message"):
        return table.filter(chosen)
    found = table.drop_columns("message").filter(chosen)
    at = table.schema.get_field_index("message")
    return found.add_column(at, "message", found["entry"])


def _has_same(table: pa.Table, *names: str) -> bool:
    """Returns whether these columns are one and the same."""
    if not set(names) <= {*table.column_names}:
        return False
    where = {tuple((c.offset, *addresses(c)) for c in table[name].chunks) for name in names}
    return len(where) == 1


def _evaluate(expression: rel.Expr, table: pa.Table) -> Any:
    """Returns the column of the values of ``expression``."""
    value = _value(expression, table)
    if isinstance(value, pa.Scalar):
        return pa.repeat(value, table.num_rows)
    return value


def _value(expression: rel.Expr, table: pa.Table) -> Any:
    match expression:
        case rel.Column(name):
            return table[name]
        case rel.Constant(value):
            return pa.scalar(value)
        case rel.Apply(operation, operands):
            return _OPERATIONS[operation](*(_value(each, table) for each in operands))
    raise TypeError(f"{expression} is no expression")


def _first(table: pa.Table, order: list[tuple[str, str]], most: int) -> pa.Array:
    return (
        pc.select_k_unstable(table, most, order)
        if table.num_rows > most
        else pc.sort_indices(table, order)
    )
