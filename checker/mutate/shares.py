"""Shares out the time of a command, so that its report is useful whenever it ends.

Every task has a small share first, in an order that is drawn and spread evenly over the file, so
that what is judged when the time is over stands for all of it.  Tasks that this has not decided
have a larger share next.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from checker.results.verdict import Report, Word, exit_code_of
from checker.worlds.assumptions import require_green

if TYPE_CHECKING:
    from checker.mutate.mutant_tasks import Judged, MutantTask
    from checker.mutate.world_mutants import WorldTask
    from checker.results.mutation import MutantResult

    T = TypeVar("T", MutantTask, WorldTask)

PARTS = 2
"""The largest part of the time that the first shares take together."""
LEAST = 10.0
"""The least share, in seconds of the processor: a mutant has to be typed and compiled, too, and few
that are decided say more than many that are not."""
GROWTH = 4
"""How many times as large as the one before a share is."""
AGAIN = 2
"""How many times as large the share of an unchanged check is when it is asked again."""
SLOWEST = 20.0
"""The largest number of seconds by the clock that a second of the processor may take."""
ORIGINALS = 3
"""The unchanged checks have one in this number of the seconds, and more if none is decided then."""


class Pace:
    """How fast this process gets on: it shares its processors with others."""

    def __init__(self) -> None:
        self._started = time.monotonic(), time.process_time()

    @property
    def wall(self) -> float:
        """The seconds by the clock since it was made."""
        return time.monotonic() - self._started[0]

    @property
    def cpu(self) -> float:
        """The seconds of the processor since then."""
        return time.process_time() - self._started[1]

    @property
    def slow(self) -> float:
        """How many seconds by the clock one of the processor took, from 1 to :data:`SLOWEST`."""
        return min(SLOWEST, max(1.0, self.wall / max(self.cpu, 0.01)))


def judge_in_shares(
    tasks: Sequence[T],
    seconds: float | None,
    seed: int,
    at_once: int,
    judge: Callable[[Sequence[T]], Iterator[Judged]],
) -> Iterator[MutantResult]:
    """Yields what becomes of each task, some more than once, the last time for good; passes on
    ``KeyboardInterrupt`` from ``judge``.

    ``seconds``: the time, which ``judge`` ends; ``None``: it is not shared out.  ``at_once``: how
    many tasks ``judge`` runs at a time.
    """
    if seconds is None:
        yield from (judged.result for judged in judge(tasks))
        return
    waiting = spread(tasks, seed)
    share = max(LEAST, seconds * at_once / (PARTS * max(1, len(waiting))))
    first = True
    while waiting:
        hurried: set[int] = set()
        for judged in judge([task.with_share(share, first=first) for task in waiting]):
            yield judged.result
            if judged.hurried:
                hurried.add(judged.number)
        waiting = [task for task in waiting if task.number in hurried]
        share, first = share * GROWTH, False


def spread(tasks: Sequence[T], seed: int) -> list[T]:
    """Returns the tasks in an order whose beginning, however long, comes from all parts of the
    list; ``seed`` draws where it starts.

    Numbers with their bits reversed are such an order (van der Corput 1935).
    """
    size = len(tasks)
    bits = max(1, (size - 1).bit_length())
    start = random.Random(seed).randrange(size) if size else 0
    places = (int(f"{number:0{bits}b}"[::-1], 2) for number in range(1 << bits))
    return [tasks[(place + start) % size] for place in places if place < size]


def ask_originals(
    checks: Sequence[str], seconds: float | None, ask: Callable[[str, float | None], Report]
) -> tuple[list[Report], dict[str, Report | None]]:
    """Returns the reports of ``ask`` on the unchanged checks, and the checks that their shares of
    the time did not decide, with the last report on each, if there is one.

    ``seconds``: the time of the command; ``None``: it is not shared out.  ``ask`` takes a check and
    a limit in seconds.  Raises :class:`SpecError` (E127) where a check is not as expected.
    """
    pace = Pace()
    found: list[Report] = []
    late: dict[str, tuple[Report, float]] = {}
    waiting = list(checks)
    while waiting:
        again: list[str] = []
        for number, check in enumerate(waiting):
            share = None
            if seconds is not None:
                left = seconds / ORIGINALS - pace.wall
                if pace.wall > seconds or (found and left <= 0):
                    break
                share = max(LEAST * pace.slow, left / (len(waiting) - number))
                if check in late and share < AGAIN * late[check][1]:
                    continue
            report = ask(check, share)
            if report.was_interrupted:
                raise KeyboardInterrupt
            if share is not None and report.exit_code == exit_code_of(Word.UNKNOWN):
                late[check] = report, share
                again.append(check)
                continue
            require_green(report, "E127")
            found.append(report)
        waiting = again
    decided = {report.check for report in found}
    undecided = {check: late.get(check, (None,))[0] for check in checks if check not in decided}
    return found, undecided
