"""Reads lines as they are written: of files that grow, standard input, and a socket.

Nothing is read that has no end of line yet.  A file that is replaced by another one of its name is
read to its end first; a file that has become shorter is read from its beginning.
"""

from __future__ import annotations

import os
import select
import socket
import sys
from collections.abc import Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from checker.logs.content import STDIN
from checker.logs.objects import decoded
from checker.polling import waiting

PIECE = 1 << 16
"""The number of bytes that are read of a source at a time."""
LONGEST_LINE = 1 << 24
"""The largest number of bytes of a line."""
HOST = "127.0.0.1"
"""The only address that is listened on."""


class Piece(Struct):
    """What was read of the source ``name``: whole lines with their numbers.

    ``rest``: what follows the last line, of a source that has ended; ``shorter``: the source, a
    file, has lost lines that had been read.
    """

    name: str
    lines: list[tuple[int, bytes]]
    rest: tuple[int, bytes] | None = None
    shorter: bool = False

    def texts(self) -> list[tuple[int, str]]:
        """Returns the lines that are not blank, decoded; raises
        :class:`checker.logs.content.Unreadable`."""
        return [(n, decoded(line, n)) for n, line in self.lines if line.strip()]


class Source(Protocol):
    """Something that lines are read from; ``is_over``: whether none will follow."""

    is_over: bool

    def fileno(self) -> int:
        """Returns the descriptor to wait for; -1: it has to be looked at again and again."""
        ...

    def close(self) -> None:
        """Closes it."""
        ...


S = TypeVar("S", bound=Source)


class _Lines:
    """Cuts bytes into lines; ``number``: how many were complete; ``size``: their bytes."""

    def __init__(self, number: int = 0, size: int = 0) -> None:
        self.number, self.size, self.rest = number, size, b""

    def add(self, data: bytes) -> list[tuple[int, bytes]]:
        """Returns the lines that ``data`` completes; raises ``OSError`` for a line too long."""
        *whole, self.rest = (self.rest + data).split(b"\n")
        if len(self.rest) > LONGEST_LINE:
            raise OSError(f"line {self.number + len(whole) + 1} is longer than 16 MiB")
        first = self.number + 1
        self.number += len(whole)
        self.size += sum(map(len, whole)) + len(whole)
        return [*enumerate(whole, first)]

    def left(self) -> tuple[int, bytes] | None:
        """Returns what has no end of line, at the end."""
        return (self.number + 1, self.rest) if self.rest.strip() else None


class StreamSource:
    """Standard input, a pipe, or a connection, with the descriptor ``descriptor``."""

    def __init__(self, name: str, descriptor: int, connection: socket.socket | None = None) -> None:
        self.name, self.is_over = name, False
        self._descriptor, self._connection, self._lines = descriptor, connection, _Lines()

    def fileno(self) -> int:
        """Returns its descriptor."""
        return self._descriptor

    def read(self) -> Piece | None:
        """Returns what has come."""
        try:
            data = os.read(self._descriptor, PIECE)
        except ConnectionError:
            data = b""
        if data:
            return Piece(self.name, self._lines.add(data))
        self.is_over = True
        self.close()
        return Piece(self.name, [], self._lines.left())

    def close(self) -> None:
        """Closes a connection."""
        if self._connection is not None:
            self._connection.close()


class FileSource:
    """A file that grows; ``follows``: it is not over at its end.

    ``at``: where to begin: inode, bytes and lines of an earlier time.  Raises ``OSError``.
    """

    def __init__(self, name: str, follows: bool, at: tuple[int, int, int] | None = None) -> None:
        self.name, self.follows, self.is_over = name, follows, False
        self._file = open(name, "rb")  # noqa: SIM115 - it is read until the command ends
        self._lines = _Lines()
        self._shorter = False
        status = os.fstat(self._file.fileno())
        if at is not None and at[0] == status.st_ino and at[1] <= status.st_size:
            self._lines = _Lines(at[2], at[1])
            self._file.seek(at[1])
        elif at is not None:
            self._shorter = at[0] == status.st_ino

    def fileno(self) -> int:
        """Returns -1: regular files can't be waited for."""
        return -1

    @property
    def position(self) -> tuple[int, int, int]:
        """Its inode, and how many bytes and lines were read."""
        inode = os.fstat(self._file.fileno()).st_ino
        return inode, self._lines.size, self._lines.number

    def read(self) -> Piece | None:
        """Returns what has come."""
        data = self._file.read(PIECE)
        if data:
            shorter, self._shorter = self._shorter, False
            return Piece(self.name, self._lines.add(data), None, shorter)
        if os.fstat(self._file.fileno()).st_size < self._lines.size + len(self._lines.rest):
            self._begin_again()
            return Piece(self.name, [], None, True)
        if not self.follows:
            self.is_over = True
            return Piece(self.name, [], self._lines.left())
        if self._is_replaced():
            rest = self._lines.left()
            self._file.close()
            self._file = open(self.name, "rb")  # noqa: SIM115
            self._lines = _Lines()
            return Piece(self.name, [], rest)
        return None

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _begin_again(self) -> None:
        self._file.seek(0)
        self._lines = _Lines()

    def _is_replaced(self) -> bool:
        try:
            now = os.stat(self.name)
        except FileNotFoundError:
            return False  # it is being replaced
        return not os.path.samestat(now, os.fstat(self._file.fileno()))


class Listener:
    """Accepts connections on a port of this machine (0: a free one).  Raises ``OSError``."""

    def __init__(self, port: int) -> None:
        self.is_over = False
        self._socket = socket.create_server((HOST, port))
        self.port: int = self._socket.getsockname()[1]

    def fileno(self) -> int:
        """Returns its descriptor."""
        return self._socket.fileno()

    def close(self) -> None:
        """Listens no longer."""
        self._socket.close()

    def accept(self) -> StreamSource:
        """Returns a new connection as a source."""
        connection, address = self._socket.accept()
        return StreamSource(f"{HOST}:{address[1]}", connection.fileno(), connection)


def standard_input() -> StreamSource:
    """Returns standard input as a source."""
    return StreamSource(STDIN, sys.stdin.fileno())


def ready(sources: Sequence[S], seconds: float) -> list[S]:
    """Waits for at most ``seconds``, and returns which of ``sources`` have something to read; those
    that can't be waited for are returned, too."""
    waited = [source for source in sources if source.fileno() >= 0]
    others = [source for source in sources if source.fileno() < 0]
    with waiting():
        found = select.select(waited, [], [], seconds)[0]
    return [*found, *others]
