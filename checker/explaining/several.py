"""Several counterexamples, each of another kind.

A run that violates a property without some event of a known one is found by exploring the world
in which that event does not happen.  Doing so for each event of each run that is found makes a tree
of sets of events, as in R. Reiter: A Theory of Diagnosis from First Principles (Artificial
Intelligence, 1987); it is walked breadth first, so that runs come early that lack little.  Where
the whole tree was walked, every run that violates the property has all the events of one that was
found.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from checker.explaining.kinds import Kind, kind_of
from checker.system import ir
from checker.system.build import conj, equal
from checker.system.evaluate import RunFault, misfit
from checker.system.interpreter import Event
from checker.system.ir import FALSE, Expr, MarkInfo, MarkKind, Property, TransitionSystem
from checker.system.passes.restrict import Budget, Twin, twin
from checker.witness.answer import Answer, Limits, Path, Unsupported
from checker.witness.rerun import Moment, Run, rerun
from checker.witness.trace import Trace

LEADING = frozenset(
    {
        MarkKind.RECEIVE,
        MarkKind.FORGE,
        MarkKind.CRASH,
        MarkKind.LOSE,
        MarkKind.RECOVER,
        MarkKind.REQUEST,
        MarkKind.TIMEOUT,
        MarkKind.DETECT,
        MarkKind.WORLD,
    }
)
"""Events that a world can be without; where a step has none of them it is its handler."""

MOST_EVENTS = 60
"""So many different events are taken out, those of the runs that were found first."""

Explore = Callable[[TransitionSystem, Limits], Answer]
"""An engine; may raise :class:`Unsupported` and ``RunFault``."""

Tell = Callable[[Path, Run], Trace]
"""A run, made again, as a trace; its context has to be known."""


@dataclass(frozen=True, slots=True)
class Several:
    """Runs of different kinds, the first one included; ``note``: whether there may be more."""

    traces: tuple[Trace, ...]
    note: str


def several(
    system: TransitionSystem,
    prop: Property,
    first: Path,
    most: int,
    seconds: float,
    explore: Explore,
    tell: Tell,
) -> Several:
    """At most ``most`` runs that violate ``prop``, each of another kind; ``first`` is one of them.

    It ends after ``seconds`` with those that were found by then.
    """
    search = _Tree(system, prop, most, time.monotonic() + seconds, explore, tell)
    search.take(first, frozenset())
    while search.waiting and len(search.found) < most:
        if time.monotonic() > search.deadline:
            left = f"{len(search.waiting):,} sets of events were not tried"
            return search.ended(f"the budget of {seconds:g} s is used up; {left}")
        search.step()
    if search.gaps:
        return search.ended(search.gaps)
    if len(search.found) >= most:
        return search.ended("there may be more")
    return search.ended("every other run that violates it has all the events of one of these")


@dataclass
class _Tree:
    system: TransitionSystem
    prop: Property
    most: int
    deadline: float
    explore: Explore
    tell: Tell
    found: dict[Kind, Trace] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    waiting: deque[frozenset[int]] = field(default_factory=deque)
    tried: set[frozenset[int]] = field(default_factory=set)
    gaps: str = ""
    made: tuple[int, Twin] | None = None

    def take(self, path: Path, without: frozenset[int]) -> None:
        """Notes a run that was found ``without`` these events, and what to take out next."""
        run = rerun(self.system, path, self.prop)
        trace = self.tell(path, run)
        self.found.setdefault(kind_of(trace), trace)
        context = set(trace.explanation.context) if trace.explanation is not None else set()
        moments = [m for number, m in enumerate(run.moments) if number not in context]
        if run.closing is not None:
            moments.append(run.closing)
        for event in _leading(self.system, moments):
            number = self._number(event)
            more = without | {number} if number is not None else without
            if more not in self.tried and number is not None:
                self.tried.add(more)
                self.waiting.append(more)

    def _number(self, event: Event) -> int | None:
        same = [i for i, known in enumerate(self.events) if _alike(self.system, known, event)]
        if same:
            return same[0]
        if len(self.events) == MOST_EVENTS:
            self.gaps = f"only {MOST_EVENTS} different events were taken out; there may be more"
            return None
        self.events.append(event)
        return len(self.events) - 1

    def step(self) -> None:
        """Explores the world without the next set of events."""
        without = self.waiting.popleft()
        here = self._twin()
        asked = here.asking({_name(number): 0 for number in without})
        left = max(self.deadline - time.monotonic(), 0.001)
        try:
            answer = self.explore(asked, Limits(timeout=left, until_decided=True))
        except (Unsupported, RunFault) as why:
            self.gaps = f"not every set of events could be tried: {why}"
            return
        path = answer.violations.get(self.prop.name)
        if path is not None:
            states = here.projected(path.states)
            self.take(Path(states, path.then_fault, path.loop, path.values), without)
        elif not answer.exhaustive or answer.undecided:
            self.gaps = answer.stopped or "not every set of events could be decided"

    def _twin(self) -> Twin:
        """The system in which any of the events known by now can be forbidden."""
        if self.made is None or self.made[0] != len(self.events):
            budgets = tuple(
                Budget(_name(number), 0, _this(self.system, event))
                for number, event in enumerate(self.events)
            )
            self.made = (len(self.events), twin(self.system, self.prop, budgets))
        return self.made[1]

    def ended(self, note: str) -> Several:
        return Several(tuple(self.found.values())[: self.most], note)


def _name(number: int) -> str:
    return f"@event {number}"


def _leading(system: TransitionSystem, moments: list[Moment]) -> Iterator[Event]:
    """What a step is about, for each step."""
    for moment in moments:
        if moment.transition is None:
            continue
        kinds = [(system.marks[event.mark].kind, event) for event in moment.events]
        about = [event for kind, event in kinds if kind in LEADING]
        yield from about or [event for kind, event in kinds if kind is MarkKind.HANDLER][:1]


def _alike(system: TransitionSystem, one: Event, other: Event) -> bool:
    mine, theirs = system.marks[one.mark], system.marks[other.mark]
    return (mine.kind, mine.text, one.args) == (theirs.kind, theirs.text, other.args)


def _this(system: TransitionSystem, event: Event) -> Callable[[MarkInfo, tuple[Expr, ...]], Expr]:
    """Costs one for each time that ``event`` happens, wherever in the spec it does."""
    wanted = system.marks[event.mark]

    def cost(info: MarkInfo, args: tuple[Expr, ...]) -> Expr:
        if (info.kind, info.text, len(args)) != (wanted.kind, wanted.text, len(event.args)):
            return FALSE
        pairs = list(zip(args, event.args, strict=True))
        if any(misfit(arg.type, value, None) is not None for arg, value in pairs):
            return FALSE
        return conj(*(equal(arg, ir.Const(arg.type, value)) for arg, value in pairs))

    return cost
