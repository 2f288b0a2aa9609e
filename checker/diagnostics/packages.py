"""Packages that not every installation has: those of the extra ``arrow``."""

from __future__ import annotations

from importlib.util import find_spec

from checker.diagnostics import Diagnostic, SpecError
from checker.resources import install_command

OF_ARROW = ("numpy", "pyarrow")
"""The packages of the extra ``arrow``."""


def lacking(package: str) -> SpecError:
    """Returns the error (E130) that ``package``, which is one of ``OF_ARROW``, is missing."""
    hint = f"run `{install_command('arrow')}`"
    message = f"audits, tables and checkpoints need a missing package: {package}"
    return SpecError((Diagnostic("E130", message, hint=hint),))


def require_arrow() -> None:
    """Raises :class:`SpecError` (E130) where a package of the extra ``arrow`` is missing."""
    for package in OF_ARROW:
        if find_spec(package) is None:
            raise lacking(package)
