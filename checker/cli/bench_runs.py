"""Runs the items of ``bench`` in another process.  If it dies or ignores its time limit, only the
rows of that run are lost."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from checker.sweep.cells import Status
from checker.sweep.local import Pool, Task, Work

if TYPE_CHECKING:
    from checker.results.answer import Listener

T = TypeVar("T", bound=Task)
R = TypeVar("R")


class _Ended(Struct, Generic[R], frozen=True):
    """The end of a task: what it has ``found``, or the ``problem`` that it has raised."""

    found: R | None
    problem: BaseException | None = None


def in_turn(
    tasks: Sequence[T],
    run: Callable[[T, Listener], R],
    lost: Callable[[T, Status, str, float], R],
) -> Iterator[R]:
    """Yields the outcome of each task, in order: what ``run`` returns in the other process, or what
    ``lost`` returns here where that process has ended, was killed or has no memory left.

    Both are imported by their names.  Raises what ``run`` raises.
    """
    work = Work[T, _Ended[R]](partial(_safely, run), partial(_ended, lost))
    with Pool(1, work) as pool:
        for task, end in zip(tasks, pool.run(tasks), strict=True):
            if isinstance(end.problem, MemoryError):
                end = _ended(lost, task, Status.MEMORY, "out of memory", 0.0)
            if end.problem is not None:
                raise end.problem
            assert end.found is not None
            yield end.found


def _safely(run: Callable[[T, Listener], R], task: T, listener: Listener) -> _Ended[R]:
    """Does ``run`` in the other process."""
    try:
        return _Ended(run(task, listener))
    except KeyboardInterrupt:
        return _Ended(None, KeyboardInterrupt())
    except Exception as problem:
        return _Ended(None, _sendable(problem))


def _sendable(problem: Exception) -> Exception:
    """Returns an error as it is, or only its words where it can't be sent to another process."""
    try:
        pickle.loads(pickle.dumps(problem))
    except Exception:
        return RuntimeError(f"{type(problem).__name__}: {problem}")
    return problem


def _ended(
    lost: Callable[[T, Status, str, float], R], task: T, status: Status, why: str, seconds: float
) -> _Ended[R]:
    return _Ended(lost(task, status, why, seconds))
