"""Diverse counterexamples: one of each equivalence class.

An execution that violates a property without some event of a known one is found by exploring the
system in which that event does not happen.  Doing so for each event of each execution that is found
makes a tree of sets of events, as in R. Reiter: A Theory of Diagnosis from First Principles
(Artificial Intelligence, 1987); it is traversed breadth first, so that executions that lack few
events come early.  Where the whole tree was traversed, every execution that violates the property
has all the events of one that was found.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from msgspec import Struct, field

from checker.explain.counterfactual_queries import ExplainingBudget, Inquiry
from checker.explain.explain import narrate_with_words
from checker.explain.trace_equivalence import Kind, kind_of
from checker.instantiate.faults.budgeted import Budget, same
from checker.model.interpreter import Event
from checker.model.ir import (
    FALSE,
    STOPS,
    WORLD,
    Expr,
    MarkInfo,
    MarkKind,
    Property,
    TransitionSystem,
)
from checker.results.replay import path_of
from checker.results.rerun import Moment, Run, rerun
from checker.results.trace import Trace

LEADING = frozenset(
    {
        MarkKind.RECEIVE,
        MarkKind.FORGE,
        MarkKind.LOSE,
        MarkKind.RECOVER,
        MarkKind.REQUEST,
        MarkKind.TIMEOUT,
        MarkKind.DETECT,
    }
    | STOPS
    | WORLD
)
"""Events that can be removed from a system; where a step has none of them it is its handler."""

MOST_EVENTS = 60
"""At most so many different events are taken out, those of the executions that were found first."""

ALL = "every other run that violates it has all the events that matter in a run of these kinds"

STOPPED = "interrupted; there may be more"


class DiverseRuns(Struct, frozen=True):
    """Executions not equivalent to a known one; ``note``: whether there may be more."""

    traces: tuple[Trace, ...]
    note: str


def find_diverse(
    system: TransitionSystem,
    prop: Property,
    known: Trace,
    most: int,
    clock: ExplainingBudget,
) -> DiverseRuns:
    """Returns at most ``most`` executions that violate ``prop``, equivalent neither to each other
    nor to ``known``, which violates it.

    The search ends when ``clock`` does, when it is interrupted, or on an error, with those that
    were found by then.
    """
    search = _Tree(system, prop, known, clock)
    try:
        search.take(rerun(system, path_of(system, known), prop), known, frozenset())
        while search.waiting and len(search.found) <= most:
            if clock.is_stopped:
                return search.finish(STOPPED)
            if not clock.seconds_left:
                untried = f"{len(search.waiting):,} of {len(search.tried):,} sets of events"
                return search.finish(f"the time is over, and {untried} were not tried")
            search.step()
    except KeyboardInterrupt:
        clock.stop()
        return search.finish(STOPPED)
    except Exception as problem:
        return search.finish(f"others can't be told: {problem or type(problem).__name__}")
    if len(search.found) > most:
        return search.finish("there may be more")
    return search.finish(search.gaps or ALL)


class _Tree(Struct):
    """The tree of sets of events.

    ``found``: by equivalence class, the known one first; ``events``: those that may be taken out;
    ``waiting``: sets of their numbers; ``inquiry``: about the first ``asked`` of them, which it can
    forbid.
    """

    system: TransitionSystem
    prop: Property
    known: Trace
    clock: ExplainingBudget
    found: dict[Kind, Trace] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    waiting: deque[frozenset[int]] = field(default_factory=deque)
    tried: set[frozenset[int]] = field(default_factory=set)
    gaps: str = ""
    inquiry: Inquiry | None = None
    asked: int = 0

    def take(self, run: Run, trace: Trace, without: frozenset[int]) -> None:
        """Records an execution that lacks the events ``without``, and what to take out next."""
        self.found.setdefault(kind_of(trace), trace)
        context = set(trace.explanation.context) if trace.explanation is not None else set()
        moments = [m for number, m in enumerate(run.moments) if number not in context]
        if run.closing is not None:
            moments.append(run.closing)
        for event in _leading(self.system, moments):
            number = self._number(event)
            if number is None:
                self.gaps = f"only {MOST_EVENTS} different events were taken out; there may be more"
            elif without | {number} not in self.tried:
                self.tried.add(without | {number})
                self.waiting.append(without | {number})

    def _number(self, event: Event) -> int | None:
        for number, known in enumerate(self.events):
            if _same_kind(self.system, known, event):
                return number
        if len(self.events) == MOST_EVENTS:
            return None
        self.events.append(event)
        return len(self.events) - 1

    def step(self) -> None:
        """Explores the system without the next set of events."""
        without = self.waiting.popleft()
        reply = self._inquiry().ask({_name(number): 0 for number in without})
        if reply.run is not None:
            trace = narrate_with_words(self.system, self.prop, reply.run, self.known.header)
            self.take(reply.run, trace, without)
        elif not reply.settled:
            self.gaps = f"not every set of events could be tried: {reply.why}"

    def _inquiry(self) -> Inquiry:
        """Returns the queries about the system in which any of the events known by now can be
        forbidden."""
        if self.inquiry is None or self.asked != len(self.events):
            budgets = tuple(
                Budget(_name(number), 0, _this(self.system, event))
                for number, event in enumerate(self.events)
            )
            self.inquiry = Inquiry.about(self.system, self.prop, budgets, self.clock)
            self.asked = len(self.events)
        return self.inquiry

    def finish(self, note: str) -> DiverseRuns:
        return DiverseRuns(tuple(self.found.values())[1:], note)


def _name(number: int) -> str:
    return f"@event {number}"


def _leading(system: TransitionSystem, moments: list[Moment]) -> Iterator[Event]:
    """Yields for each step the event that it is about."""
    for moment in moments:
        if moment.transition is None:
            continue
        kinds = [(system.marks[event.mark].kind, event) for event in moment.events]
        about = [event for kind, event in kinds if kind in LEADING]
        yield from about or [event for kind, event in kinds if kind is MarkKind.HANDLER][:1]


def _same_kind(system: TransitionSystem, one: Event, other: Event) -> bool:
    mine, theirs = system.marks[one.mark], system.marks[other.mark]
    return (mine.kind, mine.text, one.args) == (theirs.kind, theirs.text, other.args)


def _this(system: TransitionSystem, event: Event) -> Callable[[MarkInfo, tuple[Expr, ...]], Expr]:
    """Returns a cost function that costs one for each occurrence of ``event``, anywhere in the
    spec."""
    wanted = system.marks[event.mark]

    def cost(info: MarkInfo, args: tuple[Expr, ...]) -> Expr:
        if (info.kind, info.text, len(args)) != (wanted.kind, wanted.text, len(event.args)):
            return FALSE
        return same(args, event.args)

    return cost
