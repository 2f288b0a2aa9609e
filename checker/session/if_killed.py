"""Keeps the report on a check that is under way, should its process be killed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from checker.diagnostics.english import listing
from checker.instantiate.instantiated import Instantiated
from checker.records import replace
from checker.results import so_far
from checker.results.answer import INTERRUPTED, Answer, Listener, Progress, stop_reason
from checker.results.verdict import Report, Word

EVERY = 1.0
"""Seconds between two reports on how far a search came."""


class IfKilled:
    """A listener between a search and ``listener``: passes on what to report if the process is
    killed (:mod:`checker.results.so_far`).

    ``nothing``: gives the report that nothing is known of the verdicts; ``report_of``: gives the
    one on an answer.
    """

    def __init__(
        self,
        nothing: Callable[[KeyboardInterrupt], Report],
        report_of: Callable[[Instantiated, Answer], Report],
        listener: Listener,
    ) -> None:
        self._nothing, self._report_of, self._listener = nothing, report_of, listener
        self._found: Report | None = None
        self._states, self._depth, self._last = 0, 0, -EVERY
        self._told = set[str]()
        so_far.known(self.ended)

    def __call__(self, progress: Progress) -> None:
        """Hears how far a search came, and passes that on."""
        now = time.monotonic()
        if progress.states and now - self._last >= EVERY:
            self._last = now
            self._states = max(self._states, progress.states)
            self._depth = max(self._depth, progress.depth)
            so_far.known(self.ended)
        self._listener(progress)

    def known(self, made: Instantiated, answer: Answer) -> None:
        """Hears what is known of the check before its search is concluded."""
        with suppress(KeyboardInterrupt):  # whoever asks next raises it again
            self._found = self._report_of(made, answer)
            so_far.known(self.ended)
            if self._found.was_interrupted:  # there is more to do
                self._tell(self._found)

    def _tell(self, report: Report) -> None:
        """Shows which properties are known to be violated."""
        found = [v.property for v in report.verdicts if v.word is Word.VIOLATED]
        new = [name for name in found if name not in self._told]
        if new:
            self._told.update(new)
            said = f"{listing(new)} {'is' if len(new) == 1 else 'are'} violated; the search goes on"
            came = report.distinct_states, 0, report.depth, report.seconds, 0
            self._listener(Progress(*came, phase=said, news=True))

    def ended(self, error: KeyboardInterrupt | None = None) -> Report:
        """Returns what is known of a check that is ended by ``error``; by an interrupt if it is
        ``None``."""
        error = error or KeyboardInterrupt()
        if self._found is None:
            found = self._nothing(error)
        else:
            found = because(self._found, stop_reason(error))
        states, depth = max(found.distinct_states, self._states), max(found.depth, self._depth)
        return replace(found, distinct_states=states, depth=depth)


def because(report: Report, why: str) -> Report:
    """Returns ``report``, of a check that was interrupted, so that it says ``why`` it has ended."""
    if not report.was_interrupted:
        return report
    verdicts = tuple(
        replace(verdict, reason=why) if verdict.reason == INTERRUPTED else verdict
        for verdict in report.verdicts
    )
    return replace(report, stopped=why, verdicts=verdicts)
