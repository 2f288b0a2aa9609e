"""Diagnostics: what is wrong with an input, with a code, a place and a message."""

from __future__ import annotations

from msgspec import Struct

from checker.records import replace


class Span(Struct, frozen=True):
    """A range of a source file; lines and columns count from 1, ``end`` is just behind it.

    Line 0: ``file`` is no file but an option of the command line, in whose text the columns are.
    ``called``: of what stands in a definition, where that is called.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    called: Span | None = None

    @property
    def caller(self) -> Span:
        """Where the outermost call that leads here stands; itself outside of definitions."""
        return self if self.called is None else self.called.caller

    def called_at(self, call: Span) -> Span:
        """Returns this range in a definition that is called at ``call``."""
        inner = call if self.called is None else self.called.called_at(call)
        return replace(self, called=inner)


def option_span(option: str, name: str, value: str) -> Span:
    """Returns the place of ``name=value``, given behind ``option`` on the command line."""
    text = f"{option} {name}={value}"
    return Span(text, 0, len(option) + 2, 0, len(text) + 1)


class Diagnostic(Struct, frozen=True):
    """One error or warning: a stable ``code``, where, what, and what would be right.

    ``expected`` and ``hint`` are empty or a sentence each.  ``severity`` is ``error``, or
    ``warning`` for what is possible and is hardly intended.
    """

    code: str
    message: str
    span: Span | None = None
    expected: str = ""
    hint: str = ""
    severity: str = "error"


class SpecError(Exception):
    """The user's input can't be used; holds every diagnostic that was found (exit code 2)."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(d.message for d in diagnostics))
        self.diagnostics = diagnostics
