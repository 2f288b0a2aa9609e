"""What one shard does to find the states that may lie on cycles: steps that are small, need little
memory, and can be done anywhere and again, because all that they know is in files.

A step to a state that is not of the next level is a *step back*; every cycle has one.  A state is
*alive* if it leads to a step back, and *reached* if the target of one leads to it.  See
:mod:`checker.exploration.cycles` for the order of things.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from checker.exploration.backwards import compiled
from checker.exploration.mail import Letter, Pen, blocks_of, fresh, pieces, read_all
from checker.exploration.place import Place
from checker.exploration.region import Marks, Region, good, picked
from checker.exploration.run_folder import BATCH_BYTES, LEVELS, Part, RunFolder
from checker.exploration.shard import Block
from checker.kernels.image import KernelImage
from checker.kernels.picking import Code

WORK = f"{LEVELS}/cycles"
"""Where files are in the folder of a run, as long as they are needed."""


class Late(Exception):
    """The time limit was reached."""


@dataclass(frozen=True)
class Trimming:
    """What all steps are given; can be pickled.

    ``folder``: with all states; ``memory``: bytes for each shard; ``deadline``: in seconds of
    ``time.time``.
    """

    image: KernelImage
    folder: RunFolder
    shards: int
    memory: int | None = None
    deadline: float | None = None

    @property
    def work(self) -> Place:
        """The folder for files that are needed for a while."""
        return Place(f"{self.folder.location}/{WORK}")

    @property
    def width(self) -> int:
        """Bytes of a state."""
        return 8 * self.folder.words

    def region(self, shard: int, *levels: Sequence[Part]) -> Region:
        """What ``shard`` owns of some levels."""
        region = Region(compiled(self.image), shard, self.shards, self.memory)
        for parts in levels:
            region.load(self.blocks(shard, parts))
        return region

    def blocks(self, shard: int, parts: Sequence[Part]) -> Iterator[memoryview]:
        """The states of those parts that may have some that ``shard`` owns."""
        for part in parts:
            if self.may_own(part, shard):
                for block in self.folder.read(part):
                    self.check_time()
                    yield block

    def may_own(self, part: Part, shard: int) -> bool:
        """Whether a part may have states that ``shard`` owns."""
        return part.shard * self.shards < (shard + 1) * part.shards and (
            shard * part.shards < (part.shard + 1) * self.shards
        )

    def write(self, level: int, shard: int, rows: Block) -> Part:
        """Writes states of a level that ``shard`` owns."""
        work = RunFolder(self.work.location, self.folder.words)
        part = work.write(level, shard, self.shards, [memoryview(rows)])
        return replace(part, name=f"{WORK}/{part.name}")

    def check_time(self) -> None:
        """Raises :class:`Late`."""
        if self.deadline is not None and time.time() > self.deadline:
            raise Late

    def ask(self, pen: Pen, region: Region, rows: Block) -> None:
        """Writes the successors of these states to those who own them."""
        for owner, successors, sources in region.ask(rows):
            self.check_time()
            pen.add(owner, len(sources) // 4, successors, sources)


@dataclass(frozen=True)
class Asked:
    """``rows``: how many states the shard has of the level; ``letter``: their successors, each
    with the number of the state that it comes from (32 bits)."""

    rows: int
    letter: Letter


@dataclass(frozen=True)
class Ask:
    """Where do the states of a level lead?  ``parts``: of the level."""

    level: int
    shard: int
    parts: Sequence[Part]

    @property
    def weight(self) -> int:
        """How many rows are looked at, about."""
        return _rows(self.parts)

    def do(self, trim: Trimming) -> Asked:
        region = trim.region(self.shard, self.parts)
        name = fresh("asked", self.level, self.shard)
        with trim.work.beside(name) as stream:
            pen = Pen(stream, trim.shards)
            trim.ask(pen, region, region.rows())
        return Asked(region.count, pen.letter(name))


@dataclass(frozen=True)
class Answered:
    """``letter``: to those who have asked, a code for each successor; ``targets``: a file with the
    states that steps back lead to (``None``: no such state)."""

    letter: Letter
    targets: str | None


@dataclass(frozen=True)
class Answer:
    """What of successors of ``level``?  ``asked``: letters to this shard.

    ``above``: the parts of the next level, with ``alive``, a file with their codes; ``upto``: those
    of all levels up to this one, ``None`` where these are all states that there are, so that what
    is not of the next level is of one of them.
    """

    level: int
    shard: int
    above: Sequence[Part]
    alive: str | None
    upto: Sequence[Sequence[Part]] | None
    asked: Sequence[Letter]

    @property
    def back(self) -> Code:
        """What is said of the target of a step back."""
        return Code.ABSENT if self.upto is None else Code.BEFORE

    @property
    def weight(self) -> int:
        """How many rows are looked at, about."""
        here = _rows(self.above) + sum(map(_rows, self.upto or ()))
        return here + sum(letter.entries(self.shard) for letter in self.asked)

    def do(self, trim: Trimming) -> Answered:
        region = trim.region(self.shard, *(self.upto or ()))
        start = region.count
        region.load(trim.blocks(self.shard, self.above))
        name = fresh("answered", self.level, self.shard)
        found = fresh("targets", self.level, self.shard)
        targets = Region(compiled(trim.image), self.shard, trim.shards, trim.memory)
        with trim.work.beside(name) as stream:
            pen = Pen(stream, trim.shards)
            targets.load(self._answer(trim, region, start, pen))
        if targets.count:
            with trim.work.beside(found) as stream:
                stream.write(targets.rows())
        return Answered(pen.letter(name), found if targets.count else None)

    def _answer(self, trim: Trimming, region: Region, start: int, pen: Pen) -> Iterator[memoryview]:
        """Answers everybody; gives the targets of steps back, not only once."""
        alive = b"" if self.alive is None else read_all(trim.work, self.alive)
        for asker, letter in enumerate(self.asked):
            for rows, _ in blocks_of(trim.work, letter, self.shard, trim.width, 4):
                trim.check_time()
                codes = region.codes(rows, start, alive)
                pen.add(asker, len(codes), codes)
                yield picked(rows, trim.width, codes, good(self.back))


@dataclass(frozen=True)
class Settled:
    """``codes``: a file with a byte for each state of a level; ``alive``: how many are."""

    codes: str
    alive: int


@dataclass(frozen=True)
class Settle:
    """Which of the ``rows`` states are alive?  ``asked``: the shard's letter about the level;
    ``answers``: to it, from all shards; ``back``: what is said of targets of steps back."""

    level: int
    shard: int
    rows: int
    asked: Letter
    answers: Sequence[Letter]
    back: Code

    @property
    def weight(self) -> int:
        """How many rows are looked at, about."""
        return self.asked.all_entries

    def do(self, trim: Trimming) -> Settled:
        marks, meant = Marks(self.rows), good(Code.ALIVE, self.back)
        for owner, answer in enumerate(self.answers):
            questions = blocks_of(trim.work, self.asked, owner, trim.width, 4)
            replies = blocks_of(trim.work, answer, self.shard, 1)
            for (_, sources), (codes,) in zip(questions, replies, strict=True):
                marks.settle(sources, codes, meant)
        name, codes = fresh("codes", self.level, self.shard), marks.whole()
        with trim.work.beside(name) as stream:
            stream.write(codes)
        return Settled(name, codes.count(Code.ALIVE))


@dataclass(frozen=True)
class Parted:
    """Of one level: the states that are alive, and a file with the targets among them."""

    part: Part
    seeds: str | None


@dataclass(frozen=True)
class Split:
    """Which states are alive, and which of them do steps back lead to?  ``levels``: of each its
    parts, and a file with codes; ``targets``: files."""

    shard: int
    levels: dict[int, tuple[Sequence[Part], str]]
    targets: Sequence[str]

    @property
    def weight(self) -> int:
        """How many rows are looked at, about."""
        return sum(_rows(parts) for parts, _ in self.levels.values())

    def do(self, trim: Trimming) -> dict[int, Parted]:
        targets = Region(compiled(trim.image), self.shard, trim.shards, trim.memory)
        size = max(1, BATCH_BYTES // trim.width) * trim.width
        targets.load(block for name in self.targets for block in pieces(trim.work, name, size))
        every, found = bytes([Code.ALIVE]) * targets.count, dict[int, Parted]()
        for level, (parts, codes) in self.levels.items():
            rows = trim.region(self.shard, parts).rows()
            alive = picked(rows, trim.width, read_all(trim.work, codes), good(Code.ALIVE))
            hit = targets.codes(alive, 0, every)
            seeds = picked(alive, trim.width, hit, good(Code.ALIVE))
            name = fresh("seeds", level, self.shard) if seeds.nbytes else None
            if name is not None:
                with trim.work.beside(name) as stream:
                    stream.write(seeds)
            found[level] = Parted(trim.write(level, self.shard, alive), name)
        return found


@dataclass(frozen=True)
class Reached:
    """Of one level: the states that are alive and reached, their successors, and how many steps
    lead from them, those that lead back to the same state included."""

    part: Part
    letter: Letter
    steps: int


@dataclass(frozen=True)
class Reach:
    """Which states of a level are reached?  ``parts``: those that are alive; ``seeds``: a file
    with targets of steps back; ``asked``: letters about those reached in the level before."""

    level: int
    shard: int
    parts: Sequence[Part]
    seeds: str | None
    asked: Sequence[Letter]

    @property
    def weight(self) -> int:
        """How many rows are looked at, about."""
        return _rows(self.parts) + sum(letter.entries(self.shard) for letter in self.asked)

    def do(self, trim: Trimming) -> Reached:
        region = trim.region(self.shard, self.parts)
        marks = Marks(region.count)
        for rows in self._found(trim):
            marks.mark(*region.numbers(rows))
        rows = picked(region.rows(), trim.width, marks.whole(), good(Code.ALIVE))
        name = fresh("asked", self.level, self.shard)
        with trim.work.beside(name) as stream:
            pen = Pen(stream, trim.shards)
            trim.ask(pen, region, rows)
        part = trim.write(self.level, self.shard, rows)
        return Reached(part, pen.letter(name), region.steps)

    def _found(self, trim: Trimming) -> Iterator[Any]:
        if self.seeds is not None:
            yield from pieces(trim.work, self.seeds, max(1, BATCH_BYTES // trim.width) * trim.width)
        for letter in self.asked:
            for rows, _ in blocks_of(trim.work, letter, self.shard, trim.width, 4):
                trim.check_time()
                yield rows


def _rows(parts: Sequence[Part]) -> int:
    return sum(part.rows for part in parts)


Step = Ask | Answer | Settle | Split | Reach
