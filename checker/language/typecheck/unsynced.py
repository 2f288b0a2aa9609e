"""Finds checks in which the power fails although no protocol ever syncs what it stores."""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics import Diagnostic
from checker.language.syntax import typed
from checker.language.syntax.stack import protocols_of
from checker.language.syntax.walk import nodes_of

CODE = "C025"


def never_synced(check: typed.Check) -> Iterator[Diagnostic]:
    """Yields a warning where the power may fail in ``check`` and there is stable state, none of
    which is synced."""
    if check.power is None:
        return
    protocols = protocols_of(check.protocol, check.given).values()
    stable = [s for p in protocols for role in p.roles for s in role.states if s.stable]
    handlers = tuple(role.handlers for p in protocols for role in p.roles)
    syncs = any(isinstance(node, typed.Sync) and node.states for node in nodes_of(handlers))
    if stable and not syncs and not any(state.synced for state in stable):
        message = "the power may fail, and nothing that is stored is ever synced"
        hint = "write `sync v` before what relies on `v`, or declare `stable synced state v`"
        yield Diagnostic(CODE, message, check.span, hint=hint, severity="warning")
