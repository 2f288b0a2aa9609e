"""The spark engine: the same native code on the executors of a Spark cluster, exact.

``cluster`` is the configuration; ``java`` and ``session`` open the session, ``probe`` tests the
executors' installation; ``driver`` coordinates the run; ``job`` is the input of every task.

States are divided among shards by their fingerprints (:mod:`checker.exploration.shard`).  They are
exchanged in one of two ways: ``barrier``, a stage whose tasks are connected (``mesh``), or
``shuffle``, jobs of a few levels each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.reductions.reduction_plan import NOTHING, ReductionPlan

if TYPE_CHECKING:
    from checker.engines.spark.cluster import Cluster
    from checker.exploration.run_folder import RunFolder
    from checker.system.ir import TransitionSystem
    from checker.witness.answer import Answer, Limits, Listener


def explore(
    system: TransitionSystem,
    limits: Limits,
    cluster: Cluster,
    folder: RunFolder,
    listener: Listener | None = None,
    *,
    plan: ReductionPlan = NOTHING,
    commit_every: float = 30.0,
    all_states: bool = False,
) -> Answer:
    """Runs :func:`checker.engines.spark.driver.explore`, which is imported where it is needed."""
    from checker.engines.spark import driver

    return driver.explore(
        system,
        limits,
        cluster,
        folder,
        listener,
        plan=plan,
        commit_every=commit_every,
        all_states=all_states,
    )
