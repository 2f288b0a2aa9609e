"""Budgets bind whatever is done meanwhile: seconds, bytes, and whoever wants the tool to end.

A budget holds :func:`within` a block of the thread that opens it.  In the parts of the block that
are :func:`raising_when_exhausted` it is enforced: where it is used up, :class:`BudgetExhausted` is
raised there, between any two instructions of Python, as Ctrl-C raises ``KeyboardInterrupt``, whose
kind it is: whoever answers the one answers the other.  What can't be left at any moment is
:func:`stopping_native_code` instead, and looks at the clock itself.

Native code, in which Python raises nothing, looks at a word of its module (:class:`Stop`) and gives
up where it is set.  It is set when a budget is used up, and when SIGINT or SIGTERM has come, for
which Python would wait until native code is over.  Who has called it clears the word when nobody
works any more, and goes on where there is no reason for it not to.

One thread watches all clocks and signals; it is asleep but for that.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import math
import os
import select
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from sys import _current_frames
from types import FrameType
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")

GRACE = 10.0
"""Seconds, at least, in which what was found in time may be made presentable."""
BESIDE = 512 << 20
"""Bytes that code, a compiler and what they leave behind may take beside what is budgeted."""
TICK = 0.1
"""Seconds between two looks at how much memory is in use, where that matters."""
AGAIN = 0.02
"""Seconds until the next attempt, where an exception would be ignored."""
RETOLD = 0.25
"""Seconds after which native code is told to end again, should it have missed that."""
RAISED_AGAIN = 1.0
"""Seconds after which an exception, Ctrl-C's too, is raised again that has not ended a part, then
twice as many: in a callback of the garbage collector or of a weak reference Python ignores it."""
ENDING = frozenset({signal.SIGINT, signal.SIGTERM})


class BudgetExhausted(KeyboardInterrupt):
    """A budget is used up; the message says which, in words."""


@dataclass(frozen=True, slots=True)
class Budget:
    """``begun``, ``until``: on the clock of ``time.monotonic``; ``most``: bytes of memory of the
    process; ``None``: without limit.  ``no_more_time``, ``no_more_memory``: what is said then."""

    begun: float
    until: float | None
    most: int | None
    no_more_time: str
    no_more_memory: str


@dataclass(eq=False, slots=True)
class _Part:
    """A part of a block in which budgets are enforced, in the thread ``thread``.

    ``late``: not before what was found in time had time to be told; ``raises``: what is done there
    can be left at any moment; ``spare``: seconds that it has beyond its budget; ``told``: it was
    told to end; ``again``: when that is raised again, after a ``pause``; ``interrupted``: when
    Ctrl-C is, should it not have ended the part.
    """

    budgets: tuple[Budget, ...]
    late: bool
    raises: bool
    spare: float = 0.0
    thread: int = field(default_factory=threading.get_ident)
    told: bool = False
    again: float = 0.0
    pause: float = RAISED_AGAIN
    interrupted: float = math.inf

    def _end(self, budget: Budget) -> float | None:
        if budget.until is None or not self.late:
            return None if budget.until is None else budget.until + self.spare
        return budget.until + max(GRACE, budget.until - budget.begun)

    @property
    def _saving(self) -> bool:
        """Whether memory is watched here: what looks at the clock looks at its memory, too."""
        return self.raises and not self.late

    def exhausted_budget(self) -> str | None:
        """What is used up, in words."""
        now = time.monotonic()
        for budget in self.budgets:
            end = self._end(budget)
            if end is not None and now >= end:
                return budget.no_more_time
            if self._saving and budget.most is not None and resident() > budget.most:
                return budget.no_more_memory
        return None

    def next_look(self) -> float | None:
        """When there is something to look at."""
        ends = [end for budget in self.budgets if (end := self._end(budget)) is not None]
        if self._saving and any(budget.most is not None for budget in self.budgets):
            ends.append(time.monotonic() + TICK)
        if self.told:
            return time.monotonic() + RETOLD
        if self.interrupted < math.inf:
            ends.append(self.interrupted)
        return min(ends, default=None)


class Stop:
    """The word at ``address`` by which native code is told to give up; ``owner`` keeps it."""

    def __init__(self, address: int, owner: object) -> None:
        self._word, self._owner = ctypes.c_uint64.from_address(address), owner
        with _lock:
            _stops.add(self)

    @property
    def is_set(self) -> bool:
        """Whether native code gives up now."""
        return self._word.value != 0

    def tell(self) -> None:
        """Whatever is under way is to be given up."""
        self._word.value = 1

    def clear(self) -> None:
        """Nobody works now: what is begun after this is not told."""
        self._word.value = 0


_lock = threading.RLock()
_parts: list[_Part] = []
_stops = weakref.WeakSet[Stop]()
_mine = threading.local()


def resident() -> int:
    """Bytes of memory that this process has now; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as said:
            return int(said.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError):
        return 0


# ---- what is opened ---------------------------------------------------------------------------


@contextmanager
def within(seconds: float | None, memory: int | None = None, said: str = "") -> Iterator[None]:
    """Within the block there are so many ``seconds``, and may be so many bytes more than now, and
    than :data:`BESIDE`: whoever has tables counts them, this is for all the rest.

    ``said``: of the time, when it is over.
    """
    begun, before = time.monotonic(), _budgets()
    until = None if seconds is None else begun + seconds
    most = None if memory is None else resident() + memory + BESIDE
    no_time = said or f"the time limit of {seconds or 0.0:g} s was reached"
    no_memory = f"the memory limit of {memory or 0:,} bytes was reached"
    _mine.budgets = (*before, Budget(begun, until, most, no_time, no_memory))
    try:
        yield
    finally:
        _mine.budgets = before


def _budgets() -> tuple[Budget, ...]:
    found: tuple[Budget, ...] = getattr(_mine, "budgets", ())
    return found


@contextmanager
def raising_when_exhausted(late: bool = False, spare: float = 0.0) -> Iterator[None]:
    """Within the block :class:`BudgetExhausted` is raised when a budget is used up.

    ``late``: what was found in time is being told; that may take as long as finding it.  ``spare``:
    seconds more, where what is done has a clock of its own that ends it better, if it is looked at.
    """
    part = _Part(_budgets(), late, True, spare)
    why = part.exhausted_budget()
    if why is not None:
        raise BudgetExhausted(why)
    with _watching(part):
        yield


@contextmanager
def stopping_native_code() -> Iterator[None]:
    """Within the block nothing is raised: native code is told to stop, and who has called it looks
    at the clock."""
    with _watching(_Part(_budgets(), False, False)):
        yield


class WorkerThread(Generic[_T]):
    """What ``work`` gives, which a thread of its own does: whoever waits for it can be told to end,
    though the work can't.  Nobody hears of it then."""

    def __init__(self, work: Callable[[], _T]) -> None:
        self._over, self._results = threading.Event(), list[_T]()
        self._errors: list[BaseException] = []
        self._work = work
        with _lock:
            _at_work.add(self)
        self._thread = threading.Thread(target=self._run, name="apart", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as error:  # it is raised where the result is wanted
            self._errors.append(error)
        finally:
            self._over.set()
            with _lock:
                _at_work.discard(self)

    @property
    def is_done(self) -> bool:
        """Whether the work is over."""
        return self._over.is_set()

    def tell(self) -> None:
        """The work is to be given up, as by Ctrl-C; may have no effect, and be said again then."""
        raise_in(self._thread.ident or 0, KeyboardInterrupt)

    def wait(self, seconds: float) -> bool:
        """Whether the work is over in so many ``seconds``."""
        return self._over.wait(seconds)

    def result(self) -> _T:
        """What the work gives, when it is over; raises what it raises."""
        while not self._over.wait(TICK):
            pass
        if self._errors:
            raise self._errors[0]
        return self._results[0]


_at_work: set[WorkerThread[Any]] = set()


def has_abandoned_work() -> bool:
    """Whether some work is not over that nobody waits for any more."""
    return bool(_at_work)


@atexit.register
def _wait() -> None:
    """No library is taken down in which somebody works."""
    while _at_work:
        time.sleep(TICK)


# ---- who watches ------------------------------------------------------------------------------


@contextmanager
def _watching(part: _Part) -> Iterator[None]:
    watcher, late = _watcher(), None
    with watcher.hearing_signals():
        try:
            with _lock:
                _parts.append(part)
            if part.next_look() is not None:
                watcher.wake()
            yield
        finally:
            while part in _parts:  # nothing is called before it is left that could be interrupted
                try:
                    with _lock:
                        _parts.remove(part)
                except KeyboardInterrupt as error:
                    late = error
            if part.told or part.interrupted < math.inf:
                _settle(part)
                watcher.wake()
        if late is not None:
            raise late


def _settle(part: _Part) -> None:
    """The part, which was told to end, is over: what is still to be raised for it is not, and what
    was raised for those around it may have been answered within."""
    if part.raises:
        with _lock:
            raise_in(part.thread, None)
            for around in _parts:
                if around.thread == part.thread:
                    around.told, around.interrupted = False, math.inf


class _Watcher:
    """The thread that watches, and the pipe that wakes it: Python writes the numbers of signals
    there when they come, whatever the main thread is doing."""

    def __init__(self) -> None:
        self._out, self._in = os.pipe()
        os.set_blocking(self._in, False)
        self._process, self._hearing = os.getpid(), False
        self._thread = threading.Thread(target=self._watch, name="budgets", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it watches this process: a process that was forked has no other threads."""
        return self._process == os.getpid() and self._thread.is_alive()

    def wake(self) -> None:
        """There is something new to look at."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._in, b"\0")

    @contextmanager
    def hearing_signals(self) -> Iterator[None]:
        """Signals wake it meanwhile, unless somebody else is woken by them."""
        if self._hearing or threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.set_wakeup_fd(self._in, warn_on_full_buffer=False)
        if before != -1:
            signal.set_wakeup_fd(before)
            yield
            return
        self._hearing = True
        try:
            yield
        finally:
            self._hearing = False
            signal.set_wakeup_fd(-1)

    def _watch(self) -> None:
        while True:
            with _lock:
                looks = [look for part in _parts if (look := part.next_look()) is not None]
            wait = max(0.0, min(looks) - time.monotonic()) if looks else None
            if select.select([self._out], [], [], wait)[0] and ENDING & {*os.read(self._out, 512)}:
                tell_all()
                _raise_interrupt()
            with _lock:
                again = [part for part in _parts if not _end(part)]
            if again:
                time.sleep(AGAIN)


def _end(part: _Part) -> bool:
    """Tells a part to end if its budget is used up; gives whether it need not be tried again."""
    now = time.monotonic()
    if now >= part.interrupted:
        if not raise_in(part.thread, KeyboardInterrupt):
            return False
        part.interrupted, part.pause = now + part.pause, 2 * part.pause
    waiting = part.told and (not part.raises or now < part.again)
    why = None if waiting else part.exhausted_budget()
    if why is not None:
        if part.raises and not raise_in(part.thread, _reached_type(why)):
            return False
        part.told, part.again, part.pause = True, now + part.pause, 2 * part.pause
    if part.told:
        tell_all()
    return True


def tell_all() -> None:
    """Native code gives up, whoever has called it; who has no reason to calls it again."""
    with _lock:
        for stop in _stops:
            stop.tell()


def _raise_interrupt() -> None:
    """A signal has come: the main thread raises it, and again where that has had no effect."""
    main, again = threading.main_thread().ident, time.monotonic() + RAISED_AGAIN
    with _lock:
        for part in _parts:
            if part.raises and not part.late and part.thread == main:
                part.interrupted = again


def _reached_type(why: str) -> type[BudgetExhausted]:
    """What is raised without arguments, and says ``why``."""
    return type(
        "BudgetExhausted",
        (BudgetExhausted,),
        {"__init__": lambda self: BudgetExhausted.__init__(self, why)},
    )


def raise_in(thread: int, kind: type[KeyboardInterrupt] | None) -> bool:
    """Raises an exception in a thread, or, where ``kind`` is ``None``, does not do so after all.

    Gives whether it could: what is raised while an object is being given up would be ignored.
    """
    if kind is not None and being_given_up(_current_frames().get(thread)):
        return False
    error = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)
    return True


def being_given_up(frame: FrameType | None) -> bool:
    """Whether ``frame`` is in the midst of an object's end."""
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


_only: list[_Watcher] = []


def _watcher() -> _Watcher:
    with _lock:
        if not _only or not _only[0].alive:
            _only[:] = [_Watcher()]
        return _only[0]
