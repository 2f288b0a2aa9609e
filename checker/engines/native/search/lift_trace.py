"""Lifts executions of the quotient (states in normal form) to executions of the system.

Under a plan of :mod:`checker.reductions` an engine's states are in normal form.  The interpreter
follows such an execution in the system and compares its steps in normal form; steps that change
nothing, or only dead parts, are inserted where the execution ends or closes its cycle.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise

from checker import kept
from checker.engines.native.codegen.jit import Kernel
from checker.engines.native.search.store import Store
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import Constraint, Transition
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.results.answer import Path, State
from checker.results.fair_lasso import violated_constraints

ROUNDS = 10_000
"""The maximum number of times that a cycle is repeated until it closes."""


DETOURS = 10_000
"""The maximum number of states searched for the way around one step."""


class LiftingFailed(Exception):
    """An execution in normal form is no execution of the system: an internal error."""


class CapacityMet(Exception):
    """The execution needs more room than a guessed capacity gives; ``met``: up to there;
    ``fault``: the error.  What is dead takes room in the system, and none in normal form.
    """

    def __init__(self, states: Sequence[State], fault: RunFault) -> None:
        super().__init__("an execution meets a guessed capacity on the way")
        self.met, self.fault = Path(tuple(states), then_fault=True), fault


class Normalizer:
    """Puts rows of words into normal form, by the code of ``kernel``."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.layout = kernel, kernel.image.layout
        self._worker = Store(kernel, 1, None).workers[0]

    def in_place(self, address: int) -> None:
        """Puts the row at ``address`` into normal form."""
        self.kernel.normal(self._worker.address, address)

    def words(self, words: Sequence[int]) -> list[int]:
        """The words of the representative of the state with these words."""
        row = (ctypes.c_uint64 * self.layout.words)(*words)
        self.in_place(ctypes.addressof(row))
        return list(row)

    def state(self, state: State) -> State:
        """The representative of ``state``."""
        return self.layout.unpack(self.words(self.layout.pack(state)))


class TraceLifter:
    """Lifts executions in normal form to ``system``."""

    def __init__(self, system: TransitionSystem, kernel: Kernel) -> None:
        self.system, self.normal = system, Normalizer(kernel)

    def path(self, path: Path) -> Path:
        """An execution of the system whose states have the same representatives as those of
        ``path``.

        Raises :class:`CapacityMet`, :class:`LiftingFailed`.
        """
        image = self.normal.kernel.image
        how = (image.digest, image.reductions)
        return kept.result(lambda: self._lifted(path), "lifted run", self.system, how, path)

    def _lifted(self, path: Path) -> Path:
        first, *others = path.states
        states = [self._start(first)]
        for there in others[: path.loop]:
            states += self._step(states, there)
        if path.loop is None:
            if path.then_fault:
                states += self._to_error(states)
            return replace(path, states=tuple(states))
        if path.loop == len(path.states) - 1:
            states += self._let_rest(states[-1])
        return self._round(path, states)

    def _round(self, path: Path, begun: list[State]) -> Path:
        """The cycle, followed until it closes; ``begun``: the states up to where it first begins.

        Steps that change nothing in normal form are inserted only where a fairness constraint would
        be violated without them.
        """
        assert path.loop is not None
        around = [*path.states[path.loop :], path.states[path.loop]]
        steps = [there for here, there in pairwise(around) if here != there]
        violated: frozenset[Constraint] = frozenset()
        while True:
            states, loop = self._close_loop(begun, steps, violated)
            more = violated_constraints(self.system, states, loop) - violated
            if not more:
                return replace(path, states=tuple(states), loop=loop)
            violated |= more

    def _close_loop(
        self, begun: list[State], steps: list[State], violated: frozenset[Constraint]
    ) -> tuple[list[State], int]:
        """The execution that repeats ``steps`` until a state in which they begin recurs, and the
        position of that state.

        On the way it takes each of ``violated``, the violated constraints, where that is possible.
        """
        states = list(begun)
        begins = {states[-1]: len(states) - 1}
        for _ in range(ROUNDS):
            paid: set[Constraint] = set()
            self._pay(states, violated, paid)
            for there in steps:
                states += self._step(states, there)
                states += self._let_rest(states[-1])
                self._pay(states, violated, paid)
            last = states[-1]
            if last in begins:
                loop = begins[last]
                return states[:-1] if len(states) - 1 > loop else states, loop
            begins[last] = len(states) - 1
        raise LiftingFailed("a loop does not close")

    def _pay(
        self, states: list[State], violated: frozenset[Constraint], paid: set[Constraint]
    ) -> None:
        """Takes each constraint of ``violated``, not in ``paid`` yet, that a stuttering step can
        take.
        """
        while True:
            here = states[-1]
            there = self.normal.state(here)
            for after, taken in interpreter.moves(self.system, here).steps.items():
                if taken & violated - paid and self.normal.state(after) == there:
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

    def _step(self, states: Sequence[State], there: State) -> list[State]:
        """The states on the way from the last of ``states`` to the first that ``there`` represents.

        Stuttering steps are inserted only where there is no other way: a message without effect may
        be in the way of others where capacities are guessed.
        """
        for way, step, stands in self._stuttering(states):
            if step.successor is not None and stands == there:
                return [*way, step.successor]
        raise LiftingFailed("a step of a run in normal form is not a step of the system")

    def _to_error(self, states: Sequence[State]) -> list[State]:
        """The stuttering steps from the last of ``states`` to the first state in which a step meets
        an error as in the normal form: messages without effect may be in front of the one whose
        reception fails.
        """
        steps = interpreter.successors(self.system, self.normal.state(states[-1]))
        serious = any(step.fault is not None and step.fault.grows is None for step in steps)
        for way, step, _ in self._stuttering(states):
            if step.fault is not None and (step.fault.grows is None or not serious):
                return way
        raise LiftingFailed("an error in normal form is not an error of the system")

    def _stuttering(
        self, states: Sequence[State]
    ) -> Iterator[tuple[list[State], Transition, State | None]]:
        """The steps that follow the last of ``states`` directly or after stuttering steps, those
        after the fewest first; each after the states on the way to it, and with the representative
        of the state that it leads to.

        Raises :class:`CapacityMet` at the end, where one of them needs more room than a guessed
        capacity gives.
        """
        here = states[-1]
        full: tuple[State, RunFault] | None = None
        before: dict[State, State | None] = {here: None}
        todo, same = deque([here]), self.normal.state(here)
        while todo and len(before) < DETOURS:
            now = todo.popleft()
            for step in interpreter.successors(self.system, now):
                if full is None and step.fault is not None and step.fault.grows is not None:
                    full = now, step.fault
                after = step.successor
                stands = None if after is None else self.normal.state(after)
                yield _way(before, now), step, stands
                if after is not None and stands == same and after not in before:
                    before[after] = now
                    todo.append(after)
        if full is not None:
            raise CapacityMet([*states, *_way(before, full[0])], full[1])

    def _let_rest(self, here: State) -> list[State]:
        """The steps under fairness constraints that change only dead parts."""
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
    """The states between the start of a search and ``end``, which is the last of them."""
    found: list[State] = []
    now: State | None = end
    while now is not None and before[now] is not None:
        found.append(now)
        now = before[now]
    return found[::-1]
