"""Checks of the library and of small specs, made ready for stepping."""

from __future__ import annotations

from checker.lang import typed
from checker.lang.load import load_text
from checker.pipeline import Options, open_check
from checker.stepping.opened import Opened
from checker.witness.trace import Header


def library(name: str, fine: bool = False) -> Opened:
    """``broadcast/eager_reliable.bcast::crash_one`` and the like."""
    path, _, check = name.partition("::")
    return open_check(f"specs/{path}", check, Options(fine_steps=fine))


def spec(text: str) -> Opened:
    """The first check of ``text``."""
    return of(load_text(text, "example.bcast").checks[0])


def of(check: typed.Check) -> Opened:
    """``check`` as it is written."""
    return Opened(check, {}, lambda made: Header("0", "example.bcast", check.name))
