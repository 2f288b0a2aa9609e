"""Forecasts the total number of states, with an interval, from the sizes of the levels so far.

Breadth first, the levels of a system whose steps interleave rise and fall like a bell: how many
states lie so many steps away is, as for sums of many small choices, nearly log-concave (the ratio
of two neighbouring levels keeps falling; Stanley, "Log-concave and unimodal sequences", 1989).  So
straight lines are fitted to the logarithms of the last ratios, through windows of several lengths,
and each line is followed until its levels are empty.  The lines differ where the bell is not one;
what they differ by, widened, is the interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from checker.records import replace
from checker.results.answer import Forecast, Listener, Progress

LEAST_LEVELS = 7
"""The minimum number of levels for a forecast."""
WINDOWS = (3, 4, 5, 7, 10, 15)
"""Numbers of ratios that a line is fitted to, beside half of all and all."""
SLOWEST = 0.7
"""A bell falls for at least about as long as it has risen: the ratio's logarithm falls by this
part of its usual size, at least, in as many levels as there are."""
LOWER, UPPER = 4.0, 2.0
"""The factor by which the rest may be less, or more, than a line predicts."""
RISING, YOUNG = 2.0, 8.0
"""A line is less reliable while levels still grow, and while they are few."""
SLACK, MORE = 0.7, 0.02
"""Further states in the upper end: of the last level, of all."""
WIDEST = 30.0
"""A wider interval is not reported."""
LONGEST = 10_000
"""The maximum number of levels that a line is followed."""
QUIET = 2.0
"""Seconds before the first forecast."""
EVERY = 0.5
"""Seconds between two forecasts."""


def total(levels: Sequence[int]) -> tuple[float, float] | None:
    """The interval for the total number of states; ``None`` where there is no forecast yet.

    ``levels``: sizes of consecutive complete levels, the first of them the first that is known; the
    interval is not below the number of known states.
    """
    if len(levels) < LEAST_LEVELS or not all(levels):
        return None
    known = sum(levels)
    ratios = [math.log(b / a) for a, b in pairwise(levels)]
    rests = [_rest(levels[-1], *line) for line in _lines(ratios)]
    low = known + min(rests) / LOWER
    upper = UPPER * (1 + RISING * max(0.0, ratios[-1]) + YOUNG / len(levels))
    high = known * (1 + MORE) + max(rests) * upper + SLACK * levels[-1]
    return (low, high) if high < WIDEST * low else None


def _lines(ratios: Sequence[float]) -> Iterator[tuple[float, float]]:
    """The last ratio's logarithm and its decrease per level, for each window; and for a bell that
    ends soon.
    """
    count, last = len(ratios), ratios[-1]
    least = SLOWEST / count
    steepest = least
    for window in sorted({*WINDOWS, count // 2, count}):
        if 3 <= window <= count:
            at, fall = _fit_line(ratios[-window:])
            fall = max(fall, least)
            steepest = max(steepest, fall)
            yield (at + last) / 2, fall
    yield last, max(steepest, last / 2)


def _fit_line(values: Sequence[float]) -> tuple[float, float]:
    """The line of least squares: its last value, and its decrease per level."""
    middle = (len(values) - 1) / 2
    mean = sum(values) / len(values)
    spread = sum((i - middle) ** 2 for i in range(len(values)))
    slope = sum((i - middle) * (value - mean) for i, value in enumerate(values)) / spread
    return mean + slope * middle, -slope


def _rest(size: float, ratio: float, fall: float) -> float:
    """The states of all levels behind one of ``size`` states, where the ratio keeps falling."""
    rest = 0.0
    for _ in range(LONGEST):
        ratio -= fall
        size *= math.exp(min(ratio, 20.0))
        if size < 1 or rest > 1e18:
            break
        rest += size
    return rest


class Outlook:
    """A listener between an exploration and ``listener``, to which it adds forecasts."""

    def __init__(self, listener: Listener | None) -> None:
        self._listener = listener
        self._afresh()

    def _afresh(self) -> None:
        self._levels: dict[int, int] = {}
        self._first: dict[int, int] = {}
        self._course: list[Progress] = []
        self._last: Forecast | None = None

    def __call__(self, progress: Progress) -> None:
        """Receives the exploration's progress, and passes it on with a forecast."""
        if not progress.phase:
            self._hear(progress)
        if self._listener is not None:
            forecast = None if progress.phase else self._last
            self._listener(replace(progress, forecast=forecast))

    def _hear(self, progress: Progress) -> None:
        course = self._course
        if course and (progress.depth, progress.states) < (course[-1].depth, course[-1].states):
            self._afresh()
            course = self._course
        self._levels[progress.depth] = progress.frontier
        self._first.setdefault(progress.depth, progress.states)
        due = not course or progress.seconds >= course[-1].seconds + EVERY
        if due:
            course.append(progress)
        else:
            course[-1] = replace(progress, seconds=course[-1].seconds)
        if due and progress.seconds >= QUIET:
            self._last = self.forecast()

    def forecast(self) -> Forecast | None:
        """The current forecast; ``None`` where there is none."""
        if not self._course:
            return None
        now = self._course[-1]
        levels, depth = list[int](), now.depth
        while depth in self._levels:
            levels.append(self._levels[depth])
            depth -= 1
        found = total(levels[::-1])
        if found is None:
            return None
        before = max(0, self._first[depth + 1] - levels[-1]) if depth >= 0 else 0
        low, high = (max(now.states, round(end) + before) for end in found)
        rates = self._rates()
        each = now.memory / max(1, now.states)
        return Forecast(
            low=low,
            high=high,
            soonest=(low - now.states) / max(rates),
            latest=(high - now.states) / min(rates),
            memory=round(each * high),
        )

    def _rates(self) -> list[float]:
        """States per second: since it began, and lately."""
        first, now = self._course[0], self._course[-1]
        half = self._course[len(self._course) // 2]
        return [
            max(1.0, (now.states - since.states) / max(0.01, now.seconds - since.seconds))
            for since in (first, half)
            if since is not now
        ] or [max(1.0, now.states / max(0.01, now.seconds))]
