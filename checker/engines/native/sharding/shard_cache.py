"""The visited states of a shard, in files of this machine, for any process that gets the shard
next.

It is a cache only: the process that opens it says which levels are required, and supplies the
missing ones.  One process holds it at a time, and records its contents when they are consistent
again, so that what a killed process leaves behind is ignored.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path

from msgspec import Struct, to_builtins

from checker.engines.native.codegen.jit import Kernel
from checker.engines.native.search.memory import Buffer, MappedBuffer
from checker.engines.native.search.store import LOAD, Store, private_memory

STATE, LOCK = "state.json", "lock"

_known: dict[str, MappedBuffer] = {}
"""The files that this process has mapped: mapping them again would fault in all pages again."""


class _State(Struct, frozen=True):
    """The contents of the files: ``starts``: the first row of each level; ``count``: of all
    rows.
    """

    digest: str
    slots: int
    count: int
    starts: list[int]


class ShardCache:
    """The cache of shard ``index`` of ``shards`` of the run ``name``, in a folder below ``place``.

    ``place``: ``None`` for none: everything is in this process's memory, and gone with it.  To be
    used as a context.
    """

    def __init__(self, place: str | None, name: str, index: int, shards: int) -> None:
        self._folder = None
        if place is not None:
            self._folder = Path(place) / f"bivalence-{name}" / f"{index:05d}-of-{shards:05d}"
        self._handle: int | None = None

    def __enter__(self) -> ShardCache:
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._claim(self._folder / LOCK)
            except (ImportError, OSError):  # another process's, or no place for files
                self._folder = None
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            os.close(self._handle)

    def _claim(self, path: Path) -> None:
        import fcntl

        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise
        self._handle = handle

    # -- what is in it --------------------------------------------------------------------------

    def open(self, kernel: Kernel, levels: int, memory: int | None) -> Store:
        """Opens the first levels, at most so many (at least one), as far as they exist."""
        for path in [path for path, buffer in _known.items() if not buffer.is_at(path)]:
            del _known[path]
        state = self._state(kernel)
        if state is not None:
            with contextlib.suppress(OSError):
                store = Store(kernel, 1, memory, self._map_file, state.slots)
                store.make = self._make
                store.hold(state.starts, state.count)
                if levels < len(state.starts):
                    self.spoil()
                    store.drop(levels)
                return store
        return self.empty(kernel, memory)

    def empty(self, kernel: Kernel, memory: int | None) -> Store:
        """Empties the cache: it has no level yet."""
        if self._folder is None:
            return Store(kernel, 1, memory)
        try:
            self.spoil()
            for path in self._folder.iterdir():
                if path.name != LOCK:
                    path.unlink()
        except OSError:
            self._folder = None
            return Store(kernel, 1, memory)
        return Store(kernel, 1, memory, self._make)

    def spoil(self) -> None:
        """Invalidates the files, which are about to change, until the next save."""
        if self._folder is not None:
            (self._folder / STATE).unlink(missing_ok=True)

    def save(self, store: Store) -> None:
        """Records that ``store`` is consistent: some levels, the last of which may not grow any
        more.
        """
        (crew,) = store.workers
        parts = (store.table, crew.rows)
        if self._folder is None or not all(isinstance(part, MappedBuffer) for part in parts):
            return
        digest = store.kernel.image.digest
        state = _State(digest, store.slots, crew.count, crew.starts)
        used = {part.path for part in parts if isinstance(part, MappedBuffer)}
        with contextlib.suppress(OSError):
            for path in self._folder.iterdir():
                if path.name != LOCK and str(path) not in used:
                    path.unlink()
            beside = self._folder / f"{STATE}.new"
            beside.write_text(json.dumps(to_builtins(state)))
            beside.replace(self._folder / STATE)

    def _state(self, kernel: Kernel) -> _State | None:
        """The consistent contents of the files; ``None`` where they can't be used."""
        if self._folder is None:
            return None
        try:
            state = _State(**json.loads((self._folder / STATE).read_text()))
            sizes = {path.name: path.stat().st_size for path in self._folder.iterdir()}
            row = 8 * kernel.image.shape.words
            whole = (
                state.digest == kernel.image.digest
                and sizes["table"] >= 8 * state.slots
                and sizes["rows-0"] >= row * int(LOAD * state.slots) >= row * state.count
            )
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return state if whole else None

    # -- where it is ----------------------------------------------------------------------------

    def _map_file(self, name: str, size: int) -> Buffer:
        """Maps the file; raises ``OSError`` where there is no room for it."""
        assert self._folder is not None
        path = str(self._folder / name)
        known = _known.get(path)
        if known is None or known.size != size or not known.is_at(path):
            known = _known[path] = MappedBuffer(size, path)
        return known

    def _make(self, name: str, size: int) -> Buffer:
        try:
            return self._map_file(name, size)
        except OSError:
            return private_memory(name, size)


def local_places() -> list[str]:
    """The folders of this executor that Spark deletes when it ends."""
    return [f for f in os.environ.get("SPARK_LOCAL_DIRS", "").split(",") if os.path.isdir(f)]


def remove(place: str, name: str) -> None:
    """Deletes all data of the run ``name`` in ``place``."""
    shutil.rmtree(Path(place) / f"bivalence-{name}", ignore_errors=True)
