"""The symbolic engine as the others see it: bounded model checking, where z3 is installed."""

from __future__ import annotations

from checker.engines import budgets
from checker.engines.capabilities import YES, Ability, Can, Feature
from checker.engines.engine import ClusterUse, Engine, Problem
from checker.engines.solver import require_solver
from checker.results.answer import Answer, Listener

NAME = "symbolic"
_SAFETY_ONLY = Ability(
    Can.PARTLY,
    "reports unknown: it decides safety (state predicates), not liveness",
)
CAPABILITIES = {
    Feature.SAFETY: Ability(Can.PARTLY, "explores runs of up to `--depth` steps (10 by default)"),
    Feature.STEADY: _SAFETY_ONLY,
    Feature.FOLLOWED: _SAFETY_ONLY,
    Feature.LARGE: Ability(
        Can.PARTLY, "rejects sets and bags with too many possible members for one bit each"
    ),
    Feature.FINE_STEPS: YES,
    Feature.COVERAGE: Ability(
        Can.NO, "finds single runs, so it does not know which parts are never reached"
    ),
    Feature.LIMITS: Ability(
        Can.PARTLY, "counts no states: it observes all limits but `--max-states`"
    ),
    Feature.MEMORY: Ability(Can.IGNORED, "ignores the memory limit"),
    Feature.THREADS: Ability(Can.IGNORED, "uses one thread"),
    Feature.RUNS: Ability(Can.NO, "saves no runs", "E016"),
    Feature.TABLES: Ability(Can.NO, "stores no states to write tables from", "E037"),
    Feature.REDUCTIONS: Ability(Can.IGNORED, "applies no reductions"),
    Feature.COMPACT: Ability(Can.NO, "has no compact mode: it stores no states"),
    Feature.VIEW: Ability(Can.IGNORED, "ignores a `view`: it considers all runs"),
    Feature.CHANCE: Ability(Can.NO, "stores no states, so it computes no probabilities"),
    Feature.VALENCE: Ability(Can.NO, "stores no states, so it computes no valence"),
}


class SymbolicEngine(Engine):
    """Asks z3 for executions of bounded length."""

    name = NAME
    cluster = ClusterUse.IGNORED
    unrolls = True
    capabilities = CAPABILITIES

    def explore(self, problem: Problem, listener: Listener | None) -> Answer:
        """Raises also :class:`checker.diagnostics.SpecError` (E041) where there is no z3."""
        options = problem.options
        with budgets.raising_when_exhausted():
            require_solver()
            from checker.engines.symbolic import bounded

            return bounded.explore(
                problem.system,
                options.limits,
                depth=options.limits.max_depth,
                listener=listener,
                query_seconds=options.query_timeout,
            )


ENGINE = SymbolicEngine()
