"""Runs the cells of a plan: in processes of this machine, or on the executors of a cluster."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import replace

from checker.engines.cluster import Cluster
from checker.engines.registry import needs_cluster, resolved_name
from checker.extensions.tables import DEFAULT
from checker.session.pipeline import Options
from checker.sweep.cells import CellOutcome, Status, lost_cell, run_cell
from checker.sweep.local import Pool, PoolListener, Work
from checker.sweep.sweep_plan import SweepPlan

ROOM = 0.8
"""The part of the available memory that all cells that run at a time may take together."""


def for_each_cell(options: Options, jobs: int) -> Options:
    """Returns ``options`` of one of ``jobs`` parallel cells: one thread, a share of the memory."""
    limits, engine = options.limits, options.engine
    if options.cluster is None:
        limits = replace(limits, memory=share_of_memory(options, jobs))
    return replace(
        options,
        engine=DEFAULT if needs_cluster(engine) else resolved_name(engine),
        threads=options.threads or 1,
        limits=limits,
        cluster=None,
    )


def share_of_memory(options: Options, jobs: int) -> int:
    """Returns the memory in bytes that each of ``jobs`` parallel searches may take."""
    from checker.engines.native.search.memory import available_memory

    return options.limits.memory or int(available_memory() * ROOM) // jobs


def jobs_for(threads: int | None) -> int:
    """Returns how many cells run at a time: one for each available processor."""
    return max(1, (os.cpu_count() or 1) // (threads or 1))


def run(
    plan: SweepPlan, jobs: int, cluster: Cluster | None, listener: PoolListener | None = None
) -> Generator[CellOutcome]:
    """Yields the outcome of each task of ``plan``, in the order in which they finish.

    Without a ``cluster``, ``jobs`` processes of this machine run the tasks.  Raises
    :class:`SpecError` where the cluster can't be reached.  Closing the iterator ends what still
    runs.
    """
    if not plan.tasks:
        return
    if cluster is not None:
        yield from _on_spark(plan, cluster, listener)
        return
    with Pool(min(jobs, len(plan.tasks)), Work(run_cell, lost_cell)) as pool:
        yield from pool.run(plan.tasks, listener)


def _on_spark(
    plan: SweepPlan, cluster: Cluster, listener: PoolListener | None
) -> Iterator[CellOutcome]:
    from checker.engines.spark.fan_out import ItemFailure, fan_out
    from checker.engines.spark.probe import require_elsewhere
    from checker.engines.spark.session import open_session

    with open_session(cluster) as session:
        require_elsewhere(session)
        if listener is not None:
            listener(0, {})
        found = fan_out(session, run_cell, plan.tasks)
        for done, (index, result) in enumerate(found, 1):
            if isinstance(result, ItemFailure):
                result = CellOutcome(plan.tasks[index].cell, Status.DIED, result.reason)
            yield result
            if listener is not None:
                listener(done, {})
