"""Reads the operations that took effect before a history began."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.histories.edn import value_of
from checker.histories.rows import frozen
from checker.logs.content import Unreadable


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
