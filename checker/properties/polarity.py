"""Checks in which positions of an invariant `correct` can be evaluated in a single state."""

from __future__ import annotations

from collections.abc import Callable

from checker.diagnostics import SpecError
from checker.instantiate.faults import role_bounds
from checker.instantiate.oracles import crash_prophecy
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.world import World
from checker.language.syntax import typed
from checker.model.build import conj, disj
from checker.model.ir import Expr


def may_be_correct(world: World) -> Callable[[Expr], Expr]:
    """Returns the predicate that a process may be correct, given past and predicted faults."""

    def may_be(process: Expr) -> Expr:
        now = world.correct(process)
        if world.recovers:
            up = disj(role_bounds.may_recover(world, process), world.alive(process))
            now = conj(world.reliable(process), up)
        return conj(now, crash_prophecy.is_spared(world, process))

    return may_be


def stands_in_premise_only(world: World, expr: typed.Expr) -> bool:
    """Tells whether `correct` occurs in premises of ``expr`` only; see :func:`check`."""
    try:
        check(world, expr, True)
    except SpecError:
        return False
    return True


def mentions_correct(expr: typed.Expr) -> bool:
    """Tells whether `correct(p)` occurs in ``expr``."""
    return any(isinstance(n, typed.Correct) and n.kind == "correct" for n in nodes(expr))


def check(world: World, expr: typed.Expr, positive: bool) -> None:
    """Checks that ``correct`` occurs in premises only: a state does not determine it elsewhere.

    Raises :class:`SpecError` (N212) where it occurs elsewhere.
    """
    if not (world.crash_bound or world.bound(world.check.omission)) or not mentions_correct(expr):
        return
    match expr:
        case typed.Correct(span=span):
            if positive:
                message = "in an `always` formula, `correct` is allowed only in a premise"
                raise refuse("N212", message, span, "use `~>`, or `crashed(p)`")
        case typed.Operation(_, "not", (arg,), _):
            check(world, arg, not positive)
        case typed.Operation(_, "=>", (left, right), _):
            check(world, left, not positive)
            check(world, right, positive)
        case typed.Operation(_, "and" | "or", args, _):
            for arg in args:
                check(world, arg, positive)
        case typed.Quantified(_, kind, binders, body, _):
            for binder in binders:
                if binder.where is not None:
                    check(world, binder.where, positive == (kind == "exists"))
            check(world, body, positive)
        case typed.Temporal(_, _, args, _):
            for arg in args:
                check(world, arg, positive)
        case _:
            message = "in an `always` formula, `correct` is not allowed here"
            raise refuse("N212", message, expr.span, "move it to the premise of `=>`")
