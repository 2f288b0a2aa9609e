"""Valence where states are divided among shards: words are drawn backwards, level by level.

First each level's steps are computed, and their targets numbered by the shards that own them.  Then
levels are drawn from the last one on: a shard's part of a level reads the words of the states that
its steps lead to, which are mostly of the next level, and is drawn again where these change.  What
drawing needs are its own part of a level and the words, not the states, of the levels below it;
where targets are numbered and states looked up, a shard holds all of its states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

from checker.engines.native.search.states import Unevaluable
from checker.engines.native.sharding.cycle_filter import Levels
from checker.engines.native.sharding.valence_steps import (
    DrawResult,
    DrawStep,
    LinkResult,
    LinkStep,
    LocateStep,
    LookUpStep,
    Place,
    Row,
    SelectStep,
    ValenceContext,
    ValenceStep,
)

Everywhere = Callable[[Sequence[ValenceStep]], list[Any]]
"""Runs steps, in any order and on any machine, and returns their results, in order."""
MOST = 3
"""The number of critical states that are known of each part of a level."""


class ShardedWords:
    """The words of all states, whose parts are ``levels``; ``tell`` reports progress.

    Raises what ``everywhere`` raises.
    """

    def __init__(
        self,
        trim: ValenceContext,
        levels: Levels,
        everywhere: Everywhere,
        tell: Callable[[str], None],
    ) -> None:
        self._trim, self._levels, self._everywhere, self._tell = trim, levels, everywhere, tell
        self.depth = max(levels, default=-1)
        self._linked: dict[Place, LinkResult] = {}
        self._drawn: dict[Place, DrawResult] = {}
        self._words: dict[Place, str] = {}
        self._link()
        self._answers = self._locate()
        self._draw()

    # -- the graph ------------------------------------------------------------------------------

    @property
    def edges(self) -> int:
        """How many steps there are."""
        return sum(linked.letter.all_entries for linked in self._linked.values())

    def _link(self) -> None:
        self._tell("the steps of all states")
        steps = [
            LinkStep(level, shard, parts)
            for level, parts in sorted(self._levels.items())
            for shard in range(self._trim.shards)
            if any(part.rows and part.may_have(shard, self._trim.shards) for part in parts)
        ]
        done = self._everywhere(steps)
        for linked in done:
            if linked.lost is not None:
                raise Unevaluable(linked.lost)
        for step, linked in zip(steps, done, strict=True):
            place = step.shard, step.level
            self._linked[place], self._words[place] = linked, linked.words

    def _locate(self) -> list[Any]:
        self._tell("where steps lead")
        asked = [linked.letter for linked in self._linked.values()]
        shards = range(self._trim.shards)
        return self._everywhere([LocateStep(s, self._parts(), asked) for s in shards])

    def _parts(self) -> list[list[Any]]:
        return [self._levels.get(level, []) for level in range(self.depth + 1)]

    # -- drawing --------------------------------------------------------------------------------

    def _draw(self) -> None:
        askers = {place: number for number, place in enumerate(self._linked)}
        stale = set(self._linked)
        while stale:
            for level in reversed(range(self.depth + 1)):
                here = sorted(place for place in stale if place[1] == level)
                if not here:
                    continue
                self._tell(f"backwards from decisions, level {level}")
                done = self._everywhere([self._step(place, askers[place]) for place in here])
                stale -= set(here)
                for place, drawn in zip(here, done, strict=True):
                    self._drawn[place], self._words[place] = drawn, drawn.words
                changed = {place for place in here if self._drawn[place].changed}
                for place, drawn in self._drawn.items():
                    if changed & (drawn.needs - {place}):
                        stale.add(place)

    def _step(self, place: Place, asker: int) -> DrawStep:
        shard, level = place
        linked = self._linked[place]
        return DrawStep(
            level,
            shard,
            self._levels[level],
            self._words[place],
            linked.letter,
            asker,
            self._answers,
            self._words,
            [self._starts(owner) for owner in range(self._trim.shards)],
            MOST,
        )

    def _starts(self, shard: int) -> list[int]:
        """The number of a shard's first state in each level."""
        places = ((shard, level) for level in range(self.depth))
        sizes = (self._linked[p].rows if p in self._linked else 0 for p in places)
        return [0, *accumulate(sizes)]

    # -- queries --------------------------------------------------------------------------------

    def tally(self, level: int) -> dict[int, int]:
        """How many states of a level have each word."""
        found: dict[int, int] = {}
        for drawn in self._of(level):
            for word, count in drawn.tally.items():
                found[word] = found.get(word, 0) + count
        return found

    def critical(self, level: int) -> tuple[int, list[Row]]:
        """How many states of a level are critical, and up to :data:`MOST` with the smallest
        words."""
        each = [drawn.critical for drawn in self._of(level)]
        return sum(count for count, _ in each), sorted(r for _, rows in each for r in rows)[:MOST]

    def _of(self, level: int) -> list[DrawResult]:
        return [drawn for (_, depth), drawn in self._drawn.items() if depth == level]

    def select(self, wanted: frozenset[int], levels: Iterable[int]) -> Levels:
        """The states of some levels whose word is ``wanted``, in parts of their own."""
        steps = [
            SelectStep(level, shard, self._levels[level], self._words[shard, level], wanted)
            for level in levels
            for shard in range(self._trim.shards)
            if (shard, level) in self._drawn
            and not wanted.isdisjoint(self._drawn[shard, level].tally)
        ]
        found: Levels = {}
        for step, part in zip(steps, self._everywhere(steps), strict=True):
            found.setdefault(step.level, []).append(part)
        return found

    def look_up(self, rows: Sequence[Row]) -> dict[Row, int]:
        """The words of those of these states that there are."""
        shards, depths = range(self._trim.shards), range(self.depth + 1)
        words = [[self._words.get((s, level)) for level in depths] for s in shards]
        steps = [LookUpStep(s, self._parts(), words[s], tuple(rows)) for s in shards]
        found: dict[Row, int] = {}
        for some in self._everywhere(steps):
            found |= some
        return found
