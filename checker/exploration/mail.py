"""Files by which shards say something to one another: blocks of bytes, some for each shard."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from checker.exploration.place import Place
from checker.exploration.shard import Block

Blocks = tuple[tuple[int, int], ...]
"""Of each block where it begins, and how many entries it has."""


@dataclass(frozen=True, slots=True)
class Letter:
    """The file ``name``, with blocks for each shard."""

    name: str
    blocks: tuple[Blocks, ...]

    def entries(self, shard: int) -> int:
        """How many entries there are for a shard."""
        return sum(count for _, count in self.blocks[shard])

    @property
    def all_entries(self) -> int:
        """How many entries there are for all shards."""
        return sum(map(self.entries, range(len(self.blocks))))


class Pen:
    """Writes a letter to ``shards`` shards."""

    def __init__(self, stream: Any, shards: int) -> None:
        self._stream, self._at = stream, 0
        self._blocks: list[list[tuple[int, int]]] = [[] for _ in range(shards)]

    def add(self, shard: int, count: int, *data: Block) -> None:
        """A block of ``count`` entries: so many bytes for each in all of ``data``."""
        self._blocks[shard].append((self._at, count))
        for piece in data:
            size = memoryview(piece).nbytes
            self._stream.write(piece)
            self._stream.write(bytes(-size % 8))
            self._at += size + -size % 8

    def letter(self, name: str) -> Letter:
        """What was written."""
        return Letter(name, tuple(map(tuple, self._blocks)))


@contextmanager
def reading(place: Place, name: str) -> Iterator[Any]:
    """An Arrow file."""
    with place.reader(name) as file:
        yield file


def blocks_of(place: Place, letter: Letter, shard: int, *widths: int) -> Iterator[tuple[Any, ...]]:
    """Every block for ``shard``: buffers with so many bytes for each entry, as it was written."""
    if letter.entries(shard):
        with reading(place, letter.name) as file:
            for begin, count in letter.blocks[shard]:
                found, at = [], begin
                for width in widths:
                    size = width * count
                    file.seek(at)
                    found.append(file.read_buffer(size))
                    at += size + -size % 8
                yield tuple(found)


def fresh(kind: str, level: int, shard: int) -> str:
    """A name that no file has."""
    return f"{kind}/{level:05d}-{shard:05d}-{secrets.token_hex(6)}"


def read_all(place: Place, name: str) -> bytes:
    """A whole file."""
    found = place.read(name)
    assert found is not None, "it was written before"
    return found


def pieces(place: Place, name: str, most: int) -> Iterator[Any]:
    """A file in buffers of ``most`` bytes, or less."""
    with reading(place, name) as file:
        while (piece := file.read_buffer(most)).size:
            yield piece
