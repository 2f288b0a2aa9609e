"""Runs of the barrier exchange without Spark: its tasks are threads of this process."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

from checker.engines.cluster import Cluster
from checker.engines.native.checkpoint.checkpoint import begin
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.native.codegen.image import KernelImage, build
from checker.engines.native.search.finalize import finalize
from checker.engines.native.sharding.backward_search import kernel_of
from checker.engines.spark import barrier
from checker.engines.spark.driver import SparkRun
from checker.engines.spark.job import Job, RunOutcome
from checker.engines.spark.mesh import Address, ConnectionLost
from checker.engines.spark.session import Session
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.reductions.reduction_plan import NOTHING, ReductionPlan
from checker.results.answer import Answer, Limits


def begun(folder: Path, system: TransitionSystem, image: KernelImage) -> RunFolder:
    """A run's folder with the initial states."""
    run = RunFolder(str(folder), image.shape.words)
    begin(run, system, image)
    return run


def gather(size: int) -> Callable[[int], Callable[[Address], list[Address]]]:
    """How ``size`` threads tell one another their addresses."""
    known: list[Any] = [None] * size
    together = threading.Barrier(size)

    def of(index: int) -> Callable[[Address], list[Address]]:
        def meet(mine: Address) -> list[Address]:
            known[index] = mine
            together.wait(30)
            return known

        return meet

    return of


def outcome(job: Job) -> RunOutcome:
    """The run as the tasks see it; all of them have to see the same."""
    kernel_of(job.image)  # once, before they ask for it all at once
    meet = gather(job.shards)
    with ThreadPoolExecutor(job.shards) as pool:
        tasks = [
            pool.submit(barrier.in_task, job, i, "127.0.0.1", meet(i)) for i in range(job.shards)
        ]
        for task in tasks:
            problem = task.exception(120)
            if problem is not None and not isinstance(problem, ConnectionLost):
                raise problem
        done = [task.result() for task in tasks]
    seen = [outcome for outcome, _ in done]
    assert all(one.found == seen[0].found for one in seen)
    assert all(one.stopped == seen[0].stopped for one in seen)
    return replace(barrier.together(done), efforts=())


def job_of(
    system: TransitionSystem,
    image: KernelImage,
    folder: RunFolder,
    shards: int,
    limits: Limits,
    commit_every: float = 0.0,
) -> Job:
    token = secrets.token_bytes(32)
    return Job(system, image, folder, shards, limits, token, None, commit_every, False)


def answer(
    system: TransitionSystem,
    folder: Path,
    shards: int,
    limits: Limits,
    commit_every: float = 0.0,
    plan: ReductionPlan = NOTHING,
) -> Answer:
    """What the engine answers, from the start or from what ``folder`` has."""
    image = build(system, plan)
    kept = RunFolder(str(folder), image.shape.words)
    if kept.latest() is None:
        kept = begun(folder, system, image)
    seen = outcome(job_of(system, image, kept, shards, limits, commit_every))
    cluster = Cluster("local", shards=shards)
    run = SparkRun(system, image, limits, cluster, kept, cast(Session, None), None)
    return finalize("spark", run.as_explored(seen))
