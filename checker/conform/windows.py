"""The score of logs by windows, for each kind of line that begins one; and the first red window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from checker.conform.explain_events import Observation
from checker.conform.lines import Line
from checker.conform.local_log import LocalLog
from checker.conform.local_reasons import LocalReasons, marks_of_first, reasons_of
from checker.conform.local_system import NotLocal
from checker.conform.local_windows import Explanation, LocalWindows, Window
from checker.conform.log_coverage import Seen, passed_by_all
from checker.conform.patterns import is_exact
from checker.model.evaluate import RunFault
from checker.model.ir import MarkKind
from checker.records import replace
from checker.results.conformance_lines import Obstacle
from checker.results.events import At
from checker.results.mark_events import at as place_of
from checker.results.vacuity import COVERED, covered
from checker.results.windows import HandlerScore, LineScore, Unseen, WindowScore

MOST_SHARED = 4
"""The largest number of things that red windows are said to share."""


class _Counted(Struct):
    """What is counted of the windows that begin with lines of one kind."""

    explained: int = 0
    weak: int = 0
    unasked: int = 0
    outcomes: int = 0
    red: list[tuple[Line, LocalReasons, int]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def score(self, name: str) -> HandlerScore:
        """Returns the score of the windows called ``name``."""
        reasons: Counter[str] = Counter()
        for _, why, times in self.red:
            reasons[why.main] += times
        return HandlerScore(
            name,
            self.explained + self.unasked + reasons.total(),
            self.explained,
            self.weak,
            self.unasked,
            self.outcomes,
            self.red[0][1].obstacle if self.red else None,
            reasons.most_common(1)[0][0] if reasons else "",
            tuple(self._shared())[:MOST_SHARED],
        )

    def _shared(self) -> Iterator[str]:
        """Yields what all red windows say, and no explained one does."""
        if sum(times for *_, times in self.red) < 2:
            return
        said = [dict.fromkeys(_features(line)) for line, *_ in self.red]
        yield from (f for f in said[0] if f not in self.seen and all(f in each for each in said))


def _features(line: Line) -> Iterator[str]:
    """Yields what a line says, in parts."""
    yield f"process {line.row.process}"
    for name in ("from", "name", "msg", "sender"):
        if isinstance(value := line.row.data.get(name), str | int):
            yield f"{name} {value}"
    for table in ("fields", "arguments", "state"):
        given = line.row.data.get(table)
        if isinstance(given, dict):
            yield from (f"{n} = {v}" for n, v in given.items() if isinstance(v, str | int))


class _Lines:
    """The windows of each line of the spec."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int], LineScore] = {}
        self._places: dict[int, At | None] = {}

    def explained(self, log: LocalLog, marks: set[int], times: int, weak: bool) -> None:
        """Counts ``times`` windows, explained by steps that all pass ``marks``."""
        places = [self._place(log, mark) for mark in marks]
        for key in {(at.file, at.line) for at in places if at}:
            now = self.found.get(key) or LineScore(*key)
            self.found[key] = replace(
                now, explained=now.explained + times, weak=now.weak + times * weak
            )

    def red(self, log: LocalLog, window: Window, obstacle: Obstacle, times: int) -> None:
        """Counts ``times`` windows that no step explains, at the handlers whose steps might
        have."""
        infos = [log.system.marks[mark] for mark in marks_of_first(log, window)]
        handlers = (info for info in infos if info.kind is MarkKind.HANDLER)
        places: list[At | None] = [place_of(info.place) for info in handlers]
        if not places:
            places += [each.at for each in obstacle.candidates if each.at][:1]
        for key in {(at.file, at.line) for at in places if at}:
            now = self.found.get(key) or LineScore(*key)
            self.found[key] = replace(now, red=now.red + times, first=now.first or obstacle)

    def _place(self, log: LocalLog, mark: int) -> At | None:
        """Returns the place of a mark in the spec, if coverage reports list such marks."""
        if mark not in self._places:
            info = log.system.marks[mark]
            self._places[mark] = place_of(info.place) if info.kind in COVERED else None
        return self._places[mark]

    def score(self) -> tuple[LineScore, ...]:
        """Returns them in the order of the source."""
        return tuple(self.found[key] for key in sorted(self.found))


class Red(Struct, frozen=True):
    """A window, of the log with this ``number``, that no step explains, and why."""

    number: int
    window: Window
    obstacle: Obstacle


class Scored(Struct, frozen=True):
    """The ``score`` of logs, what their windows have ``seen``, and the error of a window that could
    not be checked, if it only needs more room than was guessed (``small``)."""

    score: WindowScore
    seen: Seen
    small: RunFault | None = None


def score(observation: Observation) -> Scored:
    """Returns the score of the logs of ``observation``."""
    small: RunFault | None = None
    counted: dict[str, _Counted] = {}
    aside: list[str] = []
    seen = Seen()
    lines = _Lines()
    assumed: dict[str, None] = {}
    for number, timeline in enumerate(observation.timelines):
        if not timeline.lines:
            continue
        try:
            log = LocalLog(observation, number)
        except NotLocal as why:
            aside.append(f"{timeline.process}: {why}")
            continue
        for variable in sorted(log.local.free):
            if title := observation.system.variables[variable].title:
                assumed[title] = None
        windows, last = LocalWindows(log), None
        equal: Counter[Explanation] = Counter()
        first: dict[Explanation, Window] = {}
        for last in windows:
            equal[last.explanation] += 1
            first.setdefault(last.explanation, last)
        for explanation, window in first.items():
            _count(counted, lines, log, window, equal[explanation])
            seen.add(log, window)
        small = small or log.steps.outgrown
        if last is not None and not last.steps and (left := windows.lines_after(last)):
            aside.append(f"{timeline.process}: the last {left:,} lines continue a step unknown")
    scores = [each.score(name) for name, each in counted.items()]
    scores.sort(key=lambda each: (-each.red, each.name))
    nowhere = _from_nowhere(observation)
    places = covered(observation.system, seen.marks)
    found = WindowScore(tuple(scores), tuple(aside), tuple(assumed), nowhere, places, lines.score())
    return Scored(found, seen, small)


def _count(
    of: dict[str, _Counted], lines: _Lines, log: LocalLog, window: Window, times: int
) -> None:
    """Counts ``times`` equal windows."""
    counted = of.setdefault(window.line.logged.text, _Counted())
    if not window.asked:
        counted.unasked += times
    elif window.is_red:
        why = reasons_of(log, window)
        counted.red.append((window.line, why, times))
        lines.red(log, window, why.obstacle, times)
    else:
        weak = all(map(log.says_nothing, window.steps))
        counted.explained += times
        counted.weak += times * weak
        lines.explained(log, passed_by_all(window), times, weak)
        counted.outcomes = max(counted.outcomes, len(window.steps))
        counted.seen.update(_features(window.line))


def _from_nowhere(observation: Observation) -> int:
    """Returns the number of lines that receive a message which no line sends, if the log records
    sends."""
    times: Counter[int] = Counter()
    saying: dict[int, Line] = {}
    for timeline in observation.timelines:
        for item in timeline.items:
            if isinstance(item, Line):
                times[id(item.patterns)] += 1
                saying[id(item.patterns)] = item
    sent = [line for line in saying.values() if line.logged.kind is MarkKind.SEND]
    logging = {timeline.process for timeline in observation.timelines if timeline.lines}
    if not sent or logging != set(observation.system.processes):
        return 0
    exact = {key for line in sent for key in _messages(line, sender=0)}
    loose = {line.logged.name for line in sent if not _messages(line, sender=0)}
    found = 0
    for number, line in saying.items():
        if line.logged.kind is MarkKind.RECEIVE and line.logged.name not in loose:
            keys = _messages(line, sender=1)
            if keys and keys.isdisjoint(exact):
                found += times[number]
    return found


def _messages(line: Line, sender: int) -> frozenset[object]:
    """Returns sender and message of a line; none where it does not say both whole."""
    found = [(pattern.args[sender], pattern.args[2]) for pattern in line.patterns]
    return (
        frozenset(found) if all(map(is_exact, (p for pair in found for p in pair))) else frozenset()
    )


def first_red(observation: Observation) -> tuple[Red | None, RunFault | None]:
    """Returns the first window that no step explains, as far as that could be checked, and the same
    error as :func:`score`."""
    small: RunFault | None = None
    for number, timeline in enumerate(observation.timelines):
        if not timeline.lines:
            continue
        try:
            log = LocalLog(observation, number)
        except NotLocal:
            continue
        red = next((window for window in LocalWindows(log) if window.is_red), None)
        if red is not None:
            return Red(number, red, reasons_of(log, red).obstacle), None
        small = small or log.steps.outgrown
    return None, small


def merged(scores: Iterable[WindowScore]) -> WindowScore:
    """Returns the score of several logs together."""
    found = list(scores)
    by_name: dict[str, list[HandlerScore]] = {}
    for one in found:
        for each in one.handlers:
            by_name.setdefault(each.name, []).append(each)
    handlers = [_joined(name, all_of) for name, all_of in by_name.items()]
    handlers.sort(key=lambda each: (-each.red, each.name))
    covers = [one.covered for one in found if one.covered]
    together = tuple(
        next((each for each in same if each.reached), same[0]) for same in zip(*covers, strict=True)
    )
    return WindowScore(
        tuple(handlers),
        tuple(dict.fromkeys(why for one in found for why in one.aside)),
        tuple(dict.fromkeys(name for one in found for name in one.assumed)),
        sum(one.nowhere for one in found),
        together,
        _merged_lines(found),
        tuple(_unseen_by_all(found)),
    )


def _unseen_by_all(scores: list[WindowScore]) -> Iterator[Unseen]:
    """Yields what none of several logs covers."""
    keys = [{_key(each) for each in score.unseen} for score in scores]
    for each in scores[0].unseen if scores else ():
        if all(_key(each) in of_one for of_one in keys):
            yield each


def _key(each: Unseen) -> tuple[str, str, str, int, int]:
    return each.kind, each.text, each.file, each.line, each.column


def _merged_lines(scores: list[WindowScore]) -> tuple[LineScore, ...]:
    by_place: dict[tuple[str, int], LineScore] = {}
    for each in (line for score in scores for line in score.lines):
        key = (each.file, each.line)
        now = by_place.get(key) or LineScore(*key)
        by_place[key] = LineScore(
            *key,
            now.explained + each.explained,
            now.weak + each.weak,
            now.red + each.red,
            now.first or each.first,
        )
    return tuple(by_place[key] for key in sorted(by_place))


def _joined(name: str, scores: list[HandlerScore]) -> HandlerScore:
    red = [each for each in scores if each.red]
    reasons: Counter[str] = Counter()
    for each in red:
        reasons[each.condition] += each.red
    shared = [each.shared for each in red]
    return HandlerScore(
        name,
        sum(each.windows for each in scores),
        sum(each.explained for each in scores),
        sum(each.weak for each in scores),
        sum(each.unasked for each in scores),
        max(each.outcomes for each in scores),
        red[0].first if red else None,
        reasons.most_common(1)[0][0] if reasons else "",
        tuple(f for f in shared[0] if all(f in each for each in shared)) if shared else (),
    )
