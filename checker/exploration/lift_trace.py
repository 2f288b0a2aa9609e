"""Lifts runs of the quotient (states in normal form) to runs of the system.

Under a plan of :mod:`checker.reductions` an engine's states are in normal form.  A run of them is
followed in the system by the interpreter, whose steps are compared in normal form; steps that
change nothing, or only what nobody will look at again, are made up for where a run ends or goes
round.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from checker.exploration.store import Store
from checker.kernels.jit import Kernel
from checker.system import interpreter
from checker.system.interpreter import Constraint
from checker.system.ir import TransitionSystem
from checker.witness.answer import Path, State
from checker.witness.fair_lasso import violated_constraints

ROUNDS = 10_000
"""A loop is followed so many times until it closes, at most."""


DETOURS = 10_000
"""So many states are looked at on the way around one step, at most."""


class LiftingFailed(Exception):
    """A run in normal form is no run of the system: a fault of the tool."""


class Normalizer:
    """The normal form of rows of words, by the code of ``kernel``."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.layout = kernel, kernel.image.layout
        self._worker = Store(kernel, 1, None).workers[0]

    def in_place(self, address: int) -> None:
        """Puts the row at ``address`` into normal form."""
        self.kernel.normal(self._worker.address, address)

    def words(self, words: Sequence[int]) -> list[int]:
        """The words of the state that stands for the one with these words."""
        row = (ctypes.c_uint64 * self.layout.words)(*words)
        self.in_place(ctypes.addressof(row))
        return list(row)

    def state(self, state: State) -> State:
        """The state that stands for ``state``."""
        return self.layout.unpack(self.words(self.layout.pack(state)))


class TraceLifter:
    """Follows runs in normal form in ``system``."""

    def __init__(self, system: TransitionSystem, kernel: Kernel) -> None:
        self.system, self.normal = system, Normalizer(kernel)

    def path(self, path: Path) -> Path:
        """A run of the system whose states stand for each other with those of ``path``.

        Raises :class:`LiftingFailed`.
        """
        first, *others = path.states
        states = [self._start(first)]
        for there in others[: path.loop]:
            states += self._step(states[-1], there)
        if path.loop is None:
            return replace(path, states=tuple(states))
        if path.loop == len(path.states) - 1:
            states += self._let_rest(states[-1])
        return self._round(path, states)

    def _round(self, path: Path, begun: list[State]) -> Path:
        """The loop, followed until it closes; ``begun``: to where it begins first.

        Steps that change nothing in normal form are made only where a promise would be broken
        without them.
        """
        assert path.loop is not None
        around = [*path.states[path.loop :], path.states[path.loop]]
        steps = [there for here, there in pairwise(around) if here != there]
        owed: frozenset[Constraint] = frozenset()
        while True:
            states, loop = self._close_loop(begun, steps, owed)
            more = violated_constraints(self.system, states, loop) - owed
            if not more:
                return replace(path, states=tuple(states), loop=loop)
            owed |= more

    def _close_loop(
        self, begun: list[State], steps: list[State], owed: frozenset[Constraint]
    ) -> tuple[list[State], int]:
        """The run that goes through ``steps`` again and again until a state comes again in which
        they begin, and where that is; on the way it takes each of ``owed`` where that is possible.
        """
        states = list(begun)
        begins = {states[-1]: len(states) - 1}
        for _ in range(ROUNDS):
            paid: set[Constraint] = set()
            self._pay(states, owed, paid)
            for there in steps:
                states += self._step(states[-1], there)
                states += self._let_rest(states[-1])
                self._pay(states, owed, paid)
            last = states[-1]
            if last in begins:
                loop = begins[last]
                return states[:-1] if len(states) - 1 > loop else states, loop
            begins[last] = len(states) - 1
        raise LiftingFailed("a loop does not close")

    def _pay(self, states: list[State], owed: frozenset[Constraint], paid: set[Constraint]) -> None:
        """Takes each of ``owed`` that is not ``paid`` yet and can be taken without notice."""
        while True:
            here = states[-1]
            there = self.normal.state(here)
            for after, taken in interpreter.moves(self.system, here).steps.items():
                if taken & owed - paid and self.normal.state(after) == there:
                    states.append(after)
                    paid |= taken
                    break
            else:
                return

    def _start(self, there: State) -> State:
        for state, _ in interpreter.initial_events(self.system):
            if self.normal.state(state) == there:
                return state
        raise LiftingFailed("no initial state stands for the first state of a run")

    def _step(self, here: State, there: State) -> list[State]:
        """The states on the way from ``here`` to the first one for which ``there`` stands.

        Steps that nobody notices are put in between only where there is no other way: a message
        that nobody takes notice of may be in the way of others where capacities are guessed.
        """
        before: dict[State, State | None] = {here: None}
        todo, same = deque([here]), self.normal.state(here)
        while todo and len(before) < DETOURS:
            now = todo.popleft()
            for step in interpreter.successors(self.system, now):
                after = step.successor
                if after is None or after in before:
                    continue
                stands = self.normal.state(after)
                if stands == there:
                    return [*_way(before, now), after]
                if stands == same:
                    before[after] = now
                    todo.append(after)
        raise LiftingFailed("a step of a run in normal form is none of the system")

    def _let_rest(self, here: State) -> list[State]:
        """The steps that are promised and change only what nobody will look at again."""
        there, passed, states = self.normal.state(here), {here}, list[State]()
        while True:
            for after, taken in interpreter.moves(self.system, here).steps.items():
                if taken and after not in passed and self.normal.state(after) == there:
                    here = after
                    passed.add(after)
                    states.append(after)
                    break
            else:
                return states


def _way(before: dict[State, State | None], end: State) -> list[State]:
    """The states between where a search began and ``end``, which is the last of them."""
    found: list[State] = []
    now: State | None = end
    while now is not None and before[now] is not None:
        found.append(now)
        now = before[now]
    return found[::-1]
