"""A task's handle on its shard: opened on first use, complete up to some level then."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from checker.engines.native.checkpoint.run_folder import Part
from checker.engines.native.search.findings import Findings
from checker.engines.native.search.store import OutOfMemory, Store
from checker.engines.native.sharding.backward_search import kernel_of
from checker.engines.native.sharding.shard import Block, Shard
from checker.engines.native.sharding.shard_cache import ShardCache, local_places, remove
from checker.engines.spark.job import Job
from checker.engines.spark.run_state import Counted

Parts = Sequence[Part]


def run_name(job: Job) -> str:
    """Returns a prefix that distinguishes the files of a run from those of others; it reveals
    nothing about the token.
    """
    return hashlib.sha256(job.token).hexdigest()[:16]


def _place(index: int) -> str | None:
    places = local_places()
    return places[index % len(places)] if places else None


class ShardHandle:
    """Shard ``index`` with the levels up to ``depth``; to be used as a context.

    ``trouble``: why the shard can't continue.
    """

    def __init__(self, job: Job, index: int, depth: int) -> None:
        self.job, self.index, self.depth = job, index, depth
        self.kernel = kernel_of(job.image)
        self.trouble: str | None = None
        self._cache = ShardCache(_place(index), run_name(job), index, job.shards)
        self._store: Store | None = None
        self._shard: Shard | None = None

    def __enter__(self) -> ShardHandle:
        self._cache.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._cache.__exit__(*error)

    @property
    def shard(self) -> Shard:
        """Returns the shard, opened."""
        assert self._shard is not None
        return self._shard

    def is_open(self, more: Parts | None) -> bool:
        """Opens the shard, if possible.

        ``more``: the parts that are not committed; ``None``: they are not known yet.
        """
        if self._shard is not None:
            return True
        if self._store is None:
            self._store = self._cache.open(self.kernel, self.depth + 1, self.job.memory)
            if not self._store.states:
                self._store.hold([0], 0)
        have = len(self._store.workers[0].starts) if self._store.states else 0
        if have <= self.depth and more is None:
            return False
        self._shard = self.as_shard(1, 1)
        if have <= self.depth and more is not None:
            try:
                self._catch_up(have, more)
            except OutOfMemory as error:
                self.trouble = self.job.no_room(error)
        return True

    def as_shard(self, sent: int, most: int) -> Shard:
        """Returns the store as a shard; see there."""
        assert self._store is not None
        job, store = self.job, self._store
        return Shard(
            self.kernel, self.index, job.shards, keep=False, store=store, sent=sent, most=most
        )

    def _catch_up(self, have: int, more: Parts) -> None:
        """Reads the levels from ``have`` on from the run's folder."""
        folder, shard = self.job.folder, self.shard
        levels = {level: list(parts) for level, parts in folder.parts().items()}
        for part in more:
            levels.setdefault(part.level, []).append(part)
        wanted = {
            level: [p for p in levels.get(level, ()) if p.may_have(self.index, self.job.shards)]
            for level in range(have, self.depth + 1)
        }
        self._cache.spoil()
        shard.store.reserve(sum(self._share(p) for each in wanted.values() for p in each))
        for level, each in wanted.items():
            shard.restore(level, (block for part in each for block in folder.read(part)))
        self._cache.save(shard.store)

    def _share(self, part: Part) -> int:
        """Estimates how many states of a part are this shard's."""
        return part.rows * part.shards // max(part.shards, self.job.shards)

    # -- the next level -------------------------------------------------------------------------

    def begin(self, *, last: bool) -> None:
        """Starts receiving states of the next level; ``last``: they are looked up only."""
        if not last:
            self._cache.spoil()
            self.shard.begin_level(self.depth + 1)
        self.shard.begin_sweep(Findings(), [], last=last)

    def take(self, block: Block) -> None:
        """Receives some of these states."""
        if self.trouble is None:
            try:
                self.shard.take(block)
            except OutOfMemory as error:
                self.trouble = self.job.no_room(error)

    def complete(self) -> None:
        """Completes the level: it is the shard's last one now."""
        self.depth += 1
        if self.trouble is None:
            self._cache.save(self.shard.store)

    def counts(self) -> Counted:
        """Returns what the shard holds."""
        store = self.shard.store
        fresh = self.shard.size(self.depth) if self.depth < len(self.shard.crew.starts) else 0
        return Counted(
            fresh=fresh,
            states=store.states,
            deepest=store.deepest(),
            used=store.used_bytes,
            late=self.shard.report(),
            stop=self.trouble,
        )


def removal_task(run: str, items: Iterable[Any]) -> Iterator[bytes]:
    """Deletes the files of a run on this executor; a task."""
    for _ in items:
        pass
    for place in local_places():
        remove(place, run)
    yield b""
