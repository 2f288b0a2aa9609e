"""Trace documents that a user names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.witness.trace import Trace


def load(path: str) -> Trace:
    """The trace in the file ``path`` (``-`` is stdin).

    Raises :class:`checker.diagnostics.SpecError` where it is none, and a usage error where there
    is no such file.
    """
    from checker.cli.say import read
    from checker.witness.json_format import trace_from_text

    return trace_from_text(read(path), path)
