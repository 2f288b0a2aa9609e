"""Diagnostics: what is wrong with an input, with a code, a place and a message."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Span:
    """A range of a source file; lines and columns count from 1, ``end`` is just behind it.

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


@dataclass(frozen=True, slots=True)
class Diagnostic:
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
