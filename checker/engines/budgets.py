"""Enforces budgets of seconds and bytes, and interrupts, during any computation.

A budget holds :func:`within` a block of the thread that opens it.  In the parts of the block that
are :func:`raising_when_exhausted` it is enforced: where it is used up, the next :func:`poll`
(:mod:`checker.polling`) of that thread raises :class:`BudgetExhausted`, or ``KeyboardInterrupt``
after an interrupt, which is its base class: code that handles the one handles the other.  Nothing
is raised anywhere else.  Code that can't be left at a poll is :func:`stopping_native_code` instead,
and checks the clock itself.

Native code, which does not poll, reads a word of its module (:class:`Stop`) and stops where it is
set.  It is set when a budget is used up, and when SIGINT or SIGTERM has come, for which Python
would wait until native code returns.  The caller clears the word when no thread works any more,
polls, and continues where there is no reason to stop.

An interrupt (:func:`interrupt`) is a budget that is used up at once, of all parts in all threads:
``KeyboardInterrupt`` is raised in those that are open and in those that are opened later, until the
outermost block is left, or for good where the process is to end.  So none is lost to code that
handles it as the end of one query.

One thread watches all clocks and signals; otherwise it sleeps.  Code that does not poll is ended by
the process that supervises this one, if any (:mod:`checker.cli.supervisor`), which is told all
limits of time beforehand: a library that never lets another thread run would keep it from being
told later.
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
from concurrent.futures import Future, wait
from contextlib import contextmanager
from types import FrameType
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from checker import polling
from checker.polling import poll

_T = TypeVar("_T")

GRACE = 10.0
"""Seconds, at least, in which what was found in time may be reported."""
SHORT_GRACE = 0.8
"""The same after a signal that ends the process, which is killed soon after."""
BESIDE = 512 << 20
"""Bytes that code, a compiler and what they leave behind may take beside what is budgeted."""
TICK = 0.1
"""Seconds between two checks of how much memory is in use, where that matters."""
RETOLD = 0.25
"""Seconds after which native code is signalled again, should it have missed the first signal."""
RAISED_AGAIN = 1.0
"""Seconds after which an exception is raised again that has not ended a part, then twice as many:
code may have handled it as the end of one query."""
ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})


class BudgetExhausted(KeyboardInterrupt):
    """A budget is used up; the message says which, in words."""


class Budget(Struct, frozen=True):
    """A limit on time and memory; ``None``: without limit.

    ``begun``, ``until``: on the clock of ``time.monotonic``; ``most``: bytes of memory of the
    process.  ``no_more_time``, ``no_more_memory``: what is reported when it is used up.
    """

    begun: float
    until: float | None
    most: int | None
    no_more_time: str
    no_more_memory: str


class _Part(Struct, eq=False):
    """A part of a block in which budgets are enforced, in the thread ``thread``.

    ``late``: it ends only after what was found in time has had time to be reported; ``raises``: it
    can be left at every poll; ``spare``: seconds that it has beyond its budget; ``told``: since
    when it is to end; ``again``: until when nothing is raised, since that was done, for a
    ``pause``.
    """

    budgets: tuple[Budget, ...]
    late: bool
    raises: bool
    spare: float = 0.0
    thread: int = field(default_factory=threading.get_ident)
    told: float = math.inf
    again: float = 0.0
    pause: float = RAISED_AGAIN

    def _end(self, budget: Budget) -> float | None:
        if budget.until is None or not self.late:
            return None if budget.until is None else budget.until + self.spare
        return budget.until + max(GRACE, budget.until - budget.begun)

    @property
    def is_told(self) -> bool:
        """Whether it is to end."""
        return self.told < math.inf

    @property
    def _interrupted(self) -> float:
        """When an interrupt ends the part."""
        grace = SHORT_GRACE if _interrupt.for_good else GRACE
        return _interrupt.at + (grace if self.late else 0.0)

    @property
    def _saving(self) -> bool:
        """Whether memory is watched here; a part that checks the clock checks its memory, too."""
        return self.raises and not self.late

    def exhausted_budget(self) -> str | None:
        """Returns which budget is used up, in words, empty for an interrupt; ``None`` where none
        is."""
        now = time.monotonic()
        if now >= self._interrupted:
            return ""
        for budget in self.budgets:
            end = self._end(budget)
            if end is not None and now >= end:
                return budget.no_more_time
            if self._saving and budget.most is not None and resident() > budget.most:
                return budget.no_more_memory
        return None

    def due(self) -> tuple[float, str]:
        """Returns when it has to end at a limit, by ``time.monotonic``, and which limit that is, in
        words; 0 where there is none, and where it was left at a poll."""
        if not self.raises or self.again:
            return 0.0, ""
        ends = [(end, b.no_more_time) for b in self.budgets if (end := self._end(b)) is not None]
        if self.is_told:
            ends.append((self.told, self.exhausted_budget() or ""))
        return min(ends, default=(0.0, ""))

    def next_look(self) -> float | None:
        """Returns when there is something to check, by ``time.monotonic``; ``None``: never."""
        ends = [end for budget in self.budgets if (end := self._end(budget)) is not None]
        if self._saving and any(budget.most is not None for budget in self.budgets):
            ends.append(time.monotonic() + TICK)
        if self.is_told:
            return time.monotonic() + RETOLD
        if self._interrupted < math.inf:
            ends.append(self._interrupted)
        return min(ends, default=None)


class Stop:
    """The word at ``address`` that signals native code to stop; ``owner`` keeps it allocated."""

    def __init__(self, address: int, owner: object) -> None:
        self._word, self._owner = ctypes.c_uint64.from_address(address), owner
        with _lock:
            _stops.add(self)

    @property
    def is_set(self) -> bool:
        """Whether native code is signalled to stop."""
        return self._word.value != 0

    def tell(self) -> None:
        """Signals all work in progress to stop."""
        self._word.value = 1

    def clear(self) -> None:
        """Clears the signal when no thread works: what is begun after this is not stopped."""
        self._word.value = 0


class _Interrupt(Struct):
    """``at``: when it came; ``for_good``: whether nothing is done after it any more."""

    at: float = math.inf
    for_good: bool = False


_interrupt = _Interrupt()
_lock = threading.RLock()
_parts: list[_Part] = []
_stops = weakref.WeakSet[Stop]()
_mine = threading.local()


def resident(with_files: bool = False) -> int:
    """Returns the bytes of memory that this process uses now; 0 where the system does not report
    them.

    ``with_files``: also those that hold parts of files, which the system frees where it needs them.
    """
    try:
        with open("/proc/self/statm", "rb") as said:
            pages, of_files = map(int, said.read().split()[1:3])
            return (pages if with_files else pages - of_files) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError):
        return 0


# ---- opening budgets --------------------------------------------------------------------------


@contextmanager
def within(seconds: float | None, memory: int | None = None, said: str = "") -> Iterator[None]:
    """Limits the block to ``seconds``, and to ``memory`` bytes more than now, beside
    :data:`BESIDE`: code with tables counts those itself, this covers all the rest.

    ``said``: what is reported when the time is over.
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
        _forget_interrupt()


def _budgets() -> tuple[Budget, ...]:
    return getattr(_mine, "budgets", ())


def memory_left() -> int | None:
    """Returns how many bytes more this process may use; ``None``: that is not limited."""
    limits = [budget.most for budget in _budgets() if budget.most is not None]
    return max(0, min(limits) - resident()) if limits else None


@contextmanager
def raising_when_exhausted(late: bool = False, spare: float = 0.0) -> Iterator[None]:
    """Raises :class:`BudgetExhausted` within the block when a budget is used up.

    ``late``: what was found in time is being reported, which may take as long as finding it.
    ``spare``: seconds more, where the block has a clock of its own that ends it better if it is
    checked.
    """
    part = _Part(_budgets(), late, True, spare)
    why = part.exhausted_budget()
    if why is not None:
        raise _exhausted(why)
    with _watching(part):
        yield
        if is_interrupted() and not _interrupt.for_good:
            poll()  # the outermost block forgets the interrupt when it ends


def raise_if_exhausted() -> None:
    """Raises :class:`BudgetExhausted` when a budget is used up, and ``KeyboardInterrupt`` after an
    interrupt: for loops over work that handles these itself."""
    with raising_when_exhausted():
        poll()


def ended(work: Callable[[], object], *, late: bool = False) -> KeyboardInterrupt | None:
    """Does ``work`` as :func:`raising_when_exhausted` does a block; returns what has ended it,
    ``None`` where it is done."""
    try:
        with raising_when_exhausted(late):
            work()
    except KeyboardInterrupt as error:
        return error
    return None


@contextmanager
def stopping_native_code() -> Iterator[None]:
    """Raises nothing within the block: native code is signalled to stop; its caller checks the
    clock."""
    with _watching(_Part(_budgets(), False, False)):
        yield


class WorkerThread(Generic[_T]):
    """Computes ``work`` in a separate thread; whoever waits for it polls meanwhile."""

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
            release_thread()
            with _lock:
                _at_work.discard(self)
            self._over.set()

    @property
    def is_done(self) -> bool:
        """Whether the work is over."""
        return self._over.is_set()

    def tell(self) -> None:
        """Has every poll of the work raise ``KeyboardInterrupt`` from now on."""
        with _lock:
            if self in _at_work and self._thread.ident is not None:
                end_thread(self._thread.ident)

    def wait(self, seconds: float) -> bool:
        """Waits at most ``seconds`` and returns whether the work is over."""
        return self._over.wait(seconds)

    def result(self) -> _T:
        """Waits for the result of the work and returns it; raises what the work raises."""
        while not self._over.wait(TICK):
            poll()
        if self._errors:
            raise self._errors[0]
        return self._results[0]


_at_work: set[WorkerThread[Any]] = set()


def when_done(future: Future[_T]) -> _T:
    """Waits for the result of ``future`` and returns it; raises what its work raises.

    Unlike a wait without a limit, this one polls."""
    while not future.done():
        poll()
        wait([future], TICK)
    return future.result()


def has_abandoned_work() -> bool:
    """Returns whether some work is not over whose result no thread waits for."""
    return bool(_at_work)


@atexit.register
def _wait() -> None:
    """Waits at exit until no thread works: no library is unloaded while it is in use."""
    while _at_work:
        time.sleep(TICK)


# ---- interrupts -------------------------------------------------------------------------------


def interrupt(*, for_good: bool = False) -> None:
    """Interrupts all running work: native code is told to stop, and the next poll of each thread
    raises ``KeyboardInterrupt``; if the main thread is :func:`checker.polling.waiting`, this
    function raises it.

    ``for_good``: also all that is begun after it; otherwise it ends with the outermost block.
    """
    _interrupt.at = min(_interrupt.at, time.monotonic())
    _interrupt.for_good |= for_good
    if _only and _only[0].alive:
        _only[0].wake()
    with _lock:
        for part in _parts:
            _end(part)
        polling.ask(_look)
    if _main_thread_waits():
        poll()


def _main_thread_waits() -> bool:
    return polling.is_waiting() and threading.current_thread() is threading.main_thread()


def raise_if_interrupted() -> None:
    """Raises ``KeyboardInterrupt`` after an interrupt: for loops that are in no part."""
    if is_interrupted():
        raise KeyboardInterrupt


def is_interrupted() -> bool:
    """Returns whether there was an interrupt that has not ended yet."""
    return _interrupt.at < math.inf


def resume_after_interrupt() -> None:
    """Lets what is begun from now on go on: the interrupt has had its effect."""
    with _lock:
        _interrupt.at, _interrupt.for_good = math.inf, False
        for part in _parts:
            part.told, part.again = math.inf, 0.0
        _ask_no_more()


def _interrupted(number: int, frame: FrameType | None) -> None:
    """Handles Ctrl-C where there is no process that supervises this one: the second one is raised
    wherever the main thread is, as Python does it."""
    if is_interrupted():
        signal.default_int_handler(number, frame)
    interrupt()


def _forget_interrupt() -> None:
    """Ends an interrupt where the main thread has left its outermost block."""
    if _interrupt.for_good or threading.current_thread() is not threading.main_thread():
        return
    main = threading.get_ident()
    if not _budgets() and not any(part.thread == main for part in _parts):
        with _lock:
            _interrupt.at = math.inf
            _ask_no_more()


def _exhausted(why: str) -> KeyboardInterrupt:
    return BudgetExhausted(why) if why else KeyboardInterrupt()


# ---- polls ------------------------------------------------------------------------------------


def _look() -> None:
    """Raises in this thread if one of its parts is to end, and the innermost one can be left."""
    thread, now = threading.get_ident(), time.monotonic()
    if thread in _ended or (is_interrupted() and _main_thread_waits()):
        raise KeyboardInterrupt
    with _lock:
        mine = [part for part in _parts if part.thread == thread]
    if not mine or not mine[-1].raises:
        return
    for part in mine:
        if not part.is_told or not part.raises or now < part.again:
            continue
        why = part.exhausted_budget()
        if why is not None:
            part.again, part.pause = now + part.pause, 2 * part.pause
            _tell_supervisor()
            raise _exhausted(why)


def end_thread(thread: int) -> None:
    """Has every poll of a thread without parts raise ``KeyboardInterrupt``, until it is released
    (:func:`release_thread`)."""
    with _lock:
        _ended.add(thread)
        polling.ask(_look)


def release_thread() -> None:
    """Ends what :func:`end_thread` has asked of this thread."""
    with _lock:
        _ended.discard(threading.get_ident())
        _ask_no_more()


def _ask_no_more() -> None:
    if not _ended and not is_interrupted() and not any(part.is_told for part in _parts):
        polling.ask_no_more()


_ended: set[int] = set()

# ---- watching ---------------------------------------------------------------------------------


@contextmanager
def _watching(part: _Part) -> Iterator[None]:
    watcher = _watcher()
    with watcher.hearing_signals():
        try:
            with _lock:
                _parts.append(part)
                _tell_supervisor()
            if part.next_look() is not None:
                watcher.wake()
            yield
        finally:
            with _lock:
                if part in _parts:
                    _parts.remove(part)
                if part.is_told:
                    _settle(part)
                _tell_supervisor()
            _forget_interrupt()


def _settle(part: _Part) -> None:
    """Ends a part that was told to: the parts around it raise again, since what was raised for them
    may have been handled within."""
    for around in _parts:
        if around.thread == part.thread:
            around.again = 0.0
    _ask_no_more()


class _Watcher:
    """Watches clocks and signals in a thread, which a pipe wakes: Python writes the numbers of
    signals to it when they come, whatever the main thread is doing."""

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
        """Wakes the thread to check for something new."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._in, b"\0")

    @contextmanager
    def hearing_signals(self) -> Iterator[None]:
        """Lets signals wake the thread within the block, unless another wake-up descriptor is
        set; Ctrl-C is an :func:`interrupt`, unless something else handles it."""
        if self._hearing or threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.set_wakeup_fd(self._in, warn_on_full_buffer=False)
        if before != -1:
            signal.set_wakeup_fd(before)
            yield
            return
        self._hearing = True
        plain = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if plain:
            signal.signal(signal.SIGINT, _interrupted)
        try:
            yield
        finally:
            if plain:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            self._hearing = False
            signal.set_wakeup_fd(-1)

    def _watch(self) -> None:
        while True:
            with _lock:
                looks = [look for part in _parts if (look := part.next_look()) is not None]
            wait = max(0.0, min(looks) - time.monotonic()) if looks else None
            if select.select([self._out], [], [], wait)[0] and ENDING & {*os.read(self._out, 512)}:
                tell_all()  # Python calls the handler where the main thread has come back
            with _lock:
                for part in _parts:
                    _end(part)


def _end(part: _Part) -> None:
    """Tells a part to end if its budget is used up."""
    if not part.is_told and part.exhausted_budget() is not None:
        part.told = time.monotonic()
        if part.raises:
            polling.ask(_look)
        _tell_supervisor()
    if part.is_told:
        tell_all()


def _tell_supervisor() -> None:
    """Tells whoever may kill this process by when the innermost part of the main thread has to
    end."""
    if not polling.due:
        return
    main = threading.main_thread().ident
    with _lock:
        innermost = next((part for part in reversed(_parts) if part.thread == main), None)
        polling.due[0](*(0.0, "") if innermost is None else innermost.due())


def tell_all() -> None:
    """Signals all native code to stop; a caller without a reason to stop calls it again."""
    with _lock:
        for stop in _stops:
            stop.tell()


_only: list[_Watcher] = []


def _watcher() -> _Watcher:
    with _lock:
        if not _only or not _only[0].alive:
            _only[:] = [_Watcher()]
        return _only[0]
