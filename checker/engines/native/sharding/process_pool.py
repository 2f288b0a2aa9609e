"""Maps a function over items in processes of this machine.

The processes end with the one that started them, however that ends, and are stopped at once when
their results are not needed any more.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import TypeVar

from checker.engines import budgets
from checker.engines.python_children import safe_start
from checker.polling import poll

Item = TypeVar("Item")
Result = TypeVar("Result")


def parallel_map(
    function: Callable[[Item], Result], items: Sequence[Item], processes: int | None = None
) -> Iterator[Result]:
    """The results of ``function`` for ``items``, in the order of completion.

    ``processes``: how many are used at most, as many as there are processors where it is ``None``;
    a single item, or a single process, needs none but this.  ``function``, items and results are
    pickled.  Raises what ``function`` raises, and ``OSError`` where a process was ended from
    outside.
    """
    count = min(processes or os.cpu_count() or 1, len(items))
    if count <= 1:
        yield from map(function, items)
        return
    watched, held = multiprocessing.Pipe(duplex=False)
    with safe_start():
        pool = ProcessPoolExecutor(
            count, multiprocessing.get_context("spawn"), initializer=_obey, initargs=(watched,)
        )
    try:
        with safe_start(), starting_processes():
            futures = {pool.submit(function, item) for item in items}
        while futures:
            poll()
            done, futures = wait(futures, budgets.TICK, FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        raise OSError("a process was killed from outside, perhaps for lack of memory") from error
    except BaseException:
        held.close()  # processes that still work stop now
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        held.close()
        watched.close()


@contextmanager
def starting_processes() -> Iterator[None]:
    """Within the block, processes that are started block the signals that this one handles."""
    resource_tracker.ensure_running()  # where it is started later, it unblocks them
    before = signal.pthread_sigmask(signal.SIG_BLOCK, budgets.ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _obey(watched: Connection) -> None:
    """In a process of the pool: ends with the parent process, which handles signals, and may
    terminate it."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    threading.Thread(target=_end_with, args=(watched,), daemon=True).start()


def _end_with(watched: Connection) -> None:
    try:
        watched.poll(None)
    finally:
        os._exit(0)
