"""Runs a check at one point: in another world, with other sizes, or with less fairness."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from checker import kept
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.language.load import Spec
from checker.records import replace
from checker.results.verdict import PropertyVerdict, Report, Word
from checker.worlds.monotone import Answer

if TYPE_CHECKING:
    from checker.results.answer import Listener
    from checker.sweep.cells import Status

STATES, SECONDS, TIMES = 50_000, 10.0, 20
"""A point may take so many states and seconds, or so many times as many as the check as it is where
that is more."""

SHARE_IS_OVER = "its share of the budget was over"
"""Why a verdict is not known that had no more time."""

ANSWERS = {
    Word.PROVED: Answer.HOLDS,
    Word.HOLDS: Answer.HOLDS,
    Word.VIOLATED: Answer.FAILS,
    Word.ERROR: Answer.FAILS,
    Word.VACUOUS: Answer.VACUOUS,
}
"""The answer at a point, by verdict; unknown for any other verdict."""


class PointTask(Struct, frozen=True):
    """The check ``check`` of ``spec``, to be run with ``options`` at the point ``number``."""

    number: int
    spec: Spec
    check: str
    options: Options

    @property
    def seconds(self) -> float | None:
        """The time limit: of the search, and of all around it."""
        limit = self.options.limits.timeout
        return None if limit is None else 3 * limit

    def __str__(self) -> str:
        given = " ".join(f"{name}={value}" for name, value in self.options.settings.items())
        unfair = " ".join(f"unfair={kind}" for kind in self.options.unfair)
        return " ".join(each for each in (given, unfair) if each) or "the check as it is"


class PointOutcome(Struct, frozen=True):
    """What came of a point: the ``report``, or the reason why there is none; ``exists``: whether
    there is such a system."""

    number: int
    report: Report | None = None
    reason: str = ""
    exists: bool = True

    def verdict(self, name: str) -> PropertyVerdict | None:
        """Returns the verdict on the property ``name``, where there is one."""
        found = () if self.report is None else self.report.verdicts
        return next((each for each in found if each.property == name), None)

    def answer(self, name: str) -> Answer:
        """Returns what is known of the property ``name``."""
        if not self.exists:
            return Answer.IMPOSSIBLE
        verdict = self.verdict(name)
        return Answer.UNKNOWN if verdict is None else ANSWERS.get(verdict.word, Answer.UNKNOWN)

    def why(self, name: str) -> str:
        """Returns the reason for that answer, in a sentence."""
        verdict = self.verdict(name)
        return self.reason if verdict is None else verdict.reason


def run_point(task: PointTask, listener: Listener | None = None) -> PointOutcome:
    """Runs the check at a point and returns the outcome (:func:`stored_report`)."""
    try:
        report = stored_report(task.spec, task.check, task.options, listener)
    except SpecError as problem:
        return PointOutcome(task.number, None, problem.diagnostics[0].message, exists=False)
    if report.was_interrupted:
        raise KeyboardInterrupt
    return PointOutcome(task.number, report)


def stored_report(
    spec: Spec, check: str, options: Options, listener: Listener | None = None
) -> Report:
    """Returns the report on a check.  Decided ones are kept under the check and its world, so that
    no later command runs the same again.  Raises :class:`SpecError`."""
    from checker.proving.dispatch_check import answer_check
    from checker.session.result_cache import cached

    def run() -> Report:
        return answer_check(spec, check, options, listener)

    return cached(spec, check, without_limits(options), run) if kept.is_used() else run()


def without_limits(options: Options) -> Options:
    """Returns ``options`` without limits and threads, which do not affect a decided report."""
    plain = Options()
    return replace(options, limits=plain.limits, threads=plain.threads)


def lost_point(task: PointTask, status: Status, reason: str, seconds: float) -> PointOutcome:
    """Returns the outcome of a point whose process was lost."""
    return PointOutcome(task.number, None, f"{status.value}: {reason}")


def with_less_time(options: Options, seconds: float | None) -> Options:
    """Returns ``options`` with a time limit of ``seconds`` at most; ``None`` changes nothing."""
    given = [each for each in (options.limits.timeout, seconds) if each is not None]
    return replace(options, limits=replace(options.limits, timeout=min(given, default=None)))


def of_budget(reason: str) -> str:
    """Returns ``reason``, why a verdict is not known, where its time limit is what a budget left of
    it: the user has not given that limit."""
    return re.sub(r"the time limit of \S+ s was reached", SHARE_IS_OVER, reason)


def settings_text(settings: Mapping[str, str]) -> str:
    """Returns settings as a command line has them."""
    return " ".join(f"--set {_word(f'{name}={to}')}" for name, to in settings.items())


def _word(text: str) -> str:
    return f"'{text}'" if " " in text else text


def limited(options: Options, states: int, seconds: float) -> Options:
    """Returns ``options`` with limits of a point, where the user gives none: they follow from the
    ``states`` and ``seconds`` that the check takes as it is."""
    given = options.limits
    limits = replace(
        given,
        max_states=given.max_states or max(STATES, TIMES * states),
        timeout=given.timeout or max(SECONDS, TIMES * seconds),
    )
    return replace(options, limits=limits, strips=False)
