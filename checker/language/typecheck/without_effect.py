"""Finds what has no effect in the world of a check: handlers, stable state, failures of the power.

A crash right before or after an assignment to stable storage differs from others if a process
recovers, or if a formula reads the variable of a process that is down.  Of a variable that no
formula reads, a system in which no process recovers is the same with `stable` and without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checker.diagnostics import Diagnostic
from checker.language.syntax import typed
from checker.language.syntax.stack import protocols_of
from checker.language.syntax.walk import nodes_of

NOT_RECOVERED, NOT_SYNCED, NOT_CONNECTED = "C017", "C025", "C043"


def never_recovered(check: typed.Check, asked: Iterable[typed.PropertyDef]) -> Iterator[Diagnostic]:
    """Yields warnings about ``check``, which checks the properties ``asked`` and its own."""
    if not check.crash or check.recover:
        return
    formulas = (tuple(asked), check.prove, check.bounds, check.view, check.chance)
    read = {node.name for node in nodes_of(formulas) if isinstance(node, typed.StateRef)}
    hint = "write `faults crash <= 1, recover` if processes should recover"
    for name, protocol in protocols_of(check.protocol, check.given).items():
        for role in protocol.roles:
            stable = [f"`{s.name}`" for s in role.states if s.stable and s.name not in read]
            unused = [f"`stable` of {', '.join(stable)}"] if stable else []
            if any(isinstance(h.event, typed.OnRecover) for h in role.handlers):
                unused.append("`upon recover`")
            for each in unused:
                message = f"no process recovers here: {each} in `{name}` has no effect"
                yield Diagnostic(NOT_RECOVERED, message, check.span, hint=hint, severity="warning")


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
        yield Diagnostic(NOT_SYNCED, message, check.span, hint=hint, severity="warning")


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
        yield Diagnostic(NOT_CONNECTED, message, check.span, hint=hint, severity="warning")
