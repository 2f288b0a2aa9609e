"""The mapping of a log: how its names become those of the spec, and what it leaves out (TOML)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, Span, SpecError

TABLES = ("fields", "kinds", "processes", "messages", "names", "variables", "values")
LISTS = ("logged", "unlogged", "ignored")


class NameMapping(Struct, frozen=True):
    """Renamings, each from a text of the log to one of the spec.

    ``fields``: of the lines' own fields, such as ``node`` for ``process``; ``names``: of handlers,
    requests, indications and timers.  ``logged``: all that is logged (``None``: what occurs);
    ``unlogged``: what may happen although the log does not say so, besides what never occurs;
    ``ignored``: kinds of lines that are passed over.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    processes: Mapping[str, str] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    logged: tuple[str, ...] | None = None
    unlogged: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def value(self, text: str) -> str:
        """Returns what a text of the log is in the spec: a process, a message, a field or any
        other value."""
        for table in (self.values, self.processes, self.messages):
            if text in table:
                return table[text]
        return text


NOTHING_RENAMED = NameMapping()


def read_mapping(path: str) -> NameMapping:
    """Reads the mapping in the file ``path``; raises :class:`SpecError` (E076)."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as problem:
        raise _wrong(path, problem.strerror or str(problem)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise _wrong(path, f"this is not TOML: {problem}") from None
    given: dict[str, Any] = {}
    for name, value in data.items():
        if name in TABLES:
            given[name] = _table(path, name, value)
        elif name in LISTS:
            given[name] = _texts(path, name, value)
        else:
            known = ", ".join((*TABLES, *LISTS))
            raise _wrong(path, f"unknown key `{name}` of a mapping: known are {known}", text, name)
    return NameMapping(**given)


def _table(path: str, name: str, value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise _wrong(path, f"`{name}` must be a table from names in the log to names in the spec")
    return {str(key): str(renamed) for key, renamed in value.items()}


def _texts(path: str, name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise _wrong(path, f'`{name}` must be a list of strings, such as ["receive", "send VOTE"]')
    return tuple(value)


def _wrong(path: str, message: str, text: str = "", name: str = "") -> SpecError:
    lines = enumerate(text.split("\n"), 1)
    line = next((n for n, each in lines if name and each.lstrip("[ ").startswith(name)), 1)
    return SpecError((Diagnostic("E076", message, Span(path, line, 1, line, 2)),))
