"""Runs tasks on the executors of a cluster, each as one of Spark's own: one that dies affects no
other."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeVar

from checker.engines.cluster import Cluster
from checker.results.answer import Progress
from checker.sweep.cells import Status
from checker.sweep.local import PoolListener, Task, Work

T = TypeVar("T", bound=Task)
R = TypeVar("R")


def run_on_cluster(
    tasks: Sequence[T], work: Work[T, R], cluster: Cluster, listener: PoolListener | None = None
) -> Generator[R]:
    """Yields the outcome of each task, in the order in which they finish; ``listener`` receives how
    many are done.

    Raises :class:`SpecError` where the cluster can't be reached.  Closing the iterator ends what
    still runs.
    """
    from checker.engines.spark.fan_out import ItemFailure, fan_out
    from checker.engines.spark.probe import require_elsewhere
    from checker.engines.spark.session import open_session

    with open_session(cluster) as session:
        require_elsewhere(session)
        if listener is not None:
            listener(0, {})
        found = fan_out(session, lambda task: work.run(task, _nobody), tasks)
        for done, (index, result) in enumerate(found, 1):
            if isinstance(result, ItemFailure):
                result = work.lost(tasks[index], Status.DIED, result.reason, 0.0)
            yield result
            if listener is not None:
                listener(done, {})


def _nobody(progress: Progress) -> None:
    """Receives what an executor can't tell."""
