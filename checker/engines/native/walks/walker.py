"""A worker that makes random walks with machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from checker.engines.native.codegen.fields import Mode, Worker
from checker.engines.native.codegen.jit import Kernel
from checker.engines.native.codegen.walk_loop import CONTROL, FRESH, Control, Pause
from checker.engines.native.search.findings import TOO_NESTED
from checker.engines.native.search.memory import Buffer
from checker.engines.native.search.store import Store
from checker.engines.walks import CompletedWalk, FoundWalk, Inspection, WalkBlock, WalkTask
from checker.model.ir import TransitionSystem
from checker.results.answer import State, Unsupported

MASK = (1 << 64) - 1


class NativeWalker:
    """One worker: its record, and the states of its current walk.

    ``steps``: for which there is memory.
    """

    def __init__(self, kernel: Kernel, system: TransitionSystem, steps: int) -> None:
        self.kernel, self.steps = kernel, steps
        self.actions = actions = len(system.actions)
        self.store = Store(kernel, 1, None)
        self.crew = self.store.workers[0]
        self.layout, self.shape = kernel.image.layout, kernel.image.shape
        self.width = 8 * self.layout.words
        self._path = Buffer((steps + 2) * self.width)
        self._places = Buffer(8 * (steps + 1))
        self._scratch = Buffer(3 * self.width)
        self._counts = Buffer(16 * actions + 16)
        self._starts = Buffer(0)
        self._control = (ctypes.c_uint64 * Control.SIZE)()

    @staticmethod
    def bytes_for(words: int, steps: int) -> int:
        """Returns the bytes of memory that a worker takes for walks of so many steps."""
        return (steps + 2) * 8 * (words + 1)

    @property
    def walked(self) -> int:
        """The steps of the range under way so far; may be read while the worker is at work."""
        step = self._control[Control.STEP]
        return int(self._control[Control.TOTAL]) + (0 if step == FRESH else int(step))

    def run(self, task: WalkTask, inspection: Inspection, goes_on: Callable[[], bool]) -> WalkBlock:
        """Makes the walks of ``task``; ``goes_on``: whether to continue after native code was told
        to stop.  Raises :class:`Unsupported` where the code has met its limits.
        """
        walk = self.kernel.walk
        assert walk is not None, "an image that is built for walks"
        self._prepare(task, inspection)
        block = WalkBlock(task.first)
        while True:
            pause = walk(self.store.context_address, self.crew.address)
            if pause == Pause.STOPPED:
                self._forget()
                if not goes_on():
                    break
            elif pause == Pause.DONE:
                block.complete = True
                break
            else:
                if pause == Pause.FOUND:
                    block.found = self._found()
                else:
                    block.found = self._inspect(inspection)
                if block.found is not None:
                    block.complete = True
                    break
        self._note(block)
        return block

    def _prepare(self, task: WalkTask, inspection: Inspection) -> None:
        control = self._control
        assert task.steps <= self.steps
        rows = b"".join(self._row(state) for state in task.starts)
        self._starts = Buffer(len(rows))
        self._starts.bytes()[: len(rows)] = rows
        self._counts.clear()
        for which in Control:
            if which is not Control.SIZE:
                control[which] = 0
        every = inspection.cycles
        assert every & (every - 1) == 0, "a power of two"
        values = {
            Control.SEED: task.seed,
            Control.WALK: task.first,
            Control.LAST: task.last,
            Control.STEPS: task.steps,
            Control.STEP: FRESH,
            Control.PATH: self._path.address,
            Control.STARTS: self._starts.address,
            Control.START_COUNT: len(task.starts),
            Control.INSPECTED: 0 if inspection.ends else (every - 1) & MASK,
            Control.PLACES: self._places.address,
            Control.TAKEN: self._counts.address,
            Control.WEIGHTS: self._counts.address + 8 * self.actions,
            Control.PLACE: self._scratch.address,
        }
        for name, value in values.items():
            control[name] = value
        self.crew.put(CONTROL, ctypes.addressof(control))
        self.crew.put(Worker.MODE, Mode.WALK)
        self._forget()
        for word in range(-(-self.shape.marks // 64)):
            self.crew.put(Worker.MARKS + word, 0)
        for number in range(self.shape.properties):
            self.crew.put(self.shape.premise + number, 0)

    def _row(self, state: State) -> bytes:
        return b"".join(word.to_bytes(8, "little") for word in self.layout.pack(state))

    def _forget(self) -> None:
        """Resets what was noted of a state whose work was abandoned or is over."""
        for number in range(self.shape.properties):
            self.crew.put(self.shape.best(number), 0)
        for which in (self.shape.fault, self.shape.unevaluable, Worker.TAPE):
            self.crew.put(which, 0)

    def _states(self, steps: int) -> tuple[State, ...]:
        """The states of the current walk up to number ``steps``."""
        words = self._path.words()[: (steps + 1) * self.layout.words]
        size = self.layout.words
        return tuple(self.layout.unpack(words[at : at + size]) for at in range(0, len(words), size))

    def _found(self) -> FoundWalk:
        if self.crew.get(Worker.TAPE):
            raise Unsupported(TOO_NESTED)
        control = self._control
        steps = control[Control.STEP]
        found = FoundWalk(control[Control.WALK], self._states(steps))
        control[Control.WALKS] += 1
        control[Control.TOTAL] += steps
        control[Control.LONGEST] = max(control[Control.LONGEST], steps)
        control[Control.STEP] = FRESH
        self._forget()
        return found

    def _inspect(self, inspection: Inspection) -> FoundWalk | None:
        """Looks at the walk that is over."""
        control = self._control
        number, steps = control[Control.WALK] - 1, control[Control.LAST_STEP]
        ends = tuple(self._places.words()[: control[Control.PLACE_COUNT]])

        if not inspection.wants(number, ends):
            return None
        states = self._states(steps)
        found = inspection.judge(CompletedWalk(number, states, ends))
        return None if found is None else FoundWalk(number, states, *found)

    def _note(self, block: WalkBlock) -> None:
        """Adds what the worker has seen to ``block``."""
        control = self._control
        block.walks, block.steps = control[Control.WALKS], control[Control.TOTAL]
        block.longest, block.ends = control[Control.LONGEST], control[Control.ENDS]
        block.taken = list(self._counts.words()[: self.actions])
        for word in range(-(-self.shape.marks // 64)):
            block.marks |= self.crew.get(Worker.MARKS + word) << 64 * word
        properties = range(self.shape.properties)
        block.premises = {i for i in properties if self.crew.get(self.shape.premise + i)}
