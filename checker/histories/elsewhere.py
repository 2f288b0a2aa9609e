"""Searches of parts of a history in other processes, each as a task that begins anew there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checker.engines import budgets
from checker.histories.events import Events
from checker.histories.initial import Initial
from checker.histories.linearizability import Part, Reached, part_of, reordered
from checker.histories.objects import Machines, find_object
from checker.histories.rows import MISSING, shown
from checker.histories.steps import Bound
from checker.results.answer import stop_reason

if TYPE_CHECKING:
    from checker.results.answer import Listener


class PartTask(Struct, frozen=True):
    """To advance the searches of a part until the work of each is ``until``, with ``memory`` bytes
    (``None``: without limit).  ``name``: that of the object, by which it is found."""

    number: int
    name: str
    until: int
    memory: int | None
    key: Any
    bound: list[Bound]
    initial: Sequence[Initial]
    sure: Events | None

    def __str__(self) -> str:
        return "all keys" if self.key is MISSING else f"key {shown(self.key)}"

    @property
    def seconds(self) -> float | None:
        """Its time limit: none, as the process that waits for it has one."""
        return None


class PartOutcome(Struct, frozen=True):
    """How far the searches of a part have come; ``stopped``: why no further."""

    number: int
    reached: Reached
    stopped: str = ""


def tasks_of(name: str, parts: Sequence[Part], until: int, memory: int | None) -> list[PartTask]:
    """Returns a task for each of ``parts`` of a history of the object ``name``."""
    return [
        PartTask(number, name, until, memory, p.key, p.bound, p.steps.initial, p.sure)
        for number, p in enumerate(parts)
    ]


def run_task(task: PartTask, listener: Listener) -> PartOutcome:
    """Returns the outcome of a task; a limit, or an interrupt, ends it, too."""
    part = part_of(_machines(task.name), task.key, task.bound, task.initial)
    part = reordered(part, task.sure)
    stopped = ""
    try:
        with budgets.within(None, task.memory), budgets.raising_when_exhausted():
            part.advance(task.until)
    except budgets.BudgetExhausted as problem:
        stopped = f"{stop_reason(problem)}, the share of one process"
    except KeyboardInterrupt as problem:
        stopped = stop_reason(problem)
    return PartOutcome(task.number, part.reached, stopped)


def lost_task(task: PartTask, status: object, reason: str, seconds: float) -> PartOutcome:
    """Returns the outcome of a task whose process ended."""
    return PartOutcome(task.number, Reached(), reason)


@cache
def _machines(name: str) -> Machines:
    return Machines(find_object(name))
