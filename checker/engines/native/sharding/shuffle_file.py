"""Shuffle files that shards exchange: blocks of bytes, some for each shard."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from checker.engines.native.checkpoint.storage import Storage
from checker.engines.native.sharding.shard import Block

Blocks = tuple[tuple[int, int], ...]
"""The start of each block, and its number of entries."""


class ShuffleFile(Struct, frozen=True):
    """The file ``name``, with blocks for each shard."""

    name: str
    blocks: tuple[Blocks, ...]

    def entries(self, shard: int) -> int:
        """The number of entries for a shard."""
        return sum(count for _, count in self.blocks[shard])

    @property
    def all_entries(self) -> int:
        """The number of entries for all shards."""
        return sum(map(self.entries, range(len(self.blocks))))


class ShuffleWriter:
    """Writes a shuffle file for ``shards`` shards."""

    def __init__(self, stream: Any, shards: int) -> None:
        self._stream, self._at = stream, 0
        self._blocks: list[list[tuple[int, int]]] = [[] for _ in range(shards)]

    def add(self, shard: int, count: int, *data: Block) -> None:
        """Adds a block of ``count`` entries; each of ``data`` has a fixed number of bytes per
        entry.
        """
        self._blocks[shard].append((self._at, count))
        for piece in data:
            size = memoryview(piece).nbytes
            self._stream.write(piece)
            self._stream.write(bytes(-size % 8))
            self._at += size + -size % 8

    def letter(self, name: str) -> ShuffleFile:
        """The shuffle file that was written."""
        return ShuffleFile(name, tuple(map(tuple, self._blocks)))


@contextmanager
def open_arrow(place: Storage, name: str) -> Iterator[Any]:
    """Opens an Arrow file."""
    with place.reader(name) as file:
        yield file


def blocks_of(
    place: Storage, letter: ShuffleFile, shard: int, *widths: int
) -> Iterator[tuple[Any, ...]]:
    """Every block for ``shard``: buffers with so many bytes for each entry, as it was written."""
    if letter.entries(shard):
        with open_arrow(place, letter.name) as file:
            for begin, count in letter.blocks[shard]:
                found, at = [], begin
                for width in widths:
                    size = width * count
                    file.seek(at)
                    found.append(file.read_buffer(size))
                    at += size + -size % 8
                yield tuple(found)


def fresh_name(kind: str, level: int, shard: int) -> str:
    """A new name that no file has."""
    return f"{kind}/{level:05d}-{shard:05d}-{secrets.token_hex(6)}"


def read_all(place: Storage, name: str) -> bytes:
    """A whole file."""
    found = place.read(name)
    assert found is not None, "it was written before"
    return found


def file_pieces(place: Storage, name: str, most: int) -> Iterator[Any]:
    """A file in buffers of ``most`` bytes, or less."""
    with open_arrow(place, name) as file:
        while (piece := file.read_buffer(most)).size:
            yield piece
