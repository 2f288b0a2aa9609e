"""Backward search, in the parts of a run's folder, for an execution to a state; no parents are
stored.

The rule is that of a search on this machine
(:mod:`checker.engines.native.search.trace_reconstruction`): among the states of the previous level
that have the state as a successor, it takes the one with the smallest fingerprint.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

from checker.engines.native.checkpoint.run_folder import Part, RunFolder
from checker.engines.native.codegen.fields import Mode, Worker
from checker.engines.native.codegen.image import KernelImage
from checker.engines.native.codegen.jit import Kernel, compile_image
from checker.engines.native.search.findings import Best
from checker.engines.native.search.store import Store
from checker.polling import poll
from checker.results.answer import Path

Find = Callable[[Sequence[Part], tuple[int, ...]], Best | None]
"""The best predecessor, among the states of some parts, of the state with these words."""


_one_at_a_time = threading.Lock()


@lru_cache(maxsize=4)
def _kernel_cell(digest: str) -> list[Kernel]:
    return []


def kernel_of(image: KernelImage) -> Kernel:
    """The kernel of ``image``, compiled once per process."""
    with _one_at_a_time:
        known = _kernel_cell(image.digest)
        if not known:
            known.append(compile_image(image))
        return known[0]


class Finder(Struct, frozen=True):
    """Finds predecessors among the states of parts, in this process; can be pickled."""

    image: KernelImage
    folder: RunFolder

    def __call__(self, parts: Iterable[Part], target: tuple[int, ...]) -> Best | None:
        """The best predecessor of ``target``; ``None`` where there is none."""
        import pyarrow as pa

        store, width = Store(kernel_of(self.image), 1, None), 8 * len(target)
        crew, row = store.workers[0], (ctypes.c_uint64 * len(target))(*target)
        crew.put(Worker.TARGET, ctypes.addressof(row))
        crew.put(Worker.MODE, Mode.PARENTS)
        for part in parts:
            for block in self.folder.read(part):
                rows = pa.py_buffer(block)
                count = rows.size // width
                given, at = (store.context_address, crew.address, rows.address), 0
                while at < count:
                    at = store.kernel.run(*given, at, count, 0)
                    poll()
                    store.kernel.stop.clear()
        return store.best(store.shape.parent)


def path_to(
    image: KernelImage, levels: dict[int, list[Part]], find: Find, depth: int, target: Best
) -> Path:
    """A shortest execution to the state ``target`` of level ``depth``; ``levels``: parts by
    level.
    """
    words = target[1]
    states = [image.layout.unpack(words)]
    for level in reversed(range(depth)):
        found = find(levels[level], words)
        assert found is not None, "a state of a level has a predecessor in the level before"
        words = found[1]
        states.append(image.layout.unpack(words))
    return Path(tuple(reversed(states)))


def load_store(
    kernel: Kernel, folder: RunFolder, memory: int | None, levels: dict[int, list[Part]]
) -> Store:
    """A store with the states of these parts, by level.  Raises ``OutOfMemory`` and ``OSError``."""
    store = Store(kernel, 1, memory)
    store.reserve(sum(part.rows for parts in levels.values() for part in parts))
    for depth in range(max(levels, default=-1) + 1):
        if depth:
            store.open_level(depth)
        for part in levels.get(depth, []):
            for block in folder.read(part):
                store.take(block)
    return store
