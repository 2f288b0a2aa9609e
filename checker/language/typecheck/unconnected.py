"""Finds checks whose protocol waits for the end of connections that it does not have."""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics import Diagnostic
from checker.language.syntax import typed
from checker.language.syntax.stack import protocols_of

CODE = "C043"


def never_disconnected(check: typed.Check) -> Iterator[Diagnostic]:
    """Yields a warning where a handler of ``check`` is for connections that break, and no link is a
    connection."""
    if any(kind.connects for kind in check.link_kinds):
        return
    protocols = protocols_of(check.protocol, check.given).values()
    handlers = (handler for p in protocols for role in p.roles for handler in role.handlers)
    if any(isinstance(handler.event, typed.OnDisconnected) for handler in handlers):
        message = "`upon disconnected` never runs here: no link is `connected`"
        hint = "write `links connected`, and `faults reset <= 1` or `crash <= 1`"
        yield Diagnostic(CODE, message, check.span, hint=hint, severity="warning")
