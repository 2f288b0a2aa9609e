"""Queries about a system in which less may happen: the native engine answers each within the time
left, and each execution that it returns is replayed in the original system."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

from checker.engines.native import engine as native
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.model.ir import Property, TransitionSystem
from checker.records import replace
from checker.results.answer import INTERRUPTED, Answer, Limits, Listener, Path, Unsupported
from checker.results.mismatch import ReplayMismatch
from checker.results.rerun import Run, rerun

if TYPE_CHECKING:
    from checker.instantiate.faults.budgeted import Budget, Budgeted

MORE_TIME, AT_LEAST = 4.0, 60.0
"""More time that is worth trying: so many times as much, and at least so many seconds."""


@dataclass
class ExplainingBudget:
    """What is left of ``seconds`` for explaining; ``threads``, ``memory``: what it may use;
    ``why_stopped``: the reason for which there is no time left, where it was stopped; ``option``:
    the option that gives the seconds, where one does."""

    seconds: float
    threads: int | None = None
    memory: int | None = None
    listener: Listener | None = None
    now: Callable[[], float] = time.monotonic
    whole: ExplainingBudget | None = None
    option: str = ""
    allowed: float = field(init=False)
    started: float = field(init=False)
    why_stopped: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self.started = self.now()
        self.allowed = self.seconds if self.whole is None else self.whole.allowed
        self.option = self.option if self.whole is None else self.whole.option

    @property
    def seconds_left(self) -> float:
        """Seconds that are left."""
        return max(self.seconds - (self.now() - self.started), 0.0)

    def part(self, share: float) -> ExplainingBudget:
        """Returns a budget with this share of what is left."""
        seconds = self.seconds_left * share
        return ExplainingBudget(seconds, self.threads, self.memory, self.listener, self.now, self)

    @property
    def over(self) -> str:
        """The reason why something was not determined, where the time is used up."""
        given = f"of {self.option}" if self.option else "for explaining"
        return f"the time {given}, {self.allowed:g} s, is used up"

    @property
    def more(self) -> str:
        """What gives more time; empty where no option does."""
        seconds = max(AT_LEAST, MORE_TIME * self.allowed)
        return f"try {self.option} {seconds:g}" if self.option else ""

    @property
    def is_stopped(self) -> bool:
        """Whether it, or the budget of which it is a part, was stopped."""
        return bool(self.why_stopped) or (self.whole is not None and self.whole.is_stopped)

    def stop(self, why: str = INTERRUPTED) -> None:
        """Leaves no time, after an interrupt, or because a budget around it is used up."""
        self.seconds, self.why_stopped = 0.0, why
        if self.whole is not None:
            self.whole.stop(why)


class Reply(Struct, frozen=True):
    """The answer to a query; ``path``: a shortest execution, without what instruments the system;
    ``run``: the same, replayed in the original system.

    Where there is none, ``settled`` says that none exists, otherwise ``why`` it is not known.
    ``fair``: whether there is a fair execution; ``None`` where that was not determined.
    """

    path: Path | None = None
    run: Run | None = None
    settled: bool = False
    why: str = ""
    fair: bool | None = None


class Inquiry(Struct, frozen=True):
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
        from checker.instantiate.faults.budgeted import add_budgets

        return Inquiry(prop, add_budgets(system, prop, budgets), clock)

    def ask(self, limits: Mapping[str, int]) -> Reply:
        """Returns a shortest execution that violates the property within ``limits`` of the budgets.

        Raises :class:`checker.results.replay.ReplayMismatch` where the engine's execution is none
        of the original system.
        """
        reply = self._answer(self.twin.asking(limits))
        if reply.path is None:
            return reply
        shown = _project(self.twin, reply.path)
        return replace(reply, path=shown, run=rerun(self.twin.original, shown, self.prop))

    def ask_with_loss(self, limits: Mapping[str, int]) -> Reply:
        """Returns what :meth:`ask` does where ``limits`` lose messages on arrival.

        The execution is replayed in the instrumented system; ``run`` is ``None`` where it is none
        of the original system, whose links do not lose these messages.
        """
        system = self.twin.asking(limits)
        reply = self._answer(system)
        if reply.path is None:
            return reply
        (prop,) = system.properties
        rerun(system, reply.path, prop)
        shown = _project(self.twin, reply.path)
        try:
            return replace(reply, path=shown, run=rerun(self.twin.original, shown, self.prop))
        except ReplayMismatch:
            return replace(reply, path=shown)

    def _answer(self, system: TransitionSystem) -> Reply:
        """Returns the engine's answer; ``path``: a shortest execution of ``system``."""
        found = explore_in_time(system, self.clock)
        if isinstance(found, str):
            return Reply(why=found)
        path = found.violations.get(self.prop.name)
        if path is None:
            return _without_run(self.prop, found, self.clock)
        return Reply(path, None, True, fair=True)


class InquiryOfParts(Struct, frozen=True):
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
        about the last."""
        return _of_parts(inquiry.ask(limits) for inquiry in self.inquiries)

    def ask_with_loss(self, limits: Mapping[str, int]) -> Reply:
        """Returns the same where ``limits`` lose messages on arrival."""
        return _of_parts(inquiry.ask_with_loss(limits) for inquiry in self.inquiries)


def _of_parts(asked: Iterable[Reply]) -> Reply:
    replies: list[Reply] = []
    for reply in asked:
        if reply.path is not None:
            return reply
        replies.append(reply)
    return next((reply for reply in replies if not reply.settled), replies[-1])


def other_parts(system: TransitionSystem, prop: Property) -> tuple[Property, ...]:
    """Returns the other parts of the conjunction of which ``prop`` is one."""
    return tuple(part for part in system.parts_of(prop.asked) if part.name != prop.name)


def explore_in_time(system: TransitionSystem, clock: ExplainingBudget) -> Answer | str:
    """Returns the native engine's answer within the time that is left, or why there is none; a view
    is left out, since it may hide the execution that is asked for."""
    left = clock.seconds_left
    if not left:
        return clock.over
    limits = Limits(timeout=left, memory=clock.memory, until_decided=True)
    try:
        whole = replace(system, view=None)
        answer = native.explore(
            whole, limits, threads=clock.threads, listener=clock.listener, answer_only=True
        )
    except Unsupported as why:
        return str(why)
    except RunFault as fault:
        return f"a run-time error: {fault.message}"
    if INTERRUPTED in (answer.stopped, *answer.undecided.values()):
        clock.stop()
    return answer


def _without_run(prop: Property, answer: Answer, clock: ExplainingBudget) -> Reply:
    if prop.name in answer.undecided:
        return Reply(why=_reason_text(answer.undecided[prop.name], clock))
    if answer.fault is not None:
        return Reply(why="its search ended early: some run meets an error, or outgrows a guess")
    if not answer.exhaustive:
        return Reply(why=_reason_text(answer.stopped or "not all states were seen", clock))
    return Reply(settled=True, fair=answer.fair)


def _reason_text(reason: str, clock: ExplainingBudget) -> str:
    """Returns ``reason``; in place of the limit of a single query, which the user has not set, that
    the time of ``clock`` is used up."""
    return clock.over if reason.startswith("the time limit") else reason


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
