"""The folder of a run: its states by level, and its progress.

The one format of a checkpoint, for all engines.  A *part* is an Arrow file with states of one
level, whole or not there.  A *commit* is a small document that names the parts of all levels since
the commit before it and says what was found; what no commit names is ignored, so that a process
that is interrupted, or writes a part twice, does no harm.

    run.json                     what is explored
    levels/00012/…-4f1c.arrow    parts
    levels/00012/_SUCCESS        the commit whose last level this is
    said/NAME.json               messages between those who explore
"""

from __future__ import annotations

import contextlib
import errno
import json
import secrets
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins

from checker.engines.native.checkpoint.sealed import seal, unseal
from checker.engines.native.checkpoint.storage import Storage
from checker.engines.native.search.findings import Best, Findings

if TYPE_CHECKING:
    import pyarrow

FORMAT = 3
COMMIT, WRITER = "_SUCCESS", "writer"
LEVELS, SAID = "levels", "said"
BATCH_BYTES = 4 << 20
"""The size of the rows in one record batch, about."""


class Part(Struct, frozen=True):
    """A file with states of ``level`` that ``shard`` among ``shards`` owns ((0, 1): of any owner).

    ``name``: its path in the folder; ``rows``: how many states; ``checksum``: the CRC-32 of their
    bytes, in order.
    """

    name: str
    level: int
    shard: int
    shards: int
    rows: int
    checksum: int

    def may_have(self, shard: int, shards: int) -> bool:
        """Whether it may have states that ``shard`` among ``shards`` owns."""
        return self.shard * shards < (shard + 1) * self.shards and (
            shard * self.shards < (self.shard + 1) * shards
        )


class Damaged(OSError):
    """A part differs from what was written."""


class RunFolder:
    """The folder at ``location`` (a path or a URI), for states of ``words`` words.

    Can be pickled; opens files lazily.  Raises ``OSError`` where the folder can't be read or
    written.
    """

    def __init__(self, location: str, words: int) -> None:
        self.place, self.words = Storage(location), words
        self._committed: int | None = None
        self._writer: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_committed": None}

    @property
    def location(self) -> str:
        """Where it is: an absolute path, or a URI."""
        return self.place.location

    def claim(self) -> None:
        """Reserves commits for this object, and its copies elsewhere: a task left over from an
        earlier run gets an ``OSError`` from now on.
        """
        self._writer = secrets.token_hex(8)
        self.place.write(f"{SAID}/{WRITER}.json", json.dumps({"id": self._writer}).encode())

    @property
    def writer(self) -> str | None:
        """The name of this object's claim; ``None`` where it has made none."""
        return self._writer

    @property
    def is_mine(self) -> bool | None:
        """Whether this object's claim is the last one; ``None`` where that is unknown."""
        said = self.read_message(WRITER)
        return None if said is None else said.get("id") == self._writer

    # -- states ---------------------------------------------------------------------------------

    def write(self, level: int, shard: int, shards: int, blocks: Iterable[memoryview]) -> Part:
        """Writes a part from blocks of whole rows; can be called in any process."""
        import pyarrow as pa

        part = f"{shard:05d}-of-{shards:05d}-{secrets.token_hex(6)}.arrow"
        name, rows, checksum = f"{_level(level)}/{part}", 0, 0
        schema, width = self._schema(), 8 * self.words
        with self.place.beside(name) as stream, pa.ipc.new_file(stream, schema) as writer:
            for block in _rechunk(blocks, max(1, BATCH_BYTES // width) * width):
                count, rest = divmod(block.nbytes, width)
                assert not rest, "blocks are of whole rows"
                checksum = zlib.crc32(block, checksum)
                buffers = [None, pa.py_buffer(block)]
                column = pa.Array.from_buffers(schema.field(0).type, count, buffers)
                writer.write_batch(pa.RecordBatch.from_arrays([column], schema=schema))
                rows += count
        return Part(name, level, shard, shards, rows, checksum)

    def read(self, part: Part) -> Iterator[memoryview]:
        """The rows of a part as bytes, in blocks of whole rows, aligned to words.

        A block that is referenced keeps the file mapped, or its bytes in memory.  Raises
        :class:`Damaged`, at the end at the latest, where they are not the bytes that were written,
        and ``OSError`` where they can't be read.
        """
        checksum, rows = 0, 0
        with self._reporting_damage(part):
            for block in self._blocks(part):
                checksum = zlib.crc32(block, checksum)
                rows += block.nbytes // (8 * self.words)
                yield block
            if (checksum, rows) != (part.checksum, part.rows):
                raise ValueError("other bytes")

    def _blocks(self, part: Part) -> Iterator[memoryview]:
        import pyarrow as pa

        width = 8 * self.words
        file = pa.ipc.open_file(self.place.reader(part.name))
        if file.schema != self._schema():
            raise ValueError("another kind of rows")
        for number in range(file.num_record_batches):
            column = file.get_batch(number).column(0)
            rows = memoryview(column.buffers()[1]).cast("B")
            yield rows[width * column.offset : width * (column.offset + len(column))]

    @contextlib.contextmanager
    def _reporting_damage(self, part: Part) -> Iterator[None]:
        """Turns Arrow's errors about an unreadable file into :class:`Damaged`."""
        import pyarrow as pa

        try:
            yield
        except (pa.ArrowException, ValueError, TypeError, LookupError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            where = self.place.path(part.name)
            if isinstance(error, OSError) and not self.place.local:  # it may be the network
                raise OSError(errno.EIO, " ".join(f"{error}".split()), where) from error
            raise Damaged(errno.EIO, "has changed since it was written", where) from error

    def _schema(self) -> pyarrow.Schema:
        import pyarrow as pa

        return pa.schema([pa.field("state", pa.binary(8 * self.words), nullable=False)])

    # -- commits --------------------------------------------------------------------------------

    def commit(self, found: Findings, parts: Sequence[Part]) -> None:
        """Records that the run can be resumed from level ``found.depth``.

        ``parts``: all of the levels after the last commit, up to and with this one.
        """
        if self._writer is not None and not self.is_mine:
            raise OSError(errno.ESTALE, "another run resumed from here", self.location)
        after = self.committed_depth
        assert found.depth > after, "a commit is about levels that none was about before"
        assert all(after < part.level <= found.depth for part in parts)
        document = {
            "format": FORMAT,
            "after": after,
            "findings": _to_json(found),
            "parts": [to_builtins(part) for part in parts],
        }
        self.place.flush(part.name for part in parts)
        self.place.write(f"{_level(found.depth)}/{COMMIT}", seal(document))
        self._committed = found.depth

    @property
    def committed_depth(self) -> int:
        """The last level that is committed, as far as this object knows; -1 where there is none."""
        if self._committed is None:
            commits = self._commits()
            self._committed = commits[-1]["depth"] if commits else -1
        return self._committed

    def latest(self) -> Findings | None:
        """The contents of the last valid commit; ``None`` where there is none.

        The next commit of this object follows that one, even if other objects commit meanwhile.
        """
        commits = self._commits()
        self._committed = commits[-1]["depth"] if commits else -1
        return _from_json(commits[-1]["findings"]) if commits else None

    def parts(self) -> dict[int, list[Part]]:
        """The parts of all levels up to that of the last valid commit, by level."""
        found: dict[int, list[Part]] = {}
        for commit in self._commits():
            for part in commit["parts"]:
                found.setdefault(part.level, []).append(part)
        return found

    def clean(self) -> None:
        """Deletes the files that no commit names; only for the one process that works in the
        folder.
        """
        commits = self._commits()
        kept = {part.name for commit in commits for part in commit["parts"]}
        kept |= {f"{_level(commit['depth'])}/{COMMIT}" for commit in commits}
        for name in self.place.files():
            if name.startswith(f"{LEVELS}/") and name not in kept:
                self.place.delete(name)

    def mend(self) -> list[str]:
        """Deletes damaged files, and those that become invalid with them; only for the one process
        that works in the folder.

        Returns the names of the files that were damaged or missing.  Bytes are compared on disks
        only: storage elsewhere has checksums of its own, and is far away.
        """
        sizes, wrong = self.place.files(), set[str]()
        for name in filter(_is_commit, sizes):
            commit = self._commit(name)
            if commit is None:
                wrong.add(name)
                continue
            before = f"{_level(commit['after'])}/{COMMIT}"
            if commit["after"] >= 0 and before not in sizes:
                wrong.add(before)
            wrong.update(p.name for p in commit["parts"] if not self._is_whole(p, sizes))
        for name in wrong:
            self.place.delete(name)
        self.clean()
        return sorted(wrong)

    def _is_whole(self, part: Part, sizes: dict[str, int]) -> bool:
        if not self._is_there(part, sizes):
            return False
        try:
            for _ in self.read(part) if self.place.local else ():
                pass
        except Damaged:
            return False
        return True

    def _is_there(self, part: Part, sizes: dict[str, int]) -> bool:
        return sizes.get(part.name, -1) >= 8 * self.words * part.rows

    def _commits(self) -> list[dict[str, Any]]:
        """The valid commits, in order: an unbroken chain from level 0 on, whose parts exist."""
        sizes = self.place.files()
        by_depth: dict[int, dict[str, Any]] = {}
        for name in filter(_is_commit, sizes):
            commit = self._commit(name)
            if commit is not None and all(self._is_there(p, sizes) for p in commit["parts"]):
                by_depth[commit["depth"]] = commit
        for deepest in sorted(by_depth, reverse=True):
            chain, at = list[dict[str, Any]](), deepest
            while at in by_depth:
                chain.append(by_depth[at])
                at = by_depth[at]["after"]
            if at == -1:
                return chain[::-1]
        return []

    def _commit(self, name: str) -> dict[str, Any] | None:
        """A commit, where it is whole."""
        commit = unseal(self.place.read(name) or b"")
        if commit is None or commit.get("format") != FORMAT:
            return None
        try:
            parts = [Part(**part) for part in commit["parts"]]
            depth, after = _from_json(commit["findings"]).depth, int(commit["after"])
        except (ValueError, KeyError, TypeError):
            return None
        whole = {**commit, "depth": depth, "after": after, "parts": parts}
        return whole if after < depth and name == f"{_level(depth)}/{COMMIT}" else None

    # -- messages -------------------------------------------------------------------------------

    def say(self, name: str, document: dict[str, Any]) -> None:
        """Leaves a message, in place of the one of that name; never raises."""
        with contextlib.suppress(OSError):
            self.place.write(f"{SAID}/{name}.json", json.dumps(document).encode())

    def unsay(self, name: str) -> None:
        """Removes a message, if there is one; never raises."""
        with contextlib.suppress(OSError):
            self.place.delete(f"{SAID}/{name}.json")

    def read_message(self, name: str) -> dict[str, Any] | None:
        """The message of that name; ``None`` where there is none, or none that can be read."""
        try:
            found = json.loads(self.place.read(f"{SAID}/{name}.json") or b"")
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None


def _level(level: int) -> str:
    return f"{LEVELS}/{level:05d}"


def _is_commit(name: str) -> bool:
    return name.startswith(f"{LEVELS}/") and name.endswith(f"/{COMMIT}")


def _rechunk(blocks: Iterable[memoryview], most: int) -> Iterator[memoryview]:
    """The same bytes in blocks of ``most``, or less: small ones are joined."""
    waiting: list[memoryview] = []
    size = 0
    for block in blocks:
        flat = memoryview(block).cast("B")
        for at in range(0, flat.nbytes, most):
            piece = flat[at : at + most]
            if size + piece.nbytes > most:
                yield _concatenate(waiting)
                waiting, size = [], 0
            waiting.append(piece)
            size += piece.nbytes
    if size:
        yield _concatenate(waiting)


def _concatenate(pieces: list[memoryview]) -> memoryview:
    return pieces[0] if len(pieces) == 1 else memoryview(b"".join(pieces))


def _to_json(found: Findings) -> dict[str, Any]:
    return {
        "depth": found.depth,
        "violating": {name: [level, *best] for name, (level, best) in found.violating.items()},
        "premises": sorted(found.premises),
        "faulty": found.faulty and [found.faulty[0], *found.faulty[1]],
        "maybe_cyclic": found.maybe_cyclic,
        "cyclic": found.cyclic,
        "transitions": found.transitions,
        "ends": found.ends,
        "beyond": found.beyond,
        "marks": f"{found.marks:x}",
        "lone": found.lone,
    }


def _from_json(document: dict[str, Any]) -> Findings:
    def at(entry: list[Any]) -> tuple[int, Best]:
        level, fingerprint, words = entry
        return level, (fingerprint, tuple(words))

    return Findings(
        depth=document["depth"],
        violating={name: at(entry) for name, entry in document["violating"].items()},
        premises=set(document["premises"]),
        faulty=document["faulty"] and at(document["faulty"]),
        maybe_cyclic=document["maybe_cyclic"],
        cyclic=document["cyclic"],
        transitions=document["transitions"],
        ends=document["ends"],
        beyond=document["beyond"],
        marks=int(document["marks"], 16),
        lone=tuple(document.get("lone", (0, 0))),
    )
