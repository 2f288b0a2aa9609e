"""Shares out the time of a command, so that its report is useful whenever it ends.

Every task has a small share first, in an order that is drawn, so that what is judged is not only
the beginning of the file.  Tasks that this has not decided have a larger share next.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from checker.records import replace
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
ORIGINALS = 3
"""The unchanged checks have one in this number of the seconds, and more if none is decided then."""


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
    waiting = list(tasks)
    if seconds is None:
        yield from (judged.result for judged in judge(waiting))
        return
    random.Random(seed).shuffle(waiting)
    share = max(LEAST, seconds * at_once / (PARTS * max(1, len(waiting))))
    while waiting:
        hurried: set[int] = set()
        for judged in judge([replace(task, share=share) for task in waiting]):
            yield judged.result
            if judged.hurried:
                hurried.add(judged.number)
        waiting = [task for task in waiting if task.number in hurried]
        share *= GROWTH


def ask_originals(
    checks: Sequence[str], seconds: float | None, ask: Callable[[str, float | None], Report]
) -> tuple[list[Report], list[str]]:
    """Returns the reports of ``ask`` on the unchanged checks, and the checks that their shares of
    the time did not decide.

    ``seconds``: the time of the command; ``None``: it is not shared out.  ``ask`` takes a check and
    a limit in seconds.  Raises :class:`SpecError` (E127) where a check is not as expected, and
    where none is decided.
    """
    started = time.monotonic()
    found: list[Report] = []
    late: dict[str, Report | None] = {}
    for number, check in enumerate(checks):
        share = None
        if seconds is not None:
            over = time.monotonic() - started
            left = seconds / ORIGINALS - over
            if over > seconds or (found and left <= 0):
                late[check] = None
                continue
            share = max(LEAST, left / (len(checks) - number))
        report = ask(check, share)
        if report.was_interrupted:
            raise KeyboardInterrupt
        if seconds is not None and report.exit_code == exit_code_of(Word.UNKNOWN):
            late[check] = report
            continue
        require_green(report, "E127")
        found.append(report)
    for undecided in late.values():
        if undecided is not None and not found:
            require_green(undecided, "E127")
    return found, [*late]
