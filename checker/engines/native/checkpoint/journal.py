"""Commits the levels of a search on this machine, so that it can be resumed here or elsewhere.

Complete levels are committed when the last commit is a while ago, and all of them when the search
stops.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from checker.engines.native.checkpoint.cannot_keep import CannotKeep
from checker.engines.native.checkpoint.checkpoint import reporting_disk_errors
from checker.engines.native.checkpoint.run_folder import Part, RunFolder
from checker.engines.native.search.findings import Findings
from checker.engines.native.search.memory import available_memory
from checker.engines.native.search.store import Store
from checker.engines.search_engine import HandedOver

if TYPE_CHECKING:
    from checker.engines.native.search.search import Search

EVERY = 30.0
"""Seconds between two commits."""
SHARE = 20
"""The minimum time without a commit after one that took a second, in seconds."""
MEMORY = 0.6
"""A run moves elsewhere when this part of the memory is in use."""
SMALL = 1 << 16
"""A search of fewer states is never considered short of memory."""


class Journal:
    """Keeps a search in ``folder``, which holds a commit already.

    ``every``: seconds between two commits, at least; ``graduate_at``: the search moves elsewhere
    where a level has so many states, or memory is short (``None``: never); ``whole``: all levels
    are committed eventually.
    """

    def __init__(
        self,
        folder: RunFolder,
        *,
        every: float = EVERY,
        graduate_at: int | None = None,
        whole: bool = False,
    ) -> None:
        self.folder, self.every, self.graduate_at, self.whole = folder, every, graduate_at, whole
        self._level: Findings | None = None
        self._next = 0.0

    def restore(self, search: Search) -> None:
        """Restores all that is committed into ``search``.

        Raises ``OutOfMemory``, :class:`HandedOver`, and :class:`SpecError` (E014).
        """
        with reporting_disk_errors(self.folder.location):
            found, parts = self.folder.latest(), self.folder.parts()
        assert found is not None, "the initial states are committed"
        self._next = time.monotonic() + self.every
        size = sum(part.rows for part in parts.get(found.depth, ()))
        if self.graduate_at is not None and size >= self.graduate_at:
            raise HandedOver(0.0)
        store = search.store
        store.reserve(sum(part.rows for level in parts.values() for part in level))
        for depth in range(found.depth + 1):
            if depth:
                store.open_level(depth)
            with reporting_disk_errors(self.folder.location):
                for part in parts.get(depth, ()):
                    for block in self.folder.read(part):
                        store.take(block)
        self._level = found.copy()
        search.go_on(found)

    def take_over(self, search: Search) -> None:
        """Commits what ``search`` takes over from another one, which the folder does not have yet.

        Raises :class:`CannotKeep`.
        """
        self._level = search.found.copy()
        self.save(search.store)

    def close_level(self, search: Search) -> None:
        """Handles the end of level ``search.found.depth - 1``.

        Raises :class:`HandedOver` and :class:`CannotKeep`.
        """
        self._level = search.found.copy()
        if self.graduate_at is not None and self._outgrown(search):
            self._hand_over(search)
        if time.monotonic() >= self._next:
            self.save(search.store)

    def no_memory(self, search: Search) -> None:
        """Raises :class:`HandedOver` where the search, out of memory here, can continue
        elsewhere.
        """
        if self.graduate_at is not None:
            with contextlib.suppress(CannotKeep):
                self._hand_over(search)

    def over(self, search: Search) -> None:
        """Commits what is complete at the end of the search, where it may be needed."""
        if search.stopped is not None or self.whole:
            try:
                self.save(search.store)
            except CannotKeep as error:
                search.stopped = f"{error}; {search.stopped}" if search.stopped else str(error)

    def _hand_over(self, search: Search) -> None:
        self.save(search.store)
        raise HandedOver(time.monotonic() - search.started)

    def save(self, store: Store) -> None:
        """Commits all complete levels; raises :class:`CannotKeep`."""
        found, started = self._level, time.monotonic()
        if found is None:
            return
        try:
            if found.depth <= self.folder.committed_depth:
                return
            levels = range(self.folder.committed_depth + 1, found.depth + 1)
            self.folder.commit(found, [self._write(store, depth) for depth in levels])
        except OSError as error:
            self._level = None
            why = f"{error.strerror or error}"
            why = why[:1].lower() + why[1:]
            where = self.folder.location
            raise CannotKeep(f"the run can't be saved in {where}: {why}") from error
        now = time.monotonic()
        self._next = now + max(self.every, SHARE * (now - started))

    def _write(self, store: Store, depth: int) -> Part:
        return self.folder.write(depth, 0, 1, store.blocks(depth))

    def _outgrown(self, search: Search) -> bool:
        assert self.graduate_at is not None
        store = search.store
        if search.found.faulty is not None:
            return False
        frontier = store.level_size(search.found.depth)
        if frontier >= self.graduate_at:
            return True
        if not frontier or store.states < SMALL:
            return False
        whole = search.limits.memory or store.used_bytes + available_memory()
        return store.used_bytes >= MEMORY * whole
