"""Memory that native code works on: zeroed, grown in place, returned when dropped."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from checker.resources import temporary_prefix

HUGE = 1 << 22
"""The size in bytes from which on huge pages are requested."""
RESERVED = 1 << 40
"""The maximum number of addresses, in bytes, reserved behind a buffer that grows."""
CHUNK = 1 << 24
"""The number of bytes written to a file at a time."""


_FLAGS: dict[str, int] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}
)
"""Private memory: shared memory gets no huge pages on most machines."""
_NOT_COMMITTED = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
"""MAP_NORESERVE, which Python names from 3.13 on."""
_LATER: dict[str, int] = (
    {"flags": _FLAGS["flags"] | _NOT_COMMITTED} if _FLAGS and _NOT_COMMITTED else {}
)
"""Private memory that is not committed before it is written to."""


class MemoryBudget:
    """Counts every buffer before it is made, in the thread and within the block in which it is
    enforced, as long as it is in use.

    ``limit``: of their bytes together with ``others()`` (``None``: without limit).
    """

    def __init__(self, limit: int | None, others: Callable[[], int]) -> None:
        self._limit, self._others = limit, others
        self._buffers = weakref.WeakSet[Buffer]()

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Within the block, buffers raise ``MemoryError`` where they would exceed the limit."""
        before = getattr(_enforced, "budget", None)
        _enforced.budget = self
        try:
            yield
        finally:
            _enforced.budget = before

    @property
    def bytes(self) -> int:
        """The bytes of the buffers in use."""
        return sum(buffer.counted for buffer in self._buffers)

    def reserve(self, buffer: Buffer) -> None:
        """Counts a buffer that is to be made; raises ``MemoryError``."""
        limit = self._limit
        if limit is not None and self.bytes + self._others() + buffer.counted > limit:
            raise MemoryError(f"the memory limit of {limit:,} bytes was reached")
        self._buffers.add(buffer)


_enforced = threading.local()


class Buffer:
    """``size`` bytes of zeros at ``address``.  Raises ``MemoryError`` where there are none, or none
    left of the :class:`MemoryBudget` that is enforced.

    ``reserved``: the buffer will grow up to so many bytes without moving, where the system can do
    that; memory that is not written to costs nothing.  ``counted``: how many of the bytes will be
    written to, where that is known (``None``: all).
    """

    def __init__(self, size: int, reserved: int = 0, counted: int | None = None) -> None:
        self.size = max(size, mmap.PAGESIZE)
        self.counted = self.size if counted is None else counted
        self._spilled: list[tuple[int, int, int, int]] = []
        budget: MemoryBudget | None = getattr(_enforced, "budget", None)
        if budget is not None:
            budget.reserve(self)
        self._pages = _reserve(self.size, reserved) or _private(self.size)
        self.room = len(self._pages)
        if self.room >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
            begin = HUGE if self.room > self.size else 0
            self._pages.madvise(mmap.MADV_HUGEPAGE, begin, self.room - begin)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._pages))

    def larger(self, size: int, used: int) -> Buffer:
        """A buffer that starts with the ``used`` first bytes of this one: itself where it has room,
        otherwise a new one.
        """
        if size <= self.room:
            self.size = max(size, self.size)
            return self
        new, kept = Buffer(size), 0
        for begin, end, file, offset in self._spilled:
            if not new._map(begin, end, file, offset):
                raise MemoryError("what is on the disk can't be mapped again")
            kept = end
        ctypes.memmove(new.address + kept, self.address + kept, used - kept)
        return new

    @property
    def grows_in_place(self) -> bool:
        """Whether there are addresses to grow into."""
        return self.room > self.size

    def anew(self, size: int) -> Buffer:
        """A zeroed buffer in place of this one, which must not be used any more."""
        return Buffer(size)

    def clear(self) -> None:
        """Zeroes the buffer."""
        ctypes.memset(self.address, 0, self.size)

    def words(self) -> memoryview:
        """The bytes as unsigned 64-bit words."""
        return self.bytes().cast("Q")

    def halves(self) -> memoryview:
        """The bytes as unsigned 32-bit words."""
        return self.bytes().cast("I")

    def find(self, what: bytes, begin: int, end: int) -> int:
        """The first position from ``begin`` on, before ``end``, of ``what``; -1 for none."""
        return self._pages.find(what, begin, end)

    def bytes(self) -> memoryview:
        """The bytes themselves."""
        return memoryview(self._pages)[: self.size]

    def spill(self, begin: int, end: int, file: int, offset: int) -> int:
        """Bytes from ``begin``, before ``end``, will only be read from now on: they move to an open
        ``file``, at ``offset`` (all three: whole pages), and can be read where they were.

        ``begin`` is 0, or where the last bytes that moved end.  Returns how many bytes of memory
        are free now: all or none.  Raises ``OSError`` where the file has no room.
        """
        if _libc() is None:
            return 0
        data = memoryview(self._pages)
        for at in range(begin, end, CHUNK):
            stop = min(end, at + CHUNK)
            while at < stop:
                at += os.pwrite(file, data[at:stop], offset + at - begin)
        return end - begin if self._map(begin, end, file, offset) else 0

    def _map(self, begin: int, end: int, file: int, offset: int) -> bool:
        """Puts a part of a file in place of these bytes; returns whether it could."""
        address, shared = self.address + begin, mmap.MAP_SHARED | _FIXED
        where = _libc().mmap(address, end - begin, mmap.PROT_READ, shared, file, offset)
        if where == address:
            self._spilled.append((begin, end, file, offset))
        return bool(where == address)

    def unload(self) -> None:
        """What has moved to the disk takes no memory of this process until it is read again."""
        for begin, end, _, _ in self._spilled:
            self._pages.madvise(mmap.MADV_DONTNEED, begin, end - begin)


class MappedBuffer(Buffer):
    """``size`` bytes of the file at ``path``, which grows where it is shorter: what is in them is
    shared with any process that maps it, now or later.  Raises ``OSError`` where the disk has no
    room.
    """

    def __init__(self, size: int, path: str) -> None:
        self.size, self.path = max(size, mmap.PAGESIZE), path
        self.counted, self._spilled = self.size, []
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(handle, 0, self.size)  # no room: not a signal later
            elif os.fstat(handle).st_size < self.size:
                os.ftruncate(handle, self.size)
            self._pages = mmap.mmap(handle, self.size)
            self._file = os.fstat(handle)
        finally:
            os.close(handle)
        self.room = self.size
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._pages))

    @property
    def grows_in_place(self) -> bool:
        """The file grows."""
        return True

    def is_at(self, path: str) -> bool:
        """Whether this is the file at ``path``, and complete."""
        try:
            there = os.stat(path)
            return os.path.samestat(there, self._file) and there.st_size >= self.size
        except OSError:
            return False

    def larger(self, size: int, used: int) -> Buffer:
        """The same file with more of it; private memory where the disk has no room."""
        try:
            return MappedBuffer(size, self.path)
        except OSError:
            return super().larger(size, used)

    def anew(self, size: int) -> Buffer:
        """The same file, zeroed; private memory where the disk has no room."""
        try:
            new = MappedBuffer(size, self.path)
        except OSError:
            return Buffer(size)
        new.clear()
        return new


def address_of(data: memoryview) -> int:
    """The address of a writable view's first byte; 0 for an empty view."""
    return ctypes.addressof(ctypes.c_char.from_buffer(data)) if data.nbytes else 0


_FIXED = 0x10
"""MAP_FIXED of Linux."""


@lru_cache(maxsize=1)
def _libc() -> Any:
    """The C library, where memory can be mapped again at the same address; otherwise ``None``."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_size_t
        libc.mmap.argtypes = (
            *(ctypes.c_size_t, ctypes.c_size_t),
            *(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long),
        )
    except (OSError, AttributeError):
        return None
    return libc


def _private(size: int) -> mmap.mmap:
    try:
        return mmap.mmap(-1, size, **_FLAGS)
    except (OSError, OverflowError, ValueError) as error:
        raise MemoryError(f"can't allocate {size:,} bytes") from error


def _reserve(size: int, most: int) -> mmap.mmap | None:
    """Addresses for ``most`` bytes, or for less where the system has not so many."""
    while _LATER and most > size:
        try:
            return mmap.mmap(-1, most, **_LATER)
        except (OSError, OverflowError, ValueError):
            most //= 16
    return None


def unnamed_file() -> int:
    """An open file on a disk, gone when it is closed, and when the process ends: in the temporary
    folder, or in ``/var/tmp`` if that folder is in memory.  Raises ``OSError`` where both are.
    """
    for folder in (tempfile.gettempdir(), "/var/tmp"):
        if not is_in_memory(folder):
            handle, path = tempfile.mkstemp(prefix=temporary_prefix("bivalence-"), dir=folder)
            os.unlink(path)
            return handle
    raise OSError("the temporary folder is in memory")


def is_in_memory(folder: str) -> bool:
    """Whether the files of ``folder`` take memory, as far as the system reports that."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as lines:
            mounts = [line.split(" - ") for line in lines]
    except OSError:
        return False
    where = os.path.join(os.path.realpath(folder), "")
    kinds = [(at.split()[4], kind.split()[0]) for at, kind in mounts]
    around = [(len(at), kind) for at, kind in kinds if where.startswith(os.path.join(at, ""))]
    return max(around, default=(0, ""))[1] in ("tmpfs", "ramfs")


@lru_cache(maxsize=1)
def installed_memory() -> int:
    """Bytes of memory that the machine has, as the system reports."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return RESERVED


def available_memory() -> int:
    """Bytes that are available without swapping, as the system reports."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 1 << 62
