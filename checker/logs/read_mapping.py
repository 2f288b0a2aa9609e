"""Reads a mapping: a TOML file, all of whose mistakes are told with their places."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path as File
from typing import Any

from checker.diagnostics import Diagnostic, SpecError
from checker.logs.mapping import (
    ANY,
    COLUMNS,
    FIRST,
    LAST,
    MEANINGS,
    NO_MAPPING,
    OBJECTS,
    ORDERS,
    UNITS,
    VALUES,
    LogMapping,
    StepLines,
    text_of,
)
from checker.logs.mapping_places import CODE, Places, as_it_is_now, listed, near
from checker.logs.paths import CONST, FILE, LINE, ROW, Path, Rows, path_of, rows_of

TABLES = ("columns", "values", "operations", "results", "steps")
LISTS = ("ignored", "logged", "unlogged")
TEXTS = ("rows", "lines", "unit")


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
                self.add(f"unknown key `{key}` of a mapping", "", key, listed(known), known)
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
            self.steps(),
        )
        if made.rows is not None and made.lines is not None:
            self.add("`rows` is for JSON and `lines` for text", "", "lines", "one of them")
        if self.found:
            raise SpecError(tuple(self.found))
        return made

    def add(
        self, message: str, section: str, key: str, expected: str = "", like: Iterable[str] = ()
    ) -> None:
        """Notes what is wrong at a key of a section; ``like``: what may be meant."""
        hint = near(key, [*like])
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
            self.add(f"there is no column `{name}`", "columns", name, listed(COLUMNS), COLUMNS)

    def values(self) -> dict[str, dict[str, str]]:
        """Returns our values by the log's, for each column."""
        found: dict[str, dict[str, str]] = {}
        for column, given in self.table("values").items():
            if not isinstance(given, dict):
                continue  # it is in the old direction, which is noted
            if column not in VALUES:
                message = f"there is no column `{column}`"
                self.add(message, f"values.{column}", "", listed(VALUES), VALUES)
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
                self.add(f"{said!r} is not a meaning", "results", name, listed(MEANINGS))
        return found

    def steps(self) -> tuple[StepLines, ...]:
        """Returns which lines are one step."""
        found = [self._step(name, given) for name, given in self.table("steps").items()]
        made = tuple(each for each in found if each is not None)
        of: dict[str, str] = {}
        for each in made:
            for kind in each.lines:
                other = of.setdefault(kind, each.name)
                if other != each.name:
                    message = f"`{kind}` is a line of `{other}` and of `{each.name}`"
                    self.add(message, f"steps.{each.name}", "lines", "each kind in one of them")
        return made

    def _step(self, name: str, given: Any) -> StepLines | None:
        section, wrong = f"steps.{name}", len(self.found)
        if not isinstance(given, dict):
            self.add(f"`{name}` must be a table", "steps", name, f"a section [{section}]")
            return None
        known = ("is", "lines", "order", "state", "repeat")
        for key in given:
            if key not in known:
                self.add(f"unknown key `{key}` of a step", section, key, listed(known), known)
        step, lines, repeat = given.get("is"), given.get("lines", []), given.get("repeat", "")
        if not isinstance(step, str):
            self.add("a step must say what it `is`", section, "is", 'is = "receive APPEND"')
            return None
        if not isinstance(lines, list) or not all(isinstance(each, str) for each in lines):
            self.add("`lines` must be a list of texts", section, "lines", 'lines = ["…", "…"]')
            return None
        if not isinstance(repeat, str) or bool(lines) == bool(repeat):
            self.add("a step has either `lines` or a field to `repeat`", section, "repeat")
        self._require_lines(section, step, lines)
        order, state = given.get("order", ANY), given.get("state", LAST)
        if order not in ORDERS:
            self.add(f"{order!r} is not an order of lines", section, "order", listed(ORDERS))
        if state not in (FIRST, LAST, *lines):
            self.add(f"{state!r} is not a line", section, "state", listed((FIRST, LAST, *lines)))
        if len(self.found) > wrong:
            return None
        return StepLines(name, step, tuple(lines), order, state, repeat)

    def _require_lines(self, section: str, step: str, lines: list[str]) -> None:
        """Notes what is wrong with the kinds of lines of a step."""
        if lines and step not in lines:
            self.add(f"`{step}` must be one of the lines", section, "lines")
        if len(set(lines)) < len(lines):
            self.add("a kind is listed twice", section, "lines")
        begins = [each for each in lines if each.split()[:1] in (["receive"], ["request"])]
        if len(begins) > 1:
            self.add("a step receives one message or request", section, "lines")

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
            self.add(f"{given!r} is not a unit of time", "", "unit", listed(UNITS))
            return 0
        return 0 if given is None else UNITS[given]


def _flat(columns: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields the columns, and the parts of those that are objects by `fields.m` and its like."""
    for name, given in columns.items():
        if name in OBJECTS and isinstance(given, dict):
            yield from _parts(name, given)
        else:
            yield name, given


def _parts(whole: str, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for part, each in given.items():
        name = f"{whole}.{part}"
        if isinstance(each, dict):
            yield from _parts(name, each)
        else:
            yield name, each
