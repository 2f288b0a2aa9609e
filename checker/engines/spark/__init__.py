"""The spark engine: the same native code on the executors of a Spark cluster, exact.

``cluster`` says where; ``java`` and ``session`` get there, ``probe`` looks whether everything that
is needed is there, too; ``driver`` makes the run; ``job`` is what every task is given.

States are divided among shards by their fingerprints (:mod:`checker.exploration.shard`).  They get
from one to another in one of two ways: ``barrier``, a stage whose tasks talk to one another
(``mesh``), or ``shuffle``, a job for each level.
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
    """See :func:`checker.engines.spark.driver.explore`, which is loaded where it is needed."""
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
