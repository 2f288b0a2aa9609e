"""Asks machine code for the steps of one state after the other."""

from __future__ import annotations

import ctypes
import time

from checker.engines.native.codegen.fields import Mode, Worker
from checker.engines.native.codegen.image import build
from checker.engines.native.codegen.jit import Kernel
from checker.engines.native.codegen.layout import Layout
from checker.engines.native.codegen.steps_loop import Control
from checker.engines.native.search.findings import TOO_NESTED
from checker.engines.native.search.memory import Buffer
from checker.engines.native.search.store import Store
from checker.engines.native.search.tiered_jit import PendingOptimisation, first_kernel
from checker.model.ir import TransitionSystem
from checker.polling import poll
from checker.results.answer import State, Unsupported

OFTEN = 64
"""After so many states it is asked whether optimised code is there."""


class NativeStepper:
    """The steps of the states of ``system``; a state is the number that its row is, as
    little-endian bytes.

    Raises :class:`Unsupported` where native code can't take the system.
    """

    def __init__(self, system: TransitionSystem) -> None:
        self._image = build(system, steps=True)
        self.layout: Layout = self._image.layout
        self._width = 8 * self.layout.words
        self._control = (ctypes.c_uint64 * Control.SIZE)()
        self._room = 256
        self._rows = Buffer(self._room * self._width)
        self._source = Buffer(self._width)
        self._began, self._asked = time.monotonic(), 0
        kernel, improvable = first_kernel(self._image)
        self._upgrade = PendingOptimisation(self._image) if improvable else None
        self._use(kernel)

    def _use(self, kernel: Kernel) -> None:
        assert kernel.steps is not None, "an image that is built for steps"
        self._kernel, self._steps = kernel, kernel.steps
        self._store = Store(kernel, 1, None)
        crew = self._store.workers[0]
        crew.put(Worker.MODE, Mode.STEPS)
        crew.put(Worker.TARGET, ctypes.addressof(self._control))
        self._crew, self._context = crew, self._store.context_address
        self._make_room()

    def _make_room(self) -> None:
        self._control[Control.ROWS] = self._rows.address
        self._control[Control.ROOM] = self._room

    def pack(self, state: State) -> int:
        """Returns a state as a number."""
        return self.number(self.layout.pack(state))

    @staticmethod
    def number(words: list[int]) -> int:
        """Returns the number that words are, the least significant one first."""
        return sum(word << 64 * i for i, word in enumerate(words))

    def unpack(self, number: int) -> State:
        """Returns the state that a number is."""
        mask = (1 << 64) - 1
        return self.layout.unpack([number >> 64 * i & mask for i in range(self.layout.words)])

    def successors(self, number: int) -> tuple[list[int], bool]:
        """Returns the states to which the steps of a state lead, other than itself, and whether
        some step meets an error of the run."""
        width, crew = self._width, self._crew
        self._asked += 1
        if self._upgrade is not None and self._asked % OFTEN == 0:
            self._improve(self._upgrade)
            crew = self._crew
        self._source.bytes()[:width] = number.to_bytes(width, "little")
        while True:
            count = self._steps(self._context, crew.address, self._source.address)
            if crew.get(Worker.STOPPED):
                poll()
                self._kernel.stop.clear()
                continue
            if count <= self._room:
                break
            self._room = 2 * count
            self._rows = Buffer(self._room * width)
            self._make_room()
        if crew.get(Worker.TAPE):
            raise Unsupported(TOO_NESTED)
        rows = bytes(self._rows.bytes()[: count * width])
        read = int.from_bytes
        found = [read(rows[at : at + width], "little") for at in range(0, count * width, width)]
        return found, bool(crew.get(Worker.FAULTED))

    def _improve(self, upgrade: PendingOptimisation) -> None:
        better = upgrade.poll(time.monotonic() - self._began)
        if better is not None:
            self._upgrade = None
            self._use(better)

    def close(self) -> None:
        """Ends a compilation that is under way."""
        if self._upgrade is not None:
            self._upgrade.close()
            self._upgrade = None
