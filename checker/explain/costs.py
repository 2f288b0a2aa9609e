"""The cost of an execution: its faults, its messages and its steps."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from checker.instantiate.faults.fault_marks import faults_at_start, faults_of, is_message
from checker.model.ir import TransitionSystem
from checker.results.rerun import Moment, Run
from checker.results.trace import Cost


def cost_of(system: TransitionSystem, run: Run) -> Cost:
    """Returns the cost of ``run``; that of a loop is counted once."""
    steps = len(run.moments) - 1 + (run.closing is not None)
    return Cost(sum(faults(system, run)), sum(messages(system, run)), steps)


def faults(system: TransitionSystem, run: Run) -> tuple[int, int]:
    """Returns the numbers of faults before the loop of ``run``, and in it."""
    start = len(faults_at_start(system, run.moments[0].state))
    stem, loop = _split(run)
    counts = [len(f) for f in faults_of(system, (moment.events for moment in (*stem, *loop)))]
    return start + sum(counts[: len(stem)]), sum(counts[len(stem) :])


def messages(system: TransitionSystem, run: Run) -> tuple[int, int]:
    """Returns the numbers of messages that are sent before the loop of ``run``, and in it; a
    multicast is one."""
    stem, loop = _split(run)
    return _messages(system, stem), _messages(system, loop)


def loop_of(run: Run) -> tuple[Moment, ...]:
    """Returns the moments that ``run`` repeats forever."""
    if run.loop is None or run.closing is None:
        return ()
    return (*run.moments[run.loop + 1 :], run.closing)


def _split(run: Run) -> tuple[tuple[Moment, ...], tuple[Moment, ...]]:
    """Returns the stem of an execution and its cycle, without the steps that leave the state as it
    is: an instrumented system does not count what they do."""
    loop = loop_of(run)
    stem = run.moments if not loop else run.moments[: (run.loop or 0) + 1]
    return (stem[0], *_moving(stem)), tuple(_moving((stem[-1], *loop)))


def _moving(moments: tuple[Moment, ...]) -> Iterator[Moment]:
    return (b for a, b in pairwise(moments) if a.state != b.state)


def _messages(system: TransitionSystem, moments: tuple[Moment, ...]) -> int:
    events = (event for moment in moments for event in moment.events)
    return sum(is_message(system, event) for event in events)
