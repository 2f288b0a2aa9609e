"""The steps of valence in one shard: small, repeatable on any machine, with all state in files.

A step to a state is kept as its source's number in its level, the process that takes it, and the
target's number in the shard that owns it.  A *word* is that of :mod:`checker.engines.valence`, in
as few bytes as its bits need.  See :mod:`checker.engines.native.sharding.sharded_words` for the
order of the steps.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec import Struct

from checker.engines.attribution import Attributed
from checker.engines.native.checkpoint.run_folder import Part
from checker.engines.native.codegen.graph_fields import NONE
from checker.engines.native.codegen.letters import STOPPED
from checker.engines.native.liveness.graph import ConstraintTable
from checker.engines.native.search.memory import Buffer
from checker.engines.native.search.states import Unevaluable
from checker.engines.native.sharding.cycle_filter_steps import FilterContext
from checker.engines.native.sharding.region import Region
from checker.engines.native.sharding.shuffle_file import (
    ShuffleFile,
    ShuffleWriter,
    blocks_of,
    fresh_name,
    read_all,
)
from checker.engines.valence import WordLayout

Words = np.ndarray[Any, np.dtype[np.unsignedinteger[Any]]]
Row = tuple[int, ...]
"""The words of a state."""
Place = tuple[int, int]
"""A shard and a level."""
NOBODY = 0xFF
"""Who takes the step of no process."""


@dataclass(frozen=True)
class ValenceContext(FilterContext):
    """The context of all steps; can be pickled.  ``by``: the attributed system."""

    layout: WordLayout = field(kw_only=True)
    by: Attributed = field(kw_only=True)

    @property
    def dtype(self) -> np.dtype[Any]:
        """What a word is kept in."""
        return np.dtype(next(f"u{n}" for n in (1, 2, 4, 8) if self.layout.bits <= 8 * n))

    def save(self, place: Place, words: Words) -> str:
        """Writes the words of a shard's states of a level; returns the file's name."""
        name = fresh_name("words", place[1], place[0])
        with self.work.beside(name) as stream:
            stream.write(words.astype(self.dtype, copy=False).tobytes())
        return name

    def words(self, name: str) -> Words:
        """The words in a file, 64 bits each."""
        return np.frombuffer(read_all(self.work, name), self.dtype).astype(np.uint64)

    def kept(self) -> Words:
        """For each process, and for :data:`NOBODY`, the bits that pass by a step of it."""
        found = [self.layout.kept(i) for i in range(self.layout.processes)]
        whole = [*found, *[self.layout.kept(None)] * (NOBODY + 1 - len(found))]
        return np.array(whole, np.uint64)


class LinkResult(Struct, frozen=True):
    """``rows``: how many states there are; ``letter``: the shuffle file of their steps: targets,
    sources (32 bits), who takes them (8 bits); ``words``: a file with their first words; ``lost``:
    a state in which a value can't be evaluated, and then nothing else is there."""

    rows: int
    letter: ShuffleFile
    words: str
    lost: Row | None = None


class LinkStep(Struct, frozen=True):
    """Computes the steps of the states of a level, and what is decided in them."""

    level: int
    shard: int
    parts: Sequence[Part]

    @property
    def weight(self) -> int:
        """An estimate of the number of rows read."""
        return sum(part.rows for part in self.parts)

    def do(self, trim: ValenceContext) -> LinkResult:
        region = trim.region(self.shard, self.parts)
        try:
            decided = self._decided(trim, region)
        except Unevaluable as error:  # not to be tried again
            return LinkResult(region.count, ShuffleFile("", ()), "", error.words)
        words = trim.save((self.shard, self.level), decided)
        name = fresh_name("steps", self.level, self.shard)
        with trim.work.beside(name) as stream:
            pen = ShuffleWriter(stream, trim.shards)
            self._link(trim, region, pen)
        return LinkResult(region.count, pen.letter(name), words)

    def _decided(self, trim: ValenceContext, region: Region) -> Words:
        """The words in which nothing but what is decided is open."""
        code, out = region.kernel.letters[0], Buffer(2 * region.count)
        params = array("Q", [0])
        given = (region.crew.rows.address, 0, region.count, 0, out.address)
        while (lost := code(*given, params.buffer_info()[0])) == STOPPED:
            trim.check_time()
            region.kernel.stop.clear()
        if lost:
            raise Unevaluable(_row(region, lost - 1))
        letters = np.frombuffer(out.bytes()[: 2 * region.count], np.uint16)
        return letters.astype(np.uint64) * np.uint64(trim.layout.begin(1))

    def _link(self, trim: ValenceContext, region: Region, pen: ShuffleWriter) -> None:
        plan = trim.image.plan
        assert plan is not None
        table, actors = ConstraintTable(region.kernel, region.crew), [NOBODY]
        for owner, targets, sources, labels in region.links(region.rows(), table):
            trim.check_time()
            for row in table.rows(len(actors) - 1):
                actor = trim.by.actor(plan.decode(row))
                actors.append(NOBODY if actor is None else actor)
            who = np.array(actors, np.uint8)[np.frombuffer(labels, np.uint32)]
            pen.add(owner, len(who), targets, sources, who.tobytes())


class LocateStep(Struct, frozen=True):
    """Answers, for each step to a state that the shard owns, with the state's number in it.
    ``parts``: of all levels; ``asked``: the shuffle files, whose askers are numbered from 0."""

    shard: int
    parts: Sequence[Sequence[Part]]
    asked: Sequence[ShuffleFile]

    @property
    def weight(self) -> int:
        """An estimate of the number of rows read."""
        here = sum(part.rows for parts in self.parts for part in parts)
        return here + sum(letter.entries(self.shard) for letter in self.asked)

    def do(self, trim: ValenceContext) -> ShuffleFile:
        region = trim.region(self.shard, *self.parts)
        name = fresh_name("numbers", 0, self.shard)
        with trim.work.beside(name) as stream:
            pen = ShuffleWriter(stream, len(self.asked))
            for asker, letter in enumerate(self.asked):
                for rows, *_ in blocks_of(trim.work, letter, self.shard, trim.width, 4, 1):
                    trim.check_time()
                    numbers, count = region.numbers(rows)
                    pen.add(asker, count, numbers.bytes()[: 4 * count])
        return pen.letter(name)


class DrawResult(Struct, frozen=True):
    """``words``: the file; ``changed``: whether there are others than before; ``needs``: whose
    words they follow from; ``tally``: how many states have each word; ``critical``: the number of
    critical states, and some with the smallest words."""

    words: str
    changed: bool
    needs: frozenset[Place]
    tally: Mapping[int, int]
    critical: tuple[int, tuple[Row, ...]]


class DrawStep(Struct, frozen=True):
    """Takes over the bits of the successors of a level's states.

    ``before``: the file of their words; ``letter``: of their steps; ``answers``: to them, of which
    theirs are for ``asker``; ``words``: the files of all words, by place; ``starts``: the number of
    each shard's first state in each level; ``most``: how many critical states are wanted.
    """

    level: int
    shard: int
    parts: Sequence[Part]
    before: str
    letter: ShuffleFile
    asker: int
    answers: Sequence[ShuffleFile]
    words: Mapping[Place, str]
    starts: Sequence[Sequence[int]]
    most: int

    @property
    def weight(self) -> int:
        """An estimate of the number of rows read."""
        return self.letter.all_entries

    def do(self, trim: ValenceContext) -> DrawResult:
        here, kept = (self.shard, self.level), trim.kept()
        before = trim.words(self.before)
        words, known = before.copy(), {here: before}
        known[here] = words
        needs = set[Place]()
        while True:
            round_ = words.copy()
            for place, sources, targets, who in self._edges(trim):
                needs.add(place)
                if place not in known:
                    known[place] = trim.words(self.words[place])
                np.bitwise_or.at(words, sources, known[place][targets] & kept[who])
            if here not in needs or np.array_equal(words, round_):
                break
        changed = not np.array_equal(words, before)
        each, counts = np.unique(words, return_counts=True)
        return DrawResult(
            trim.save(here, words) if changed else self.before,
            changed,
            frozenset(needs),
            dict(zip(map(int, each), map(int, counts), strict=True)),
            self._critical(trim, words, known),
        )

    def _edges(self, trim: ValenceContext) -> Iterator[tuple[Place, Words, Words, Words]]:
        """Yields the steps in blocks: where they lead, sources, targets (numbers in the level) and
        who takes them."""
        for owner, answer in enumerate(self.answers):
            starts = np.array(self.starts[owner], np.uint32)
            steps = blocks_of(trim.work, self.letter, owner, trim.width, 4, 1)
            replies = blocks_of(trim.work, answer, self.asker, 4)
            for (_, sources, who), (numbers,) in zip(steps, replies, strict=True):
                trim.check_time()
                target = np.frombuffer(numbers, np.uint32)
                assert not (target == NONE).any(), "all states were found"
                level = np.searchsorted(starts, target, "right") - 1
                source, actor = np.frombuffer(sources, np.uint32), np.frombuffer(who, np.uint8)
                for depth in np.unique(level):
                    at = level == depth
                    yield (owner, int(depth)), source[at], target[at] - starts[depth], actor[at]

    def _critical(
        self, trim: ValenceContext, words: Words, known: Mapping[Place, Words]
    ) -> tuple[int, tuple[Row, ...]]:
        layout = trim.layout
        undecided = words & np.uint64(layout.whole << layout.decided_at) == 0
        lost = undecided & _several(words, layout)
        if not lost.any():
            return 0, ()
        for place, sources, targets, _ in self._edges(trim):
            other = sources != targets if place == (self.shard, self.level) else True
            lost[sources[_several(known[place][targets], layout) & other]] = False
        found = np.flatnonzero(lost)
        if not len(found):
            return 0, ()
        region = trim.region(self.shard, self.parts)
        return len(found), tuple(sorted(_row(region, int(i)) for i in found)[: self.most])


def _several(words: Words, layout: WordLayout) -> Any:
    """Whether several values are open."""
    low = words & np.uint64(layout.whole)
    return low & (low - np.uint64(1)) != 0


def _row(region: Region, number: int) -> Row:
    width = region.width // 8
    return tuple(region.rows().cast("Q")[number * width : (number + 1) * width])


class SelectStep(Struct, frozen=True):
    """Writes the states of a level whose word is one of ``wanted``."""

    level: int
    shard: int
    parts: Sequence[Part]
    words: str
    wanted: frozenset[int]

    @property
    def weight(self) -> int:
        """An estimate of the number of rows read."""
        return sum(part.rows for part in self.parts)

    def do(self, trim: ValenceContext) -> Part:
        region = trim.region(self.shard, self.parts)
        words = trim.words(self.words)
        chosen = np.isin(words, np.array(sorted(self.wanted), np.uint64))
        rows = np.frombuffer(region.rows(), np.uint8).reshape(region.count, region.width)
        return trim.write(self.level, self.shard, rows[chosen].tobytes())


class LookUpStep(Struct, frozen=True):
    """Finds the words of states, given as rows: those that the shard has.  ``words``: the files of
    its words, for each level."""

    shard: int
    parts: Sequence[Sequence[Part]]
    words: Sequence[str | None]
    rows: tuple[Row, ...]

    @property
    def weight(self) -> int:
        """An estimate of the number of rows read."""
        return sum(part.rows for parts in self.parts for part in parts)

    def do(self, trim: ValenceContext) -> dict[Row, int]:
        region = trim.region(self.shard, *self.parts)
        numbers, count = region.numbers(array("Q", [w for row in self.rows for w in row]).tobytes())
        files = [trim.words(name) for name in self.words if name is not None]
        every = np.concatenate(files) if files else np.zeros(0, np.uint64)
        found = (ctypes.c_uint32 * count).from_address(numbers.address)
        pairs = zip(self.rows, found, strict=True)
        return {row: int(every[number]) for row, number in pairs if number != NONE}


ValenceStep = LinkStep | LocateStep | DrawStep | SelectStep | LookUpStep
