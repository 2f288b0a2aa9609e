"""Memory that native code works on: zeroed, grown by copying, returned when dropped."""

from __future__ import annotations

import ctypes
import mmap
import os

HUGE = 1 << 22
"""From so many bytes on, huge pages are asked for."""


_FLAGS: dict[str, int] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}
)
"""Private memory: shared memory gets no huge pages on most machines."""


class Buffer:
    """``size`` bytes of zeros at ``address``.  Raises ``MemoryError`` where there are none."""

    def __init__(self, size: int) -> None:
        self.size = max(size, mmap.PAGESIZE)
        try:
            self._pages = mmap.mmap(-1, self.size, **_FLAGS)
        except (OSError, OverflowError, ValueError) as error:
            raise MemoryError(f"no {size:,} bytes of memory") from error
        if self.size >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
            self._pages.madvise(mmap.MADV_HUGEPAGE)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._pages))

    def larger(self, size: int, used: int) -> Buffer:
        """A new buffer that starts with the ``used`` first bytes of this one."""
        new = Buffer(size)
        ctypes.memmove(new.address, self.address, used)
        return new

    def clear(self) -> None:
        """Zeros again."""
        ctypes.memset(self.address, 0, self.size)

    def words(self) -> memoryview:
        """The bytes as unsigned 64-bit words."""
        return memoryview(self._pages).cast("Q")

    def halves(self) -> memoryview:
        """The bytes as unsigned 32-bit words."""
        return memoryview(self._pages).cast("I")

    def find(self, what: bytes, begin: int, end: int) -> int:
        """The first position from ``begin`` on, before ``end``, of ``what``; -1 for none."""
        return self._pages.find(what, begin, end)

    def bytes(self) -> memoryview:
        """The bytes themselves."""
        return memoryview(self._pages)


class MappedBuffer(Buffer):
    """``size`` bytes of the file at ``path``, which grows where it is shorter: what is in them is
    shared with whoever maps it, now or later.  Raises ``OSError`` where the disk has no room.
    """

    def __init__(self, size: int, path: str) -> None:
        self.size, self.path = max(size, mmap.PAGESIZE), path
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
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._pages))

    def is_at(self, path: str) -> bool:
        """Whether this is the file at ``path``, and whole."""
        try:
            there = os.stat(path)
            return os.path.samestat(there, self._file) and there.st_size >= self.size
        except OSError:
            return False

    def larger(self, size: int, used: int) -> Buffer:
        """The same file with more of it; memory of one's own where the disk has no room."""
        try:
            return MappedBuffer(size, self.path)
        except OSError:
            return super().larger(size, used)


def available() -> int:
    """Bytes that can still be had without swapping, as far as the system says."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 1 << 62
