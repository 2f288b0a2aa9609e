"""Queries to z3 about threshold automata: one by one, counted, each with its time limit."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import TypeAlias

import z3
from msgspec import Struct

from checker.engines import budgets

FOREVER = 0xFFFFFFFF
"""The value by which z3 has no time limit, in milliseconds."""


class Unanswered(Struct, frozen=True):
    """z3 gave up: the reason, as a part of a sentence."""

    reason: str


Answer: TypeAlias = z3.ModelRef | Unanswered | None
"""A model, or ``None`` where there is none, or that z3 gave up."""


class SolverQueries(Struct):
    """The time limit ``seconds`` of each query (``None``: unlimited), and the totals of all."""

    seconds: float | None = None
    queries: int = 0
    spent: float = 0.0

    def solver(self, assertions: Iterable[z3.BoolRef], seed: int = 0) -> z3.Solver:
        """Returns a solver of linear integer arithmetic with the assertions ``assertions``."""
        solver = z3.SolverFor("QF_LIA")
        solver.set("random_seed", seed)
        solver.set("ctrl_c", False)  # it would take the signal away from Python
        solver.add(*assertions)
        return solver

    def ask(self, solver: z3.Solver, *further: z3.BoolRef, limit: float | None = None) -> Answer:
        """Checks the solver's assertions together with ``further``; ``limit``: a time limit, if it
        is less.

        Raises ``KeyboardInterrupt`` where the user has interrupted it, as z3 itself does not.
        """
        limits = [each for each in (self.seconds, limit) if each is not None]
        shortest = min(limits, default=None)
        solver.set("timeout", FOREVER if shortest is None else max(1, int(shortest * 1000)))
        started = perf_counter()
        self.queries += 1
        solver.push()
        try:
            solver.add(*further)
            found = solver.check()
            if found == z3.sat:
                return solver.model()
            if found == z3.unsat:
                return None
            budgets.raise_if_interrupted()
            return Unanswered(_reason(solver.reason_unknown(), shortest))
        except z3.Z3Exception as failure:
            return Unanswered(f"z3 failed: {failure}")
        finally:
            solver.pop()
            self.spent += perf_counter() - started


def _reason(said: str, seconds: float | None) -> str:
    if "interrupted" in said:
        raise KeyboardInterrupt
    if said in ("timeout", "canceled") and seconds is not None:
        return f"z3 had no answer within {seconds:g} s"
    return f"z3 gave up: {said}"
