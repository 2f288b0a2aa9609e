"""Whether the tasks of an attempt are alive: each has a thread that says so in the run's folder
every now and then (a *beat*), and the driver looks whether what is said there changes.

A task that hangs, because its process was stopped or its machine has gone, is not told from a dead
one (a failure detector by time-outs; Cachin, Guerraoui, Rodrigues, chapter 2): it is given up, and
if it wakes up, it is of an attempt that is over.  Such a task can't commit
(:meth:`checker.exploration.run_folder.RunFolder.claim`), nobody talks to it, since each attempt has
keys of its own, and where it finds out, which it does at its next beat, it ends its process.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from checker import budgets
from checker.exploration.run_folder import RunFolder

SILENCE = 20.0
"""Seconds without a beat after which a task is given up; ``--conf spark.bivalence.silence=S``."""
SILENCE_KEY = "spark.bivalence.silence"
BEATS = 4
"""In the time after which a task is given up."""
START = 40.0
"""Seconds more that a task has until its first beat: its Python may have to be started."""
HEED = 2.0
"""Seconds, at most, between two looks whether the run is to end."""
ECHO = "echo"
"""A message of the driver to itself."""


class SilentTask(Exception):
    """A task is not heard from any more; the message says which, and for how long."""


class Overdue(Exception):
    """What has to be over by now is not."""


@dataclass(frozen=True)
class Heartbeat:
    """What a task is given; can be pickled.  ``every``: seconds between beats; ``group``: of tasks
    that are counted together; ``end``: the message of the driver by which they are told to end
    (:func:`told_to_end`), where they heed one."""

    folder: RunFolder
    every: float
    group: str = "beat"
    end: str | None = None

    @classmethod
    def within(
        cls, folder: RunFolder, silence: float, group: str = "beat", end: str | None = None
    ) -> Heartbeat:
        """Often enough for a task that is given up after ``silence`` seconds."""
        return cls(folder, silence / BEATS, group, end)

    def name(self, task: int) -> str:
        """Of the message of a task; none of another attempt has it."""
        return f"{self.group}-{self.folder.writer}-{task:05d}"

    @contextlib.contextmanager
    def of(self, task: int, turn: int = 0) -> Iterator[None]:
        """A block in which this process is heard from as number ``task``, for the time number
        ``turn``, and after which nobody waits for it."""
        _told.clear()
        over = threading.Event()
        thread = threading.Thread(target=self._beat, args=(task, turn, over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _beat(self, task: int, turn: int, over: threading.Event) -> None:
        said = {"turn": turn, "pid": os.getpid(), "host": socket.gethostname(), "over": False}
        said["start"] = secrets.token_hex(4)  # one that begins again says something new
        count, seen, due = 0, False, time.monotonic()
        while not over.is_set():
            if time.monotonic() >= due:
                mine = self.folder.is_mine
                if mine is False or (seen and mine is None):  # it is another's, or deleted
                    os._exit(1)
                seen = mine is True
                self.folder.say(self.name(task), {**said, "count": count})
                count += 1
                due = time.monotonic() + self.every
            self._heed()
            over.wait(max(0.0, min(HEED, due - time.monotonic())))
        self.folder.say(self.name(task), {**said, "count": count, "over": True})

    def _heed(self) -> None:
        """Where the run is to end, native code gives up, which may be long within one state."""
        if self.end is not None and (self.folder.read_message(self.end) or {}).get(self.end):
            _told.set()
            budgets.tell_all()


_told = threading.Event()


def told_to_end() -> bool:
    """Whether the task of this process has heard that its run is to end."""
    return _told.is_set()


@dataclass
class _Task:
    """``said``: its last beat; ``begun``: it is of what is waited for now; ``quiet``: seconds since
    then, or since it was expected to begin; ``expected``: it is waited for."""

    said: dict[str, Any] | None = None
    begun: bool = False
    quiet: float = 0.0
    expected: bool = True

    @property
    def turn(self) -> int:
        """Of the last beat; -1 where there was none."""
        return -1 if self.said is None else int(self.said.get("turn", 0))


class HeartbeatMonitor:
    """The driver's side of :class:`Heartbeat`.

    ``together``: all of ``tasks`` run at once, so that when one of them has begun with a turn the
    others have to as well.  ``until``: on the clock, all of it has to be over.  Silence counts only
    while somebody looks: where all of this machine was suspended, nobody is blamed.
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
        """This one begins now."""
        self._tasks[task] = _Task()

    def forget(self, task: int) -> None:
        """Nobody waits for this one any more."""
        if self._tasks.pop(task, None) is not None:
            self.beat.folder.unsay(self.beat.name(task))

    def close(self) -> None:
        """Nobody waits for any."""
        for task in list(self._tasks):
            self.forget(task)

    def __enter__(self) -> HeartbeatMonitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def check(self) -> None:
        """Looks, if it is time to; raises :class:`SilentTask` and :class:`Overdue`."""
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
        """Somebody has begun with a turn."""
        if turn <= self._turn:
            return
        self._turn = turn
        for known in self._tasks.values():
            if self._together and known.turn < turn and not known.expected:
                known.begun, known.quiet, known.expected = False, 0.0, True

    def _limit(self, known: _Task) -> float:
        """Seconds after which a task is given up."""
        return BEATS * self.beat.every + (0.0 if known.begun else START)

    def _is_silent(self, known: _Task) -> bool:
        return known.expected and known.quiet >= self._limit(known)

    def _can_hear(self) -> bool:
        """Whether it is not the folder that is silent: a disk that is full, or has gone."""
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
        return f"nothing heard from task {task}{where} for {self._limit(known):g} s"
