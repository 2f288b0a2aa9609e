"""Writes the pieces of tables (:mod:`checker.engines.native.tables.tables`) on executors."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from checker.engines.cluster import Cluster
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.spark.fan_out import ItemFailure, fan_out
from checker.engines.spark.heartbeat import Heartbeat, HeartbeatMonitor, SilentTask
from checker.engines.spark.session import Session, open_session

Piece = TypeVar("Piece")
Result = TypeVar("Result")

ATTEMPTS = 4
"""The number of attempts at pieces whose executor was suspected."""


class OnExecutors:
    """Runs a function over pieces on the executors of ``cluster``, in a session of its own.

    A call yields the results as they come, and raises ``OSError`` where one has failed.  The files
    that the function reads and writes have to be accessible to the executors; so has ``folder``,
    which holds their heartbeats.  A piece whose executor hangs is repeated by another one.
    """

    def __init__(self, cluster: Cluster, folder: RunFolder) -> None:
        self.cluster, self.folder = cluster, folder

    def __call__(
        self, function: Callable[[Piece], Result], pieces: Sequence[Piece]
    ) -> Iterator[Result]:
        left, silent = dict(enumerate(pieces)), ""
        with open_session(self.cluster) as session:
            for _ in range(ATTEMPTS):
                try:
                    yield from self._once(session, function, left)
                except SilentTask as told:
                    silent = str(told)
                else:
                    return
        raise OSError(errno.EIO, f"on an executor: {silent}")

    def _once(
        self, session: Session, function: Callable[[Piece], Result], left: dict[int, Piece]
    ) -> Iterator[Result]:
        """Yields the results of the pieces in ``left``, from which they are removed then; raises
        ``SilentTask``.
        """
        self.folder.claim()  # remaining tasks of an earlier attempt end themselves
        beat, numbers = Heartbeat.within(self.folder, session.silence, "tables"), list(left)
        with HeartbeatMonitor(beat) as heard:
            for at, found in fan_out(session, function, list(left.values()), heard):
                if isinstance(found, ItemFailure):
                    raise OSError(errno.EIO, f"on an executor: {found.reason}")
                del left[numbers[at]]
                yield found
