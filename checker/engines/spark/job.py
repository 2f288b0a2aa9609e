"""What every task of a run is given, and what comes back."""

from __future__ import annotations

import hmac
import math
import pickle
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker import budgets
from checker.engines.spark.heartbeat import SILENCE, Heartbeat
from checker.exploration.findings import Best, Findings
from checker.exploration.run_folder import Part, RunFolder
from checker.exploration.store import OutOfMemory
from checker.kernels.image import KernelImage
from checker.properties.persistence import needs_automaton
from checker.system.ir import PropertyKind, TransitionSystem
from checker.witness.answer import Limits

if TYPE_CHECKING:
    import pyarrow

PROGRESS, STOP = "progress", "stop"
"""Messages in the folder of a run: how far it has come; that it is to end."""
ANSWER = "answer"
"""The only column of what tasks give to Spark: a pickled object."""


@dataclass(frozen=True)
class Job:
    """A run in ``shards`` parts, which goes on from what ``folder`` has; can be pickled.

    ``token``: what only tasks of this run know; ``deadline``: in seconds of ``time.time``, or
    ``None``; ``commit_every``: seconds between commits; ``all_states``: the folder is to have all
    levels when the run is over, whatever comes of it; ``silence``: seconds after which a task that
    is not heard from is given up.
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
        """How its tasks are heard from."""
        return Heartbeat.within(self.folder, self.silence, end=STOP)

    @property
    def key(self) -> bytes:
        """What only tasks of this attempt know: an attempt begins with a claim of the folder."""
        return hmac.digest(self.token, (self.folder.writer or "").encode(), "sha256")

    @property
    def names(self) -> list[str]:
        """Of the properties, in order."""
        return [prop.name for prop in self.system.properties]

    @property
    def memory(self) -> int | None:
        """Bytes for each shard."""
        limit = self.limits.memory
        return None if limit is None else limit // self.shards

    def no_room(self, error: OutOfMemory) -> str:
        """Why a shard has no room, in words: the limit is that of the run, divided among them."""
        if self.memory is None or not str(error).startswith("the memory limit"):
            return str(error)
        whole, each = f"{self.limits.memory:,} bytes", f"{self.memory:,} for each"
        return f"the memory limit of {whole} was reached: {each} of {self.shards} shards"

    def overlaps(self, part: Part, shard: int) -> bool:
        """Whether a part may have states that ``shard`` owns."""
        return part.shard * self.shards < (shard + 1) * part.shards and (
            shard * part.shards < (part.shard + 1) * self.shards
        )

    @contextmanager
    def bound(self, seconds: float = math.inf) -> Iterator[None]:
        """Within the block native code gives up where the time limit is reached, or so many
        ``seconds`` are over: it may be long within one state."""
        left = seconds if self.deadline is None else min(seconds, self.deadline - time.time())
        if left == math.inf:
            yield
            return
        with budgets.within(left), budgets.stopping_native_code():
            yield

    def is_late(self) -> bool:
        """Whether the time limit is reached."""
        return self.deadline is not None and time.time() > self.deadline

    def wants_states(self, found: Findings) -> bool:
        """Whether somebody will ask for states of a run that ends with ``found``."""
        live = [p for p in self.system.properties if p.kind is PropertyKind.LIVENESS]
        cycles = found.maybe_cyclic or any(map(needs_automaton, live))
        shown = found.violating or found.faulty is not None
        return bool(self.all_states or shown or (live and cycles))


@dataclass(frozen=True)
class TaskCost:
    """What one task took: its states, bytes sent to others, bytes of memory at most, seconds, and
    on which host."""

    shard: int
    states: int
    sent: int
    peak: int
    seconds: float
    where: str

    def __add__(self, later: TaskCost) -> TaskCost:
        """What the same shard took at first and later."""
        peak, seconds = max(self.peak, later.peak), self.seconds + later.seconds
        return TaskCost(
            self.shard, later.states, self.sent + later.sent, peak, seconds, later.where
        )


@dataclass(frozen=True)
class RunOutcome:
    """What all tasks together found; the fields are those of ``Explored``.

    ``complete``: the findings that the states in the folder go with; ``broken``: why the folder
    can't be written; ``seconds``: of the search itself; ``efforts``: what it took; ``orbits``: as
    :func:`checker.exploration.reduction_stats.weigh` gives it for what one task has, or all
    (``None``: nobody has looked).
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


def rows_of(what: object) -> pyarrow.RecordBatch:
    """One row with an object, as a task gives it to Spark (:data:`ANSWER`)."""
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(what)], pa.binary())], [ANSWER])
