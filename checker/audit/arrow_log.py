"""A log in Arrow tables: names become numbers, rows are in the order of processes and positions."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from checker.audit.arrow_columns import Columns
from checker.audit.arrow_windows import order_of
from checker.audit.columns import STATUS, Kind, Kinds
from checker.audit.files import LogFile
from checker.audit.reading import Reader
from checker.audit.restrict import LOTS
from checker.diagnostics import Diagnostic, SpecError

NAMES = (
    *("entry", "message", "sender", "to_process", "operator"),
    *("partition", "group", "transaction"),
)
"""The columns of events whose values stand for names."""


class Codes(Struct):
    """What the numbers of a log stand for.

    ``runs``, ``partitions``: names.  ``processes``: the number of a run, and a name.  ``messages``:
    names; ``message_of``, ``run_of_message``: of the number of a message (in one run) which name
    it has, and which run it is of; both are missing where there is but one run.
    ``sender_of``, ``entry_message_of``: of the number of what is delivered who sent it and which
    message it is, where deliveries name the sender (``named``).
    """

    runs: list[str]
    partitions: list[str]
    processes: list[tuple[int, str]]
    messages: pa.Array
    message_of: Any
    run_of_message: Any
    sender_of: Any
    entry_message_of: Any
    named: bool

    def process(self, number: int) -> str:
        """Returns the name of a process."""
        return self.processes[number][1]

    def run_of(self, process: int) -> str:
        """Returns the name of the run that a process is in."""
        return self.runs[self.processes[process][0]]

    def run_of_entry(self, number: int) -> str:
        """Returns the name of the run in which something is requested or delivered."""
        if self.run_of_message is None:
            return self.runs[0]
        message = int(self.entry_message_of[number]) if self.named else number
        return self.runs[int(self.run_of_message[message])]

    def message(self, number: int) -> str:
        """Returns the name of a message."""
        at = number if self.message_of is None else int(self.message_of[number])
        return str(self.messages[at].as_py())

    def entry(self, number: int) -> tuple[str | None, str]:
        """Returns who sent what is delivered (``None``: that is not said), and the message."""
        if not self.named:
            return None, self.message(number)
        sender = self.process(int(self.sender_of[number]))
        return sender, self.message(int(self.entry_message_of[number]))


class ArrowLog(Struct):
    """A log: its ``events`` as plans see them, what their numbers stand for, where its rows are.

    ``other``: how many rows there are of kinds that no property is about.
    """

    events: pa.Table
    codes: Codes
    files: list[LogFile]
    first_rows: list[int]
    other: dict[str, int]
    torn: dict[int, LogFile] = field(default_factory=dict)

    def place_of_event(self, at: int) -> tuple[LogFile, int]:
        """Returns the file and the row of the event at ``at`` in the table of events."""
        rows = self.events["row"] if "row" in self.events.column_names else None
        return self.place(at if rows is None else rows[at].as_py())

    def place(self, row: int) -> tuple[LogFile, int]:
        """Returns the file in which the row with that number is, and its number there, from 1."""
        at = int(np.searchsorted(self.first_rows, row, side="right")) - 1
        return self.files[at], row - self.first_rows[at] + 1


def load(
    files: list[LogFile],
    reader: Reader,
    kinds: Kinds,
    progress: Callable[[int], None],
) -> ArrowLog:
    """Reads ``files``; ``progress`` is told the number of rows so far.

    Raises :class:`SpecError`: what :class:`Reader` does; E082 for a process whose positions go
    back, E083 for a position that a process has twice, E081 for an event without a message, E089
    where some deliveries name the sender and some do not.
    """
    columns = Columns()
    first_rows = []
    for file in files:
        first_rows.append(columns.rows)
        for table in reader.tables(file):
            columns.add(table)
            progress(columns.rows)
    return _Builder(columns, files, first_rows, kinds, reader).build()


class _Builder:
    """Makes the events of a log out of its columns."""

    def __init__(
        self,
        columns: Columns,
        files: list[LogFile],
        first_rows: list[int],
        kinds: Kinds,
        reader: Reader,
    ) -> None:
        self.columns, self.kinds, self.reader = columns, kinds, reader
        self.log = ArrowLog(
            pa.table({}),
            Codes([], [], [], pa.array([]), None, None, None, None, False),
            files,
            first_rows,
            {},
        )

    def build(self) -> ArrowLog:
        """Returns the log; raises :class:`SpecError`."""
        columns = self.columns
        run, runs = columns.named("run")
        codes = self.log.codes
        codes.runs = runs.to_pylist() or [""]
        run = None if len(codes.runs) == 1 else np.maximum(run, 0)
        process, sender, to = self._processes(run)
        kind, operator = self._kinds()
        messages, codes.messages = columns.named("msg")
        if messages is None:
            messages = np.full(columns.rows, -1, np.int32)
        self._require_messages(kind, messages)
        message = _within_runs(run, messages, codes)
        entry = self._entries(kind, process, sender, message)
        table: dict[str, Any] = {
            "process": process,
            "pos": self._positions(),
            "kind": kind,
            "status": self._status(),
            "entry": entry,
            "message": message,
        }
        if codes.named:
            table["sender"] = sender
        if to is not None:
            table["to_process"] = to
        if self.kinds.numbers:
            table["operator"] = operator
        self._more(table)
        self._torn(process)
        self.log.events = self._in_order(table)
        return self.log

    def _positions(self) -> Any:
        found = self.columns.plain("pos")
        return np.zeros(0, np.int64) if found is None else found.to_numpy()

    def _processes(self, run: Any) -> tuple[Any, Any, Any]:
        """Returns the numbers of the process, the sender and the receiver of each row, -1 for null;
        ``None`` where no file has the column."""
        parts = [self.columns.named(name) for name in ("process", "sender", "to")]
        names = list(dict.fromkeys(n for _, known in parts for n in known.to_pylist()))
        number = {name: at for at, name in enumerate(names)}
        width, count = max(len(names), 1), len(self.log.codes.runs)
        keys = []
        for numbers, known in parts:
            key = None
            if numbers is not None:
                local = np.array([number[n] for n in known.to_pylist()] + [-1], dtype=np.int32)
                key = local[numbers]
                if run is not None:
                    key = np.where(key < 0, -1, run.astype(np.int64) * width + key)
            keys.append(key)
        numbers, found = _dense([key for key in keys if key is not None], count * width)
        self.log.codes.processes = [(int(at) // width, names[int(at) % width]) for at in found]
        left = iter(numbers)
        process, sender, to = (None if key is None else next(left) for key in keys)
        return np.zeros(0, np.int32) if process is None else process, sender, to

    def _kinds(self) -> tuple[Any, Any]:
        """Returns the kind of each row, and the number of its role, -1 for none."""
        numbers, known = self.columns.named("kind")
        if numbers is None:
            return np.zeros(0, np.int8), np.zeros(0, np.int32)
        names = known.to_pylist()
        meant = [self.kinds.get(name, Kind.OTHER) for name in names]
        counts = np.bincount(numbers[numbers >= 0] if (numbers < 0).any() else numbers)
        self.log.other = {
            name: int(counts[at])
            for at, name in enumerate(names)
            if meant[at] is Kind.OTHER and at < len(counts) and counts[at]
        }
        operators = [self.kinds.numbers.get(name, -1) for name in names]
        kinds = np.array([*meant, Kind.OTHER], dtype=np.int8)[numbers]
        return kinds, np.array([*operators, -1], dtype=np.int32)[numbers]

    def _status(self) -> Any:
        numbers, known = self.columns.named("status")
        names = known.to_pylist()
        for at, name in enumerate(names):
            if name not in STATUS:
                self._raise("E088", int(np.argmax(numbers == at)), f"`status` is {name!r}", STATUS)
        if numbers is None:
            return np.zeros(self.columns.rows, np.int8)
        return np.array([*(STATUS.index(name) for name in names), 0], dtype=np.int8)[numbers]

    def _require_messages(self, kind: Any, message: Any) -> None:
        about = (kind == Kind.REQUEST) | (kind == Kind.INDICATION) | (kind == Kind.PERFORM)
        lacking = about & (message < 0)
        if lacking.any():
            more = int(np.count_nonzero(lacking)) - 1
            said = "this event has no `msg`" + (f", nor have {more:,} more" if more else "")
            self._raise("E081", int(np.argmax(lacking)), said)

    def _entries(self, kind: Any, process: Any, sender: Any, message: Any) -> Any:
        """Returns the numbers of what is requested or delivered: of the message, with its sender
        where deliveries name one."""
        codes = self.log.codes
        if sender is None:
            return message
        delivered = kind == Kind.INDICATION
        named = sender[delivered] >= 0
        if not named.any():
            return message
        if not named.all():
            row = int(np.flatnonzero(delivered)[np.argmin(named)])
            self._raise("E089", row, "this delivery has no `sender`, but others do")
        codes.named = True
        sender[kind == Kind.REQUEST] = process[kind == Kind.REQUEST]
        width = int(message.max(initial=0)) + 1
        key = np.where((message < 0) | (sender < 0), -1, sender.astype(np.int64) * width + message)
        (numbers,), known = _dense([key], width * len(codes.processes))
        codes.sender_of, codes.entry_message_of = known // width, known % width
        return numbers

    def _more(self, table: dict[str, Any]) -> None:
        """Adds the columns that only some logs have."""
        for name in ("partition", "group", "transaction"):
            numbers, names = self.columns.named(name)
            if name == "partition":
                self.log.codes.partitions = names.to_pylist()
            if numbers is not None and name == "group":  # rows without one are of one, too
                numbers = np.where(numbers < 0, len(names), numbers)
            if numbers is not None:
                table[name] = numbers.astype(np.int32)
        hashes, _ = self.columns.named("payload_hash")
        if hashes is not None:
            table["payload_hash"] = pa.array(hashes, mask=hashes < 0)
        for name in ("offset", "effect", "ts", "seq", "epoch", "generation", "uncommitted"):
            found = self.columns.plain(name)
            if found is not None:
                table[name] = found

    def _torn(self, process: Any) -> None:
        """Finds the processes of files whose last line is cut short."""
        log = self.log
        ends = [*log.first_rows[1:], self.columns.rows]
        for file in self.reader.torn:
            at = log.files.index(file)
            known = np.unique(process[log.first_rows[at] : ends[at]]).tolist()
            for number in known or self._unnamed(file):
                log.torn[number] = file

    def _unnamed(self, file: LogFile) -> list[int]:
        """Returns the processes of a file without a whole line: one of each run, by the name of the
        file."""
        found = []
        for at in range(len(self.log.codes.runs)):
            process = (at, file.stem)
            if process not in self.log.codes.processes:
                self.log.codes.processes.append(process)
            found.append(self.log.codes.processes.index(process))
        return found

    def _in_order(self, table: dict[str, Any]) -> pa.Table:
        """Returns the events in the order of processes and positions, with the numbers of their
        rows where these are in another order; raises :class:`SpecError` (E082, E083)."""
        process, pos = table["process"], table["pos"]
        same = process[1:] == process[:-1]
        sorted_ = bool(((process[1:] > process[:-1]) | (same & (pos[1:] > pos[:-1]))).all())
        if not sorted_:
            self._require_forward(process, pos)
            rows = order_of([process, pos])
            self._require_once(process[rows], pos[rows], rows)
        found = pa.table({n: _null_below(n, v) for n, v in table.items()})
        if sorted_:
            return found
        return found.take(pa.array(rows)).append_column("row", pa.array(rows))

    def _require_forward(self, process: Any, pos: Any) -> None:
        """Raises :class:`SpecError` (E082) where the positions of a process go back in a file that
        is lines of text."""
        ends = [*self.log.first_rows[1:], len(process)]
        for file, first, end in zip(self.log.files, self.log.first_rows, ends, strict=True):
            if file.format == "parquet":
                continue
            mine = process[first:end]

            def name_of(row: int, of: Any = mine) -> str:
                return self.log.codes.process(int(of[row]))

            found = going_back(file, mine, pos[first:end], name_of)
            if found:
                raise SpecError(found)

    def _require_once(self, process: Any, pos: Any, rows: Any) -> None:
        twice = (process[1:] == process[:-1]) & (pos[1:] == pos[:-1])
        if not twice.any():
            return
        at = int(np.argmax(twice))
        one, other = sorted((int(rows[at]), int(rows[at + 1])))
        (first, there), (second, _) = self.log.place(one), self.log.place(other)
        who = self.log.codes.process(int(process[at]))
        where = f"row {there:,}" + (f" of {first.path}" if first != second else "")
        said = f"{who} has position {int(pos[at]):,} twice, also in {where}"
        hint = "are these two logs of one process, or two runs? A column `run` separates runs"
        self._raise("E083", other, said, hint=hint)

    def _raise(
        self, code: str, row: int, said: str, expected: tuple[str, ...] = (), hint: str = ""
    ) -> None:
        file, number = self.log.place(row)
        listed = ", ".join(f"`{name}`" for name in expected)
        raise SpecError((file.problem(code, number, said, listed, hint),))


def going_back(
    file: LogFile, process: Any, pos: Any, name_of: Callable[[int], str]
) -> tuple[Diagnostic, ...]:
    """Returns a diagnostic (E082) where the positions of a process go back in a file.

    ``process``: numbers of the processes of its rows; ``name_of``: the name of a row's process.
    """
    order = np.argsort(process, kind="stable")
    same = process[order[1:]] == process[order[:-1]]
    back = same & (pos[order[1:]] < pos[order[:-1]])
    if not back.any():
        return ()
    at = int(np.argmax(back))
    row, before = int(order[at + 1]), int(order[at])
    said = f"the positions of {name_of(row)} decrease, from {pos[before]:,} to {pos[row]:,}"
    hint = "positions of a process must increase, even after a restart"
    return (file.problem("E082", row + 1, said, hint=hint),)


def _within_runs(run: Any, message: Any, codes: Codes) -> Any:
    """Returns numbers of messages that differ in different runs; ``codes`` are told which they
    are."""
    if len(codes.runs) == 1:
        return message.astype(np.int32)
    width = max(len(codes.messages), 1)
    key = np.where(message < 0, -1, run.astype(np.int64) * width + message)
    (numbers,), known = _dense([key], width * len(codes.runs))
    codes.message_of, codes.run_of_message = known % width, known // width
    return numbers


def _dense(keys: Sequence[Any], most: int) -> tuple[list[Any], Any]:
    """Returns numbers from 0 on for the values of ``keys``, which are below ``most`` (-1 stays),
    and the values, ascending."""
    if most <= 4 * sum(map(len, keys)) + 1000:
        there = np.zeros(most + 1, dtype=bool)
        for key in keys:
            there[key] = True  # -1 marks the last one, which is no value
        known = np.flatnonzero(there[:most])
        number = np.full(most + 1, -1, dtype=np.int32)
        number[known] = np.arange(len(known), dtype=np.int32)
        return [number[key] for key in keys], known
    values = [pc.unique(pa.array(key)).to_numpy() for key in keys]
    known = np.unique(np.concatenate(values))
    known = known[known >= 0]
    found = [np.searchsorted(known, key).astype(np.int32) for key in keys]
    return [np.where(key < 0, np.int32(-1), at) for key, at in zip(keys, found, strict=True)], known


def _null_below(name: str, values: Any) -> Any:
    """Returns ``values`` with null in place of numbers below 0, where they stand for names."""
    if name in NAMES:
        lacking = values < 0
        return pa.array(values, mask=lacking) if lacking.any() else pa.array(values)
    return pa.array(values) if isinstance(values, np.ndarray) else values


def lots(codes: Codes) -> Any:
    """Returns the lot of each message, by its name: the same in any log and by any engine."""
    count = len(codes.messages)
    texts = (str(codes.messages[at].as_py()).encode() for at in range(count))
    of_name = np.fromiter((zlib.crc32(text) % LOTS for text in texts), np.int64, count)
    return of_name if codes.message_of is None else of_name[codes.message_of]
