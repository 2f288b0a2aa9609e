"""What a log's names and values stand for (docs/logs.md): one mapping for all commands.

All of it has one direction: ours = the log's.  Each command takes from it what it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, SpecError
from checker.logs.mapping_places import Places, as_it_is_now, listed, near
from checker.logs.paths import ABSENT, Entry, Path, Rows
from checker.records import replace

COLUMNS = (
    *("run", "process", "pos", "kind", "msg", "sender", "to", "seq", "partition", "offset", "ts"),
    *("vc", "payload_hash", "status", "effect", "name", "arguments", "state", "message", "fields"),
    *("from", "receivers", "lost", "producer", "epoch", "control", "transactional", "transaction"),
    "uncommitted",
    "chosen",
    *("group", "generation", "call"),
    *("type", "f", "key", "value", "result", "host", "call_time", "return_time"),
)
"""The columns of a row: the last line has those of histories."""

OBJECTS = ("arguments", "chosen", "fields", "state")
"""Columns of which a mapping may name each part, such as ``fields.m`` or ``state.sent.term``."""

VALUES = (*COLUMNS, "variable")
"""What has values that can be renamed; ``variable``: the names in a ``state``."""

FAIL_FALSE, OK_TRUE, NIL_UNKNOWN = "fail means false", "ok means true", "nil is unknown"
MEANINGS = (FAIL_FALSE, OK_TRUE, NIL_UNKNOWN)
"""What a mapping can say of the results of an operation."""

UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Units of numbers that are times, in nanoseconds."""


ANY, WRITTEN = "any", "written"
ORDERS = (ANY, WRITTEN)
"""In which order the lines of a step may come: any, or that in which they are listed."""
FIRST, LAST = "first", "last"


class StepLines(Struct, frozen=True):
    """Lines that are one step: ``step`` is one of the spec's (`is`), as a kind of event.

    ``lines``: their kinds; ``order``: one of :data:`ORDERS`; ``state``: which of them has the state
    after the step, the first or the last one, or that of this kind.  ``repeat``: the field of which
    each item is a step of its own.
    """

    name: str
    step: str
    lines: tuple[str, ...] = ()
    order: str = ANY
    state: str = LAST
    repeat: str = ""


class LogMapping(Struct, frozen=True):
    """Names and values in a log, and what they stand for.

    ``rows``: where rows are in a JSON object; ``lines``: the lines of text that are rows;
    ``columns``: of each column that has another name in the log, the paths of which the first that
    a row has is it; ``values``: of a column, our value for each of the log's; ``ignored``: kinds of
    rows, operations and columns to skip; ``results``: what results of operations mean; ``logged``,
    ``unlogged``: kinds of events; ``steps``: lines that are one step; ``unit``: of times, in
    nanoseconds (0: the format's own).
    """

    file: str = ""
    rows: Rows | None = None
    lines: re.Pattern[str] | None = None
    columns: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    results: Mapping[str, str] = field(default_factory=dict)
    logged: tuple[str, ...] | None = None
    unlogged: tuple[str, ...] = ()
    unit: int = 0
    steps: tuple[StepLines, ...] = ()

    def theirs(self, column: str) -> tuple[str, ...]:
        """Returns the names that ``column`` may have in a table."""
        if column not in self.columns:
            return (column,)
        return tuple(path.name for path in self.columns[column] if path.name)

    def special(self, column: str) -> str:
        """Returns ``@row`` or its like, or a constant with ``@const``, that is in place of a path
        of ``column``; empty if none is."""
        return next((p.text for p in self.columns.get(column, ()) if not p.parts), "")

    def over(self, known: LogMapping) -> LogMapping:
        """Returns this mapping, with what is ``known`` of a format where it does not say
        otherwise."""
        values = {
            name: {**known.values.get(name, {}), **self.values.get(name, {})}
            for name in (*known.values, *self.values)
        }
        columns = {**known.columns, **self.columns}
        return replace(self, columns=columns, values=values, unit=self.unit or known.unit)

    @property
    def kinds(self) -> Mapping[str, str]:
        """The kinds of events by the log's names."""
        return self.values.get("kind", {})

    @property
    def is_flat(self) -> bool:
        """Whether each row is an object of its own, and columns are fields at its top."""
        parts = (len(path.parts) for paths in self.columns.values() for path in paths)
        return self.rows is None and self.lines is None and max(parts, default=0) < 2

    def value(self, column: str, given: Any) -> Any:
        """Returns what the value ``given`` of ``column`` stands for."""
        table = self.values.get(column)
        if table is None or isinstance(given, list | tuple | Mapping | frozenset):
            return given
        return table.get(text_of(given), given)

    def of(self, column: str, entry: Entry) -> Any:
        """Returns the value of ``column`` in a row, renamed, or :data:`ABSENT`."""
        return self.value(column, self.written(column, entry))

    def written(self, column: str, entry: Entry) -> Any:
        """Returns the value of ``column`` in a row as the log has it, or :data:`ABSENT`."""
        if column not in self.columns:
            return entry.row.get(column, ABSENT)
        found = (path.of(entry) for path in self.columns[column])
        return next((each for each in found if each is not ABSENT), ABSENT)

    def meaning(self, said: str) -> frozenset[str]:
        """Returns the operations of whose results the mapping says so."""
        return frozenset(name for name, given in self.results.items() if given == said)

    def require_known(self, column: str, known: Iterable[str], what: str) -> None:
        """Raises :class:`SpecError` where a value of ``column`` is renamed to none of ``known``."""
        names = [*known]
        found = []
        for theirs, ours in self.values.get(column, {}).items():
            if ours not in names:
                found.append(self._unknown(column, theirs, ours, names, what))
        if found:
            raise SpecError(tuple(found))

    def require_results(self, known: Iterable[str], what: str) -> None:
        """Raises :class:`SpecError` where the results of something else than ``known`` have a
        meaning."""
        names, places = [*known], Places(self.file)
        wrong = (
            places.wrong(f"`{name}` is not {what}", "results", name, listed(names))
            for name in self.results
            if name not in names
        )
        found = tuple(wrong)
        if found:
            raise SpecError(found)

    def _unknown(
        self, column: str, theirs: str, ours: str, known: list[str], what: str
    ) -> Diagnostic:
        places = Places(self.file)
        section = places.section_of(f"values.{column}", "operations", ours)
        message = f"`{ours}` is not {what}"
        if theirs in known:
            return places.wrong(message, section, ours, "", as_it_is_now(section, {theirs: [ours]}))
        return places.wrong(message, section, ours, listed(known), near(ours, known))


NO_MAPPING = LogMapping()


def with_part(whole: Any, name: str, value: Any) -> dict[str, Any]:
    """Returns the object ``whole`` (or a new one, if it is none) with ``value`` as its part
    ``name``; a dot leads to a part of a part."""
    first, _, rest = name.partition(".")
    known = whole if isinstance(whole, dict) else {}
    return {**known, first: with_part(known.get(first), rest, value) if rest else value}


def text_of(value: Any) -> str:
    """Returns a value as a mapping writes it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
    return str(value)
