"""Refuses to prove what a check does not ask of all states."""

from __future__ import annotations

from typing import NoReturn

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.language.syntax import typed
from checker.language.typecheck.all_sizes import NO_PROOF


def require_provable(check: typed.Check) -> None:
    """Raises :class:`SpecError` (C031) where ``check`` leaves out states."""
    for bound in check.bounds:
        _refuse(f"`bound {bound.text}`", bound.span)
    if check.view is not None:
        _refuse(f"`view {check.view.text}`", check.view.span)


def _refuse(clause: str, span: Span) -> NoReturn:
    hint = "`bivalence check` decides which properties hold within it"
    raise SpecError((Diagnostic("C031", NO_PROOF.format(clause), span, hint=hint),))
