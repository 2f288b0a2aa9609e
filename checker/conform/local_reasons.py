"""Why no step of a process explains a window of its log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from msgspec import Struct

from checker.conform.choices import choices_of
from checker.conform.lines import Line
from checker.conform.local_log import LocalLog
from checker.conform.local_steps import Locals, LocalStep
from checker.conform.local_windows import Window
from checker.conform.obstacles import logged_line, other_choices, shown, words_of
from checker.conform.patterns import is_exact
from checker.conform.unknown import TooMany, Unread, is_known, split
from checker.model.interpreter import Event
from checker.results.conformance_lines import Candidate, Obstacle
from checker.results.mark_events import at as place_of
from checker.results.mark_events import event_of, passage
from checker.results.show_values import show
from checker.simulate.false_conditions import false_in_spec
from checker.words.events import sentence

MOST = 6
"""The largest number of reasons for a window."""


class LocalReasons(Struct, frozen=True):
    """The first line of a window, and why no step explains it; ``main``: the first reason, without
    values if it has such a form."""

    obstacle: Obstacle
    main: str


def reasons_of(log: LocalLog, window: Window) -> LocalReasons:
    """Returns why no step explains a window."""
    line = logged_line(log.system, window.line)
    reasons: dict[Candidate, str] = {}
    for candidate, brief in chain(_differences(log, window), _conditions(log, window)):
        reasons.setdefault(candidate, brief)
    if not reasons:
        states = len(window.before)
        nothing = f"no step of {line.process} can do that in any of its {states:,} states"
        reasons[Candidate(nothing)] = nothing
    return LocalReasons(Obstacle(line, tuple(islice(reasons, MOST))), next(iter(reasons.values())))


def _differences(log: LocalLog, window: Window) -> Iterator[tuple[Candidate, str]]:
    """Yields in what steps that begin as the line says differ from what the log says, and that
    without values."""
    seen: set[str] = set()
    for locals_ in window.before:
        try:
            for step in log.steps_at(window.at, locals_):
                events = tuple((event.mark, event.args) for event in step.events)
                for now, why in split((step.locals, events), lambda now: _why(log, window, now)):
                    if why and why[0] not in seen:
                        seen.add(why[0])
                        yield _candidate(log, window, step, now[1], why[0]), why[1]
        except TooMany:
            continue


def marks_of_first(log: LocalLog, window: Window) -> set[int]:
    """Returns the marks of the first step that begins as the line says; none if no step does."""

    def may_be(now: Any) -> bool:
        events = log.explainer.relevant(Event(mark, args) for mark, args in now)
        return bool(events) and log.explainer.may_be(window.line, events[0])

    for locals_ in window.before:
        try:
            for step in log.steps_at(window.at, locals_):
                events = tuple((event.mark, event.args) for event in step.events)
                if any(found for _, found in split(events, may_be)):
                    return {event.mark for event in step.events}
        except TooMany:
            continue
    return set()


def _candidate(
    log: LocalLog,
    window: Window,
    step: LocalStep,
    events: Iterable[tuple[int, tuple[Any, ...]]],
    why: str,
) -> Candidate:
    """Returns the reason ``why`` a step does not explain the window, with where its code is."""
    place = step.action.action.place
    for mark, _ in events:
        info = log.system.marks[mark]
        if info.place is not None:
            place = info.place
            break
    who = window.line.row.process
    return Candidate(f"{who} can take this step, {why}", "", why, (), place_of(place))


def _why(log: LocalLog, window: Window, now: Any) -> tuple[str, str] | None:
    """Returns why a step with these events, to these locals, does not explain the window, and that
    without values; ``None`` where it is another step."""
    explainer, start = log.explainer, (window.at,)
    events = explainer.relevant(Event(mark, args) for mark, args in now[1])
    if not events or not explainer.may_be(window.line, events[0]):
        return None
    ways = explainer.after(start, events)
    choices = choices_of(log.system, [Event(mark, args) for mark, args in now[1]])
    if ways and (other := other_choices(log.system, ways[0][1], choices)):
        return other, "it chooses something else"
    if ways:
        return _values(log, ways[0][1], now[0]) or _goes_on(log, ways[0][0][0])
    lacking = next(n for n in range(len(events)) if not explainer.after(start, events[: n + 1]))
    before = explainer.after(start, events[:lacking])
    items = log.items[before[0][0][0] :] if before else ()
    wanted = sentence(event_of(log.system, events[lacking]))
    said = f"and then the log should have `{wanted}` next"
    if items and isinstance(items[0], Line):
        said += f", and it has `{words_of(log.system, items[0])}`"
    kind = log.system.marks[events[lacking].mark].kind.value
    return said, f"`{kind}` is missing"


def _goes_on(log: LocalLog, after: int) -> tuple[str, str] | None:
    """Returns the finding that the line after those a step explains begins no step; ``None`` if
    it may begin one."""
    item = log.items[after] if after < len(log.items) else None
    if not isinstance(item, Line) or log.may_begin_a_step(item):
        return None
    kind = item.logged.text
    said = f"and then the log has `{words_of(log.system, item)}`, which begins no step"
    return said, f"`{kind}` follows"


def _values(log: LocalLog, lines: list[Line], locals_: Locals) -> tuple[str, str] | None:
    said, names = [], []
    for variable, pattern in ((n, p) for line in lines for n, p in line.state):
        found = log.contradicted(variable, pattern, locals_)
        if found is None:
            continue
        own, value, type_ = found
        name = log.system.variables[variable].title or log.system.variables[variable].name
        would = show(type_, value) if is_known(value) else "something else"
        says = shown(type_, own) if is_exact(own) else "something else"
        said.append(f"{name} would be {would} after it, and the log says {says}")
        names.append(f"`{name}` has another value")
    return ("but " + "; ".join(said), names[0]) if said else None


def _conditions(log: LocalLog, window: Window) -> Iterator[tuple[Candidate, str]]:
    """Yields the conditions that are false of the steps that would begin as the line says, with
    values and without."""
    marks = {pattern.mark for pattern in window.line.patterns}
    for action in log.local.actions:
        if action.stops or not action.marks & marks:
            continue
        for locals_ in window.before:
            scope = log.steps.instance(locals_, action)
            if scope is None:
                continue
            try:
                false = false_in_spec(action.action, scope)
            except Unread:
                continue
            for each in false:
                spelled = (each.spelled,) if each.spelled else ()
                passages = () if each.span is None else (passage(each.span),)
                brief = f"`{each.spelled}` is false" if each.spelled else each.text
                place = place_of(action.action.place)
                yield Candidate(each.text, "", each.text, spelled, place, passages), brief
