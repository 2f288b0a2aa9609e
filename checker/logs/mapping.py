"""Reads what a log's names and values stand for (TOML, docs/logs.md): one file for all commands.

All of it has one direction: ours = the log's.  Each command takes from it what it needs.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path as File
from typing import Any

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, SpecError
from checker.logs.mapping_places import CODE, Places, as_it_is_now
from checker.logs.paths import ABSENT, CONST, FILE, LINE, ROW, Entry, Path, Rows, path_of, rows_of
from checker.records import replace

COLUMNS = (
    *("run", "process", "pos", "kind", "msg", "sender", "to", "seq", "partition", "offset", "ts"),
    *("vc", "payload_hash", "status", "effect", "name", "arguments", "state", "message", "fields"),
    *("from", "receivers", "lost", "producer", "epoch", "control", "transactional", "transaction"),
    *("group", "generation", "call"),
    *("type", "f", "key", "value", "result", "host", "call_time", "return_time"),
)
"""The columns of a row: the last line has those of histories."""

OBJECTS = ("arguments", "fields", "state")
"""Columns of which a mapping may name each part, such as ``fields.m``."""

VALUES = (*COLUMNS, "variable")
"""What has values that can be renamed; ``variable``: the names in a ``state``."""

FAIL_FALSE, OK_TRUE, NIL_UNKNOWN = "fail means false", "ok means true", "nil is unknown"
MEANINGS = (FAIL_FALSE, OK_TRUE, NIL_UNKNOWN)
"""What a mapping can say of the results of an operation."""

TABLES = ("columns", "values", "operations", "results")
LISTS = ("ignored", "logged", "unlogged")
TEXTS = ("rows", "lines", "unit")
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Units of numbers that are times, in nanoseconds."""


class LogMapping(Struct, frozen=True):
    """Names and values in a log, and what they stand for.

    ``rows``: where rows are in a JSON object; ``lines``: the lines of text that are rows;
    ``columns``: of each column that has another name in the log, the paths of which the first that
    a row has is it; ``values``: of a column, our value for each of the log's; ``ignored``: kinds of
    rows, operations and columns to skip; ``results``: what results of operations mean; ``logged``,
    ``unlogged``: kinds of events; ``unit``: of times, in nanoseconds (0: the format's own).
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
            places.wrong(f"`{name}` is not {what}", "results", name, _listed(names))
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
        return places.wrong(message, section, ours, _listed(known), _near(ours, known))


NO_MAPPING = LogMapping()


def text_of(value: Any) -> str:
    """Returns a value as a mapping writes it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
    return str(value)


def read_mapping(file: str | None) -> LogMapping:
    """Returns the mapping in ``file``; raises :class:`SpecError` (E097)."""
    if file is None:
        return NO_MAPPING
    try:
        text = File(file).read_bytes().decode("utf-8-sig")
    except OSError as problem:
        why = problem.strerror or str(problem)
        raise SpecError((Diagnostic(CODE, f"{file}: the mapping can't be read: {why}"),)) from None
    except UnicodeDecodeError:
        raise SpecError((Diagnostic(CODE, f"{file}: the mapping is not UTF-8"),)) from None
    places = Places(file, text)
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise SpecError((places.not_toml(str(problem)),)) from None
    return _Reader(places, document).mapping()


class _Reader:
    """Checks a document; ``found``: what is wrong with it."""

    def __init__(self, places: Places, document: Mapping[str, Any]) -> None:
        self.places, self.document = places, document
        self.found: list[Diagnostic] = []

    def mapping(self) -> LogMapping:
        """Returns the mapping; raises :class:`SpecError` with all that is wrong."""
        self.found += self.places.of_old_sections(self.document)
        known = (*TEXTS, *TABLES, *LISTS)
        for key in self.document:
            if key not in known and not self.places.is_old(key):
                self.add(f"unknown key `{key}` of a mapping", "", key, _listed(known), known)
        columns = self.columns()
        values = self.values()
        logged = self.names("logged")
        made = LogMapping(
            self.places.file,
            self.rows(),
            self.lines(),
            columns,
            values,
            self.names("ignored") or (),
            self.results(),
            logged,
            self.names("unlogged") or (),
            self.unit(),
        )
        if made.rows is not None and made.lines is not None:
            self.add("`rows` is for JSON and `lines` for text", "", "lines", "one of them")
        if self.found:
            raise SpecError(tuple(self.found))
        return made

    def add(
        self, message: str, section: str, key: str, expected: str = "", near: Iterable[str] = ()
    ) -> None:
        """Notes what is wrong at a key of a section; ``near``: what may be meant."""
        hint = _near(key, [*near])
        self.found.append(self.places.wrong(message, section, key, expected, hint))

    def table(self, name: str) -> dict[str, Any]:
        """Returns a table; one that is none is noted."""
        given = self.document.get(name, {})
        if not isinstance(given, dict):
            self.add(f"`{name}` must be a table", "", name, f"a section [{name}]")
            return {}
        return given

    def columns(self) -> dict[str, tuple[Path, ...]]:
        """Returns the paths of columns."""
        found: dict[str, tuple[Path, ...]] = {}
        for name, given in _flat(self.table("columns")):
            texts = given if isinstance(given, list) else [given]
            if name not in COLUMNS and name.partition(".")[0] not in OBJECTS:
                self._unknown_column(name, given)
                continue
            paths = [path_of(each) if isinstance(each, str) else None for each in texts]
            if not texts or None in paths:
                expected = f'a path such as "client.id" or "value[0]", {ROW}, {FILE}, {LINE}'
                shown = next((t for t, path in zip(texts, paths, strict=True) if not path), given)
                message = f"{shown!r} is not a path"
                self.add(message, "columns", name, f"{expected} or {CONST}TEXT")
            found[name] = tuple(path for path in paths if path is not None)
        return found

    def _unknown_column(self, name: str, given: Any) -> None:
        if isinstance(given, str) and given in COLUMNS:
            hint = as_it_is_now("columns", {given: [name]})
            message = f"there is no column `{name}`"
            self.found.append(self.places.wrong(message, "columns", name, "", hint))
        else:
            self.add(f"there is no column `{name}`", "columns", name, _listed(COLUMNS), COLUMNS)

    def values(self) -> dict[str, dict[str, str]]:
        """Returns our values by the log's, for each column."""
        found: dict[str, dict[str, str]] = {}
        for column, given in self.table("values").items():
            if not isinstance(given, dict):
                continue  # it is in the old direction, which is noted
            if column not in VALUES:
                message = f"there is no column `{column}`"
                self.add(message, f"values.{column}", "", _listed(VALUES), VALUES)
            found[column] = self._renamed(f"values.{column}", given)
        operations = self._renamed("operations", self.table("operations"))
        if operations:
            found["f"] = found.get("f", {}) | operations
        return found

    def _renamed(self, section: str, given: Mapping[str, Any]) -> dict[str, str]:
        found: dict[str, str] = {}
        for ours, theirs in given.items():
            for each in theirs if isinstance(theirs, list) else [theirs]:
                if not isinstance(each, str | int | float):
                    self.add(f"{each!r} is not a value", section, ours, "a text or a number")
                    continue
                other = found.setdefault(text_of(each), ours)
                if other != ours:
                    message = f"`{text_of(each)}` is both `{other}` and `{ours}`"
                    self.add(message, section, ours)
        return found

    def results(self) -> dict[str, str]:
        """Returns what the results of operations mean."""
        found = {}
        for name, said in self.table("results").items():
            if said in MEANINGS:
                found[name] = said
            else:
                self.add(f"{said!r} is not a meaning", "results", name, _listed(MEANINGS))
        return found

    def names(self, name: str) -> tuple[str, ...] | None:
        """Returns a list of names; ``None`` where there is none."""
        given = self.document.get(name)
        if given is None:
            return None
        if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
            self.add(f"`{name}` must be a list of texts", "", name, f'{name} = ["…", "…"]')
            return None
        return tuple(given)

    def rows(self) -> Rows | None:
        """Returns where rows are."""
        given = self.document.get("rows")
        if given is None:
            return None
        found = rows_of(given) if isinstance(given, str) else None
        if found is None:
            expected = 'lists, from the outside, such as "batches[].events[]"'
            self.add(f"{given!r} does not name rows", "", "rows", expected)
        return found

    def lines(self) -> re.Pattern[str] | None:
        """Returns what the lines are that are rows."""
        given = self.document.get("lines")
        if given is None:
            return None
        why = "it is not a text"
        try:
            if isinstance(given, str):
                found = re.compile(given)
                if found.groupindex:
                    return found
                why = "it has no named group"
        except (re.error, OverflowError, RecursionError) as problem:
            why = str(problem)
        expected = "an expression with named groups, such as '(?P<process>\\S+) (?P<kind>\\w+)'"
        self.add(f"`lines` is not a regular expression of rows: {why}", "", "lines", expected)
        return None

    def unit(self) -> int:
        """Returns the unit of times."""
        given = self.document.get("unit")
        if given is not None and given not in UNITS:
            self.add(f"{given!r} is not a unit of time", "", "unit", _listed(UNITS))
            return 0
        return 0 if given is None else UNITS[given]


def _flat(columns: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields the columns, and the parts of those that are objects by `fields.m` and its like."""
    for name, given in columns.items():
        if name in OBJECTS and isinstance(given, dict):
            yield from ((f"{name}.{part}", each) for part, each in given.items())
        else:
            yield name, given


def _listed(names: Iterable[str]) -> str:
    return "one of " + ", ".join(f"`{name}`" for name in names)


def _near(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"did you mean `{near[0]}`?" if near else ""


def used_names(paths: Iterable[Path]) -> Iterator[str]:
    """Yields the fields at the top of a row to which ``paths`` may lead."""
    for path in paths:
        names = [part for part in path.parts if isinstance(part, str)]
        yield from (".".join(names[:size]) for size in range(1, len(names) + 1))
