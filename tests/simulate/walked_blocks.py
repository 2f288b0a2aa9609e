"""Walks of one system by machine code and by the interpreter, compared as they are seen."""

from __future__ import annotations

from checker.engines.native.codegen.image import build
from checker.engines.native.codegen.jit import Effort, compile_image
from checker.engines.native.walks.walker import NativeWalker
from checker.engines.walks import WalkBlock, WalkTask
from checker.model import interpreter
from checker.model.interpreter import State
from checker.model.ir import TransitionSystem
from checker.simulate.findings import Judge
from checker.simulate.random_walks import ReferenceWalker


def task_of(system: TransitionSystem, seed: int, walks: int, steps: int) -> WalkTask:
    """So many walks from the initial states."""
    return WalkTask(seed, 1, walks + 1, steps, tuple(interpreter.initial_states(system)))


def replay_walk(
    system: TransitionSystem, seed: int, number: int, steps: int, starts: tuple[State, ...]
) -> tuple[State, ...]:
    """The states of a walk by the interpreter, up to its end or to where something is found."""
    task = WalkTask(seed, number, number + 1, steps, starts)
    return ReferenceWalker(system).walk(task, number, WalkBlock(number))[0]


def walked(
    system: TransitionSystem, task: WalkTask, *, effort: Effort = Effort.QUICK
) -> tuple[WalkBlock, WalkBlock]:
    """What machine code sees, and what the interpreter does."""
    inspection = Judge(system).inspection()
    kernel = compile_image(build(system, walks=True), effort)
    here = NativeWalker(kernel, system, task.steps)
    there = ReferenceWalker(system)
    return here.run(task, inspection, bool), there.run(task, inspection, lambda: True)
