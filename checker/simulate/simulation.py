"""Random simulation: ranges of walks on threads, on Spark or by the interpreter, in one order.

What is found first is what the walk with the smallest number finds, whoever makes the walks and in
whatever order: all walks before it are counted, none behind it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec import Struct, field

from checker.engines import budgets
from checker.engines.cluster import Cluster
from checker.engines.walks import Inspection, WalkBlock, WalkTask
from checker.extensions.tables import AUTO, DEFAULT, DEFINITION, ON_CLUSTER
from checker.language.syntax import typed
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.fault_actions import fault_kind
from checker.model.interpreter import State
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.results.answer import (
    Answer,
    Limits,
    Listener,
    Path,
    Progress,
    Unsupported,
    stop_reason,
)
from checker.results.walks import WalkSummary
from checker.simulate.findings import Finding, Judge, look_at
from checker.simulate.judging import invariants, is_bad
from checker.simulate.prepared_check import Outgrown, PreparedCheck
from checker.simulate.random_walks import ReferenceWalker
from checker.simulate.scenario import prefix_of

RANGE_STEPS, CLUSTER_STEPS = 65_536, 4_194_304
"""A range has about so many steps, here and on a cluster: few enough for progress, and enough that
little else is done.  What is found does not depend on it."""
LARGEST_RANGE = 1 << 20
"""Walks of a range at most."""
EVERY = 0.2
"""Seconds between two reports of progress."""


class WalkPlan(Struct, frozen=True):
    """What is walked: ``walks`` at most (``None``: until the time is over), of ``steps`` at most.

    ``after``: the scenario behind which walks start; ``engine``: who makes them; ``memory``: bytes
    at most of their states.
    """

    seed: int
    walks: int | None = 10_000
    steps: int = 200
    timeout: float | None = None
    threads: int | None = None
    memory: int | None = None
    after: typed.Scenario | None = None
    engine: str = AUTO
    cluster: Cluster | None = None


class Maker(Protocol):
    """Makes ranges of walks."""

    @property
    def under_way(self) -> int:
        """Steps of ranges that are not given back yet."""
        ...

    def blocks(self, tasks: Iterator[WalkTask], tell: Callable[[], None]) -> Iterator[WalkBlock]:
        """Yields what was seen in each of ``tasks``, in order; calls ``tell`` from time to time."""
        ...

    def finish(self) -> list[WalkBlock]:
        """Stops the work; returns what was seen in ranges that were begun, in order."""
        ...


class Walks(Struct):
    """The result.  ``seen``: of all walks; ``finding``: what ended them, in walk ``found``;
    ``stopped``: why there are no more; ``outgrown``: walks cut where a capacity can't grow;
    ``engine``: who has walked.
    """

    plan: WalkPlan
    engine: str = DEFINITION
    seen: WalkBlock = field(default_factory=lambda: WalkBlock(1))
    finding: Finding = field(default_factory=Finding)
    found: int | None = None
    stopped: str = ""
    seconds: float = 0.0
    outgrown: int = 0

    def summary(self, system: TransitionSystem) -> WalkSummary:
        """Returns it for a report."""
        seen, plan = self.seen, self.plan
        taken = seen.taken or [0] * len(system.actions)
        faults: dict[str, int] = {}
        for action, times in zip(system.actions, taken, strict=True):
            if times and (kind := fault_kind(action)):
                faults[kind] = faults.get(kind, 0) + times
        names = [action.name for action in system.actions]
        return WalkSummary(
            plan.seed,
            seen.walks,
            seen.steps,
            plan.steps,
            seen.longest,
            seen.ends,
            self.outgrown,
            self.found,
            "" if plan.after is None else plan.after.name,
            tuple(zip(names, taken, strict=True)),
            tuple(faults.items()),
        )

    def answer(self, system: TransitionSystem) -> Answer:
        """Returns it as an engine's answer, which is never exhaustive."""
        marks = self.seen.marks
        return Answer(
            engine=self.engine,
            distinct_states=0,
            depth=self.seen.longest,
            exhaustive=False,
            seconds=self.seconds,
            transitions=self.seen.steps,
            violations=self.finding.violations,
            fault=self.finding.fault,
            reached_marks=frozenset(i for i in range(marks.bit_length()) if marks >> i & 1),
            premises=frozenset(system.properties[i].name for i in self.seen.premises),
            ends=self.seen.ends,
            stopped=self.stopped or None,
            walks=self.summary(system),
        )


def simulate(opened: PreparedCheck, plan: WalkPlan, listener: Listener | None = None) -> Walks:
    """Walks until something is found, all walks are made, a budget is used up, or it is
    interrupted.  Walk k depends on the seed, on k, and on the capacities of the system alone.

    Raises ``RunFault`` where there is no initial state, or a property can't be evaluated, and
    :class:`Unsupported` where the engine that ``plan`` names can't take the system.
    """
    return _Simulation(opened, plan, listener).run()


class _Simulation:
    """Walks under way."""

    def __init__(self, opened: PreparedCheck, plan: WalkPlan, listener: Listener | None) -> None:
        self._opened, self._plan, self._listener = opened, plan, listener
        self._walks = Walks(plan)
        self._next = 1
        self._before: tuple[State, ...] = ()
        self._started = self._told = time.monotonic()

    def run(self) -> Walks:
        walks = self._walks
        try:
            with budgets.within(self._plan.timeout):
                while self._round():
                    continue
        except KeyboardInterrupt as error:
            walks.stopped = stop_reason(error)
        walks.seconds = time.monotonic() - self._started
        return walks

    def _round(self) -> bool:
        """Walks in the system as it is now; returns whether to go on in another one."""
        with budgets.raising_when_exhausted():
            system, starts = self._open()
            judge = Judge(system, self._before)
            self._judge_beginning(system, (*self._before, *starts))
            if self._walks.finding.violations:
                return False
            maker = self._maker(system, judge.inspection())
        try:
            # a poll that raises in the midst of a block would lose what other threads have made
            raising = isinstance(maker, InterpretedWalks)
            guard = budgets.raising_when_exhausted if raising else budgets.stopping_native_code
            with guard():
                for block in maker.blocks(self._tasks(starts), lambda: self._tell(maker)):
                    if self._take(system, block):
                        return self._walks.found is None
                    self._check_time()
        except KeyboardInterrupt as error:
            self._walks.stopped = stop_reason(error)
            with budgets.raising_when_exhausted(late=True):
                for block in maker.finish():
                    if self._take(system, block):
                        break
        finally:
            maker.finish()
        return False

    def _check_time(self) -> None:
        """Raises where the time is over, or there was an interrupt."""
        budgets.raise_if_interrupted()
        limit = self._plan.timeout
        if limit is not None and time.monotonic() - self._started >= limit:
            raise budgets.BudgetExhausted(Limits(timeout=limit).no_more_time)

    def _open(self) -> tuple[TransitionSystem, tuple[State, ...]]:
        """Returns the system and the states in which walks start; enlarges it where that needs
        room.  A walk ends beyond a bound of the check, which is no violation."""
        while True:
            try:
                if self._plan.after is not None:
                    taken = prefix_of(self._opened, self._plan.after)
                    self._before = taken[:-1]
                    return _without_bounds(self._opened.system), taken[-1:]
                starts = tuple(interpreter.initial_states(self._opened.system))
                return _without_bounds(self._opened.system), starts
            except Outgrown:
                continue
            except RunFault as fault:
                if not self._opened.fit(fault):
                    raise

    def _judge_beginning(self, system: TransitionSystem, states: tuple[State, ...]) -> None:
        """Looks at the states before those in which walks start: they are no part of any walk."""
        for prop in invariants(system):
            for number, state in enumerate(states):
                if is_bad(system, prop, state):
                    violation = Path(states[: number + 1])
                    self._walks.finding.violations.setdefault(prop.name, violation)
                    break

    def _maker(self, system: TransitionSystem, inspection: Inspection) -> Maker:
        plan = self._plan
        if plan.cluster is not None:
            from checker.simulate.on_spark import SparkWalks

            self._walks.engine = ON_CLUSTER
            return SparkWalks(system, plan.steps, inspection, plan.cluster)
        if plan.engine != DEFINITION:
            from checker.engines.native.walks.threads import ThreadedWalks

            try:
                self._walks.engine = DEFAULT
                return ThreadedWalks(system, plan.steps, inspection, plan.threads, plan.memory)
            except Unsupported:
                if plan.engine != AUTO:
                    raise
        self._walks.engine = DEFINITION
        return InterpretedWalks(system, inspection)

    def _tasks(self, starts: tuple[State, ...]) -> Iterator[WalkTask]:
        plan = self._plan
        wanted = RANGE_STEPS if plan.cluster is None else CLUSTER_STEPS
        first = self._next
        while starts and (plan.walks is None or first <= plan.walks):
            seen = self._walks.seen
            each = max(1, seen.steps // seen.walks) if seen.walks else plan.steps
            last = first + max(1, min(wanted // each, LARGEST_RANGE))
            if plan.walks is not None:
                last = min(last, plan.walks + 1)
            yield WalkTask(plan.seed, first, last, plan.steps, starts)
            first = last

    def _take(self, system: TransitionSystem, block: WalkBlock) -> bool:
        """Adds what was seen in a range; returns whether the walks in this system are over."""
        walks = self._walks
        walks.seen.add(block)
        self._next = block.first + block.walks
        if block.found is None:
            return False
        finding = look_at(system, self._before, block.found)
        if finding.grows:
            self._enlarge(system, finding.grows, len(block.found.states) - 1)
        else:
            walks.finding, walks.found = finding, block.found.number
        return True

    def _enlarge(self, system: TransitionSystem, names: tuple[str, ...], steps: int) -> None:
        """Enlarges capacities and repeats the walk that needs it, which has made so many steps;
        where that is not possible, the walk ends there."""
        walks = self._walks
        if not all([self._opened.enlarge(name) for name in names]):
            walks.outgrown += 1
            return
        self._next -= 1
        walks.seen.walks -= 1
        walks.seen.steps -= steps
        if _shape(self._opened.system) != _shape(system):
            walks.seen.taken, walks.seen.marks, walks.seen.premises = [], 0, set()

    def _tell(self, maker: Maker) -> None:
        self._check_time()
        now = time.monotonic()
        if self._listener is None or now - self._told < EVERY:
            return
        self._told = now
        seen, took = self._walks.seen, now - self._started
        steps = seen.steps + maker.under_way
        of = "" if self._plan.walks is None else f" of {self._plan.walks:,}"
        phase = (
            f"{seen.walks:,}{of} walks, {steps:,} steps, {steps / took:,.0f} steps/s,"
            f" longest {seen.longest:,}{self._coverage()}"
        )
        self._listener(Progress(0, 0, seen.longest, took, 0, phase))

    def _coverage(self) -> str:
        taken = self._walks.seen.taken
        return f", {sum(map(bool, taken))} of {len(taken)} actions taken" if taken else ""


def _without_bounds(system: TransitionSystem) -> TransitionSystem:
    """Returns ``system``, of which nobody asks whether its bounds are exceeded."""
    return replace(system, properties=system.asked_properties)


def _shape(system: TransitionSystem) -> tuple[object, ...]:
    """Returns what the numbers of actions and marks are about."""
    return tuple(action.name for action in system.actions), system.marks


class InterpretedWalks:
    """Makes walks with the interpreter, one at a time."""

    def __init__(self, system: TransitionSystem, inspection: Inspection) -> None:
        self._walker, self._inspection = ReferenceWalker(system), inspection

    @property
    def under_way(self) -> int:
        """Steps of ranges that are not given back yet: none, since there is one at a time."""
        return 0

    def blocks(self, tasks: Iterator[WalkTask], tell: Callable[[], None]) -> Iterator[WalkBlock]:
        """Yields what was seen in each walk of ``tasks``."""
        for task in tasks:
            for number in range(task.first, task.last):
                one = replace(task, first=number, last=number + 1)
                yield self._walker.run(one, self._inspection, lambda: True)
                tell()

    def finish(self) -> list[WalkBlock]:
        """Returns nothing: no range is begun and not given back."""
        return []
