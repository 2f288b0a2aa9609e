"""Changes of one value in a log: the fewer of them are noticed, the more a mapping leaves free."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from checker.conform.lines import MARKS
from checker.conform.read_log import Log, Row
from checker.records import replace

PLACES = ("from", "receivers", "to", "msg", "sender", "fields", "arguments", "state")
"""The columns of a log line in which a value may be changed."""

Path = tuple[str | int, ...]


class Change(Struct, frozen=True):
    """A log with one value changed: ``rows`` are those of ``process``, the one at ``index``
    included."""

    process: str
    index: int
    rows: list[Row]


def changes(log: Log, seed: int) -> Iterator[Change]:
    """Yields logs that differ from ``log`` in one value, drawn from ``seed``, without end.

    All values are equally likely.  A value becomes one that the log has elsewhere in such a place,
    or else the next number or the other truth value.  Yields nothing if no value can be changed.
    """
    draw = random.Random(seed)
    found = [
        (process, index, path, value)
        for process, rows in log.rows.items()
        for index, row in enumerate(rows)
        if row.kind in MARKS
        for path, value in _values(row.data)
    ]
    alike: dict[Path, dict[str, Any]] = {}
    for _, _, path, value in found:
        alike.setdefault(_place(path), {})[repr(value)] = value
    others = [_others(value, alike[_place(path)]) for _, _, path, value in found]
    found = [each for each, other in zip(found, others, strict=True) if other]
    others = [other for other in others if other]
    while found:
        number = draw.randrange(len(found))
        process, index, path, _ = found[number]
        rows = list(log.rows[process])
        data = _with(rows[index].data, path, draw.choice(others[number]))
        rows[index] = replace(rows[index], data=data)
        yield Change(process, index, rows)


def _values(data: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    for name in PLACES:
        if name in data:
            yield from _inside((name,), data[name])


def _inside(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    """Yields the numbers, truth values and texts in a value, with the ways to them."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _inside((*path, name), part)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _inside((*path, number), part)
    elif isinstance(value, bool | int | str) and value != "_":
        yield path, value


def _place(path: Path) -> Path:
    """Returns a path without the positions of items in lists."""
    return tuple("" if isinstance(part, int) else part for part in path)


def _others(value: Any, alike: Mapping[str, Any]) -> list[Any]:
    """Returns the values that may replace ``value``."""
    found = [other for other in alike.values() if type(other) is type(value) and other != value]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return found or [value + 1]
    return found


def _with(whole: Any, path: Path, value: Any) -> Any:
    """Returns ``whole`` with ``value`` at ``path``."""
    if not path:
        return value
    first, *rest = path
    changed = _with(whole[first], tuple(rest), value)
    if isinstance(whole, list):
        return [changed if number == first else part for number, part in enumerate(whole)]
    return {**whole, first: changed}
