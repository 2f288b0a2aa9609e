"""Refuses to prove what a check does not ask of all states."""

from __future__ import annotations

from checker.diagnostics import Diagnostic, SpecError
from checker.language.syntax import typed
from checker.language.typecheck.all_sizes import NO_PROOF


def require_provable(check: typed.Check) -> None:
    """Raises :class:`SpecError` (C031) where ``check`` leaves out states."""
    for bound in check.bounds:
        hint = "`bivalence check` decides what holds within it"
        message = NO_PROOF.format(f"`bound {bound.text}`")
        raise SpecError((Diagnostic("C031", message, bound.span, hint=hint),))
