"""The memory of one worker of a search."""

from __future__ import annotations

import ctypes

from msgspec import Struct, field

from checker.engines.native.codegen.fields import Worker
from checker.engines.native.search.memory import Buffer


class WorkerMemory(Struct):
    """The memory of one worker: its record and its rows; ``starts[d]`` is its first row of level
    ``d``.

    ``control_block``: the pages of the record, which has them alone, so that no two workers write
    to the same cache line; ``spilled``: the bytes at the beginning of the rows that are on the
    disk.  Where rows are folded, they are one word each, but for the newest ones, which are in
    ``whole``; ``last`` is the tree of one, and ``scratch`` has room for BLOCK whole rows, to be
    expanded.
    """

    record: ctypes.Array[ctypes.c_uint64]
    control_block: Buffer
    rows: Buffer
    batch: Buffer
    hashes: Buffer
    labels: Buffer
    starts: list[int] = field(default_factory=lambda: [0])
    spilled: int = 0
    last: Buffer | None = None
    scratch: Buffer | None = None
    whole: Buffer | None = None

    def get(self, which: int) -> int:
        return int(self.record[which])

    def put(self, which: int, value: int) -> None:
        self.record[which] = value

    @property
    def address(self) -> int:
        return ctypes.addressof(self.record)

    @property
    def count(self) -> int:
        return self.get(Worker.COUNT)

    @property
    def fixed_bytes(self) -> int:
        """The bytes of what does not grow."""
        parts = (
            self.control_block, self.batch, self.hashes, self.labels, self.last, self.scratch,
            self.whole,
        )  # fmt: skip
        return sum(one.size for one in parts if one is not None)
