"""The error of a run whose folder can't be written."""

from __future__ import annotations


class CannotKeep(Exception):
    """The folder can't be written any more; the message says why."""
