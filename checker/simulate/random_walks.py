"""Random walks by the interpreter, step by step as :mod:`checker.simulate.draws` defines them.

Slow, and the definition of what machine code does.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from checker.engines.walks import CompletedWalk, FoundWalk, Inspection, WalkBlock, WalkTask
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.fault_actions import is_fault
from checker.model.interpreter import State, Transition
from checker.model.ir import PropertyKind, TransitionSystem
from checker.properties.persistence import persistence_for_some
from checker.simulate.draws import Hashes, WalkDraws

KEPT = 20_000
"""The largest number of states of which what is computed is kept."""


class Seen(Struct, frozen=True):
    """What there is to see in a state.

    ``candidates``: of each action that has successors other than the state, these, with their
    hashes; ``end``: an execution might stay there; ``found``: something is violated, or has an
    error.
    """

    candidates: dict[int, dict[State, int]]
    end: bool
    found: bool
    marks: int
    premises: frozenset[int]


class ReferenceWalker:
    """Makes walks with the interpreter."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.walked = 0
        self._hashes = Hashes(system)
        self._faults = [is_fault(action) for action in system.actions]
        self._numbers = {action.name: i for i, action in enumerate(system.actions)}
        self._live = any(p.kind is PropertyKind.LIVENESS for p in system.properties)
        self._lasting = [persistence_for_some(prop) for prop in system.properties]
        self._known: dict[State, Seen] = {}

    def run(self, task: WalkTask, inspection: Inspection, goes_on: Callable[[], bool]) -> WalkBlock:
        """Makes the walks of ``task``, while ``goes_on``."""
        block = WalkBlock(task.first, taken=[0] * len(self.system.actions))
        self.walked = 0
        for number in range(task.first, task.last):
            if not goes_on():
                return block
            block.found = self._walk(task, number, inspection, block)
            if block.found is not None:
                break
        block.complete = True
        return block

    def _walk(
        self, task: WalkTask, number: int, inspection: Inspection, block: WalkBlock
    ) -> FoundWalk | None:
        states, ends, found = self.walk(task, number, block)
        if found:
            return FoundWalk(number, states)
        if not inspection.wants(number, ends):
            return None
        judged = inspection.judge(CompletedWalk(number, states, ends))
        return None if judged is None else FoundWalk(number, states, *judged)

    def walk(
        self, task: WalkTask, number: int, block: WalkBlock
    ) -> tuple[tuple[State, ...], tuple[int, ...], bool]:
        """Makes one walk, and notes what it sees in ``block``.  Returns its states, which of them
        it might stay in, and whether something was found in its last one.
        """
        draws = WalkDraws.of(task.seed, number)
        block.taken = block.taken or [0] * len(self.system.actions)
        states = [task.starts[draws.start(len(task.starts))]]
        ends, found = list[int](), False
        while True:
            step = len(states) - 1
            seen = self.look(states[-1])
            block.marks |= seen.marks
            block.premises |= seen.premises
            if seen.found:
                found = True
                break
            if seen.end:
                ends.append(step)
            if step >= task.steps:
                break
            action = draws.action(step, sorted(seen.candidates), self._faults)
            if action is None:
                break
            block.taken[action] += 1
            self.walked += 1
            states.append(draws.successor(step, seen.candidates[action]))
        block.walks += 1
        block.steps += len(states) - 1
        block.longest = max(block.longest, len(states) - 1)
        block.ends += len(ends)
        return tuple(states), tuple(ends), found

    def look(self, state: State) -> Seen:
        """Returns what there is to see in ``state``."""
        seen = self._known.get(state)
        if seen is None:
            seen = self._look(state)
            if len(self._known) < KEPT:
                self._known[state] = seen
        return seen

    def _look(self, state: State) -> Seen:
        candidates: dict[int, dict[State, int]] = {}
        marks, faulted = 0, False
        for transition in interpreter.successors(self.system, state):
            if transition.successor is None:
                faulted = True
                continue
            for event in transition.events:
                marks |= 1 << event.mark
            if transition.successor != state:
                self._add(candidates, transition)
        end = self._live and self._may_stay(state)
        found = faulted or self._is_bad(state, end)
        return Seen(candidates, end, found, marks, self._premises(state))

    def _add(self, candidates: dict[int, dict[State, int]], transition: Transition) -> None:
        successor = transition.successor
        assert successor is not None
        among = candidates.setdefault(self._numbers[transition.action.name], {})
        if successor not in among:
            among[successor] = self._hashes.of(successor)

    def _may_stay(self, state: State) -> bool:
        try:
            return interpreter.is_admissible_end(self.system, state)
        except RunFault:
            return False

    def _is_bad(self, state: State, end: bool) -> bool:
        """Returns whether a property is violated in ``state``, or can't be evaluated there."""
        for prop, lasting in zip(self.system.properties, self._lasting, strict=True):
            live = prop.kind is PropertyKind.LIVENESS
            bad = lasting if live else prop.bad
            if bad is None or (live and not end):
                continue
            try:
                if interpreter.holds(self.system, bad, state):
                    return True
            except RunFault:
                return True
        return False

    def _premises(self, state: State) -> frozenset[int]:
        found = set()
        for number, prop in enumerate(self.system.properties):
            try:
                if interpreter.holds(self.system, prop.premise, state):
                    found.add(number)
            except RunFault:
                continue
        return frozenset(found)
