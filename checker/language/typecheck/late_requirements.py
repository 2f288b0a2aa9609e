"""Finds a `require` behind an effect of its handler, where the process may stop between the two.

A `require` that does not hold undoes all of its handler, what comes before it as well: nothing of
it happens, not even up to a crash.  Whoever means that the process may crash between the effect and
the `require` has to write it first.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics import Diagnostic
from checker.language.syntax import typed
from checker.language.syntax.stack import protocols_of

CODE = "C044"


def late_requirements(check: typed.Check) -> Iterator[Diagnostic]:
    """Yields a warning for each such `require` of the protocols of ``check``."""
    if check.crash is None and not check.pausing:
        return
    stop = "crash" if check.crash is not None else "pause"
    message = f"no process can {stop} between the effects before this `require` and the `require`"
    hint = "if it is false, none of the handler happens; write it before the first effect"
    protocols = protocols_of(check.protocol, check.given).values()
    for role in (role for p in protocols for role in p.roles):
        steps = _Steps(frozenset(state.name for state in role.states if state.stable))
        for handler in role.handlers:
            steps.visit(handler.body, False)
        for span in dict.fromkeys(stmt.span for stmt in steps.late):
            yield Diagnostic(CODE, message, span, hint=hint, severity="warning")


class _Steps:
    """Collects each `require` that is behind an effect of its step; ``stable``: the variables that
    a crash leaves."""

    def __init__(self, stable: frozenset[str]) -> None:
        self.stable = stable
        self.late: list[typed.Require] = []

    def visit(self, block: typed.Block, behind: bool) -> bool:
        """``behind``: whether an effect comes before ``block``.  Returns whether one comes before
        what follows."""
        for stmt in block:
            behind = self._after(stmt, behind)
        return behind

    def _after(self, stmt: typed.Stmt, behind: bool) -> bool:
        match stmt:
            case typed.Require():
                self.late += [stmt] * behind
            case typed.Yield() | typed.Await():
                return False
            case typed.If(_, then, otherwise):
                return self.visit(then, behind) | self.visit(otherwise, behind)
            case typed.Either(alternatives):
                return any([self.visit(body, behind) for _, body in alternatives])
            case typed.For(body=body) | typed.While(body=body):
                return self.visit((*body, *body), behind) or behind
            case typed.Inlined(body=body):
                return self.visit(body, behind)
            case typed.Atomic(body):  # one effect, whatever is inside
                return any([self._after(part, behind) for part in body])
            case typed.Sync(_, otherwise):
                return self.visit(otherwise, True)
            case typed.Assign(target):
                return behind or self._is_kept(target)
            case typed.Send() | typed.Call() | typed.Perform():
                return True
            case _:
                pass
        return behind

    def _is_kept(self, target: typed.Expr) -> bool:
        """Tells whether ``target`` is state that others read, or that a crash leaves."""
        while isinstance(target, typed.Part | typed.Entry):
            target = target.base
        return isinstance(target, typed.StateRef) and (
            target.role is None or target.name in self.stable
        )
