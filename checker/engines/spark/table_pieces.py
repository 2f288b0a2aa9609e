"""The pieces of tables (:mod:`checker.exploration.tables`) on executors."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from checker.engines.spark.cluster import Cluster
from checker.engines.spark.fan_out import Failure, fan_out
from checker.engines.spark.session import open_session

Piece = TypeVar("Piece")
Result = TypeVar("Result")


class OnExecutors:
    """Runs a function over pieces on the executors of ``cluster``, in a session of its own.

    Called, it gives the results as they come, and raises ``OSError`` where one has failed.  What
    the function reads and writes has to be where the executors see it, too.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def __call__(
        self, function: Callable[[Piece], Result], pieces: Sequence[Piece]
    ) -> Iterator[Result]:
        with open_session(self.cluster) as session:
            for _, found in fan_out(session, function, pieces):
                if isinstance(found, Failure):
                    raise OSError(errno.EIO, f"on an executor: {found.reason}")
                yield found
