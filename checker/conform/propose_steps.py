"""Proposes what to write in a mapping, `[steps]` or `unlogged`, where the lines of one step of the
spec are written in a way that makes windows red.

A proposal is never applied: whether the lines are one step is for those to say who know the
implementation.  With it no window of that step is red, and none that was not red before.  It has a
price, since it leaves more free: how many changes of one value are still noticed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from msgspec import Struct

from checker.conform.changed_values import changes
from checker.conform.explain_events import OBSERVABLE, Observation
from checker.conform.handler_bodies import HandlerBody, handler_bodies
from checker.conform.lines import MARKS, Gap, Line, Logged, Resolver
from checker.conform.local_log import LocalLog
from checker.conform.local_system import NotLocal
from checker.conform.local_windows import LocalWindows
from checker.conform.read_log import Log
from checker.diagnostics import SpecError
from checker.logs.mapping import ANY, FIRST, LAST, WRITTEN, LogMapping, StepLines
from checker.model.evaluate import RunFault
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.results.step_proposals import StepProposal

CHANGES = 200
"""The number of changed logs that give the price of a proposal."""
FEWEST = 20
"""The smallest such number, for long logs, and where alternatives are compared."""
MOST_LINES = 2_000
"""The largest number of lines of a log for which proposals are sought."""
LINES_CHANGED = 20_000
"""The number of lines of all changed logs together, unless that would be fewer changes."""
MOST = 3
"""The largest number of proposals for a step."""
SEED = 1

_WORDS = {kind: word for word, kind in reversed([*MARKS.items()])}

Place = tuple[str, int]


class _Judged(Struct, frozen=True):
    """The windows of a log: the kinds of the lines that begin ``red`` ones, by place; how many
    windows, and which processes, could not be checked."""

    red: dict[Place, Logged]
    unasked: int
    aside: frozenset[str]


def judged(observation: Observation) -> _Judged:
    """Returns which windows of all logs are red."""
    red: dict[Place, Logged] = {}
    unasked, aside = 0, set[str]()
    for number, timeline in enumerate(observation.timelines):
        if not timeline.lines:
            continue
        try:
            windows = LocalWindows(LocalLog(observation, number))
            last = None
            for last in windows:
                unasked += not last.asked
                if last.is_red:
                    red[last.line.row.file, last.line.row.number] = last.line.logged
        except NotLocal:
            aside.add(timeline.process)
            continue
        if last is not None and not last.steps and windows.lines_after(last):
            aside.add(timeline.process)
    return _Judged(red, unasked, frozenset(aside))


class _Tried(Struct, frozen=True):
    """A mapping that can be proposed, what is logged with it, and how many of a few changed logs
    are rejected."""

    mapping: LogMapping
    observation: Observation
    proposal: StepProposal
    rejected: int = 0


class StepProposals:
    """Searches for proposals for one log.

    ``observe``: what is logged, with a mapping; ``explains``: whether a run explains all lines, or
    ``None`` if that was not found out.
    """

    def __init__(
        self,
        system: TransitionSystem,
        log: Log,
        mapping: LogMapping,
        observe: Callable[[LogMapping], Observation],
        explains: Callable[[Observation], bool | None],
    ) -> None:
        self.system, self.log, self.mapping = system, log, mapping
        self.observe, self.explains = observe, explains
        self._before = _Judged({}, 0, frozenset())

    def found(self) -> Iterator[StepProposal]:
        """Yields proposals for each step with red windows, those that leave least free first."""
        now = self.observe(self.mapping)
        if now.lines > MOST_LINES:
            return
        self._before = judged(now)
        if not self._before.red:
            return
        for step, bodies in self._steps().items():
            kinds = {kind for body in bodies for kind in body.events}
            own = {place for place, kind in self._before.red.items() if kind in kinds}
            if own:
                kept = list(self._kept(step, bodies, now, own))
                kept.sort(key=lambda each: -each.rejected)
                yield from map(self._priced, kept[:MOST])

    def _priced(self, tried: _Tried) -> StepProposal:
        """Returns the proposal with its price."""
        most = max(FEWEST, min(CHANGES, LINES_CHANGED // tried.observation.lines))
        rejected, changed = _price(self.system, self.log, tried, most)
        return replace(tried.proposal, rejected=rejected, changes=changed)

    def _steps(self) -> dict[Logged, list[HandlerBody]]:
        """Returns the handlers by their first event, without those that the mapping groups
        already."""
        found: dict[Logged, list[HandlerBody]] = {}
        used = {each.step for each in self.mapping.steps}
        for body in handler_bodies(self.system):
            begins = [kind for kind, at in body.events.items() if at[0] == 0]
            for kind in begins[:1]:
                if text_of(kind) not in used:
                    found.setdefault(kind, []).append(body)
        return found

    def _kept(
        self, step: Logged, bodies: list[HandlerBody], now: Observation, own: set[Place]
    ) -> Iterator[_Tried]:
        """Yields of each choice of lines the mapping that leaves least free."""
        for alternatives in _candidates(self.log, self.mapping, step, bodies, now):
            kept = [each for each in (self._tried(step, m, own) for m in alternatives) if each]
            if kept:
                yield max(kept, key=lambda each: each.rejected)

    def _tried(self, step: Logged, mapping: LogMapping, own: set[Place]) -> _Tried | None:
        """Returns a mapping that can be proposed; ``None`` where it can't."""
        try:
            observation = self.observe(mapping)
            after = judged(observation)
        except (SpecError, RunFault):  # the lines can't be one step
            return None
        before = self._before
        left = set(after.red)
        if left & own or not left <= set(before.red):
            return None
        if after.unasked > before.unasked or not after.aside <= before.aside:
            return None
        conforms = self.explains(observation) if not left else None
        if conforms is False:
            return None
        toml = toml_of(self.mapping, mapping)
        found = StepProposal(text_of(step), toml, len(own), 0, 0, len(left), conforms is True)
        tried = _Tried(mapping, observation, found)
        return replace(tried, rejected=_price(self.system, self.log, tried, FEWEST)[0])


def _candidates(
    log: Log, mapping: LogMapping, step: Logged, bodies: list[HandlerBody], now: Observation
) -> Iterator[list[LogMapping]]:
    """Yields mappings that may explain the red windows of a step, those that differ in details
    together."""
    own = sorted(
        {(body.places(kind)[0], kind.text) for body in bodies for kind in body.events},
    )
    by_text = {kind.text: kind for body in bodies for kind in body.events}
    kinds = [by_text[text] for text in dict.fromkeys(text for _, text in own)]
    lines = [i for timeline in now.timelines for i in timeline.items if isinstance(i, Line)]
    logged = {line.logged for line in lines}
    taken = {text for each in mapping.steps for text in each.lines}
    present = [kind for kind in kinds if kind in logged and text_of(kind) not in taken]
    if step in present:
        for order, texts in _choices(now, step, present):
            name = _name(mapping, step)
            groups = [
                StepLines(name, text_of(step), texts, order, state)
                for state in (LAST, FIRST, *texts)
            ]
            yield [replace(mapping, steps=(*mapping.steps, group)) for group in groups]
    for kind in kinds:
        if kind.kind in OBSERVABLE and kind not in logged:
            yield [replace(mapping, unlogged=(*mapping.unlogged, text_of(kind)))]
    for field in _fields_with_lists(log, lines, step):
        repeated = StepLines(_name(mapping, step), text_of(step), repeat=field)
        yield [replace(mapping, steps=(*mapping.steps, repeated))]


def _choices(
    now: Observation, step: Logged, present: list[Logged]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields an order and the kinds of lines of a step: as they follow each other in the log, and
    all that the handler writes."""
    for written in _as_written(now, step, present):
        if len(written) > 1:
            yield WRITTEN, tuple(map(text_of, written))
    if len(present) > 1:
        yield ANY, tuple(map(text_of, present))


def _as_written(now: Observation, step: Logged, present: list[Logged]) -> Iterator[list[Logged]]:
    """Yields the orders in which kinds of lines of a step follow each other, from a line until one
    of them comes again; at most the two most frequent ones."""
    orders: dict[tuple[Logged, ...], int] = {}
    for timeline in now.timelines:
        order: list[Logged] = []
        for item in (*timeline.items, Gap()):
            kind = item.logged if isinstance(item, Line) else None
            if order and (kind is None or (kind in order and kind != order[-1])):
                orders[tuple(order)] = orders.get(tuple(order), 0) + 1
                order = []
            if kind in present and kind not in order:
                order.append(kind)
    found = [order for order in orders if step in order]
    found.sort(key=lambda order: (-orders[order], len(order)))
    yield from map(list, found[:2])


def _fields_with_lists(log: Log, lines: list[Line], step: Logged) -> Iterator[str]:
    """Yields the names of fields that have a list in a line of the step."""
    found: dict[str, None] = {}
    for line in lines:
        if line.logged == step:
            for table in ("fields", "arguments"):
                given = line.row.data.get(table)
                if isinstance(given, Mapping):
                    found |= {n: None for n, value in given.items() if isinstance(value, list)}
    yield from found


def _price(system: TransitionSystem, log: Log, tried: _Tried, most: int) -> tuple[int, int]:
    """Returns how many of how many changed logs have a red window; at most ``most`` are tried."""
    timelines = tried.observation.timelines
    resolver = Resolver(system, tried.mapping)
    alone: dict[str, LocalWindows] = {}
    for number, timeline in enumerate(timelines):
        with suppress(NotLocal):
            alone[timeline.process] = LocalWindows(LocalLog(tried.observation, number))
    rejected = changed = 0
    for change in islice(changes(log, SEED), 4 * most):
        if changed == most:
            break
        rows = {change.process: change.rows}
        try:
            (timeline,) = resolver.timelines(replace(log, rows=rows))
            of_process = alone.get(change.process)
            windows = () if of_process is None else of_process.with_items(timeline)
            rejected += any(window.is_red for window in windows)
            changed += 1
        except (SpecError, RunFault):  # it is not a log of this system
            continue
    return rejected, changed


def text_of(kind: Logged) -> str:
    """Returns a kind of event as a mapping writes it."""
    return f"{_WORDS[kind.kind]} {kind.name}".rstrip()


def _name(mapping: LogMapping, step: Logged) -> str:
    """Returns a name for the group of a step that no other group has."""
    name = re.sub(r"\W+", "_", step.name, flags=re.ASCII).strip("_").lower() or "step"
    taken = {each.name for each in mapping.steps}
    while name in taken:
        name += "_"
    return name


def toml_of(before: LogMapping, after: LogMapping) -> str:
    """Returns the part of ``after`` that is not in ``before``, as TOML."""
    if after.unlogged != before.unlogged:
        return f"unlogged = {_written(list(after.unlogged))}"
    step = after.steps[-1]
    said: dict[str, Any] = {"is": step.step}
    if step.repeat:
        said["repeat"] = step.repeat
    else:
        said |= {"lines": list(step.lines), "order": step.order, "state": step.state}
    rows = [f"{key} = {_written(value)}" for key, value in said.items()]
    return "\n".join((f"[steps.{step.name}]", *rows))


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
