"""Reads how the names of a history become those of an object (TOML), and initial operations."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.histories.edn import value_of
from checker.histories.rows import frozen
from checker.logs.content import Unreadable

FAIL_FALSE, OK_TRUE, NIL_UNKNOWN = "fail means false", "ok means true", "nil is unknown"
MEANINGS = (FAIL_FALSE, OK_TRUE, NIL_UNKNOWN)
"""What a mapping can say of the results of an operation."""
COLUMNS = ("process", "type", "f", "key", "value")
"""The fields of a row."""


class HistoryMapping(Struct, frozen=True):
    """Names in a history, and what they stand for.

    ``columns``: paths to the fields of a row, by our names; ``operations``: the object's
    operations, by the history's names; ``results``: what results mean, by the history's names of
    operations; ``ignored``: operations to skip.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    operations: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    def meaning(self, said: str) -> frozenset[str]:
        """Returns the operations of whose results the mapping says so."""
        return frozenset(name for name, given in self.results.items() if given == said)


def read_mapping(file: str | None) -> HistoryMapping:
    """Returns the mapping in ``file``; raises :class:`SpecError` (E086)."""
    if file is None:
        return HistoryMapping()
    try:
        document = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as problem:
        raise _wrong(file, f"the mapping can't be read: {problem.strerror or problem}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise _wrong(file, f"the mapping is not TOML: {problem}") from None
    _require(file, document, ("columns", "operations", "results", "ignored"), "a mapping")
    tables = {name: document.get(name, {}) for name in ("columns", "operations", "results")}
    for name, table in tables.items():
        if not isinstance(table, dict) or not all(isinstance(v, str) for v in table.values()):
            raise _wrong(file, f"`{name}` must be a table of strings")
    _require(file, tables["columns"], COLUMNS, "[columns]")
    for name, said in tables["results"].items():
        if said not in MEANINGS:
            raise _wrong(file, f"`{name}` of [results] is `{said}`", MEANINGS)
    ignored = document.get("ignored", [])
    if not isinstance(ignored, list) or not all(isinstance(name, str) for name in ignored):
        raise _wrong(file, "`ignored` must be a list of operations")
    return HistoryMapping(**tables, ignored=tuple(ignored))


def _require(file: str, given: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if key not in known:
            raise _wrong(file, f"{where} has no `{key}`", known)


def _wrong(file: str, message: str, expected: tuple[str, ...] = ()) -> SpecError:
    listed = ", ".join(f"`{name}`" for name in expected)
    return SpecError((Diagnostic("E086", f"{file}: {message}", None, listed),))


class Initial(Struct, frozen=True):
    """An operation that took effect before a history began."""

    name: str
    arguments: tuple[Any, ...]

    @property
    def place(self) -> Span:
        """The location of the option."""
        option = f"--initial {self.name}"
        return Span(option, 0, 11, 0, len(option) + 1)


def read_initial(text: str) -> Initial:
    """Returns the operation that ``text`` is, such as ``write(0)``; raises :class:`SpecError`
    (E095)."""
    found = re.fullmatch(r"\s*([\w-]+)\s*\((.*)\)\s*", text, re.S)
    try:
        if found is None:
            raise Unreadable("not an operation")
        arguments = frozen(value_of(f"[{found[2]}]", 0))
    except Unreadable:
        option = f"--initial {text}"
        span = Span(option, 0, 11, 0, len(option) + 1)
        message = "this is not an operation with its arguments"
        raise SpecError((Diagnostic("E095", message, span, hint="such as `write(0)`"),)) from None
    return Initial(found[1], arguments)
