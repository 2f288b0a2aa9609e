"""Random walks on a cluster: a range of walks for each task."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError
from checker.engines.cluster import Cluster
from checker.engines.native.codegen.image import KernelImage, build
from checker.engines.native.codegen.jit import Effort, compile_image
from checker.engines.native.walks.walker import NativeWalker
from checker.engines.walks import Inspection, WalkBlock, WalkTask
from checker.model.ir import TransitionSystem


class WalkRange(Struct, frozen=True):
    """Makes the walks of a task on an executor, in one thread; can be pickled."""

    image: KernelImage
    system: TransitionSystem
    steps: int
    inspection: Inspection

    def __call__(self, task: WalkTask) -> WalkBlock:
        """Returns what was seen in the walks of ``task``."""
        kernel = compile_image(self.image, Effort.FULL)
        walker = NativeWalker(kernel, self.system, self.steps)
        return walker.run(task, self.inspection, lambda: True)


class SparkWalks:
    """Makes ranges of walks on ``cluster``.  Raises :class:`Unsupported` where native code can't
    take the system, and :class:`SpecError` where there is no such cluster.
    """

    def __init__(
        self, system: TransitionSystem, steps: int, inspection: Inspection, cluster: Cluster
    ) -> None:
        from checker.engines.spark.probe import require_elsewhere
        from checker.engines.spark.shared_sessions import session_for

        self._make = WalkRange(build(system, walks=True), system, steps, inspection)
        self._stack = ExitStack()
        self._session = self._stack.enter_context(session_for(cluster, None))
        require_elsewhere(self._session)
        self._early: dict[int, WalkBlock] = {}
        self._least = math.inf

    @property
    def under_way(self) -> int:
        """Steps of ranges that are not given back yet, as far as tasks have told."""
        return sum(block.steps for block in self._early.values())

    def blocks(self, tasks: Iterator[WalkTask], tell: Callable[[], None]) -> Iterator[WalkBlock]:
        """Yields what was seen in each of ``tasks``, in order; calls ``tell`` when a task ends."""
        from checker.engines.spark.fan_out import ItemFailure, fan_out

        expected = 0
        for number, block in fan_out(self._session, self._make, self._useful(tasks)):
            if isinstance(block, ItemFailure):
                raise SpecError((Diagnostic("E029", f"a task failed: {block.reason}"),))
            self._early[number] = block
            if block.found is not None:
                self._least = min(self._least, block.first)
            tell()
            while expected in self._early:
                yield self._early.pop(expected)
                expected += 1

    def _useful(self, tasks: Iterator[WalkTask]) -> Iterator[WalkTask]:
        """Yields ``tasks`` as long as nothing was found in an earlier one."""
        for task in tasks:
            if task.first > self._least:
                return
            yield task

    def finish(self) -> list[WalkBlock]:
        """Leaves the session; returns what was seen in ranges that are over, in order."""
        self._stack.close()
        left, self._early = self._early, {}
        return [left[number] for number in sorted(left)]
