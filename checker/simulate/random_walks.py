"""Random simulation: executions that a seeded generator makes, with each of their states checked.

A walk does not choose uniformly among transitions: where one process can receive twenty messages
and another can take one step, or where everything can crash, such walks would see little else.
Whether a fault occurs is drawn first (each walk has its own rate, which may be 0), then the
process, then the kind of step, then the step.
"""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from checker.engines import budgets
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import State, Transition
from checker.model.ir import CRASHING, ActionKind, MarkKind, PropertyKind, TransitionSystem
from checker.results.answer import Answer, Listener, Path, Progress, stop_reason
from checker.results.bounds import beyond
from checker.results.events import acting
from checker.results.replay import replay
from checker.results.trace import Trace
from checker.simulate.judging import Truths, invariants, is_bad, violated_properties
from checker.simulate.prepared_check import Outgrown, PreparedCheck

RATES = (0.0, 0.05, 0.2)
"""The probabilities of a fault in a step in which one is enabled; each walk draws one."""

WRONG = (ActionKind.CRASH, ActionKind.LOSE, ActionKind.FORGE)
"""The kinds of steps that are faults; a crash inside a handler is one as well."""

KEPT = 20_000
"""The largest number of states whose transitions are cached."""

EVERY = 0.2
"""Seconds between two progress reports."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class WalkFinding:
    """The result that ended the walks: the execution of walk number ``walk``, replayed."""

    walk: int
    trace: Trace


@dataclass(slots=True)
class Walks:
    """The result of random simulation.  ``answer`` has the reached coverage marks.

    ``wrong``: how often each kind of fault occurred; ``ends``: how often a walk could have stayed
    forever in its state, and its liveness was judged; ``left``: how many walks ended beyond a bound
    of the check; ``stopped``: why there are fewer walks than
    requested.
    """

    seed: int
    walks: int = 0
    steps: int = 0
    states: set[State] = field(default_factory=set)
    marks: set[int] = field(default_factory=set)
    wrong: Counter[str] = field(default_factory=Counter)
    ends: int = 0
    left: int = 0
    longest: int = 0
    seconds: float = 0.0
    found: WalkFinding | None = None
    stopped: str = ""

    @property
    def answer(self) -> Answer:
        """The result as an engine's answer; never exhaustive."""
        return Answer(
            engine="random walks",
            distinct_states=len(self.states),
            depth=self.longest,
            exhaustive=False,
            seconds=self.seconds,
            reached_marks=frozenset(self.marks),
        )


@dataclass(frozen=True, slots=True)
class WalkPlan:
    """The largest number of walks and of steps of each; ``only``: the properties that are checked
    (empty: all); ``timeout`` in seconds.
    """

    seed: int
    runs: int = 1000
    steps: int = 200
    timeout: float | None = None
    only: tuple[str, ...] = ()


def simulate(opened: PreparedCheck, plan: WalkPlan, listener: Listener | None = None) -> Walks:
    """Walks until a violation is found, all walks are made, the time limit is reached, or the
    listener stops it.  Walk number k depends on the seed and on k alone.

    Raises ``RunFault`` where there is no initial state.
    """
    walks, started, said = Walks(plan.seed), time.monotonic(), 0.0
    memo = _Memo(opened.system)
    try:
        with budgets.within(plan.timeout), budgets.raising_when_exhausted():
            for number in range(1, plan.runs + 1):
                if memo.system is not opened.system:
                    memo = _Memo(opened.system)
                walks.found = _one(opened, plan, number, walks, memo)
                walks.walks = number
                walks.seconds = time.monotonic() - started
                if walks.found is not None:
                    break
                if listener is not None and walks.seconds - said >= EVERY:
                    said = walks.seconds
                    phase = f"walk {number:,} of {plan.runs:,}"
                    listener(Progress(len(walks.states), 0, 0, walks.seconds, 0, phase))
    except KeyboardInterrupt as error:
        walks.stopped = stop_reason(error)
    walks.seconds = time.monotonic() - started
    return walks


def _one(
    opened: PreparedCheck, plan: WalkPlan, number: int, walks: Walks, memo: _Memo
) -> WalkFinding | None:
    """Makes walk ``number``; restarts it in a larger system where it needs one."""
    while True:
        if memo.system is not opened.system:
            memo = _Memo(opened.system)
        chance = random.Random(f"{plan.seed}:{number}")
        try:
            path, prop = _Walk(opened, plan, chance, walks, memo).go()
        except Outgrown:
            continue
        except RunFault as fault:
            if opened.fit(fault):
                continue
            raise
        if path is None:
            return None
        asked = next((p for p in opened.system.properties if p.name == prop), None)
        return WalkFinding(number, replay(opened.system, path, asked, opened.header))


class _Memo:
    """Caches what several walks need of one system: the transitions and truth values of states."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.truths = Truths(system)
        self._known: dict[State, tuple[Transition, ...]] = {}

    def of(self, state: State) -> tuple[Transition, ...]:
        found = self._known.get(state)
        if found is None:
            found = tuple(interpreter.successors(self.system, state))
            if len(self._known) < KEPT:
                self._known[state] = found
        return found


class _Walk:
    """One walk; adds what it has seen to ``walks`` at its end."""

    def __init__(
        self,
        opened: PreparedCheck,
        plan: WalkPlan,
        chance: random.Random,
        walks: Walks,
        memo: _Memo,
    ) -> None:
        self._opened, self._plan, self._chance, self._walks = opened, plan, chance, walks
        self._system, self._memo = memo.system, memo
        self._rate = chance.choice(RATES)
        self._states: list[State] = []
        self._marks: set[int] = set()
        self._wrong: Counter[str] = Counter()
        self._ends = 0
        self._left = False
        names = {p.asked for p in self._system.asked_properties}
        wanted = names if not plan.only else names & set(plan.only)
        self._invariants = [p for p in invariants(self._system) if p.asked in wanted]
        self._liveness = [
            p
            for p in self._system.properties
            if p.asked in wanted and p.kind is PropertyKind.LIVENESS
        ]

    def go(self) -> tuple[Path | None, str]:
        """Returns a violating path with the property's name (empty: a runtime error)."""
        try:
            return self._went()
        finally:
            self._note()

    def _went(self) -> tuple[Path | None, str]:
        state, events = self._chance.choice(interpreter.initial_events(self._system))
        self._take(state, events)
        while True:
            bad = next((p for p in self._invariants if is_bad(self._system, p, state)), None)
            if bad is not None:
                return Path(tuple(self._states)), bad.name
            found = self._memo.of(state)
            for transition in found:
                self._opened.require_room(transition)
                if transition.fault is not None:
                    return Path(tuple(self._states), True), ""
            moving = [t for t in found if t.successor != state]
            broken = self._at_end(found, state)
            if broken is not None:
                return broken
            if not moving or len(self._states) > self._plan.steps:
                self._left = bool(beyond(self._system, state))
                return None, ""
            chosen = draw_transition(self._system, moving, self._chance, self._rate)
            if chosen is None:
                return None, ""
            assert chosen.successor is not None
            state = chosen.successor
            self._take(state, chosen.events)

    def _take(self, state: State, events: Sequence[interpreter.Event]) -> None:
        self._states.append(state)
        for event in events:
            self._marks.add(event.mark)
            kind = self._system.marks[event.mark].kind
            if kind in (MarkKind.CRASH, MarkKind.LOSE, MarkKind.FORGE, MarkKind.RECOVER):
                self._wrong[kind.value] += 1

    def _at_end(self, found: Sequence[Transition], state: State) -> tuple[Path, str] | None:
        """Returns a liveness violation that the walk causes by staying in ``state``, if it
        could.
        """
        if not self._liveness or not could_stay(self._system, found, state):
            return None
        self._ends += 1
        last = len(self._states) - 1
        for broken in violated_properties(self._memo.truths, self._states, last, self._liveness):
            path = Path(tuple(self._states), False, last, broken.values)
            return path, broken.property.name
        return None

    def _note(self) -> None:
        walks, length = self._walks, max(len(self._states) - 1, 0)
        walks.states.update(self._states)
        walks.marks |= self._marks
        walks.wrong += self._wrong
        walks.steps += length
        walks.longest = max(walks.longest, length)
        walks.ends += self._ends
        walks.left += self._left


def could_stay(system: TransitionSystem, found: Sequence[Transition], state: State) -> bool:
    """Returns whether ``state``, whose transitions are ``found``, is an admissible end."""
    leaving = {
        interpreter.taken_constraint(system, state, t) for t in found if t.successor != state
    }
    staying = {
        interpreter.taken_constraint(system, state, t) for t in found if t.successor == state
    }
    if not leaving <= {*staying, None}:
        return False
    return all(interpreter.holds(system, justice.holds, state) for justice in system.justice)


def draw_transition(
    system: TransitionSystem, among: Sequence[Transition], chance: random.Random, rate: float
) -> Transition | None:
    """Draws one of ``among``: whether a fault occurs (with probability ``rate``, where one is
    enabled), then the process, then the kind of step, then the step.  Returns ``None`` where no
    fault is drawn, and no other transition is enabled.
    """
    wrong = [t for t in among if goes_wrong(t)]
    pool = [t for t in among if not goes_wrong(t)]
    if wrong and chance.random() < rate:
        pool = wrong
    if not pool:
        return None
    pool = _group(pool, lambda t: acting(system, t.events), chance)
    pool = _group(pool, lambda t: t.action.kind.value, chance)
    return chance.choice(pool)


def goes_wrong(transition: Transition) -> bool:
    """Returns whether the step is a fault of the environment."""
    action = transition.action
    return action.kind in WRONG or action.name.endswith(CRASHING)


def _group(among: Sequence[_T], key: Callable[[_T], str], chance: random.Random) -> list[_T]:
    """Draws one of the groups into which ``key`` divides ``among``."""
    groups: dict[str, list[_T]] = defaultdict(list)
    for each in among:
        groups[key(each)].append(each)
    return groups[chance.choice(sorted(groups))]
