"""Searches of the keys of a history, in processes of this machine."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from msgspec import Struct

from checker.cli.progress import Count

if TYPE_CHECKING:
    from checker.histories.linearizability import Part, Reached


class Processes(Struct, frozen=True):
    """Decides parts of histories of the object ``name`` in ``jobs`` processes, which share
    ``memory`` bytes (``None``: without limit)."""

    name: str
    jobs: int
    memory: int | None
    quiet: bool

    def __call__(self, parts: Sequence[Part], until: int) -> Generator[Reached]:
        """Yields how far the searches of each part have come when the work of each is ``until``.

        Raises ``KeyboardInterrupt`` after an interrupt, at a limit, and where a process is lost.
        """
        from checker.cli.parallel import run_in_order
        from checker.engines.budgets import BudgetExhausted
        from checker.histories.elsewhere import lost_task, run_task, tasks_of
        from checker.sweep.local import Work

        share = None if self.memory is None else self.memory // self.jobs
        tasks = tasks_of(self.name, parts, until, share)
        meter = Count(self.name, len(tasks), "key", silent=self.quiet)
        work = Work(run_task, lost_task)
        at_once = max(2, min(self.jobs, len(tasks)))
        with meter, closing(run_in_order(tasks, at_once, work, meter, str)) as outcomes:
            for outcome in outcomes:
                if outcome.stopped:
                    raise BudgetExhausted(outcome.stopped)
                yield outcome.reached
