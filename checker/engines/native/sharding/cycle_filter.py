"""The distributed cycle filter: shards repeatedly drop states that can't lie on cycles.

One pass through the levels from the last to the first finds the states that lead to a step back (to
a state that is not of the next level); one pass from the first to the last finds those of them to
which the target of such a step leads.  The remainder is a graph of its own, to which the same
applies.  Eventually every state in it has a successor and a predecessor in it, and no cycle was
cut.

The filter needs no more memory than one shard's part of a level, and its targets of steps back; but
from the second time on a shard looks up targets in all of its remaining states.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from checker.engines.native.checkpoint.run_folder import Part
from checker.engines.native.sharding.cycle_filter_steps import (
    AnswerStep,
    ExpandResult,
    ExpandStep,
    FilterContext,
    ReachStep,
    SettleResult,
    SettleStep,
    SplitResult,
    SplitStep,
    Step,
)
from checker.engines.native.sharding.shuffle_file import ShuffleFile

Everywhere = Callable[[Sequence[Step]], list[Any]]
"""Runs steps, in any order and on any machine, and returns their results, in order."""

Levels = dict[int, list[Part]]
"""States by level."""


class Remainder(Struct, frozen=True):
    """The remaining states by level, their number, and ``steps``, an upper bound on their steps."""

    levels: Levels
    states: int
    steps: int


def filter_cycles(
    trim: FilterContext,
    whole: Remainder,
    everywhere: Everywhere,
    enough: Callable[[Remainder], bool],
    tell: Callable[[str], None],
    least: float = 0.0,
) -> Remainder:
    """The remainder of ``whole``, all states that there are.

    ``enough``: whether the remainder is small enough; ``least``: the fraction of the states that a
    pass has to drop to be worth it; ``tell``: reports progress.  Raises what ``everywhere`` raises.
    """
    left = _Sweep(trim, whole.levels, everywhere, tell, first=True).result()
    before = whole.states
    while left.states and not enough(left) and before - left.states > least * before:
        before = left.states
        left = _Sweep(trim, left.levels, everywhere, tell, first=False).result()
    return left


class _Sweep:
    """One pass backward through the levels, and one forward; ``first``: these are all states."""

    def __init__(
        self,
        trim: FilterContext,
        levels: Levels,
        everywhere: Everywhere,
        tell: Callable[[str], None],
        *,
        first: bool,
    ) -> None:
        self.trim, self.levels, self.everywhere = trim, levels, everywhere
        self.tell, self.first = tell, first
        self.shards = range(trim.shards)
        self.deepest = max(levels, default=-1)
        self.targets: list[list[str]] = [[] for _ in self.shards]
        self.codes: dict[int, list[SettleResult | None]] = {}

    def result(self) -> Remainder:
        """The remainder."""
        self._back()
        left = Remainder({}, 0, 0)
        if any(self.targets):
            left = self._forth(self._split())
        files = itertools.chain.from_iterable(self.targets)
        codes = (s.codes for level in self.codes.values() for s in level if s is not None)
        self._delete([*files, *codes])
        if not self.first:
            self._drop(self.levels)
        return left

    # -- back -----------------------------------------------------------------------------------

    def _back(self) -> None:
        """Finds the alive states, and the targets of steps back."""
        settling: list[SettleStep] = []
        for level in reversed(range(self.deepest + 2)):
            self.tell(f"what leads to a step back, level {level}")
            parts = self.levels.get(level, [])
            asks = [ExpandStep(level, s, parts) for s in self.shards if self._has(parts, s)]
            done = self.everywhere([*settling, *asks])
            self._apply_settled(settling, done[: len(settling)])
            settling = self._answer(level, asks, done[len(settling) :])
        self._apply_settled(settling, self.everywhere(settling))

    def _has(self, parts: Sequence[Part], shard: int) -> bool:
        return any(part.rows and part.may_have(shard, self.trim.shards) for part in parts)

    def _apply_settled(self, steps: Sequence[SettleStep], done: Sequence[SettleResult]) -> None:
        for step, settled in zip(steps, done, strict=True):
            known = self.codes.setdefault(step.level, [None for _ in self.shards])
            known[step.shard] = settled
        if steps:
            letters = [letter for step in steps for letter in (step.asked, *step.answers)]
            self._delete({letter.name for letter in letters})

    def _answer(
        self, level: int, asks: Sequence[ExpandStep], asked: Sequence[ExpandResult]
    ) -> list[SettleStep]:
        """Lets every shard answer; returns what is to be done with the answers."""
        if not asks:
            return []
        letters = self._by_shard((a.shard, one.letter) for a, one in zip(asks, asked, strict=True))
        above, codes = self.levels.get(level + 1, []), self.codes.get(level + 1)
        upto = None if self.first else [self.levels.get(d, []) for d in range(level + 1)]
        answers = []
        for shard in self.shards:
            settled = codes[shard] if codes else None
            alive = settled.codes if settled else None
            answers.append(AnswerStep(level, shard, above, alive, upto, letters))
        given = self.everywhere(answers)
        for shard, one in enumerate(given):
            if one.targets is not None:
                self.targets[shard].append(one.targets)
        replies = [one.letter for one in given]
        return [
            SettleStep(level, ask.shard, each.rows, each.letter, replies, answers[0].back)
            for ask, each in zip(asks, asked, strict=True)
        ]

    def _by_shard(self, letters: Iterable[tuple[int, ShuffleFile]]) -> list[ShuffleFile]:
        """A shuffle file from every shard, in order."""
        none = ShuffleFile("", tuple(() for _ in self.shards))
        known = dict(letters)
        return [known.get(shard, none) for shard in self.shards]

    # -- forth ----------------------------------------------------------------------------------

    def _split(self) -> list[dict[int, SplitResult]]:
        """The alive states for each shard and level, and the targets among them."""
        self.tell("what steps back lead to")
        splits = []
        for shard in self.shards:
            levels: dict[int, tuple[Sequence[Part], str]] = {}
            for level, known in sorted(self.codes.items()):
                settled = known[shard]
                if settled is not None and settled.alive:
                    levels[level] = self.levels[level], settled.codes
            splits.append(SplitStep(shard, levels, self.targets[shard]))
        return self.everywhere(splits)

    def _forth(self, parted: list[dict[int, SplitResult]]) -> Remainder:
        levels: Levels = {}
        states = steps = 0
        letters = self._by_shard([])
        for level in range(self.deepest + 1):
            self.tell(f"what steps back lead to, level {level}")
            reaches = []
            for shard, known in enumerate(parted):
                here = known.get(level)
                called = any(letter.entries(shard) for letter in letters)
                if here is not None and (here.seeds is not None or called):
                    reaches.append(ReachStep(level, shard, [here.part], here.seeds, letters))
            done = self.everywhere(reaches)
            self._delete({letter.name for letter in letters})
            both = list(zip(reaches, done, strict=True))
            letters = self._by_shard([(step.shard, one.letter) for step, one in both])
            levels[level] = [one.part for one in done]
            states += sum(one.part.rows for one in done)
            steps += sum(one.steps for one in done)
        self._delete({letter.name for letter in letters})
        for known in parted:
            self._delete([each.seeds for each in known.values() if each.seeds])
            self._drop({level: [each.part] for level, each in known.items()})
        return Remainder(levels, states, steps)

    # -- files ----------------------------------------------------------------------------------

    def _delete(self, names: Iterable[str]) -> None:
        for name in names:
            if name:
                self.trim.work.delete(name)

    def _drop(self, levels: Levels) -> None:
        for part in itertools.chain.from_iterable(levels.values()):
            self.trim.folder.place.delete(part.name)
