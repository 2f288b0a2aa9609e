"""Runs the cells of a plan: in processes of this machine, or on the executors of a cluster."""

from __future__ import annotations

import os
from collections.abc import Generator

from checker.engines.cluster import Cluster
from checker.engines.registry import needs_cluster, resolved_name
from checker.extensions.tables import DEFAULT
from checker.records import replace
from checker.session.pipeline import Options
from checker.sweep.cells import CellOutcome, lost_cell, run_cell
from checker.sweep.local import Pool, PoolListener, Work
from checker.sweep.on_cluster import run_on_cluster
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
    work = Work(run_cell, lost_cell)
    if cluster is not None:
        yield from run_on_cluster(plan.tasks, work, cluster, listener)
        return
    with Pool(min(jobs, len(plan.tasks)), work) as pool:
        yield from pool.run(plan.tasks, listener)
