"""Rows of a history, independent of the format in which it was recorded."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span, SpecError

INVOKE, OK, FAIL, INFO = "invoke", "ok", "fail", "info"
TYPES = {each: each for each in (INVOKE, OK, FAIL, INFO)}
"""What a row records: a call, or that an operation has taken effect, has not, or may have."""


class Missing:
    """The type of :data:`MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"  # the same one in every process


MISSING = Missing()
"""In place of a value that is not recorded."""


class Row(Struct, gc=False):
    """A call or a return: ``kind`` is one of :data:`TYPES`; ``key`` and ``value`` may be
    :data:`MISSING`; ``line`` counts from 1 in ``file``.

    Rows are many, and never part of a cycle of references: they are not tracked for one.

    ``call``: what an answer has in common with its call (``None``: the process); ``time``: by the
    clock of ``host``, in nanoseconds.
    """

    process: Any
    kind: str
    f: str
    key: Any
    value: Any
    file: str
    line: int
    call: Any = None
    time: int | None = None
    host: Any = MISSING

    @property
    def place(self) -> Span:
        """The location of the row."""
        return at_line(self.file, self.line)


class Arguments(Struct, frozen=True):
    """Marks arguments that are recorded as such: they are not one value."""

    values: tuple[Any, ...]


class Result(Struct, frozen=True):
    """Marks a result that is recorded as such: it does not repeat the arguments."""

    value: Any


def at_line(file: str, line: int) -> Span:
    """Returns the location of a line as a whole."""
    return Span(file, line, 1, line, 2)


def wrong(code: str, message: str, span: Span | None, hint: str = "") -> SpecError:
    """Returns an error with one diagnostic."""
    return SpecError((Diagnostic(code, message, span, hint=hint),))


def frozen(value: Any) -> Any:
    """Returns ``value`` if it is hashable, or a hashable copy: tuples for lists, sets of pairs for
    maps."""
    try:
        hash(value)
    except TypeError:
        if isinstance(value, dict):
            return frozenset((frozen(k), frozen(v)) for k, v in value.items())
        if isinstance(value, set | frozenset):
            return frozenset(map(frozen, value))
        return tuple(map(frozen, value))
    return value


def shown(value: Any) -> str:
    """Returns ``value`` as a reader knows it: ``nil``, ``[1 2]``, ``"a"``."""
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value}"'
        case tuple():
            return f"[{' '.join(map(shown, value))}]"
        case frozenset():
            return f"#{{{' '.join(sorted(map(shown, value)))}}}"
        case _:
            return str(value)
