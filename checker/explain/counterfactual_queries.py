"""Queries about a system in which less may happen: the native engine answers each within the time
left, and each execution that it returns is replayed in the original system."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from checker.engines.native import engine as native
from checker.instantiate.faults.budgeted import Budget, Budgeted, add_budgets
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.model.ir import Property, TransitionSystem
from checker.results.answer import INTERRUPTED, Answer, Limits, Listener, Path, Unsupported
from checker.results.rerun import Run, rerun

NO_TIME = "the time for explaining is over"


@dataclass
class ExplainingBudget:
    """What is left of ``seconds`` for explaining; ``threads``, ``memory``: what it may use;
    ``why_stopped``: the reason for which there is no time left, where it was stopped."""

    seconds: float
    threads: int | None = None
    memory: int | None = None
    listener: Listener | None = None
    now: Callable[[], float] = time.monotonic
    whole: ExplainingBudget | None = None
    started: float = field(init=False)
    why_stopped: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self.started = self.now()

    @property
    def seconds_left(self) -> float:
        """Seconds that are left."""
        return max(self.seconds - (self.now() - self.started), 0.0)

    def part(self, share: float) -> ExplainingBudget:
        """Returns a budget with this share of what is left."""
        seconds = self.seconds_left * share
        return ExplainingBudget(seconds, self.threads, self.memory, self.listener, self.now, self)

    @property
    def is_stopped(self) -> bool:
        """Whether it, or the budget of which it is a part, was stopped."""
        return bool(self.why_stopped) or (self.whole is not None and self.whole.is_stopped)

    def stop(self, why: str = INTERRUPTED) -> None:
        """Leaves no time, after an interrupt, or because a budget around it is used up."""
        self.seconds, self.why_stopped = 0.0, why
        if self.whole is not None:
            self.whole.stop(why)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a query; ``run``, ``path``: a shortest execution, in the original system.

    Where there is none, ``settled`` says that none exists, otherwise ``why`` it is not known.
    ``fair``: whether there is a fair execution; ``None`` where that was not determined.
    """

    path: Path | None = None
    run: Run | None = None
    settled: bool = False
    why: str = ""
    fair: bool | None = None


@dataclass(frozen=True, slots=True)
class Inquiry:
    """Queries about a property of a system, by means of an instrumented copy of the system."""

    prop: Property
    twin: Budgeted
    clock: ExplainingBudget

    @staticmethod
    def about(
        system: TransitionSystem,
        prop: Property,
        budgets: tuple[Budget, ...],
        clock: ExplainingBudget,
    ) -> Inquiry:
        """Instruments ``system`` with these ``budgets``."""
        return Inquiry(prop, add_budgets(system, prop, budgets), clock)

    def ask(self, limits: Mapping[str, int]) -> Reply:
        """Returns a shortest execution that violates the property within ``limits`` of the budgets.

        Raises :class:`checker.results.replay.ReplayMismatch` where the engine's execution is none
        of the original system.
        """
        found = explore_in_time(self.twin.asking(limits), self.clock)
        if isinstance(found, str):
            return Reply(why=found)
        path = found.violations.get(self.prop.name)
        if path is None:
            return _without_run(self.prop, found)
        shown = _project(self.twin, path)
        return Reply(shown, rerun(self.twin.original, shown, self.prop), True, fair=True)


@dataclass(frozen=True, slots=True)
class InquiryOfParts:
    """Queries about a whole property: a conjunction is violated where one of its parts is."""

    inquiries: tuple[Inquiry, ...]

    @staticmethod
    def about(
        system: TransitionSystem,
        prop: Property,
        budgets: tuple[Budget, ...],
        clock: ExplainingBudget,
    ) -> InquiryOfParts:
        """Instruments ``system`` once for each part of the property of which ``prop`` is one."""
        parts = (prop, *other_parts(system, prop))
        return InquiryOfParts(tuple(Inquiry.about(system, p, budgets, clock) for p in parts))

    def ask(self, limits: Mapping[str, int]) -> Reply:
        """Returns the reply about the first part that is violated, or else is not known, or else
        about the first."""
        replies: list[Reply] = []
        for inquiry in self.inquiries:
            replies.append(inquiry.ask(limits))
            if replies[-1].path is not None:
                return replies[-1]
        return next((reply for reply in replies if not reply.settled), replies[-1])


def other_parts(system: TransitionSystem, prop: Property) -> tuple[Property, ...]:
    """Returns the other parts of the conjunction of which ``prop`` is one."""
    return tuple(part for part in system.parts_of(prop.asked) if part.name != prop.name)


def explore_in_time(system: TransitionSystem, clock: ExplainingBudget) -> Answer | str:
    """Returns the native engine's answer within the time that is left, or why there is none."""
    left = clock.seconds_left
    if not left:
        return NO_TIME
    limits = Limits(timeout=left, memory=clock.memory, until_decided=True)
    try:
        answer = native.explore(system, limits, threads=clock.threads, listener=clock.listener)
    except Unsupported as why:
        return str(why)
    except RunFault as fault:
        return f"an error of the run: {fault.message}"
    if INTERRUPTED in (answer.stopped, *answer.undecided.values()):
        clock.stop()
    return answer


def _without_run(prop: Property, answer: Answer) -> Reply:
    if prop.name in answer.undecided:
        return Reply(why=_reason_text(answer.undecided[prop.name]))
    if answer.fault is not None:
        return Reply(why="some run meets an error first")
    if not answer.exhaustive:
        return Reply(why=_reason_text(answer.stopped or "not all states were seen"))
    return Reply(settled=True, fair=answer.fair)


def _reason_text(reason: str) -> str:
    """Returns ``reason`` without the limit of a single query, which the user has not set."""
    return NO_TIME if reason.startswith("the time limit") else reason


def _project(twin: Budgeted, path: Path) -> Path:
    """Returns the execution without the variables of instrumentation, and without steps in which
    only these change."""
    states: list[State] = []
    at: list[int] = []
    for state in twin.project(path.states):
        if not states or states[-1] != state:
            states.append(state)
        at.append(len(states) - 1)
    loop = None if path.loop is None else at[path.loop]
    return Path(tuple(states), path.then_fault, loop, path.values)
