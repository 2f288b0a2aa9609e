"""Paths to the values of a row: ``value[0]``, ``client.id``, ``attributes.message.id``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from checker.logs.content import Unreadable
from checker.logs.otlp import Malformed, attributes_of, is_attributes


class Absent:
    """The type of :data:`ABSENT`."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()
"""What a path leads to where a row does not have it."""

ROW, FILE, LINE = "@row", "@file", "@line"
"""In place of a path: the number of the row in its file, the name of the file without its suffixes,
and the number of the line in which the row begins."""
CONST = "@const "
"""Followed by a text that is the value in every row."""

_PART = re.compile(r'\.?(?:"([^"]*)"|([^\s."\[\]]+(?: [^\s."\[\]]+)*))|\[(-?\d{1,9})\]')

Part = str | int
"""A key of an object, or the place of an item in a list."""


class Entry(Struct, frozen=True):
    """A row of a log before its columns are known.

    ``scope``: the row, then the objects around it, from the inside; ``file``: its name without
    suffixes; ``line``: where it begins; ``number``: the row's, from 1 on.
    """

    scope: tuple[Mapping[Any, Any], ...]
    file: str
    line: int
    number: int

    @property
    def row(self) -> Mapping[Any, Any]:
        """The row itself."""
        return self.scope[0]


class Path(Struct, frozen=True):
    """A place in a row: its ``text``, and its ``parts``; none for ``@row`` and its like."""

    text: str
    parts: tuple[Part, ...] = ()

    @property
    def name(self) -> str:
        """The path as the name of a column; empty where it can't be one."""
        is_name = self.parts and all(isinstance(part, str) for part in self.parts)
        return ".".join(map(str, self.parts)) if is_name else ""

    def of(self, entry: Entry) -> Any:
        """Returns the value at this place of a row, or :data:`ABSENT`.

        What the row does not have is looked up in the objects around it.  Raises
        :class:`Unreadable` for attributes that are not OTLP's.
        """
        if not self.parts:
            return self._special(entry)
        try:
            for each in entry.scope:
                found = _at(each, self.parts)
                if found is not ABSENT:
                    return found
        except Malformed as problem:
            raise Unreadable(str(problem), entry.line) from None
        return ABSENT

    def _special(self, entry: Entry) -> Any:
        if self.text.startswith(CONST):
            return self.text.removeprefix(CONST)
        return {ROW: entry.number, FILE: entry.file, LINE: entry.line}[self.text]


def path_of(text: str) -> Path | None:
    """Returns the path that ``text`` is; ``None`` where it is none."""
    if text in (ROW, FILE, LINE) or (text.startswith(CONST) and text != CONST):
        return Path(text)
    parts: list[Part] = []
    at = 0
    while at < len(text):
        found = _PART.match(text, at)
        if found is None or (at == 0) == (text[at] in ".["):
            return None
        quoted, bare, place = found.groups()
        if at and place is None and text[at] != ".":
            return None
        parts.append(int(place) if place is not None else bare if quoted is None else quoted)
        at = found.end()
    if not parts or (isinstance(parts[0], str) and parts[0].startswith("@")):
        return None
    return Path(text, tuple(parts))


def _at(value: Any, parts: Sequence[Part]) -> Any:
    """Returns what ``parts`` lead to in ``value``: of an object, by the longest of its keys that is
    the beginning of them; of OTLP's attributes, by the key of one."""
    if not parts:
        return value
    if isinstance(parts[0], int):
        is_list = isinstance(value, list | tuple)
        place = parts[0]
        inside = is_list and -len(value) <= place < len(value)
        return _at(value[place], parts[1:]) if inside else ABSENT
    if isinstance(value, list) and is_attributes(value):
        value = attributes_of(value)
    if not isinstance(value, Mapping):
        return ABSENT
    if len(parts) == 1:
        return value.get(parts[0], ABSENT)
    for size in range(_names(parts), 0, -1):
        key = ".".join(map(str, parts[:size]))
        if key in value:
            found = _at(value[key], parts[size:])
            if found is not ABSENT:
                return found
    return ABSENT


def _names(parts: Sequence[Part]) -> int:
    """Returns how many of ``parts`` are names, before the first place in a list."""
    return next((at for at, part in enumerate(parts) if isinstance(part, int)), len(parts))


class Rows(Struct, frozen=True):
    """Where the rows of an object are: ``steps`` are its lists, from the outside, each a path."""

    text: str
    steps: tuple[tuple[Part, ...], ...]

    def of(self, given: Mapping[Any, Any]) -> list[tuple[Mapping[Any, Any], ...]]:
        """Returns the rows in ``given``, each with the objects around it; raises ``ValueError``
        with the name of a list whose items are no objects."""
        scopes: list[tuple[Mapping[Any, Any], ...]] = [(given,)]
        for step in self.steps:
            inner = []
            for scope in scopes:
                items = _at(scope[0], step)
                if items is ABSENT or items is None:
                    continue
                if not isinstance(items, list | tuple) or not all(
                    isinstance(item, Mapping) for item in items
                ):
                    raise ValueError(".".join(map(str, step)))
                inner += [(item, *scope) for item in items]
            scopes = inner
        return scopes


def rows_of(text: str) -> Rows | None:
    """Returns where the rows are that ``text`` names, such as ``batches[].events[]``; ``None``
    where it names nothing."""
    *steps, end = text.split("[]")
    if end or not steps or not all(step.startswith(".") for step in steps[1:]):
        return None
    paths = [path_of(step.removeprefix(".") if at else step) for at, step in enumerate(steps)]
    if not all(path is not None and path.parts for path in paths):
        return None
    return Rows(text, tuple(path.parts for path in paths if path is not None))


def used_names(paths: Iterable[Path]) -> Iterator[str]:
    """Yields the fields at the top of a row to which ``paths`` may lead."""
    for path in paths:
        names = [part for part in path.parts if isinstance(part, str)]
        yield from (".".join(names[:size]) for size in range(1, len(names) + 1))
