"""The score of logs by windows, for each kind of line that begins one; and the first red window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from checker.conform.explain_events import Observation
from checker.conform.lines import Line
from checker.conform.local_log import LocalLog, Window
from checker.conform.local_reasons import main_reason, obstacle_of
from checker.conform.local_system import NotLocal
from checker.conform.patterns import is_exact
from checker.model.evaluate import RunFault
from checker.model.ir import MarkKind
from checker.results.conformance_lines import Obstacle
from checker.results.vacuity import covered
from checker.results.windows import HandlerScore, WindowScore

MOST_SHARED = 4
"""The largest number of things that red windows are said to share."""


class _Counted(Struct):
    """What is counted of the windows that begin with lines of one kind."""

    explained: int = 0
    weak: int = 0
    unasked: int = 0
    outcomes: int = 0
    red: list[tuple[Line, Obstacle]] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    def score(self, name: str) -> HandlerScore:
        """Returns the score of the windows called ``name``."""
        reasons = Counter(main_reason(obstacle) for _, obstacle in self.red)
        return HandlerScore(
            name,
            self.explained + self.unasked + len(self.red),
            self.explained,
            self.weak,
            self.unasked,
            self.outcomes,
            self.red[0][1] if self.red else None,
            reasons.most_common(1)[0][0] if reasons else "",
            tuple(self._shared())[:MOST_SHARED],
        )

    def _shared(self) -> Iterator[str]:
        """Yields what all red windows say, and no explained one does."""
        if len(self.red) < 2:
            return
        said = [dict.fromkeys(_features(line)) for line, _ in self.red]
        yield from (f for f in said[0] if not self.seen[f] and all(f in each for each in said))


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


class Red(Struct, frozen=True):
    """A window, of the log with this ``number``, that no step explains, and why."""

    number: int
    window: Window
    obstacle: Obstacle


def score(observation: Observation) -> tuple[WindowScore, RunFault | None]:
    """Returns the score of the logs of ``observation``, and an error of a window that could not be
    checked, if it only needs more room than was guessed."""
    small: RunFault | None = None
    counted: dict[str, _Counted] = {}
    aside: list[str] = []
    reached: set[int] = set()
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
        last = None
        for window in log.windows():
            last = window
            name = window.line.logged.text
            _count(counted.setdefault(name, _Counted()), log, window)
            marks = [{event.mark for event in each.step.events} for each in window.steps]
            reached |= set.intersection(*marks) if marks else set()
        small = small or log.steps.outgrown
        if last is not None and not last.steps and (left := log.lines_after(last)):
            aside.append(f"{timeline.process}: the last {left:,} lines continue a step unknown")
    scores = [each.score(name) for name, each in counted.items()]
    scores.sort(key=lambda each: (-each.red, each.name))
    nowhere = sum(1 for _ in _from_nowhere(observation))
    seen = covered(observation.system, reached)
    return WindowScore(tuple(scores), tuple(aside), tuple(assumed), nowhere, seen), small


def _count(counted: _Counted, log: LocalLog, window: Window) -> None:
    if not window.asked:
        counted.unasked += 1
    elif window.is_red:
        counted.red.append((window.line, obstacle_of(log, window)))
    else:
        counted.explained += 1
        counted.weak += log.is_weak(window)
        counted.outcomes = max(counted.outcomes, len(window.steps))
        counted.seen.update(set(_features(window.line)))


def _from_nowhere(observation: Observation) -> Iterator[Line]:
    """Yields the lines of messages received that no line sends, where what is sent is logged."""
    lines = [i for timeline in observation.timelines for i in timeline.items if isinstance(i, Line)]
    sent = [line for line in lines if line.logged.kind is MarkKind.SEND]
    logging = {timeline.process for timeline in observation.timelines if timeline.lines}
    if not sent or logging != set(observation.system.processes):
        return
    exact = {key for line in sent for key in _messages(line, sender=0)}
    loose = {line.logged.name for line in sent if not _messages(line, sender=0)}
    for line in lines:
        if line.logged.kind is MarkKind.RECEIVE and line.logged.name not in loose:
            keys = _messages(line, sender=1)
            if keys and keys.isdisjoint(exact):
                yield line


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
        red = next((window for window in log.windows() if window.is_red), None)
        if red is not None:
            return Red(number, red, obstacle_of(log, red)), None
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
    )


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
