"""A system walked by the interpreter, and its states in a run folder as an engine leaves them."""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass
from pathlib import Path

from checker.engines.native.checkpoint.run_folder import Part, RunFolder
from checker.engines.native.codegen.layout import Layout
from checker.engines.native.search.findings import Findings
from checker.model import interpreter
from checker.model.interpreter import State, Transition
from checker.model.ir import TransitionSystem


@dataclass
class Walk:
    """All states by their distance from the start, and all transitions with their source."""

    levels: list[list[State]]
    moves: list[tuple[int, State, Transition]]

    @property
    def states(self) -> int:
        return sum(map(len, self.levels))


def walk(system: TransitionSystem, most: int = sys.maxsize) -> Walk | None:
    """The whole of ``system``; ``None`` where it has more than ``most`` states."""
    level = interpreter.initial_states(system)
    found, seen = Walk([], []), set(level)
    while level:
        if len(seen) > most:
            return None
        found.levels.append(level)
        following: dict[State, None] = {}
        for state in level:
            for transition in interpreter.successors(system, state):
                found.moves.append((len(found.levels) - 1, state, transition))
                if transition.successor is not None and transition.successor not in seen:
                    following[transition.successor] = None
        level = list(following)
        seen.update(level)
    return found


def packed(layout: Layout, states: list[State]) -> memoryview:
    """The rows of some states, one after the other."""
    return memoryview(array("Q", [word for state in states for word in layout.pack(state)]))


def stored(folder: Path, layout: Layout, found: Walk, shards: int = 1) -> RunFolder:
    """A run folder with what ``found`` has, each level in so many parts, all in one commit."""
    run = RunFolder(str(folder), layout.words)
    parts: list[Part] = []
    for depth, level in enumerate(found.levels):
        for shard in range(shards):
            block = packed(layout, level[shard::shards])
            parts.append(run.write(depth, shard, shards, [block] if block.nbytes else []))
    run.commit(Findings(depth=max(0, len(found.levels) - 1)), parts)
    return run
