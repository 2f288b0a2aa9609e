"""The input and output of the tasks of a run."""

from __future__ import annotations

import hmac
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from checker.engines import budgets
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.native.codegen.image import KernelImage
from checker.engines.native.search.findings import Best, Findings
from checker.engines.native.search.store import OutOfMemory
from checker.engines.spark.heartbeat import SILENCE, Heartbeat
from checker.model.ir import PropertyKind, TransitionSystem
from checker.properties.persistence import needs_automaton
from checker.results.answer import Limits

PROGRESS, STOP = "progress", "stop"
"""Messages in the folder of a run: its progress; the request to end."""


class Job(Struct, frozen=True):
    """A run in ``shards`` parts, which resumes from what ``folder`` has; can be pickled.

    ``token``: a secret of the tasks of this run; ``deadline``: in seconds of ``time.time``, or
    ``None``; ``commit_every``: seconds between commits; ``all_states``: the folder is to have all
    levels when the run is over, whatever its outcome; ``silence``: seconds after which a task that
    is not heard from is suspected.
    """

    system: TransitionSystem
    image: KernelImage
    folder: RunFolder
    shards: int
    limits: Limits
    token: bytes
    deadline: float | None
    commit_every: float
    all_states: bool
    silence: float = SILENCE

    @property
    def beat(self) -> Heartbeat:
        """The heartbeat of its tasks."""
        return Heartbeat.within(self.folder, self.silence, end=STOP)

    @property
    def key(self) -> bytes:
        """The secret of the tasks of this attempt: an attempt begins with a claim of the folder."""
        return hmac.digest(self.token, (self.folder.writer or "").encode(), "sha256")

    @property
    def names(self) -> list[str]:
        """The names of the properties, in order."""
        return [prop.name for prop in self.system.properties]

    @property
    def memory(self) -> int | None:
        """The bytes for each shard."""
        limit = self.limits.memory
        return None if limit is None else limit // self.shards

    def no_room(self, error: OutOfMemory) -> str:
        """Explains why a shard has no room: the limit is that of the run, divided among them."""
        if self.memory is None or not str(error).startswith("the memory limit"):
            return str(error)
        whole, each = f"{self.limits.memory:,} bytes", f"{self.memory:,} for each"
        return f"the memory limit of {whole} was reached: {each} of {self.shards} shards"

    @contextmanager
    def bound(self, seconds: float = math.inf) -> Iterator[None]:
        """Within the block, native code stops where the time limit is reached, or after
        ``seconds``: it may be long within one state.
        """
        left = seconds if self.deadline is None else min(seconds, self.deadline - time.time())
        if left == math.inf:
            yield
            return
        with budgets.within(left), budgets.stopping_native_code():
            yield

    def is_late(self) -> bool:
        """Returns whether the time limit is reached."""
        return self.deadline is not None and time.time() > self.deadline

    def wants_states(self, found: Findings) -> bool:
        """Returns whether the states of a run that ends with ``found`` are needed."""
        live = [p for p in self.system.properties if p.kind is PropertyKind.LIVENESS]
        cycles = found.maybe_cyclic or any(map(needs_automaton, live))
        shown = found.violating or found.faulty is not None
        return bool(self.all_states or shown or (live and cycles))


class TaskCost(Struct, frozen=True):
    """The costs of one task: its states, bytes sent to others, largest number of bytes of memory,
    seconds, and its host.
    """

    shard: int
    states: int
    sent: int
    peak: int
    seconds: float
    where: str

    def __add__(self, later: TaskCost) -> TaskCost:
        """Adds the costs of a later part of the same shard's work."""
        peak, seconds = max(self.peak, later.peak), self.seconds + later.seconds
        return TaskCost(
            self.shard, later.states, self.sent + later.sent, peak, seconds, later.where
        )


class RunOutcome(Struct, frozen=True):
    """The findings of all tasks together; the fields are those of ``Explored``.

    ``complete``: the findings that belong to the states in the folder; ``broken``: why the folder
    can't be written; ``seconds``: of the search itself; ``efforts``: its costs; ``orbits``: as
    :func:`checker.engines.native.search.reduction_stats.weigh` returns it for the states of one
    task, or of all (``None``: not computed).
    """

    found: Findings
    complete: Findings
    states: int
    depth: int
    used: int
    lost: Best | None
    stopped: str | None
    broken: str | None
    seconds: float
    efforts: tuple[TaskCost, ...] = ()
    orbits: tuple[int, int] | None = None
