"""Tests whether the solver that proofs are made with is installed."""

from __future__ import annotations

import importlib

from checker.diagnostics import Diagnostic, SpecError

MODULE = "z3"


def require_solver() -> None:
    """Raises :class:`SpecError` (E041) where z3 is not installed, or can't be loaded."""
    try:
        importlib.import_module(MODULE)
    except ModuleNotFoundError:
        raise _missing("z3 is not installed") from None
    except Exception as why:  # its library is not there, or is another machine's
        reason = " ".join(f"{type(why).__name__}: {why}".split())
        raise _missing(f"z3 can't be loaded ({reason})") from None


def _missing(message: str) -> SpecError:
    hint = "run `pip install z3-solver`; `bivalence check` works without it"
    return SpecError((Diagnostic("E041", message, hint=hint),))
