"""Walks of one system by machine code and by the interpreter, compared as they are seen."""

from __future__ import annotations

from checker.engines.native.codegen.image import build
from checker.engines.native.codegen.jit import Effort, compile_image
from checker.engines.native.walks.walker import NativeWalker
from checker.engines.walks import WalkBlock, WalkTask
from checker.model import interpreter
from checker.model.ir import TransitionSystem
from checker.simulate.findings import Judge
from checker.simulate.random_walks import ReferenceWalker


def task_of(system: TransitionSystem, seed: int, walks: int, steps: int) -> WalkTask:
    """So many walks from the initial states."""
    return WalkTask(seed, 1, walks + 1, steps, tuple(interpreter.initial_states(system)))


def walked(
    system: TransitionSystem, task: WalkTask, *, effort: Effort = Effort.QUICK
) -> tuple[WalkBlock, WalkBlock]:
    """What machine code sees, and what the interpreter does."""
    inspection = Judge(system).inspection()
    kernel = compile_image(build(system, walks=True), effort)
    here = NativeWalker(kernel, len(system.actions), task.steps)
    there = ReferenceWalker(system)
    return here.run(task, inspection, bool), there.run(task, inspection, lambda: True)
