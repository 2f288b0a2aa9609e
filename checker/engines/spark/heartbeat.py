"""Heartbeats of the tasks of an attempt: each has a thread that writes to the run's folder from
time to time (a *beat*), and the driver checks whether these messages change.

A task that hangs, because its process was stopped or its machine is gone, is not distinguished from
a dead one (a failure detector by timeouts; Cachin, Guerraoui, Rodrigues, chapter 2): it is
suspected, and if it resumes, its attempt is over.  Such a task can't commit
(:meth:`checker.engines.native.checkpoint.run_folder.RunFolder.claim`), no task communicates with
it, since each attempt has keys of its own, and at its next beat it notices and ends its process.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from checker.engines import budgets
from checker.engines.native.checkpoint.run_folder import RunFolder

SILENCE = 20.0
"""Seconds without a beat after which a task is suspected; ``--conf spark.bivalence.silence=S``."""
SILENCE_KEY = "spark.bivalence.silence"
BEATS = 4
"""The number of beats in the time after which a task is suspected."""
START = 40.0
"""Additional seconds until a task's first beat: its Python may have to be started."""
HEED = 2.0
"""The largest number of seconds between two checks whether the run is to end."""
ECHO = "echo"
"""A message of the driver to itself."""


class SilentTask(Exception):
    """A task is not heard from any more; the message says which, and for how long."""


class Overdue(Exception):
    """A task has exceeded its time limit."""


class Heartbeat(Struct, frozen=True):
    """The heartbeat of a task; can be pickled.  ``every``: seconds between beats; ``group``: of
    tasks that are counted together; ``end``: the driver's message that ends them
    (:func:`told_to_end`), where they check for one.
    """

    folder: RunFolder
    every: float
    group: str = "beat"
    end: str | None = None

    @classmethod
    def within(
        cls, folder: RunFolder, silence: float, group: str = "beat", end: str | None = None
    ) -> Heartbeat:
        """Returns a heartbeat for tasks that are suspected after ``silence`` seconds."""
        return cls(folder, silence / BEATS, group, end)

    def name(self, task: int) -> str:
        """Returns the name of a task's message; none of another attempt has it."""
        return f"{self.group}-{self.folder.writer}-{task:05d}"

    @contextlib.contextmanager
    def of(self, task: int, turn: int = 0) -> Iterator[None]:
        """Within the block, this process sends heartbeats as number ``task``, for the time number
        ``turn``; after it none are expected.
        """
        _told.clear()
        over = threading.Event()
        thread = threading.Thread(target=self._beat, args=(task, turn, over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            _told.clear()

    def _beat(self, task: int, turn: int, over: threading.Event) -> None:
        said = {"turn": turn, "pid": os.getpid(), "host": socket.gethostname(), "over": False}
        said["start"] = secrets.token_hex(4)  # one that restarts writes a new message
        count, seen, due = 0, False, time.monotonic()
        while not over.is_set():
            if time.monotonic() >= due:
                mine = self.folder.is_mine
                if mine is False or (seen and mine is None):  # another attempt's, or deleted
                    os._exit(1)
                seen = mine is True
                self.folder.say(self.name(task), {**said, "count": count})
                count += 1
                due = time.monotonic() + self.every
            self._heed()
            over.wait(max(0.0, min(HEED, due - time.monotonic())))
        self.folder.say(self.name(task), {**said, "count": count, "over": True})

    def _heed(self) -> None:
        """Stops native code, which may be long within one state, where the run is to end."""
        if self.end is not None and (self.folder.read_message(self.end) or {}).get(self.end):
            _told.set()
            budgets.tell_all()


_told = threading.Event()


def told_to_end() -> bool:
    """Returns whether this process's task has received the message that its run is to end."""
    return _told.is_set()


class _Task(Struct):
    """The state of a task.  ``said``: its last beat; ``begun``: it has begun the current turn;
    ``quiet``: seconds since then, or since it was expected to begin; ``expected``: beats are
    expected.
    """

    said: dict[str, Any] | None = None
    begun: bool = False
    quiet: float = 0.0
    expected: bool = True

    @property
    def turn(self) -> int:
        """The turn of the last beat; -1 where there was none."""
        return -1 if self.said is None else int(self.said.get("turn", 0))


class HeartbeatMonitor:
    """The driver's side of :class:`Heartbeat`.

    ``together``: all of ``tasks`` run at once, so that when one of them has begun a turn the others
    have to as well.  ``until``: on the clock, when all have to be over.  Silence counts only while
    the driver checks: where all of this machine was suspended, no task is suspected.
    """

    def __init__(
        self,
        beat: Heartbeat,
        tasks: int = 0,
        *,
        together: bool = False,
        until: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.beat, self._together, self._until, self._clock = beat, together, until, clock
        self._tasks = {task: _Task(expected=False) for task in range(tasks)}
        self._turn = -1
        self._looked = clock()

    def expect(self, task: int) -> None:
        """Expects beats of the task from now on."""
        self._tasks[task] = _Task()

    def forget(self, task: int) -> None:
        """Expects no more beats of the task."""
        if self._tasks.pop(task, None) is not None:
            self.beat.folder.unsay(self.beat.name(task))

    def close(self) -> None:
        """Expects no more beats of any task."""
        for task in list(self._tasks):
            self.forget(task)

    def __enter__(self) -> HeartbeatMonitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def check(self) -> None:
        """Checks all tasks, if it is time to; raises :class:`SilentTask` and :class:`Overdue`."""
        now = self._clock()
        if self._until is not None and now > self._until:
            raise Overdue
        passed = now - self._looked
        if passed < self.beat.every:
            return
        self._looked = now
        passed = min(passed, 2 * self.beat.every)
        for task, known in list(self._tasks.items()):
            said = self.beat.folder.read_message(self.beat.name(task))
            if said is not None and said != known.said:
                self._tasks[task] = _Task(said, begun=True, expected=not said.get("over"))
                self._begin_turn(self._tasks[task].turn)
            elif known.expected:
                known.quiet += passed
        silent = [task for task, known in self._tasks.items() if self._is_silent(known)]
        if silent and self._can_hear():
            raise SilentTask(self._about(silent[0]))

    def _begin_turn(self, turn: int) -> None:
        """Records that some task has begun a turn."""
        if turn <= self._turn:
            return
        self._turn = turn
        for known in self._tasks.values():
            if self._together and known.turn < turn and not known.expected:
                known.begun, known.quiet, known.expected = False, 0.0, True

    def _limit(self, known: _Task) -> float:
        """Returns the seconds after which a task is suspected."""
        return BEATS * self.beat.every + (0.0 if known.begun else START)

    def _is_silent(self, known: _Task) -> bool:
        return known.expected and known.quiet >= self._limit(known)

    def _can_hear(self) -> bool:
        """Returns whether the folder itself is readable: a disk may be full, or gone."""
        word = {"word": secrets.token_hex(8)}
        self.beat.folder.say(ECHO, word)
        if self.beat.folder.read_message(ECHO) == word:
            return True
        for known in self._tasks.values():
            known.quiet = 0.0
        return False

    def _about(self, task: int) -> str:
        known = self._tasks[task]
        where = ""
        if known.said is not None and known.begun:
            where = f" (process {known.said.get('pid')} on {known.said.get('host')})"
        return f"no heartbeat from task {task}{where} for {self._limit(known):g} s"
