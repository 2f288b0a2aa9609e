"""Checks of the library and of small specs, made ready for stepping."""

from __future__ import annotations

from checker.language.load import load_text
from checker.language.syntax import typed
from checker.results.trace import Header
from checker.session.pipeline import Options, open_check
from checker.simulate.prepared_check import PreparedCheck


def library(name: str, fine: bool = False) -> PreparedCheck:
    """``broadcast/eager_reliable.bcast::crash_one`` and the like."""
    path, _, check = name.partition("::")
    return open_check(f"specs/{path}", check, Options(fine_steps=fine))


def spec(text: str) -> PreparedCheck:
    """The first check of ``text``."""
    return of(load_text(text, "example.bcast").checks[0])


def of(check: typed.Check) -> PreparedCheck:
    """``check`` as it is written."""
    return PreparedCheck(check, {}, lambda made: Header("0", "example.bcast", check.name))
