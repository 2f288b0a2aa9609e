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
    "leaves it unknown: it answers safety (what must hold in every state), not liveness",
)
CAPABILITIES = {
    Feature.SAFETY: Ability(
        Can.PARTLY, "looks at runs of up to `--depth` steps (10 where it is not given)"
    ),
    Feature.STEADY: _SAFETY_ONLY,
    Feature.FOLLOWED: _SAFETY_ONLY,
    Feature.LARGE: Ability(
        Can.PARTLY, "refuses sets and bags with too many possible members to give each a bit"
    ),
    Feature.FINE_STEPS: YES,
    Feature.COVERAGE: Ability(
        Can.NO, "sees single runs, and so does not know what is never reached"
    ),
    Feature.LIMITS: Ability(
        Can.PARTLY, "counts no states: it does not observe `--max-states`, only the others"
    ),
    Feature.MEMORY: Ability(Can.IGNORED, "does not observe a limit of memory"),
    Feature.THREADS: Ability(Can.IGNORED, "has one thread"),
    Feature.RUNS: Ability(Can.NO, "keeps no runs", "E016"),
    Feature.TABLES: Ability(Can.NO, "has no states to make tables of", "E037"),
    Feature.REDUCTIONS: Ability(Can.IGNORED, "looks at everything as it is"),
    Feature.COMPACT: Ability(Can.NO, "has no compact mode: it keeps no states at all"),
    Feature.VIEW: Ability(
        Can.IGNORED, "takes no states for one: it asks for all runs, whatever a `view` says"
    ),
    Feature.CHANCE: Ability(Can.NO, "keeps no states, and so no probabilities of them"),
    Feature.VALENCE: Ability(Can.NO, "keeps no states, and so no valence of them"),
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
