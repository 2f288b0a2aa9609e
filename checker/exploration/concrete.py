"""Runs of states that stand for others, made into runs of the system itself.

Under a plan of :mod:`checker.reductions` an engine's states are in normal form.  A run of them is
followed in the system by the interpreter, whose steps are compared in normal form; steps that
change only what nobody will look at again are made up for where a run ends or goes round.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace

from checker.exploration.store import Store
from checker.kernels.jit import Kernel
from checker.system import interpreter
from checker.system.ir import TransitionSystem
from checker.witness.answer import Path, State

ROUNDS = 10_000
"""A loop is followed so many times until it closes, at most."""


class Astray(Exception):
    """A run in normal form is no run of the system: a fault of the tool."""


class Normal:
    """The normal form of rows of words, by the code of ``kernel``."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.layout = kernel, kernel.image.layout
        self._worker = Store(kernel, 1, None).crew[0]

    def words(self, words: Sequence[int]) -> list[int]:
        """The words of the state that stands for the one with these words."""
        row = (ctypes.c_uint64 * self.layout.words)(*words)
        self.kernel.normal(self._worker.address, ctypes.addressof(row))
        return list(row)

    def state(self, state: State) -> State:
        """The state that stands for ``state``."""
        return self.layout.unpack(self.words(self.layout.pack(state)))


class Concrete:
    """Follows runs in normal form in ``system``."""

    def __init__(self, system: TransitionSystem, kernel: Kernel) -> None:
        self.system, self.normal = system, Normal(kernel)

    def path(self, path: Path) -> Path:
        """A run of the system whose states stand for each other with those of ``path``.

        Raises :class:`Astray`.
        """
        first, *others = path.states
        states = [self._start(first)]
        for there in others:
            states.append(self._step(states[-1], there))
        if path.loop is None:
            return replace(path, states=tuple(states))
        if path.loop == len(path.states) - 1:
            states += self._rested(states[-1])
            return replace(path, states=tuple(states), loop=len(states) - 1)
        return self._round(path, states)

    def _round(self, path: Path, states: list[State]) -> Path:
        """The loop, followed until a state comes again in which it begins."""
        assert path.loop is not None
        begins = {states[path.loop]: path.loop}
        around = (*path.states[path.loop + 1 :], path.states[path.loop])
        del states[path.loop + 1 :]
        for _ in range(ROUNDS):
            for there in around:
                states.append(self._step(states[-1], there))
                states += self._rested(states[-1])
            if states[-1] in begins:
                loop = begins[states[-1]]
                return replace(path, states=tuple(states[:-1]), loop=loop)
            begins[states[-1]] = len(states) - 1
        raise Astray("a loop does not close")

    def _start(self, there: State) -> State:
        for state, _ in interpreter.initial_events(self.system):
            if self.normal.state(state) == there:
                return state
        raise Astray("no initial state stands for the first state of a run")

    def _step(self, here: State, there: State) -> State:
        for step in interpreter.successors(self.system, here):
            if step.successor is not None and self.normal.state(step.successor) == there:
                return step.successor
        raise Astray("a step of a run in normal form is none of the system")

    def _rested(self, here: State) -> list[State]:
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
