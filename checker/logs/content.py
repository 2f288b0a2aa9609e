"""Reads the bytes of a log: a file, a pipe or standard input, compressed or not."""

from __future__ import annotations

import bz2
import lzma
import mmap
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Mapping
from typing import IO, Any

from checker.diagnostics.packages import require_arrow
from checker.polling import waiting

Content = bytes | bytearray | mmap.mmap

AUDITED = {
    "a Parquet file": re.compile(rb"PAR1"),
    "a dump of kafka-dump-log": re.compile(rb"Dumping |Log starting offset:|baseOffset:"),
    "CSV": re.compile(rb'["\w.-]+(,["\w.-]+)+\r?(\n|\Z)'),
}
"""Beginnings of logs of events that only audits read."""

STDIN = "-"
"""The name of standard input."""

PIECE = 1 << 18
"""Compressed bytes that are decompressed at a time."""

BOM = b"\xef\xbb\xbf"

OTHERS: Mapping[bytes, str] = {
    b"PK\x03\x04": "a ZIP archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
"""Formats that are known and not read, by their first bytes."""


class Unreadable(Exception):
    """A log can't be read, for the reason ``why``.

    ``line``: the line that can't be read, from 1 on; 0: the log as a whole.
    """

    def __init__(self, why: str, line: int = 0, hint: str = "") -> None:
        super().__init__(why)
        self.why, self.line, self.hint = why, line, hint


def is_stream(name: str) -> bool:
    """Returns whether ``name`` is standard input or a pipe, which can be read only once."""
    if name == STDIN:
        return True
    try:
        return stat.S_ISFIFO(os.stat(name).st_mode)
    except (OSError, ValueError):
        return False


def read(name: str) -> Content:
    """Returns the content of the log ``name``, decompressed; raises :class:`Unreadable`."""
    if not name:
        raise Unreadable("the name of a log is empty")
    try:
        if name == STDIN:
            with waiting():
                data = sys.stdin.buffer.read()
            return decompressed(data)
        with open(name, "rb") as file:
            return decompressed(_bytes(file))
    except (OSError, ValueError) as problem:
        raise Unreadable(getattr(problem, "strerror", None) or str(problem)) from None


def _bytes(file: IO[bytes]) -> Content:
    status = os.fstat(file.fileno())
    if stat.S_ISREG(status.st_mode) and status.st_size:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if stat.S_ISCHR(status.st_mode) and not os.path.samestat(status, os.stat(os.devnull)):
        raise OSError("it is a device")
    with waiting():
        return file.read()


def decompressed(data: Content) -> Content:
    """Returns ``data``, decompressed if it begins as a compressed file does; raises
    :class:`Unreadable` for damaged data, and for an archive or UTF-16."""
    head = bytes(data[:8])
    for magic, decompress in COMPRESSIONS.items():
        if head.startswith(magic):
            data = _decompressed(data, decompress)
            break
    head = bytes(data[:262])
    for magic, what in OTHERS.items():
        if head.startswith(magic):
            hint = "convert it to UTF-8" if what == "UTF-16" else "unpack it first"
            raise Unreadable(f"it is {what}", hint=hint)
    if head[257:] == b"ustar":
        raise Unreadable("it is a tar archive", hint="unpack it first")
    return data


def _decompressed(data: Content, decompress: Callable[[Content], Content]) -> Content:
    try:
        return decompress(data)
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as problem:
        raise Unreadable(f"it is damaged: {problem}") from None


def _members(new: Callable[[], Any], padded: bool) -> Callable[[Content], Content]:
    """Returns a decompressor of files that are one or more compressed members.

    ``new``: a decompressor of one; ``padded``: zero bytes may follow a member.
    """

    def decompress(data: Content) -> Content:
        whole, out, at = memoryview(data), bytearray(), 0
        while at < len(whole):
            member = new()
            while not member.eof:
                piece = whole[at : at + PIECE]
                if not piece:
                    raise EOFError("it is truncated")
                out += member.decompress(piece)
                at += len(piece)
            at -= len(member.unused_data)
            while padded and at < len(whole) and not whole[at]:
                at += 1
        return out

    return decompress


def _by_arrow(codec: str) -> Callable[[Content], Content]:
    def decompress(data: Content) -> Content:
        require_arrow()
        import pyarrow as pa

        with pa.CompressedInputStream(pa.BufferReader(pa.py_buffer(data)), codec) as stream:
            out: bytes = stream.read()
        return out

    return decompress


COMPRESSIONS: Mapping[bytes, Callable[[Content], Content]] = {
    b"\x1f\x8b": _members(lambda: zlib.decompressobj(31), padded=True),
    b"BZh": _members(bz2.BZ2Decompressor, padded=False),
    b"\xfd7zXZ\x00": _members(lzma.LZMADecompressor, padded=True),
    b"\x28\xb5\x2f\xfd": _by_arrow("zstd"),
    b"\x04\x22\x4d\x18": _by_arrow("lz4"),
}
"""Decompressors (gzip, bzip2, xz, zstd, lz4) by the first bytes of a file; its name is not looked
at."""


def beginning(data: Content) -> int:
    """Returns where the text in ``data`` begins: after a byte order mark."""
    return len(BOM) if bytes(data[:3]) == BOM else 0


def require_objects(data: Content) -> None:
    """Raises :class:`Unreadable` for a format that only audits read: a table, or a dump of Kafka,
    in which no row has calls, returns or a state."""
    begin = beginning(data)
    head = bytes(data[begin : begin + (1 << 12)])
    for what, begins in AUDITED.items():
        if begins.match(head):
            hint = "write its rows as NDJSON: an object on each line"
            raise Unreadable(f"this is {what}, which only `bivalence audit` reads", 1, hint)
