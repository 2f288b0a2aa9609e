"""Maps one function over many items, each on any free executor; a failure affects no other item."""

from __future__ import annotations

import contextlib
import pickle
import queue
import threading
import traceback
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from msgspec import Struct

from checker.engines.spark.cancellation import LOOK, cancel, mark, silence_warnings
from checker.engines.spark.failures import keep, root_cause
from checker.engines.spark.heartbeat import Heartbeat, HeartbeatMonitor
from checker.engines.spark.session import Session, Work
from checker.polling import poll

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 16
"""At least so many jobs are queued where executors are allocated dynamically."""


class ItemFailure(Struct, frozen=True):
    """An item without a result: ``reason`` in one line, ``trace`` with all that is known."""

    reason: str
    trace: str = ""


class _Begun(Struct, frozen=True):
    """The item with this number has been started."""

    number: int


def fan_out(
    session: Session,
    function: Callable[[T], R],
    items: Iterable[T],
    listening: HeartbeatMonitor | None = None,
) -> Iterator[tuple[int, R | ItemFailure]]:
    """Yields ``function`` of each item, with the item's number, as the results come.

    Function, items and results are sent as pickles (closures are allowed).  An item whose function
    raises or dies, or that can't be pickled, is a :class:`ItemFailure`.  When the iterator is
    closed, or an interrupt passes through it, what still runs is cancelled.

    ``listening``: a context that monitors the executor of an item, under the item's number.  Raises
    what that raises.
    """
    silence_warnings()
    beat = None if listening is None else listening.beat
    work = enumerate(items)
    lock = threading.Lock()
    over = threading.Event()
    done: queue.SimpleQueue[tuple[int, R | ItemFailure] | BaseException | _Begun | None]
    done = queue.SimpleQueue()
    tag = f"bivalence-{uuid.uuid4().hex}"

    def serve() -> None:
        try:
            with contextlib.suppress(Exception):  # where Java has ended, each item will report so
                mark(session.driver, tag)
            while not over.is_set():
                with lock:
                    found = next(work, None)
                if found is None:
                    break
                done.put(_Begun(found[0]))
                done.put((found[0], _one(session, function, *found, beat)))
        except BaseException as problem:
            done.put(problem)
        done.put(None)

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(_jobs(session))]
    for thread in threads:
        thread.start()
    running = len(threads)
    try:
        while running:
            found = _next(done, listening)
            if found is None:
                running -= 1
            elif isinstance(found, BaseException):
                raise found
            else:
                yield found
    finally:
        over.set()
        if running:
            cancel(session.driver, tag, lambda: not any(t.is_alive() for t in threads))


def _next(done: queue.SimpleQueue[Any], listening: HeartbeatMonitor | None) -> Any:
    """Returns the next result; meanwhile expects heartbeats of items that have been started."""
    while True:
        poll()
        if listening is not None:
            listening.check()
        with contextlib.suppress(queue.Empty):
            found = done.get(timeout=LOOK)
            if not isinstance(found, _Begun):
                if listening is not None and isinstance(found, tuple):
                    listening.forget(found[0])
                return found
            if listening is not None:
                listening.expect(found.number)


def _jobs(session: Session) -> int:
    return max(session.slots, AHEAD) if session.dynamic else session.slots


def _one(
    session: Session, function: Callable[[T], R], number: int, item: T, beat: Heartbeat | None
) -> R | ItemFailure:
    """Executes one job of one task; never raises but for an interrupt."""
    try:
        payload = to_pickle((_with_beat(function, number, beat), item))
    except Exception as problem:
        return ItemFailure(f"it can't be sent: {type(problem).__name__}: {problem}")
    try:
        result: R | ItemFailure = pickle.loads(session.in_tasks(task(payload), 1)[0])
        return result
    except Exception as problem:
        keep(problem, session.log)
        return ItemFailure(root_cause(problem), "".join(traceback.format_exception(problem)))


def _with_beat(function: Callable[[T], R], number: int, beat: Heartbeat | None) -> Callable[[T], R]:
    """Returns ``function`` with heartbeats while it runs."""
    if beat is None:
        return function

    def call_with_beat(item: T) -> R:
        with beat.of(number):
            return function(item)

    return call_with_beat


def task(payload: bytes) -> Work:
    """Returns what an executor does with a pickled function and its item: the pickled result, or
    the :class:`ItemFailure`.
    """

    def run(items: Iterable[Any]) -> Iterator[bytes]:
        for _ in items:
            pass
        yield call_pickled(payload)

    return run


def call_pickled(payload: bytes) -> bytes:
    """Returns the pickled result, or :class:`ItemFailure`, of a pickled function and item."""
    try:
        function, item = pickle.loads(payload)
        return to_pickle(function(item))
    except BaseException as problem:
        reason = f"{type(problem).__name__}: {problem}".rstrip(": ")
        failure = ItemFailure(" ".join(reason.split()), traceback.format_exc())
        with contextlib.suppress(Exception):
            return pickle.dumps(failure)
        return pickle.dumps(ItemFailure(type(problem).__name__))


def to_pickle(value: Any) -> bytes:
    """Returns ``value`` as a pickle, with code that can't be imported (closures, ``__main__``)."""
    from pyspark import cloudpickle

    dumps: Any = cloudpickle.dumps
    return bytes(dumps(value))
