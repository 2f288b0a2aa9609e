"""The engine of a cluster, as the others see it: what it can do, and where its tables are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.engines import budgets
from checker.engines.capabilities import YES, Ability, Can, Feature
from checker.engines.cluster import HERE, Cluster
from checker.engines.engine import ClusterUse
from checker.engines.options import Options
from checker.engines.search_engine import REGISTERS, SearchEngine, SearchProblem
from checker.engines.valence import ValenceGraph, ValenceProblem
from checker.results.answer import Answer, Listener

if TYPE_CHECKING:
    from checker.engines.native.checkpoint.run_folder import RunFolder
    from checker.engines.native.tables.tables import MapParts

NAME = "spark"
CAPABILITIES = {
    Feature.SAFETY: YES,
    Feature.STEADY: Ability(
        Can.PARTLY,
        "prunes on the executors states that can't lie on a cycle, and reports unknown if the rest"
        " does not fit the driver",
    ),
    Feature.FOLLOWED: Ability(
        Can.PARTLY, "reports unknown if the state graph does not fit the driver"
    ),
    Feature.LARGE: REGISTERS,
    Feature.FINE_STEPS: YES,
    Feature.COVERAGE: YES,
    Feature.LIMITS: YES,
    Feature.MEMORY: Ability(
        Can.PARTLY, "divides it among the shards, and gives the driver the same limit"
    ),
    Feature.THREADS: Ability(Can.IGNORED, "has one task for each shard (`--shards`)"),
    Feature.RUNS: YES,
    Feature.TABLES: YES,
    Feature.REDUCTIONS: YES,
    Feature.COMPACT: Ability(
        Can.NO, "has no compact mode: it stores the states that its tasks share"
    ),
    Feature.VIEW: Ability(
        Can.NO,
        "finds states in no fixed order, so a `view` would keep different states in each run",
        "E049",
    ),
    Feature.CHANCE: Ability(Can.NO, "computes no probabilities: they need the state graph"),
    Feature.VALENCE: Ability(
        Can.PARTLY,
        "reports unknown if the driver lacks memory for the undecided states"
        " and for as many steps as the run has",
    ),
}


class SparkEngine(SearchEngine):
    """Explores with machine code on the executors of a cluster."""

    name = NAME
    cluster = ClusterUse.REQUIRED
    capabilities = CAPABILITIES

    def search(self, problem: SearchProblem, listener: Listener | None) -> Answer:
        """Goes on from what the run of ``problem`` holds; there has to be one."""
        from checker.engines.native.codegen.image import build
        from checker.engines.spark import driver

        system, options, run = problem.system, problem.options, problem.run
        assert run is not None
        with budgets.raising_when_exhausted():
            folder = run.open(system, build(system, problem.plan))
        return driver.explore(
            system,
            options.limits,
            options.cluster or Cluster(HERE),
            folder,
            listener,
            plan=problem.plan,
            commit_every=options.checkpoint_every,
            all_states=options.keeps_all_states,
        )

    def valence(self, problem: ValenceProblem, listener: Listener | None) -> ValenceGraph:
        """Draws words on the executors."""
        from checker.engines.spark import spark_valence

        return spark_valence.valence(problem, listener)

    def map_parts(self, options: Options, folder: RunFolder) -> MapParts:
        """Returns where tables are made: on the executors, unless they are of this machine."""
        if options.cluster is not None:
            from checker.engines.spark.masters import is_local

            if not is_local(options.cluster.master):
                from checker.engines.spark.table_pieces import OnExecutors

                return OnExecutors(options.cluster, folder)
        return super().map_parts(options, folder)


ENGINE = SparkEngine()
