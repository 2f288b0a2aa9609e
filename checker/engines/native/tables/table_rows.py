"""One piece of the tables: some states of a run folder and their transitions, as two files.

The transitions come from the interpreter, not from the native code that found the states.  A piece
can be made on any machine, and twice: its files are complete or do not exist, and are the same each
time.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from functools import partial
from hashlib import blake2b
from typing import Any

import pyarrow as pa
from msgspec import Struct
from pyarrow import parquet

from checker.engines.native.checkpoint.run_folder import Part, RunFolder
from checker.engines.native.checkpoint.storage import Storage
from checker.engines.native.codegen.layout import Layout
from checker.engines.native.tables.table_types import arrow_type, column_names, converter
from checker.model import interpreter, ir
from checker.model.build import author_of
from checker.model.interpreter import State, Transition
from checker.model.ir import Action, PropertyKind, TransitionSystem
from checker.model.types import TupleT, Type, Value
from checker.results.mark_events import about, acting
from checker.results.show_values import show

STATES, TRANSITIONS = "states", "transitions"
FIRST_COLUMNS = ("id", "depth", "violates")
"""The columns of a table of states before the variables."""
BATCH = 1 << 13
"""The number of rows that are gathered before they are written."""
REMEMBERED = 1 << 16
"""States, and parameters, recur: the number of them whose text is cached."""

MOVES = pa.schema(
    [
        pa.field("source", pa.string(), nullable=False),
        pa.field("target", pa.string()),
        pa.field("depth", pa.int32(), nullable=False),
        pa.field("action", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("process", pa.string()),
        pa.field("parameters", pa.map_(pa.string(), pa.string()), nullable=False),
        pa.field("message", pa.string()),
        pa.field("error", pa.string()),
    ]
)
"""The table of transitions."""


class Slice(Struct, frozen=True):
    """Rows ``begin`` up to but not including ``end`` of a part."""

    part: Part
    begin: int
    end: int


class TableTask(Struct, frozen=True):
    """The task of writing one piece of the tables; ``number`` names its files."""

    number: int
    slices: tuple[Slice, ...]


class Count(Struct, frozen=True):
    """The numbers of rows written for one depth; ``errors``: transitions that are runtime
    errors.
    """

    depth: int
    states: int
    transitions: int
    errors: int


def columns_of(system: TransitionSystem) -> list[str]:
    """The column of each variable, in order."""
    return column_names((v.name for v in system.variables), FIRST_COLUMNS)


def states_schema(system: TransitionSystem) -> pa.Schema:
    """The table of states."""
    fields = [
        pa.field("id", pa.string(), nullable=False),
        pa.field("depth", pa.int32(), nullable=False),
        pa.field("violates", pa.list_(pa.string()), nullable=False),
    ]
    for column, variable in zip(columns_of(system), system.variables, strict=True):
        of = {"variable": variable.name, "kind": variable.kind.value}
        fields.append(pa.field(column, arrow_type(variable.type), metadata=of))
    return pa.schema(fields)


def state_id(row: bytes | memoryview) -> str:
    """The name of the state with this packed row: 32 hexadecimal digits."""
    return blake2b(row, digest_size=16).hexdigest()


class TableMaker(Struct, frozen=True):
    """Writes pieces of the tables of ``system`` into ``out``; can be pickled.

    ``frontier``: the depth whose states were found but not expanded, if there is one.
    """

    system: TransitionSystem
    layout: Layout
    folder: RunFolder
    out: Storage
    frontier: int | None = None

    def __call__(self, task: TableTask) -> list[Count]:
        """Writes the files of ``task`` and counts; raises ``OSError``."""
        return _Piece(self, task).write()


class _Piece:
    """One task under way."""

    def __init__(self, maker: TableMaker, task: TableTask) -> None:
        self.maker, self.task, self.system = maker, task, maker.system
        self.counts: dict[int, list[int]] = {}
        self.converters = [converter(v.type) for v in self.system.variables]
        asked = (p for p in self.system.asked_properties if p.kind is PropertyKind.INVARIANT)
        self.invariants = [(p.asked, p.bad) for p in asked]
        self.width = 8 * maker.layout.words
        self.ids: dict[State, str] = {}
        self.wordings = {action.name: _Wording(action) for action in self.system.actions}
        self.said: dict[tuple[str, tuple[Value, ...]], list[tuple[str, str]]] = {}

    def write(self) -> list[Count]:
        name = f"part-{self.task.number:06d}.parquet"
        with contextlib.ExitStack() as stack:
            opened = partial(_Table, stack, self.maker.out)
            states = opened(f"{STATES}/{name}", states_schema(self.system))
            moves = opened(f"{TRANSITIONS}/{name}", MOVES)
            for depth, row in self._rows():
                source = state_id(row)
                words = memoryview(row).cast("Q").tolist()
                state = self.maker.layout.unpack(words)
                states.add(self._state(source, depth, state))
                count = self.counts.setdefault(depth, [0, 0, 0])
                count[0] += 1
                if depth == self.maker.frontier:
                    continue
                for transition in interpreter.successors(self.system, state):
                    moves.add(self._move(source, depth, transition))
                    count[1 if transition.fault is None else 2] += 1
            states.flush()
            moves.flush()
        return [Count(depth, *count) for depth, count in sorted(self.counts.items())]

    def _rows(self) -> Iterator[tuple[int, memoryview]]:
        """The rows of the task, each with its depth."""
        width = self.width
        for piece in self.task.slices:
            first = 0
            for block in self.maker.folder.read(piece.part):
                after = first + block.nbytes // width
                for i in range(max(first, piece.begin), min(after, piece.end)):
                    yield piece.part.level, block[(i - first) * width : (i - first + 1) * width]
                first = after
                if first >= piece.end:
                    break

    def _state(self, name: str, depth: int, state: State) -> tuple[Any, ...]:
        violated = [
            p for p, bad in self.invariants if interpreter.surely_holds(self.system, bad, state)
        ]
        values = (convert(v) for convert, v in zip(self.converters, state, strict=True))
        return (name, depth, violated, *values)

    def _move(self, source: str, depth: int, transition: Transition) -> tuple[Any, ...]:
        action, fault, target = transition.action, transition.fault, transition.successor
        return (
            source,
            None if target is None else self._id(target),
            depth,
            action.name,
            action.kind.value,
            acting(self.system, transition.events) or None,
            self._parameters(transition),
            about(self.system, transition.events),
            None if fault is None else f"{fault.code}: {fault.message}",
        )

    def _id(self, state: State) -> str:
        known = self.ids.get(state)
        if known is None:
            words = self.maker.layout.pack(state)
            known = state_id(struct.pack(f"={len(words)}Q", *words))
            _keep(self.ids, state, known)
        return known

    def _parameters(self, transition: Transition) -> list[tuple[str, str]]:
        """The values of the action's parameters in words, those of a record one by one."""
        key = (transition.action.name, transition.params)
        known = self.said.get(key)
        if known is None:
            known = self.wordings[key[0]].pairs(transition.params)
            _keep(self.said, key, known)
        return known


def _keep(table: dict[Any, Any], key: Any, value: Any) -> None:
    if len(table) >= REMEMBERED:
        table.clear()
    table[key] = value


class _Wording:
    """The text of an action's parameters; a record is printed by its fields."""

    def __init__(self, action: Action) -> None:
        told: list[str] = []
        self.params: list[tuple[bool, list[Type]]] = []
        for param in action.params:
            type_ = ir.domain_item(param.domain)
            if isinstance(type_, TupleT) and type_.names:
                told += type_.names
                self.params.append((True, list(type_.items)))
            else:
                told.append(author_of(param.name))
                self.params.append((False, [type_]))
        self.names = column_names(told)

    def pairs(self, params: tuple[Value, ...]) -> list[tuple[str, str]]:
        """Each name with its value; none where an error precedes the values."""
        texts: list[str] = []
        for (record, types), value in zip(self.params, params, strict=False):
            values: Any = value if record else (value,)
            texts += [show(type_, v) for type_, v in zip(types, values, strict=True)]
        return list(zip(self.names, texts, strict=False))


class _Table:
    """A Parquet file that is written row by row; ``stack`` closes it."""

    def __init__(
        self, stack: contextlib.ExitStack, out: Storage, name: str, schema: pa.Schema
    ) -> None:
        stream = stack.enter_context(out.beside(name))
        self.schema = schema
        self.writer = stack.enter_context(parquet.ParquetWriter(stream, schema, compression="zstd"))
        self.rows: list[tuple[Any, ...]] = []

    def add(self, row: tuple[Any, ...]) -> None:
        self.rows.append(row)
        if len(self.rows) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Writes the gathered rows."""
        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.schema)
        arrays = [pa.array(c, f.type) for c, f in zip(columns, self.schema, strict=True)]
        self.writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self.schema))
        self.rows.clear()
