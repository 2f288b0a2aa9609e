"""Runs tasks side by side on the cores of this machine, with one progress line for all."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from checker.cli.progress import Count

if TYPE_CHECKING:
    from checker.engines.cluster import Cluster
    from checker.results.answer import Progress
    from checker.sweep.local import Task, Work

    T = TypeVar("T", bound=Task)


class Outcome(Protocol):
    """What became of a task; it has the task's number."""

    @property
    def number(self) -> int:
        """The number of the task."""


R = TypeVar("R", bound=Outcome)

JOBS = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="K",
    help="Run K at a time (default: one per core).",
)


def jobs_and_threads(jobs: int | None, tasks: int, threads: int | None) -> tuple[int, int | None]:
    """Returns how many of ``tasks`` tasks run at a time, and the threads of each: together they use
    all cores, unless ``jobs`` or ``threads`` were given. ``None``: all there are."""
    cores = os.cpu_count() or 1
    at_once = min(jobs or max(1, cores // (threads or 1)), max(1, tasks))
    if threads is None and at_once > 1:
        threads = max(1, cores // at_once)
    return at_once, threads


def run_in_order(
    tasks: Sequence[T],
    jobs: int,
    work: Work[T, R],
    meter: Count,
    name: Callable[[T], str],
    cluster: Cluster | None = None,
) -> Generator[R]:
    """Yields the outcome of each task, in the order of ``tasks``, as soon as it and those before it
    are there; the executors of ``cluster`` run them, ``jobs`` processes, or this one where it is a
    single job.

    ``meter`` shows how many are done, and the progress of those that run, by their ``name``.
    Closing the iterator ends what still runs; where it is interrupted, it yields those that are
    there, and ``KeyboardInterrupt`` is raised behind them.  Raises :class:`SpecError` where the
    cluster can't be reached.
    """
    if jobs == 1 and cluster is None:
        yield from _one_by_one(tasks, work, meter, name)
        return
    from checker.sweep.local import Pool

    names = {task.number: name(task) for task in tasks}

    def tell(done: int, running: Mapping[int, Progress]) -> None:
        meter.count(done, [_where(names[number], how) for number, how in sorted(running.items())])

    if cluster is not None:
        from checker.sweep.on_cluster import run_on_cluster

        with closing(run_on_cluster(tasks, work, cluster, tell)) as outcomes:
            yield from _in_order(outcomes, tasks)
        return
    with Pool(jobs, work) as pool, closing(pool.run(tasks, tell)) as outcomes:
        yield from _in_order(outcomes, tasks)


def _in_order(outcomes: Iterable[R], tasks: Sequence[T]) -> Iterator[R]:
    """Yields outcomes in the order of their tasks; an interrupt loses none that are there."""
    waiting: dict[int, R] = {}
    expected = deque(task.number for task in tasks)
    try:
        for outcome in outcomes:
            waiting[outcome.number] = outcome
            while expected and expected[0] in waiting:
                yield waiting.pop(expected.popleft())
    except KeyboardInterrupt:
        yield from (waiting.pop(number) for number in expected if number in waiting)
        raise


def _one_by_one(
    tasks: Sequence[T], work: Work[T, R], meter: Count, name: Callable[[T], str]
) -> Generator[R]:
    from checker.engines import budgets

    for done, task in enumerate(tasks):

        def tell(how: Progress, done: int = done, task: T = task) -> None:
            meter.count(done, [_where(name(task), how)])

        meter.count(done, [name(task)])
        budgets.raise_if_exhausted()
        yield work.run(task, tell)


def _where(name: str, how: Progress) -> str:
    return f"{name}: {how.states:,} states" if how.states else f"{name}: {how.phase or 'starting'}"
