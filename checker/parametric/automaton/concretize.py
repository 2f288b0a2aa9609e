"""Concretizes an accelerated execution: replays it in the finite system at its numbers.

A burst lets several processes take one rule each.  Here they do so one by one: a process receives
what the rule's guard needs, from those that have sent it or from Byzantine ones, and then its
handler runs.  Each time the cheapest way is searched: as few forged messages as possible, then as
few from processes that will crash, then as few steps.  The result is an execution like any other,
which :mod:`checker.results.replay` replays and judges; where the system can't follow, because a
location or a guard has abstracted from something that matters, :class:`ConcretizationFailed` says
where.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct, field

from checker.instantiate.variable_names import BYZANTINE
from checker.instantiate.world import CRASHED
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import State, Transition
from checker.model.ir import ActionKind, MarkKind, Property, PropertyKind, TransitionSystem
from checker.parametric.automaton.arithmetic import names
from checker.parametric.automaton.automaton import AcceleratedRun, Automaton, Mode, Question, Rule
from checker.parametric.automaton.location_matching import (
    Fitting,
    restrict_start,
    restrict_to_process,
    text_of,
)
from checker.results.answer import Path
from checker.results.fair_lasso import Unfair, satisfies

PATIENCE = 20_000
"""Transitions that are computed at most for one step of one process."""

ATTEMPTS = 16
"""Attempts at one execution; only the first one takes what is cheapest everywhere."""

EFFORT = 40_000
"""No further attempt is made where the previous ones have computed so many transitions."""

Cost = tuple[int, int, int]
"""Forged messages, messages from processes that will crash, steps."""

Got = frozenset[tuple[int, str]]
"""The senders and messages (as text) that a process has received."""


class ConcretizationFailed(Exception):
    """The system can't follow the execution; the message says how far it came.

    ``grows``: the name of a capacity that was guessed too small for some step, if one was.
    """

    def __init__(self, message: str, grows: str | None = None) -> None:
        super().__init__(message)
        self.grows = grows


def concretize(
    automaton: Automaton, question: Question, run: AcceleratedRun, system: TransitionSystem
) -> Path:
    """Returns ``run``, which violates ``question``, as an execution of ``system``.

    ``system`` is that of the check at the execution's numbers, with the question's property.  Where
    the cheapest ways fail, others are tried: another handler that leads to the same location, other
    messages that are forged.  Raises :class:`ConcretizationFailed` where none succeeds.
    """
    prop = system.violated_part(question.property, lasso=question.at_end)
    if prop is None:
        raise ConcretizationFailed(f"the finite system does not check {question.property}")
    spent, first = 0, None
    for attempt in range(ATTEMPTS):
        walk = _Walk.begin(automaton, run, system)
        walk.chance = random.Random(attempt) if attempt else None
        try:
            return _concretize(walk, prop, run)
        except ConcretizationFailed as lost:
            lost.grows = lost.grows or walk.grows
            if lost.grows is not None:
                raise
            first = first or lost
        except RunFault as fault:
            raise ConcretizationFailed(
                f"the run meets an error: {fault.message}", fault.grows
            ) from fault
        spent += walk.spent
        if spent > EFFORT:
            break
    assert first is not None
    raise first


def _concretize(walk: _Walk, prop: Property, run: AcceleratedRun) -> Path:
    system = walk.system
    for segment in run.segments:
        for burst in segment:
            for _ in range(burst.times):
                walk.one(walk.automaton.rules[burst.rule])
    if prop.kind is PropertyKind.INVARIANT:
        for number, state in enumerate(walk.states):
            if interpreter.holds(system, prop.bad, state):
                return Path(tuple(walk.states[: number + 1]))
        raise ConcretizationFailed(f"no state of the run violates {prop.name}")
    walk.rest()
    last = len(walk.states) - 1
    try:
        for values in interpreter.assignments(prop.params):
            if not satisfies(system, prop, values, walk.states, last):
                return Path(tuple(walk.states), loop=last, values=values)
    except Unfair as why:
        raise ConcretizationFailed(str(why)) from why
    raise ConcretizationFailed(f"the run does not violate {prop.name}")


class _Walk(Struct):
    """The part of the execution that is concretized: where each process is (``None``: Byzantine),
    what it has received, and what of the counted messages (``texts``: of each kind) it has sent.

    ``chance``: chooses what is not the cheapest; ``spent``: transitions computed; ``grows``: a
    capacity that was too small.
    """

    automaton: Automaton
    system: TransitionSystem
    at: list[int | None]
    states: list[State]
    got: list[Got]
    fitting: Fitting
    texts: tuple[str, ...]
    sent: list[set[str]]
    actions: dict[int, TransitionSystem] = field(default_factory=dict)
    grows: str | None = None
    chance: random.Random | None = None
    spent: int = 0

    @classmethod
    def begin(cls, automaton: Automaton, run: AcceleratedRun, system: TransitionSystem) -> _Walk:
        """Puts every process where the execution begins."""
        at = _assign_processes(automaton, run, system)
        fitting = Fitting(system)
        byzantine = frozenset(p for p, place in enumerate(at) if place is None)
        places = {p: automaton.locations[i] for p, i in enumerate(at) if i is not None}
        narrowed = restrict_start(system, places, byzantine)
        for state, _ in interpreter.initial_events(narrowed):
            named = interpreter.name_values(system, state)
            if named.get(BYZANTINE, frozenset()) != byzantine:
                continue
            if all(fitting.fits(state, p, place) for p, place in places.items()):
                nothing: list[Got] = [frozenset()] * len(at)
                texts = tuple(kind.name.partition(" from ")[0] for kind in automaton.kinds)
                sent = [set[str]() for _ in at]
                return cls(automaton, system, at, [state], nothing, fitting, texts, sent)
        raise ConcretizationFailed(
            "no initial state of the finite system matches the start of the run"
        )

    # ---- one step of one process ----------------------------------------------------------

    def one(self, rule: Rule) -> None:
        """Lets some process take ``rule``."""
        there = [p for p, place in enumerate(self.at) if place == rule.source]
        tried = set[object]()
        for process in there:
            alike = self._common_receptions(process, self.got[process])
            if alike in tried:
                continue
            tried.add(alike)
            if self._is_no_step(rule):
                self.sent[process] |= {self.texts[kind] for kind in rule.sends}
                self.at[process] = rule.target
                return
            found = self._cheapest_way(process, rule)
            if found is not None:
                states, got = found
                self.states.extend(states)
                self.got[process] = got
                self.sent[process] |= {self.texts[kind] for kind in rule.sends}
                self.at[process] = rule.target
                return
        name = self.automaton.locations[rule.source].name
        raise ConcretizationFailed(f"no process in {name} can take `{rule.label}` now")

    def _is_no_step(self, rule: Rule) -> bool:
        """Returns whether the system does nothing there: what is sent at the start has been sent,
        and what changes nothing needs no step."""
        source, target = (self.automaton.locations[i] for i in (rule.source, rule.target))
        same_values = source.values == target.values and source.crashed == target.crashed
        return rule.place is None and same_values

    def _common_receptions(self, process: int, got: Got) -> object:
        """Returns what is the same for two ways to receive that differ in names only."""
        of: dict[int, list[str]] = {}
        for sender, message in got:
            of.setdefault(sender, []).append(message)
        counts = Counter((self.at[q], tuple(sorted(ms))) for q, ms in of.items())
        return frozenset(counts.items()), process in of

    def _cheapest_way(self, process: int, rule: Rule) -> tuple[list[State], Got] | None:
        """Returns the cheapest way for ``process`` to take ``rule``: with the messages that its
        guard counts, or else with any that can be received."""
        receipts = {r.name: r for r in self.automaton.receipts}
        asked = {receipts[name] for name in names(rule.guard) if name in receipts}
        about = {self.texts[k] for receipt in asked for k in receipt.kinds}
        if self.chance is not None and self.chance.random() < 0.5:
            return self._search(process, rule, None, strict=False)
        return self._search(process, rule, about) or self._search(process, rule, None)

    def _search(
        self, process: int, rule: Rule, about: set[str] | None, strict: bool = True
    ) -> tuple[list[State], Got] | None:
        """Does the same with messages ``about`` only (``None``: with any), and with any handler
        that leads there unless ``strict``."""
        source, target = (self.automaton.locations[i] for i in (rule.source, rule.target))
        number = itertools.count()
        ways: list[tuple[Cost, int, State, tuple[State, ...], Got]]
        ways = [((0, 0, 0), next(number), self.states[-1], (), self.got[process])]
        seen, patience, dear = set[object](), PATIENCE, dict[str, int]()
        otherwise: tuple[list[State], Got] | None = None
        while ways and patience > 0:
            (forged, doomed, steps), _, state, before, got = heapq.heappop(ways)
            alike = self._common_receptions(process, got)
            if alike in seen:
                continue
            seen.add(alike)
            for step in self._steps(process, state):
                patience -= 1
                after = step.successor
                if after is None or after == state:
                    continue
                come = _reception_of(self.system, step)
                has = got if come is None else got | {come}
                way = (*before, after)
                if self._moves(step) and self.fitting.fits(after, process, target):
                    if self._sends(process, step, rule) and (not strict or self._is(step, rule)):
                        return list(way), has
                    otherwise = otherwise or (list(way), has)
                elif come is None or not (about is None or come[1] in about):
                    continue
                elif self.fitting.fits(after, process, source):
                    place = self.at[come[0]]
                    cost = (
                        forged + (place is None) * self._dear(come[1], dear),
                        doomed + (place is not None and self._crashes(place)),
                        steps + 1,
                    )
                    heapq.heappush(ways, (cost, next(number), after, way, has))
        return otherwise

    def _dear(self, message: str, dear: dict[str, int]) -> int:
        """Returns the cost of forging ``message``."""
        if self.chance is None:
            return 1
        return dear.setdefault(message, self.chance.choice((1, 3)))

    def _steps(self, process: int, state: State) -> Iterator[Transition]:
        """Yields what ``process`` may do next."""
        if process not in self.actions:
            self.actions[process] = restrict_to_process(self.system, process)
        for step in interpreter.successors(self.actions[process], state):
            self.spent += 1
            if step.fault is not None:
                self.grows = self.grows or step.fault.grows
            if _whose(self.system, step) == process:
                yield step

    def _crashes(self, location: int) -> bool:
        group = self.automaton.groups[self.automaton.locations[location].group]
        return group.mode is Mode.CRASHING

    def _moves(self, step: Transition) -> bool:
        """Returns whether a handler runs, or the process crashes: it does not just receive."""
        acts = (MarkKind.HANDLER, MarkKind.REQUEST, MarkKind.CRASH)
        return any(self.system.marks[e.mark].kind in acts for e in step.events)

    def _is(self, step: Transition, rule: Rule) -> bool:
        """Returns whether it is the handler of ``rule`` that runs."""
        if rule.place is None:
            return True
        marks = [self.system.marks[e.mark] for e in step.events]
        return any(m.kind is MarkKind.HANDLER and m.place == rule.place for m in marks)

    def _sends(self, process: int, step: Transition, rule: Rule) -> bool:
        """Returns whether the counted messages that ``process`` sends are those that it sends by
        ``rule``."""
        marks = self.system.marks
        sent = {
            text_of(marks[e.mark].types[2], e.args[2])
            for e in step.events
            if marks[e.mark].kind is MarkKind.SEND
        }
        wanted = {self.texts[kind] for kind in rule.sends}
        return (sent & set(self.texts)) - self.sent[process] == wanted - self.sent[process]

    # ---- the end --------------------------------------------------------------------------

    def rest(self) -> None:
        """Crashes the processes that will crash, and lets every message with an enabled fairness
        constraint be received, so that the execution may stay there forever."""
        for process, place in enumerate(self.at):
            if place is not None and self._crashes(place):
                self._crash(process)
        for step in iter(self._after_enabled_message, None):
            self.states.append(step)
        if not interpreter.is_admissible_end(self.system, self.states[-1]):
            raise ConcretizationFailed("a process must take a step where the run should end")

    def _crash(self, process: int) -> None:
        state = self.states[-1]
        if process in self._crashed_processes(state):
            return
        for step in self._steps(process, state):
            if step.action.kind is ActionKind.CRASH and step.successor is not None:
                self.states.append(step.successor)
                return
        raise ConcretizationFailed(
            f"{self.system.processes[process]} can't crash where the run should end"
        )

    def _crashed_processes(self, state: State) -> frozenset[int]:
        found = interpreter.name_values(self.system, state).get(CRASHED, frozenset())
        assert isinstance(found, frozenset)
        return found

    def _after_enabled_message(self) -> State | None:
        """Returns the state after the next message whose fairness constraint is enabled and to
        which no process reacts; ``None``: there is none."""
        state = self.states[-1]
        places = {p: self.automaton.locations[i] for p, i in enumerate(self.at) if i is not None}
        down = self._crashed_processes(state)
        for action in self.system.actions:
            if action.kind is not ActionKind.RECEIVE:
                continue
            for step in interpreter.action_transitions(self.system, action, state):
                after = step.successor
                if step.fault is not None:
                    self.grows = self.grows or step.fault.grows
                if after is None or after == state:
                    continue
                process = _whose(self.system, step)
                come = _reception_of(self.system, step)
                if process is None or come is None or come[0] in down:
                    continue
                if process in places and self.fitting.fits(after, process, places[process]):
                    self.got[process] |= {come}
                    return after
        return None


def _assign_processes(
    automaton: Automaton, run: AcceleratedRun, system: TransitionSystem
) -> list[int | None]:
    """Returns the location in which each process begins; ``None`` for those that are in none."""
    at: list[int | None] = [None] * len(system.processes)
    named = {g.process for g in automaton.groups if g.process is not None}
    others = iter([p for p, name in enumerate(system.processes) if name not in named])
    for number, times in enumerate(run.begin):
        name = automaton.groups[automaton.locations[number].group].process
        for _ in range(times):
            if name is not None:
                process = system.processes.index(name) if name in system.processes else None
            else:
                process = next(others, None)
            if process is None or at[process] is not None:
                raise ConcretizationFailed("the run has more processes than the finite system")
            at[process] = number
    return at


def _whose(system: TransitionSystem, step: Transition) -> int | None:
    """Returns the process that acts, or receives."""
    for event in step.events:
        match system.marks[event.mark].kind:
            case MarkKind.HANDLER | MarkKind.REQUEST | MarkKind.CRASH | MarkKind.RECEIVE:
                return _number(event.args[0])
            case MarkKind.FORGE:
                return _number(event.args[1])
            case _:
                continue
    return None


def _reception_of(system: TransitionSystem, step: Transition) -> tuple[int, str] | None:
    """Returns the sender and the message that is received in ``step``."""
    for event in step.events:
        info = system.marks[event.mark]
        if info.kind is MarkKind.RECEIVE:
            return _number(event.args[1]), text_of(info.types[2], event.args[2])
        if info.kind is MarkKind.FORGE:
            return _number(event.args[0]), text_of(info.types[2], event.args[2])
    return None


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
