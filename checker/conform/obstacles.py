"""Why a log is not explained further: for the next line of each process, what keeps each step that
could be it from being taken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from checker.conform.choices import choices_of, contradicted
from checker.conform.explain_events import Cursors, EventExplainer, Observation, says_state
from checker.conform.lines import Line
from checker.conform.patterns import Exactly, OneCase, Parts, Pattern, is_exact, matches
from checker.conform.replayed_run import ReplayedRun
from checker.diagnostics.english import count
from checker.language.syntax.verbs import verbs
from checker.model import interpreter
from checker.model import types as t
from checker.model.interpreter import Event, State, Transition
from checker.model.ir import STOPS, Mark, MarkKind, TransitionSystem
from checker.model.tree import statements
from checker.results.conformance import Candidate, LoggedLine, Obstacle
from checker.results.mark_events import event_of
from checker.results.show_values import show
from checker.simulate.choices import phrases_of_transition
from checker.simulate.why_not import Reason, why_not
from checker.words.events import sentence

MOST = 6
"""The largest number of reasons for one line."""


def obstacles_at(
    observation: Observation,
    explainer: EventExplainer,
    cursors: Cursors,
    run: ReplayedRun,
) -> tuple[Obstacle, ...]:
    """Returns an obstacle for the next line of each process, at ``cursors``, to which ``run``
    leads: first those where a step is enabled that differs from the line, last those that wait
    for a message whose sending another log has further on."""
    at = _Place(observation, explainer, cursors, run)
    found = sorted(map(at.obstacle, observation.next_lines(cursors)), key=lambda each: each[0])
    return tuple(obstacle for _, obstacle in found)


def logged_line(system: TransitionSystem, line: Line) -> LoggedLine:
    """Returns ``line`` for a report."""
    row = line.row
    said = json.dumps({"pos": row.pos, **row.data}, ensure_ascii=False)
    return LoggedLine(row.file, row.number, row.process, words_of(system, line), said)


def words_of(system: TransitionSystem, line: Line, *, as_step: bool = False) -> str:
    """Returns what ``line`` says, in the words of the spec, as far as it says it; ``as_step``: an
    indication as the phrase that :func:`why_not` takes, such as ``p1 delivers a``."""
    who, kind, name = line.row.process, line.logged.kind, line.logged.name
    pattern = line.patterns[0]
    types = system.marks[pattern.mark].types
    given = [shown(type_, arg) for type_, arg in zip(types, pattern.args, strict=True)]
    match kind:
        case MarkKind.RECEIVE:
            sender = "" if given[1] == "_" else f" from {given[1]}"
            return f"{who} receives {_message(given[2], name)}{sender}"
        case MarkKind.SEND:
            to = sorted(pattern.to or ())
            receivers = f" to {', '.join(system.processes[int(r)] for r in to)}" if to else ""
            return f"{who} sends {_message(given[2], name)}{receivers}"
        case MarkKind.HANDLER:
            return f"{who}: {name}"
        case MarkKind.CRASH:
            return f"{who} crashes"
        case MarkKind.POWER:
            return f"{who} loses its power"
        case MarkKind.WIPE:
            return f"{who} crashes and loses its disk"
        case MarkKind.RECOVER:
            return f"{who} comes back up"
        case MarkKind.TIMEOUT:
            return f"{who}'s timer {name} expires"
        case MarkKind.PERFORM:
            return f"{who} performs {given[1]}"
        case MarkKind.INDICATION if not as_step:
            return f"{who} indicates {name}({', '.join(given[1:])})"
        case _:
            items = f" ({', '.join(given[1:])})" if len(given) > 2 else " ".join(["", *given[1:]])
            return f"{who} {verbs(name)[0]}{items}"


def _message(shown: str, name: str) -> str:
    return shown if shown != "_" else name


def shown(type_: t.Type, pattern: Pattern) -> str:
    """Returns what a pattern says of a value; what it leaves free is ``_``."""
    if isinstance(pattern, Exactly):
        return show(type_, pattern.value)
    if isinstance(pattern, Parts) and isinstance(type_, t.TupleT):
        return f"({', '.join(map(shown, type_.items, pattern.parts))})"
    if isinstance(pattern, OneCase) and isinstance(type_, t.VariantT):
        case = type_.cases[pattern.case]
        inner = [
            shown(kind, part) for (_, kind), part in zip(case.fields, pattern.fields, strict=True)
        ]
        return f"{case.name}({', '.join(inner)})" if inner else case.name
    return "_"


def other_choices(system: TransitionSystem, lines: list[Line], choices: tuple[Event, ...]) -> str:
    """Returns what a step chooses that ``lines`` say otherwise; empty where they do not."""
    said = []
    for line in lines:
        wrong = contradicted(line, choices)
        for name, patterns in line.chosen:
            if name not in wrong:
                continue
            type_ = system.marks[patterns[0].mark].types[1]
            log_says = f"and the log says {shown(type_, patterns[0].args[1])}"
            taken = [each for each in choices if system.marks[each.mark].text == name]
            values = [show(system.marks[e.mark].types[1], e.args[1]) for e in taken]
            does = f"chooses {name} = {' and '.join(values)}" if values else f"chooses no {name}"
            said.append(f"but it {does}, {log_says}")
    return "; ".join(said)


def _agree(one: Pattern, other: Pattern) -> bool:
    """Returns whether some value may match both patterns; exact where both are of one value."""
    both_exact = isinstance(one, Exactly) and isinstance(other, Exactly)
    return not both_exact or one == other


def _is_one_of(process: Pattern, processes: frozenset[int]) -> bool:
    return not isinstance(process, Exactly) or process.value in processes


def _possible(step: str, why: str) -> Candidate:
    return Candidate(f"`{step}` is possible, {why}", step, why)


class _Place:
    """The end of the longest explained prefix."""

    def __init__(
        self,
        observation: Observation,
        explainer: EventExplainer,
        cursors: Cursors,
        run: ReplayedRun,
    ) -> None:
        self.observation, self.explainer, self.cursors = observation, explainer, cursors
        self.system, self.run, self.state = observation.system, run, run.states[-1]
        self._transitions = [
            transition
            for transition in interpreter.successors(self.system, self.state)
            if transition.successor is not None
        ]

    def obstacle(self, line: Line) -> tuple[int, Obstacle]:
        """Returns why no step explains ``line``, and its rank among the obstacles of a place."""
        logged = logged_line(self.system, line)
        if nearly := list(dict.fromkeys(self._nearly(line))):
            more = f"and {count(len(nearly) - MOST, 'step')} more"
            left = [Candidate(more)] if nearly[MOST:] else []
            return 0, Obstacle(logged, (*nearly[:MOST], *left))
        sent = self._sent_later(line)
        reasons = tuple(self._absent(line))
        found = {r.text: r.candidate or Candidate(r.text) for r in reasons[::-1]}
        candidates = [found[text] for text in dict.fromkeys(reason.text for reason in reasons)]
        if sent is not None:
            where = f"{sent.row.file}:{sent.row.number}"
            later = f"{where} says that it is sent, after a line that is not explained"
            candidates.append(Candidate(later))
        steps = sorted({step for reason in reasons for step in reason.steps})
        return 1 if sent is None else 2, Obstacle(logged, tuple(candidates), tuple(steps))

    def _absent(self, line: Line) -> tuple[Reason, ...]:
        """Returns why no enabled step is of the kind that ``line`` says."""
        if line.logged.kind is MarkKind.SEND:
            who, name = line.row.process, line.logged.name
            return (Reason(f"no step that {who} can take now sends {name}"),)
        words = words_of(self.system, line, as_step=True)
        asked = words.split("(")[0] if "_" in words else words
        return why_not(asked, self.system, self.state, self.run.trace)

    def _sent_later(self, line: Line) -> Line | None:
        """Returns the line, of those that are not explained, that says that the message is sent
        that ``line`` says is received; ``None`` where there is none."""
        if line.logged.kind is not MarkKind.RECEIVE:
            return None
        receiver, sender, message = line.patterns[0].args
        for timeline, cursor in zip(self.observation.timelines, self.cursors, strict=True):
            for item in timeline.items[cursor:]:
                if not isinstance(item, Line) or item.logged.kind is not MarkKind.SEND:
                    continue
                sending = item.patterns[0]
                if (
                    item.logged.name == line.logged.name
                    and _agree(sending.args[0], sender)
                    and _agree(sending.args[2], message)
                    and (sending.to is None or _is_one_of(receiver, sending.to))
                ):
                    return item
        return None

    def _nearly(self, line: Line) -> Iterator[Candidate]:
        """Yields in what the steps that are enabled, and of a handler that can be the event of
        ``line``, differ from what the log says: first those that are its event.  Those in which the
        process crashes halfway are only counted where there are others."""
        of_another_event = []
        halfway, whole = [], False
        process = self.system.processes.index(line.row.process)
        for transition in self._transitions:
            events = self.explainer.relevant(transition.events)
            own = [event for event in events if event.args[0] == process]
            if not own or not self._can_be(line, transition):
                continue
            phrase = phrases_of_transition(self.system, self.state, transition)[0]
            like = [event for event in own if self._is_like(line, event)]
            if like and not any(self.explainer.may_be(line, event) for event in like):
                log_says = f"the log says {words_of(self.system, line)}"
                of_another_event.append(_possible(phrase, log_says))
            elif difference := self._difference(line, transition):
                reason = _possible(phrase, difference)
                if self._crashes(transition, process):
                    halfway.append(reason)
                else:
                    whole = True
                    yield reason
        if whole and halfway:
            number = count(len(halfway), "step")
            halfway = [Candidate(f"and {number} in which {line.row.process} crashes halfway")]
        yield from halfway
        yield from of_another_event

    def _can_be(self, line: Line, transition: Transition) -> bool:
        """Returns whether the code of a step has an event of the kind and name of ``line``."""
        marks = {pattern.mark for pattern in line.patterns}
        code = statements(transition.action.body)
        return any(isinstance(each, Mark) and each.mark in marks for each in code)

    def _crashes(self, transition: Transition, process: int) -> bool:
        marks = self.system.marks
        return any(
            marks[event.mark].kind in STOPS and event.args[0] == process
            for event in transition.events
        )

    def _is_like(self, line: Line, event: Event) -> bool:
        return any(pattern.mark == event.mark for pattern in line.patterns)

    def _difference(self, line: Line, transition: Transition) -> str:
        events = self.explainer.relevant(transition.events)
        ways = self.explainer.after(self.cursors, events)
        assert transition.successor is not None
        if ways:
            choices = choices_of(self.system, transition.events)
            if other := other_choices(self.system, ways[0][1], choices):
                return other
            lines = [each for each in ways[0][1] if not says_state([each], transition.successor)]
            return self._values(lines, transition.successor)
        lacking = next(n for n in range(len(events)) if not self._explains(events[: n + 1]))
        wanted = (
            f"and then the log should have `{sentence(event_of(self.system, events[lacking]))}`"
        )
        kind = self.system.marks[events[lacking].mark].kind
        before = self.explainer.after(self.cursors, events[:lacking])
        who = self.explainer.number_of(events[lacking])
        timeline = self.observation.timelines[who]
        items = timeline.items[before[0][0][who] :] if before else ()
        if items and isinstance(items[0], Line):
            wanted += f" next, and it has `{words_of(self.system, items[0])}`"
        if any(item.logged.kind is kind for item in timeline.items if isinstance(item, Line)):
            return wanted
        return f"{wanted}; the log of {timeline.process} has no `{kind.value}` line at all"

    def _explains(self, events: tuple[Event, ...]) -> bool:
        return bool(self.explainer.after(self.cursors, events))

    def _values(self, lines: list[Line], state: State) -> str:
        """Returns which variables would have other values than the log says."""
        said = []
        for line in lines:
            for number, pattern in line.state:
                if matches(pattern, state[number]):
                    continue
                variable = self.system.variables[number]
                name = variable.title or variable.name
                rank = self.system.processes.index(line.row.process)
                value: Any = state[number]
                type_ = variable.type
                if isinstance(pattern, Parts) and isinstance(type_, t.MapT):
                    place = list(t.universe(type_.key)).index(rank)
                    value, pattern, type_ = value[place], pattern.parts[place], type_.value
                logged = shown(type_, pattern) if is_exact(pattern) else "something else"
                said.append(
                    f"{name} would be {show(type_, value)} after it, and the log says {logged}"
                )
        return "but " + "; ".join(said) if said else ""
