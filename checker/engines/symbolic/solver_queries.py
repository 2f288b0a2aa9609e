"""Solver queries within a budget; Ctrl-C interrupts them at once."""

from __future__ import annotations

import time

import z3
from msgspec import Struct, field

from checker.engines import budgets
from checker.polling import poll


class GaveUp(Exception):
    """The solver, or the time, ended before the query was answered; the message is the reason."""


class QueryBudget(Struct):
    """A budget in seconds, shared by all queries that receive it (``None``: unlimited)."""

    seconds: float | None = None
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds_spent(self) -> float:
        """Returns the seconds since the start."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float | None:
        """Returns the seconds that are left, at least 0."""
        return None if self.seconds is None else max(self.seconds - self.seconds_spent, 0.0)

    @property
    def milliseconds(self) -> int | None:
        """Returns the time that is left for z3, rounded up: when z3 gives up, it is over."""
        left = self.seconds_left
        return None if left is None else int(left * 1000) + 2

    def share(self, part: float) -> QueryBudget:
        """Returns a budget of ``part`` (0 to 1) of what is left of this one."""
        left = self.seconds_left
        return QueryBudget(None if left is None else left * part)

    def look(self) -> None:
        """Raises :class:`GaveUp` where nothing is left."""
        poll()
        if self.seconds_left is not None and self.seconds_left <= 0.0:
            raise GaveUp(f"its time limit of {self.seconds:.3g} s was reached")


def ask(solver: z3.Solver, clock: QueryBudget, *assumptions: z3.ExprRef) -> bool:
    """Returns whether the assertions of ``solver`` are satisfiable together with ``assumptions``.

    Raises :class:`GaveUp` with the reason where that is not known within the time, and
    ``KeyboardInterrupt``.
    """
    clock.look()
    if (limit := clock.milliseconds) is not None:
        solver.set("timeout", limit)
    found = solver.check(*assumptions)
    if found == z3.sat:
        return True
    if found == z3.unsat:
        return False
    budgets.raise_if_interrupted()
    reason = solver.reason_unknown()
    if not solver.num_scopes():
        _begin_anew(solver)
    clock.look()
    raise GaveUp(f"z3 gave up: {reason}")


def _begin_anew(solver: z3.Solver) -> None:
    """Makes ``solver`` forget all but its assertions.

    Where z3 was ended in the midst of taking them in, it goes on without some of them, and its next
    model need not satisfy those.
    """
    assertions = solver.assertions()
    solver.reset()
    solver.add(assertions)


def plain_solver() -> z3.Solver:
    """Returns an incremental solver for Booleans and bit vectors that shares nothing with another.

    It leaves signals to :mod:`checker.engines.symbolic.interruptible`.
    """
    solver = z3.SolverFor("QF_BV")
    solver.set("ctrl_c", False)
    return solver
