"""Finds `stable` and `upon recover` where no process recovers, and so neither has an effect.

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

CODE = "C017"


def without_effect(check: typed.Check, asked: Iterable[typed.PropertyDef]) -> Iterator[Diagnostic]:
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
                yield Diagnostic(CODE, message, check.span, hint=hint, severity="warning")
