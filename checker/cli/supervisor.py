"""Supervises the process that does the work of a command, and ends it where a signal asks for that.

The command line forks before it imports anything large, or has a daemon fork
(:mod:`checker.cli.daemon_client`).  The child does the work; this process
waits, and handles SIGINT, SIGTERM and SIGHUP.  The first one is passed on, so that the child may
report what it knows.  A child that does not end within :data:`GRACE`, whatever it is doing, is
killed together with its descendants; its temporary files are removed, and what it has sent
(:mod:`checker.cli.last_words`) is reported here.  A second signal does so at once.  So is a child
that goes on for :data:`SILENT` after a limit (:mod:`checker.engines.budgets`).
"""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from checker.cli.daemon_client import hand_over
from checker.processes import delay, descendants, is_alive

if TYPE_CHECKING:
    from socket import socket

UNKNOWN, BUG = 3, 70
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE = 1.5
"""Seconds that the child has for its report, beside those in which it waits for a processor."""
STARVED = 10.0
"""The largest number of seconds that it is granted for such waits."""
REPORT = 5.0
"""Seconds in which what a killed process knew has to be reported."""
ONE = 0.1
"""Seconds within which two signals are one: a terminal and a wrapper may both send it."""
LOOK = 0.05
"""Seconds between two checks while the child is ending."""
SILENT = 5.0
"""Seconds after a limit that the child has to end what the limit is about."""
GLANCE = 1.0
"""Seconds between two checks whether such a limit was reached."""
LEAVING = 0.5
"""Seconds that other descendants have to clean up after SIGTERM."""
MARK = "BIVALENCE_RUN"
"""The environment variable whose value is in the names of all temporary files of a command."""
CODE, WORDS, KNOWN, NOW, ANSWERED, LONGER, FOLDER = range(7)
"""Kinds of messages of the child: see :mod:`checker.cli.last_words`."""
HEADER = 5
"""Bytes in front of each message: its kind, and its length in four bytes."""


class Due:
    """Memory that the child shares with its supervisor: by when it has to end at a limit, as a
    number of ``time.monotonic`` in eight bytes, and which limit that is: two bytes of length, and
    words in UTF-8."""

    def __init__(self, descriptor: int | None = None) -> None:
        if descriptor is None and hasattr(os, "memfd_create"):
            descriptor = os.memfd_create("due")
            os.truncate(descriptor, mmap.PAGESIZE)
        self.descriptor = -1 if descriptor is None else descriptor
        self._memory = mmap.mmap(self.descriptor, mmap.PAGESIZE)

    def write(self, until: float, why: str) -> None:
        """Stores that the limit ``why`` is reached at ``until``; 0: no limit."""
        words = why.encode()[: mmap.PAGESIZE // 2]
        struct.pack_into("=d", self._memory, 0, 0.0)
        struct.pack_into(f"=H{len(words)}s", self._memory, 8, len(words), words)
        struct.pack_into("=d", self._memory, 0, until)

    def read(self) -> tuple[float, str]:
        """Returns what was stored last."""
        until, length = struct.unpack_from("=dH", self._memory, 0)
        return until, self._memory[10 : 10 + length].decode(errors="replace")


def supervised(work: Callable[[], int]) -> int:
    """Returns what ``work`` does, computed by a child process, where the system can fork."""
    if not hasattr(os, "fork"):
        return work()
    os.environ[MARK] = ".".join(filter(None, (os.environ.get(MARK), os.urandom(5).hex())))
    terminal = _terminal()
    reader, writer = os.pipe()
    watched, held = os.pipe()
    due = Due()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    warm = hand_over(writer, watched, due.descriptor)
    try:
        child = os.fork() if warm is None else warm[0]
    except OSError:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return work()
    if child:
        os.close(writer)
        os.close(watched)  # `held` is closed by the end of this process, however it ends
        supervisor = Supervisor(child, reader, terminal, due, None if warm is None else warm[1])
        supervisor.listen()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        code = supervisor.wait()
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)  # Python gives up its handlers before it exits
        return code
    os.close(reader)
    os.close(held)
    return end_of_fork(work, writer, watched, due, before)


def end_of_fork(
    work: Callable[[], int], writer: int, watched: int, due: Due, mask: Iterable[int] = ()
) -> int:
    """Returns what ``work`` does in the process that is supervised.

    It sends messages to ``writer``, ends when ``watched`` is closed, and has the signal mask
    ``mask``.
    """
    import threading

    from checker.cli import last_words

    threading.Thread(target=_end_with, args=(watched,), name="supervisor", daemon=True).start()

    last_words.open_pipe(writer, due)
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupted)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    code = work()
    last_words.done(code)
    return code


def _end_with(watched: int) -> None:
    """Ends this process, and all that it has begun, with the one that supervises it.

    Another process removes the temporary files, after this one has ended: until then other threads
    may still make some.
    """
    os.read(watched, 1)
    ending = os.getpid()
    for other in descendants(ending):
        with contextlib.suppress(ProcessLookupError):
            os.kill(other, signal.SIGKILL)
    folders = _folders_of_files()  # before the fork, after which other threads may hold locks
    if os.fork():
        os._exit(UNKNOWN)
    while os.getppid() == ending:
        time.sleep(0.001)
    _remove_marked(folders)
    os._exit(UNKNOWN)


def _interrupted(number: int, frame: Any) -> None:
    """Handles a signal in the child: ends it, or lets what is under way end with a report."""
    budgets = sys.modules.get("checker.engines.budgets")
    if budgets is not None and not getattr(budgets.__spec__, "_initializing", False):
        budgets.interrupt(for_good=True)
    else:  # nothing is under way yet of which there could be a report
        os._exit(UNKNOWN)


class Supervisor:
    """Waits for the process ``child``, and receives its messages from the descriptor ``reader``;
    ``due``: by when it has to end at a limit.  ``parent``: a connection that sends its status, if
    it is the child of a daemon."""

    def __init__(
        self,
        child: int,
        reader: int,
        terminal: list[Any] | None,
        due: Due,
        parent: socket | None = None,
    ) -> None:
        self._child, self._reader, self._terminal = child, reader, terminal
        self._parent = parent
        self._due, self._late, self._delay_then = due, 0.0, 0.0
        self._wake, self._woken = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)
        self._received = bytearray()
        self._words: bytes | None = None
        self._known: list[bytes] = []
        self._now: bytes | None = None
        self._folders: list[str] = []
        self._code: int | None = None
        self._grace = GRACE
        self._status: int | None = None
        self._asked: float | None = None
        self._silent = ""
        self._delay = 0.0

    def listen(self) -> None:
        """Lets signals, and the end of the child, wake this process."""
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _noted)
        signal.signal(signal.SIGCHLD, _noted)

    def wait(self) -> int:
        """Waits for the end of the child; returns the exit code of the command."""
        again = False
        ends: list[Any] = [
            self._wake,
            self._reader,
            *([] if self._parent is None else [self._parent]),
        ]
        while not self._ended():
            left = GLANCE if self._asked is None else LOOK
            ready = select.select(ends, [], [], left)[0]
            if self._reader in ready and not self._receive():
                self._reap(block=True)
            if self._wake in ready:
                again = self._hear(os.read(self._wake, 512))
            self._silent = self._goes_on_after_a_limit()
            if self._status is None and (again or self._silent or self._is_over()):
                self._kill()
        while self._receive():
            pass
        return self._conclude(at_once=again)

    # ---- signals ----------------------------------------------------------------------------

    def _hear(self, numbers: bytes) -> bool:
        """Passes a signal on to the child; returns whether it is the second one."""
        heard = [number for number in ENDING if number in numbers]
        if not heard:
            return False
        now = time.monotonic()
        if self._asked is not None:
            return now - self._asked > ONE
        self._asked, self._delay = now, delay(self._child)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child, heard[0])
        return False

    def _is_over(self) -> bool:
        """Returns whether the child has had its time for a report."""
        if self._asked is None:
            return False
        took = time.monotonic() - self._asked
        return took - min(STARVED, delay(self._child) - self._delay) > self._grace

    def _goes_on_after_a_limit(self) -> str:
        """Returns the limit that the child has not obeyed in time, in words, or an empty string."""
        until, why = self._due.read()
        now = time.monotonic()
        if not 0.0 < until < now:
            return ""
        if until != self._late:
            self._late, self._delay_then = until, delay(self._child)
        starved = min(STARVED, delay(self._child) - self._delay_then)
        return why if now - until - starved > SILENT else ""

    # ---- the child --------------------------------------------------------------------------

    def _receive(self) -> bool:
        """Receives messages; returns whether there may be more."""
        data = os.read(self._reader, 1 << 16) if self._readable() else b""
        self._received += data
        while len(self._received) >= HEADER:
            end = HEADER + int.from_bytes(self._received[1:HEADER], "little")
            if len(self._received) < end:
                break
            self._take(self._received[0], bytes(self._received[HEADER:end]))
            del self._received[:end]
        return bool(data)

    def _readable(self) -> bool:
        return bool(select.select([self._reader], [], [], 0)[0])

    def _take(self, kind: int, data: bytes) -> None:
        if kind == CODE:
            self._code = data[0]
        elif kind == WORDS:
            self._words, self._now = data, None
            self._known.clear()
        elif kind == KNOWN:
            self._known.append(data)
            self._now = None
        elif kind == NOW:
            self._now = data
        elif kind == ANSWERED:
            self._asked = None
        elif kind == LONGER:
            self._grace = float(data)
        elif kind == FOLDER:
            self._folders.append(os.fsdecode(data))

    def _ended(self) -> bool:
        if self._status is None:
            self._reap(block=False)
        return self._status is not None

    def _reap(self, *, block: bool) -> None:
        if self._parent is not None:
            if block or select.select([self._parent], [], [], 0)[0]:
                self._status = self._received_status(self._parent)
            return
        found, status = os.waitpid(self._child, 0 if block else os.WNOHANG)
        if found:
            self._status = status

    def _received_status(self, parent: socket) -> int:
        """Returns the status of the child of a daemon; it is killed where the daemon has died."""
        parent.settimeout(None)
        status = parent.recv(4)
        if len(status) == 4:
            return int.from_bytes(status, "little")
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        return int(signal.SIGKILL)

    def _kill(self) -> None:
        """Kills the child and all of its descendants."""
        os.kill(self._child, signal.SIGSTOP)
        others = descendants(self._child)
        for number, until in ((signal.SIGTERM, time.monotonic() + LEAVING), (signal.SIGKILL, 0.0)):
            for other in others:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(other, number)
            while time.monotonic() < until and any(map(is_alive, others)):
                time.sleep(LOOK)
        os.kill(self._child, signal.SIGKILL)
        self._reap(block=True)

    # ---- the end ----------------------------------------------------------------------------

    def _conclude(self, *, at_once: bool) -> int:
        assert self._status is not None
        if self._code is not None:  # everything is said
            if self._code == UNKNOWN:  # an exception that comes between two lines may leave files
                remove_marked(self._folders)
            return self._code
        number = self._status & 0x7F
        if not number and self._status >> 8 != UNKNOWN:
            return self._status >> 8 or BUG  # nothing says that it is done
        self._restore_terminal()
        remove_marked(self._folders)
        signalled = self._asked is not None or not number
        why, code = ("interrupted", UNKNOWN) if signalled else _death(number)
        if self._silent:
            why, code = self._silent, UNKNOWN
        if self._words is None or at_once:
            with contextlib.suppress(OSError, ValueError):
                print(why, file=sys.stderr, flush=True)
            return code
        return self._report(why, code)

    def _report(self, why: str, code: int) -> int:
        """Has what is known reported by another process, which is killed where that takes longer
        than :data:`REPORT`; returns the exit code."""
        child = os.fork()
        if not child:
            os._exit(self._reported(why, code))
        self._child, self._parent, self._status, self._asked = child, None, None, None
        until = time.monotonic() + REPORT
        while not self._ended():
            left = until - time.monotonic()
            woken = select.select([self._wake], [], [], max(0.0, min(left, LOOK)))[0]
            again = bool(woken) and any(n in ENDING for n in os.read(self._wake, 512))
            if again or left <= 0.0:
                self._kill()
                remove_marked(self._folders)
        assert self._status is not None
        return code if self._status & 0x7F else self._status >> 8

    def _reported(self, why: str, code: int) -> int:
        import pickle

        from checker.cli.errors import say_problem

        for each in ENDING:
            signal.signal(each, signal.SIG_IGN)
        try:
            assert self._words is not None
            call, given = pickle.loads(self._words)
            known = [pickle.loads(each) for each in self._known]
            now = None if self._now is None else pickle.loads(self._now)
            found = int(call(*given, known, now, why)) or code
            sys.stdout.flush()
            return code if code == BUG else found
        except Exception as problem:
            return say_problem(problem)

    def _restore_terminal(self) -> None:
        if self._terminal is not None:
            import termios

            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(0, termios.TCSANOW, self._terminal)
        with contextlib.suppress(OSError, ValueError):
            if sys.stderr.isatty():
                os.write(
                    2, b"\r\x1b[2K\x1b[?25h"
                )  # the line of the progress goes, the cursor stays


def _noted(number: int, frame: Any) -> None:
    """Does nothing: the number of the signal is in the pipe that wakes this process."""


def _death(number: int) -> tuple[str, int]:
    """Returns in words that a signal has ended the child, and the exit code."""
    name = signal.Signals(number).name
    if name == "SIGKILL":
        return "its process was killed, probably for lack of memory", UNKNOWN
    if name in ("SIGINT", "SIGTERM", "SIGHUP"):
        return "interrupted", UNKNOWN
    return f"internal error: its process was killed by {name}; please report it", BUG


def _terminal() -> list[Any] | None:
    """Returns the settings of the terminal that is stdin, if it is one."""
    try:
        if not os.isatty(0):
            return None
        import termios

        return termios.tcgetattr(0)
    except (ImportError, OSError):
        return None


def remove_marked(folders: list[str]) -> None:
    """Removes the temporary files of this command, from ``folders`` and where others are made."""
    _remove_marked({*_folders_of_files(), *folders})


def _folders_of_files() -> set[str]:
    """Returns the folders in which temporary files are made without notice."""
    import shutil  # noqa: F401 - needed for the removal
    import tempfile

    from checker.resources import cache_folders

    return {tempfile.gettempdir(), "/var/tmp", *map(str, cache_folders())}


def _remove_marked(folders: set[str]) -> None:
    import shutil

    mark = os.environ[MARK]
    for folder in folders:
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                if mark in name:
                    path = os.path.join(folder, name)
                    if os.path.isdir(path) and not os.path.islink(path):
                        shutil.rmtree(path, ignore_errors=True)
                    else:
                        os.unlink(path)
