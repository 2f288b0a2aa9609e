"""The steps of the cycle filter in one shard.

They are small, need little memory, and can be done on any machine and repeated, because all their
state is in files.  A step to a state that is not of the next level is a *step back*; every cycle
has one.  A state is *alive* if it leads to a step back, and *reached* if the target of one leads to
it.  See :mod:`checker.engines.native.sharding.cycle_filter` for the order of the steps.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from checker.engines.native.checkpoint.run_folder import BATCH_BYTES, LEVELS, Part, RunFolder
from checker.engines.native.checkpoint.storage import Storage
from checker.engines.native.codegen.image import KernelImage
from checker.engines.native.codegen.row_selection import Code
from checker.engines.native.sharding.backward_search import kernel_of
from checker.engines.native.sharding.region import Region, StateFlags, good, pick_rows
from checker.engines.native.sharding.shard import Block
from checker.engines.native.sharding.shuffle_file import (
    ShuffleFile,
    ShuffleWriter,
    blocks_of,
    file_pieces,
    fresh_name,
    read_all,
)
from checker.records import replace

WORK = f"{LEVELS}/cycles"
"""The place of temporary files in the folder of a run."""


class TimeLimitReached(Exception):
    """The time limit was reached."""


@dataclass(frozen=True)
class FilterContext:
    """The context of all steps; can be pickled.

    ``folder``: with all states; ``memory``: bytes for each shard; ``deadline``: in seconds of
    ``time.time``.
    """

    image: KernelImage
    folder: RunFolder
    shards: int
    memory: int | None = None
    deadline: float | None = None

    @property
    def work(self) -> Storage:
        """The folder for temporary files."""
        return Storage(f"{self.folder.location}/{WORK}")

    @property
    def width(self) -> int:
        """Bytes of a state."""
        return 8 * self.folder.words

    def region(self, shard: int, *levels: Sequence[Part]) -> Region:
        """The states of some levels that ``shard`` owns."""
        region = Region(kernel_of(self.image), shard, self.shards, self.memory)
        for parts in levels:
            region.load(self.blocks(shard, parts))
        return region

    def blocks(self, shard: int, parts: Sequence[Part]) -> Iterator[memoryview]:
        """The states of those parts that may have some that ``shard`` owns."""
        for part in parts:
            if part.may_have(shard, self.shards):
                for block in self.folder.read(part):
                    self.check_time()
                    yield block

    def write(self, level: int, shard: int, rows: Block) -> Part:
        """Writes states of a level that ``shard`` owns."""
        work = RunFolder(self.work.location, self.folder.words)
        part = work.write(level, shard, self.shards, [memoryview(rows)])
        return replace(part, name=f"{WORK}/{part.name}")

    def check_time(self) -> None:
        """Raises :class:`TimeLimitReached`."""
        if self.deadline is not None and time.time() > self.deadline:
            raise TimeLimitReached

    def ask(self, pen: ShuffleWriter, region: Region, rows: Block) -> None:
        """Writes the successors of these states to the shards that own them."""
        for owner, successors, sources in region.ask(rows):
            self.check_time()
            pen.add(owner, len(sources) // 4, successors, sources)


class ExpandResult(Struct, frozen=True):
    """``rows``: how many states the shard has of the level; ``letter``: the shuffle file of their
    successors, each with the number of its source (32 bits).
    """

    rows: int
    letter: ShuffleFile


class ExpandStep(Struct, frozen=True):
    """Computes the successors of the states of a level.  ``parts``: of the level."""

    level: int
    shard: int
    parts: Sequence[Part]

    @property
    def weight(self) -> int:
        """An estimate of the number of rows read."""
        return _rows(self.parts)

    def do(self, trim: FilterContext) -> ExpandResult:
        region = trim.region(self.shard, self.parts)
        name = fresh_name("asked", self.level, self.shard)
        with trim.work.beside(name) as stream:
            pen = ShuffleWriter(stream, trim.shards)
            trim.ask(pen, region, region.rows())
        return ExpandResult(region.count, pen.letter(name))


class AnswerResult(Struct, frozen=True):
    """``letter``: the shuffle file, to the shards that sent queries, of a code for each successor;
    ``targets``: a file with the targets of steps back (``None``: there are none).
    """

    letter: ShuffleFile
    targets: str | None


class AnswerStep(Struct, frozen=True):
    """Answers queries about successors of ``level``.  ``asked``: shuffle files to this shard.

    ``above``: the parts of the next level, with ``alive``, a file with their codes; ``upto``: those
    of all levels up to this one, ``None`` where these are all states that there are, so that what
    is not of the next level is of one of them.
    """

    level: int
    shard: int
    above: Sequence[Part]
    alive: str | None
    upto: Sequence[Sequence[Part]] | None
    asked: Sequence[ShuffleFile]

    @property
    def back(self) -> Code:
        """The code for the target of a step back."""
        return Code.ABSENT if self.upto is None else Code.BEFORE

    @property
    def weight(self) -> int:
        """An estimate of the number of rows read."""
        here = _rows(self.above) + sum(map(_rows, self.upto or ()))
        return here + sum(letter.entries(self.shard) for letter in self.asked)

    def do(self, trim: FilterContext) -> AnswerResult:
        region = trim.region(self.shard, *(self.upto or ()))
        start = region.count
        region.load(trim.blocks(self.shard, self.above))
        name = fresh_name("answered", self.level, self.shard)
        found = fresh_name("targets", self.level, self.shard)
        targets = Region(kernel_of(trim.image), self.shard, trim.shards, trim.memory)
        with trim.work.beside(name) as stream:
            pen = ShuffleWriter(stream, trim.shards)
            targets.load(self._answer(trim, region, start, pen))
        if targets.count:
            with trim.work.beside(found) as stream:
                stream.write(targets.rows())
        return AnswerResult(pen.letter(name), found if targets.count else None)

    def _answer(
        self, trim: FilterContext, region: Region, start: int, pen: ShuffleWriter
    ) -> Iterator[memoryview]:
        """Answers every query; yields the targets of steps back, possibly repeatedly."""
        alive = b"" if self.alive is None else read_all(trim.work, self.alive)
        for asker, letter in enumerate(self.asked):
            for rows, _ in blocks_of(trim.work, letter, self.shard, trim.width, 4):
                trim.check_time()
                codes = region.codes(rows, start, alive)
                pen.add(asker, len(codes), codes)
                yield pick_rows(rows, trim.width, codes, good(self.back))


class SettleResult(Struct, frozen=True):
    """``codes``: a file with a byte for each state of a level; ``alive``: how many are alive."""

    codes: str
    alive: int


class SettleStep(Struct, frozen=True):
    """Determines which of the ``rows`` states are alive.  ``asked``: the shard's queries about the
    level; ``answers``: to them, from all shards; ``back``: the code for targets of steps back.
    """

    level: int
    shard: int
    rows: int
    asked: ShuffleFile
    answers: Sequence[ShuffleFile]
    back: Code

    @property
    def weight(self) -> int:
        """An estimate of the number of rows read."""
        return self.asked.all_entries

    def do(self, trim: FilterContext) -> SettleResult:
        marks, meant = StateFlags(self.rows), good(Code.ALIVE, self.back)
        for owner, answer in enumerate(self.answers):
            questions = blocks_of(trim.work, self.asked, owner, trim.width, 4)
            replies = blocks_of(trim.work, answer, self.shard, 1)
            for (_, sources), (codes,) in zip(questions, replies, strict=True):
                marks.settle(sources, codes, meant)
        name, codes = fresh_name("codes", self.level, self.shard), marks.whole()
        with trim.work.beside(name) as stream:
            stream.write(codes)
        return SettleResult(name, codes.count(Code.ALIVE))


class SplitResult(Struct, frozen=True):
    """For one level: the alive states, and a file with the targets of steps back among them."""

    part: Part
    seeds: str | None


class SplitStep(Struct, frozen=True):
    """Finds the alive states, and the targets of steps back among them.  ``levels``: for each its
    parts, and a file with codes; ``targets``: files.
    """

    shard: int
    levels: dict[int, tuple[Sequence[Part], str]]
    targets: Sequence[str]

    @property
    def weight(self) -> int:
        """An estimate of the number of rows read."""
        return sum(_rows(parts) for parts, _ in self.levels.values())

    def do(self, trim: FilterContext) -> dict[int, SplitResult]:
        targets = Region(kernel_of(trim.image), self.shard, trim.shards, trim.memory)
        size = max(1, BATCH_BYTES // trim.width) * trim.width
        targets.load(block for name in self.targets for block in file_pieces(trim.work, name, size))
        every, found = bytes([Code.ALIVE]) * targets.count, dict[int, SplitResult]()
        for level, (parts, codes) in self.levels.items():
            rows = trim.region(self.shard, parts).rows()
            alive = pick_rows(rows, trim.width, read_all(trim.work, codes), good(Code.ALIVE))
            hit = targets.codes(alive, 0, every)
            seeds = pick_rows(alive, trim.width, hit, good(Code.ALIVE))
            name = fresh_name("seeds", level, self.shard) if seeds.nbytes else None
            if name is not None:
                with trim.work.beside(name) as stream:
                    stream.write(seeds)
            found[level] = SplitResult(trim.write(level, self.shard, alive), name)
        return found


class ReachResult(Struct, frozen=True):
    """For one level: the states that are alive and reached, their successors, and the number of
    steps from them, self-loops included.
    """

    part: Part
    letter: ShuffleFile
    steps: int


class ReachStep(Struct, frozen=True):
    """Finds the reached states of a level.  ``parts``: the alive states; ``seeds``: a file with
    targets of steps back; ``asked``: queries about the states reached in the level before.
    """

    level: int
    shard: int
    parts: Sequence[Part]
    seeds: str | None
    asked: Sequence[ShuffleFile]

    @property
    def weight(self) -> int:
        """An estimate of the number of rows read."""
        return _rows(self.parts) + sum(letter.entries(self.shard) for letter in self.asked)

    def do(self, trim: FilterContext) -> ReachResult:
        region = trim.region(self.shard, self.parts)
        marks = StateFlags(region.count)
        for rows in self._seeds_and_letters(trim):
            marks.mark(*region.numbers(rows))
        rows = pick_rows(region.rows(), trim.width, marks.whole(), good(Code.ALIVE))
        name = fresh_name("asked", self.level, self.shard)
        with trim.work.beside(name) as stream:
            pen = ShuffleWriter(stream, trim.shards)
            trim.ask(pen, region, rows)
        part = trim.write(self.level, self.shard, rows)
        return ReachResult(part, pen.letter(name), region.steps)

    def _seeds_and_letters(self, trim: FilterContext) -> Iterator[Any]:
        if self.seeds is not None:
            yield from file_pieces(
                trim.work, self.seeds, max(1, BATCH_BYTES // trim.width) * trim.width
            )
        for letter in self.asked:
            for rows, _ in blocks_of(trim.work, letter, self.shard, trim.width, 4):
                trim.check_time()
                yield rows


def _rows(parts: Sequence[Part]) -> int:
    return sum(part.rows for part in parts)


Step = ExpandStep | AnswerStep | SettleStep | SplitStep | ReachStep
