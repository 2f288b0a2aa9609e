"""The error of an execution that the interpreter rejects."""

from __future__ import annotations


class ReplayMismatch(Exception):
    """An engine's execution is not one of the system: a bug of the tool, never a trace."""
