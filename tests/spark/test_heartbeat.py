"""Who is heard from, who is given up, and what becomes of a task that wakes up too late."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.native.codegen.image import build
from checker.engines.spark.heartbeat import (
    BEATS,
    ECHO,
    START,
    Heartbeat,
    HeartbeatMonitor,
    Overdue,
    SilentTask,
    told_to_end,
)
from checker.records import replace
from checker.results.answer import Limits
from tests.native.models import two_phase
from tests.spark.cluster import eventually
from tests.spark.gang import begun, job_of

LIMIT = 20.0
EVERY = LIMIT / BEATS


class Room:
    """A driver that listens, and tasks that say what they are told to, at times of their own."""

    def __init__(
        self, folder: Path, tasks: int = 2, *, together: bool = False, until: float | None = None
    ) -> None:
        self.now = 0.0
        self.run = RunFolder(str(folder), 1)
        self.run.claim()
        self.beat = Heartbeat.within(self.run, LIMIT)
        self.listening = HeartbeatMonitor(
            self.beat, tasks, together=together, until=until, clock=lambda: self.now
        )
        self._count = 0

    def say(self, task: int, *, turn: int = 0, over: bool = False) -> None:
        self._count += 1
        said = {"turn": turn, "pid": 7, "host": "h", "over": over, "count": self._count}
        self.run.say(self.beat.name(task), said)

    def pass_time(self, seconds: float, *alive: int, turn: int = 0) -> None:
        """The driver looks meanwhile; those who are alive say so."""
        until = self.now + seconds
        while self.now < until:
            for task in alive:
                self.say(task, turn=turn)
            self.now += EVERY
            self.listening.check()


def test_who_is_heard_from_is_not_given_up(tmp_path: Path) -> None:
    room = Room(tmp_path)
    room.pass_time(10 * LIMIT, 0, 1)


def test_who_is_silent_is_given_up(tmp_path: Path) -> None:
    room = Room(tmp_path)
    room.pass_time(LIMIT, 0, 1)
    room.pass_time(LIMIT - EVERY, 0)
    with pytest.raises(SilentTask, match=r"^no heartbeat from task 1 \(process 7 on h\) for 20 s$"):
        room.pass_time(LIMIT, 0)


def test_who_is_over_need_not_be_heard_from(tmp_path: Path) -> None:
    room = Room(tmp_path)
    room.pass_time(LIMIT, 0, 1)
    room.say(1, over=True)
    room.pass_time(10 * LIMIT, 0)
    room.say(1, turn=1)  # another one, later
    room.pass_time(EVERY, 0)
    with pytest.raises(SilentTask, match="task 1"):
        room.pass_time(10 * LIMIT, 0)


def test_before_anybody_has_begun_nobody_is_waited_for(tmp_path: Path) -> None:
    room = Room(tmp_path, together=True)
    room.pass_time(100 * LIMIT)


@pytest.mark.parametrize("before", [False, True], ids=["never begun", "begun before"])
def test_who_runs_together_with_others_has_to_begin_with_them(before: bool, tmp_path: Path) -> None:
    room = Room(tmp_path, together=True)
    if before:
        for task in (0, 1):
            room.say(task, turn=1, over=True)
        room.pass_time(10 * LIMIT)
    room.pass_time(LIMIT + START - EVERY, 0, turn=2)
    with pytest.raises(SilentTask, match="no heartbeat from task 1 for 60 s"):
        room.pass_time(LIMIT, 0, turn=2)


def test_who_is_told_to_begin_has_to(tmp_path: Path) -> None:
    room = Room(tmp_path, tasks=0)
    room.pass_time(10 * LIMIT)
    room.listening.expect(5)
    room.listening.expect(6)
    room.listening.forget(6)
    room.pass_time(LIMIT + START - EVERY)
    with pytest.raises(SilentTask, match="task 5"):
        room.pass_time(LIMIT)


def test_where_all_was_suspended_nobody_is_blamed(tmp_path: Path) -> None:
    room = Room(tmp_path)
    room.pass_time(LIMIT, 0, 1)
    room.now += 1000 * LIMIT
    room.listening.check()
    room.pass_time(LIMIT, 0, 1)


def test_what_another_attempt_says_is_not_heard(tmp_path: Path) -> None:
    room = Room(tmp_path)
    old = room.beat.name(1)
    room.run.claim()
    assert room.beat.name(1) != old
    room.pass_time(LIMIT, 0, 1)

    def stale() -> None:
        while True:
            room.run.say(old, {"turn": 0, "over": False, "count": room.now})
            room.pass_time(EVERY, 0)

    with pytest.raises(SilentTask, match="task 1"):
        stale()


def test_a_full_disk_is_nobody_s_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = Room(tmp_path)
    room.pass_time(LIMIT, 0, 1)
    write = room.run.place.write

    def full(name: str, data: bytes) -> None:
        if not name.startswith("said/writer"):
            raise OSError(errno.ENOSPC, "No space left on device", name)
        write(name, data)

    monkeypatch.setattr(room.run.place, "write", full)
    room.pass_time(10 * LIMIT, 0, 1)
    assert room.run.read_message(ECHO) is None
    monkeypatch.undo()
    room.pass_time(LIMIT, 0, 1)
    with pytest.raises(SilentTask, match="task 1"):
        room.pass_time(2 * LIMIT, 0)


def test_what_has_to_be_over(tmp_path: Path) -> None:
    room = Room(tmp_path, until=LIMIT)
    room.pass_time(LIMIT, 0, 1)
    with pytest.raises(Overdue):
        room.pass_time(EVERY, 0, 1)


def test_nothing_is_left_of_what_was_said(tmp_path: Path) -> None:
    with Room(tmp_path).listening as listening:
        for task in (0, 1):
            with listening.beat.of(task):
                pass
            assert listening.beat.folder.read_message(listening.beat.name(task))
    left = {path.name for path in (tmp_path / "said").iterdir()}
    assert left == {"writer.json"}


# ---- tasks that wake up -----------------------------------------------------------------------


def sleeper(beat: Heartbeat) -> None:
    with beat.of(3):
        time.sleep(300)


@pytest.mark.parametrize("what", ["claimed by another attempt", "deleted"])
def test_who_wakes_up_too_late_ends(what: str, tmp_path: Path) -> None:
    """A process that was stopped: another attempt has begun meanwhile, or the run is over."""
    folder = RunFolder(str(tmp_path / "run"), 1)
    folder.claim()
    beat = Heartbeat.within(folder, 0.2)
    process = multiprocessing.get_context("spawn").Process(target=sleeper, args=(beat,))
    process.start()
    assert process.pid is not None
    try:
        eventually(lambda: (folder.read_message(beat.name(3)) or {}).get("count", 0) > 1, "no beat")
        os.kill(process.pid, signal.SIGSTOP)
        if what == "deleted":
            folder.place.delete_folder()
        else:
            folder.claim()
        os.kill(process.pid, signal.SIGCONT)
        process.join(60)
        assert process.exitcode == 1
        assert what != "deleted" or not (tmp_path / "run").exists()
    finally:
        process.kill()
        process.join()


def test_each_attempt_has_a_key_of_its_own(tmp_path: Path) -> None:
    system = two_phase(2)
    image = build(system)
    job = job_of(system, image, begun(tmp_path, system, image), 2, Limits())
    keys: set[bytes] = {job.key}
    for _ in range(3):
        job.folder.claim()
        keys.add(job.key)
    assert len(keys) == 4
    assert replace(job, token=bytes(32)).key not in keys


def refused(commit: Callable[[], None]) -> None:
    with pytest.raises(OSError, match="another run resumed from here"):
        commit()


def test_what_is_left_of_an_earlier_attempt_can_not_commit(tmp_path: Path) -> None:
    system = two_phase(2)
    image = build(system)
    folder = begun(tmp_path, system, image)
    folder.claim()
    stale = RunFolder(folder.location, folder.words)
    stale.__dict__.update(folder.__getstate__())
    folder.claim()
    found = stale.latest()
    assert found is not None
    found.depth += 1
    refused(lambda: stale.commit(found, []))
    folder.latest()
    folder.commit(found, [])


def test_what_a_task_is_told_is_not_told_to_the_next_one(tmp_path: Path) -> None:
    run = RunFolder(str(tmp_path), 1)
    run.claim()
    with Heartbeat(run, 0.05, end="end").of(0):
        run.say("end", {"end": True})
        eventually(told_to_end, "it looks for the message")
    assert not told_to_end()
