"""Explains why a step that is described in words can't be taken now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, takewhile

from msgspec import Struct

from checker.diagnostics.english import listing
from checker.language.syntax.verbs import verbs
from checker.model.interpreter import State, Transition, action_transitions
from checker.model.ir import (
    AWAITED,
    TRUE,
    Action,
    ActionKind,
    Choose,
    Declare,
    If,
    Mark,
    MarkKind,
    Stmt,
    TransitionSystem,
)
from checker.model.tree import nodes
from checker.records import replace
from checker.results.bounds import not_followed
from checker.results.causality import Arrow, CopyOutcome, causality
from checker.results.conformance import Candidate
from checker.results.events import Crashed, Event, Received
from checker.results.mark_events import acting, at, passage, trace_events
from checker.results.trace import Trace
from checker.simulate.choices import choices, phrases_of_transition
from checker.simulate.false_conditions import FalseCondition, false_conditions
from checker.simulate.not_indicated import done_before, not_now, phrases_of_events
from checker.simulate.phrase_matching import best_matches, process_of
from checker.simulate.used_up import split_words, why_not_there
from checker.words.steps import going_on, leading_kinds

MOST = 3
"""The largest number of steps whose conditions are told."""

LARGEST = 2000
"""The largest number of instances of an action that are tried."""

_RECEIVES = re.compile(
    r"(?P<to>\w+'*) receives(?: (?P<message>.*?))??(?: from (?P<sender>\w+'*))?"
    r"(?P<crash>, and crashes.*)?$"
)


class Reason(Struct, frozen=True):
    """Why a step can't be taken: ``text``, which cites the ``steps`` of the trace with these
    numbers; ``explains``: false where it only says that no step is meant, or what else is enabled.
    ``candidate``: the same for a report.
    """

    text: str
    steps: tuple[int, ...] = ()
    explains: bool = True
    candidate: Candidate | None = None


def why_not(words: str, system: TransitionSystem, state: State, trace: Trace) -> tuple[Reason, ...]:
    """Returns why the step ``words`` can't be taken in ``state``, the last one of ``trace``: a
    reason for each step that they can mean.
    """
    if ended := not_followed(system, state):
        return (Reason(ended),)
    who = process_of(words, system.processes)
    down = {fate.process for fate in trace.fates if fate.crashed}
    if who in down and not words.startswith(f"{who} recovers"):
        crashed = [
            s.number
            for s in trace.steps
            for e in s.events
            if isinstance(e, Crashed) and e.process == who
        ]
        where = f" in step {crashed[-1]}" if crashed else ""
        return (Reason(f"{who} has crashed{where}", tuple(crashed[-1:])),)
    doing = [
        way.text
        for way in choices(system, state).ways
        if words in phrases_of_events(trace_events(system, way.events))
    ]
    if doing:
        return tuple(_it_can(f"`{text}` does it") for text in doing[:MOST])
    named = split_words(words, system)
    if named is not None:
        step, alternative = named
        if best_matches(step, [(1, (way.text,)) for way in choices(system, state).ways]):
            return (Reason(why_not_there(alternative, who, system, state)),)
        words = step
    disabled = _disabled(words, system, state)
    found = (*_done_before(words, trace), *(disabled or _none_under_way(words, who, system)))
    if found:
        return found
    message = _RECEIVES.match(words)
    if message is not None:
        ways = choices(system, state).ways
        can = [way.text for way in ways if _is_about(message, trace_events(system, way.events))]
        if can:
            return tuple(map(_it_can, can))
        why = _why_not_received(message["to"], message["message"] or "", message["sender"], trace)
        return (why, *_instead(who, system, state))
    waiting = tuple(map(Reason, not_now(words, system, trace)[:MOST]))
    no_step = Reason(f"no step of this check reads like `{words}`", explains=False)
    return (*(waiting or (no_step,)), *_instead(who, system, state))


def _none_under_way(words: str, who: str, system: TransitionSystem) -> tuple[Reason, ...]:
    """Returns the reason why ``who`` does not go on behind an ``await``, if ``words`` ask for that:
    there is nothing to go on with."""
    awaiting = dict.fromkeys(
        a.name.partition(AWAITED)[0] for a in system.actions if AWAITED in a.name
    )
    asked = best_matches(words, [(each, [going_on(who, each)]) for each in awaiting]) if who else []
    return tuple(Reason(f"{who} has no activity of `{each}` under way") for each in asked[:MOST])


def _it_can(how: str) -> Reason:
    return Reason(f"it can: {how}", explains=False)


def _done_before(words: str, trace: Trace) -> tuple[Reason, ...]:
    done = done_before(words, trace)
    return () if done is None else (Reason(*done),)


def _is_about(asked: re.Match[str], events: tuple[Event, ...]) -> bool:
    """Returns whether ``events`` are a reception of the message that is asked for, with a crash if
    that is asked for, too."""
    crashes = any(isinstance(event, Crashed) for event in events)
    return (crashes or asked["crash"] is None) and any(
        isinstance(event, Received)
        and event.process == asked["to"]
        and asked["sender"] in (None, event.sender)
        and _has(event.message, asked["message"] or "")
        for event in events
    )


def _has(message: str, asked: str) -> bool:
    """Returns whether ``message`` is the one asked for, or carries it inside of others."""
    return message.startswith(asked) or f"({asked}" in message


def _instead(who: str, system: TransitionSystem, state: State) -> tuple[Reason, ...]:
    """Returns the line on the steps that ``who`` can take now."""
    if not who:
        return ()
    own = [way.text for way in choices(system, state).ways if way.process == who]
    can = f"what {who} can do now: {'; '.join(own)}" if own else f"{who} can do nothing now"
    return (Reason(can, explains=bool(own)),)


# ---- steps that are not enabled ---------------------------------------------------------------


def _disabled(words: str, system: TransitionSystem, state: State) -> tuple[Reason, ...]:
    """Returns a reason for each step that ``words`` describe, or that would do what they do."""
    steps = [
        (each, phrases_of_transition(system, state, each.transition))
        for each in instances_of_all(system, state)
    ]
    named = best_matches(words, steps)
    doing = [each for each, _ in steps if _would_do(each, words, system)]
    lines: dict[str, tuple[Action, tuple[FalseCondition, ...]]] = {}
    for each, (phrase, *_) in steps:
        if each not in (named or doing):
            continue
        false = false_conditions(system, state, each.action, each.transition)
        if phrase not in lines or len(false) < len(lines[phrase][1]):
            lines[phrase] = each.action, false
    reasons = {phrase: found for phrase, found in lines.items() if found[1]}
    alone = bool(named) and len(reasons) == 1
    return tuple(
        _false("" if alone else phrase, action, false)
        for phrase, (action, false) in islice(reasons.items(), MOST)
    )


def _false(phrase: str, action: Action, false: tuple[FalseCondition, ...]) -> Reason:
    why = listing(each.text for each in false)
    text = f"{phrase}: {why}" if phrase else why
    spelled = tuple(each.spelled for each in false if each.spelled)
    passages = tuple(passage(each.span) for each in false if each.span is not None)
    found = Candidate(text, phrase, why, spelled, at(action.place), passages)
    return Reason(text, candidate=found)


class Instance(Struct, frozen=True):
    """An instance of an action, enabled or not; ``transition`` only says how it begins."""

    action: Action
    transition: Transition


def instances_of_all(system: TransitionSystem, state: State) -> Iterator[Instance]:
    """Yields an instance of each action for any values of its parameters, at most ``LARGEST`` of
    them; messages are those in transit.
    """
    for action in system.actions:
        params = tuple(replace(param, where=TRUE) for param in action.params)
        body = tuple(_beginning(system, action))
        free = replace(action, params=params, guard=TRUE, body=body)
        begun = replace(system, monitor=())
        for transition in islice(action_transitions(begun, free, state), LARGEST):
            if transition.successor is not None:
                yield Instance(action, transition)


def _beginning(system: TransitionSystem, action: Action) -> Iterator[Stmt]:
    """Yields the statements that say what a step of ``action`` is, and change nothing."""
    body = iter(() if action.kind is ActionKind.EFFECT else action.body)
    for stmt in body:
        if isinstance(stmt, Choose):
            return
        if isinstance(stmt, Declare | Mark):
            yield stmt
        if isinstance(stmt, Mark) and system.marks[stmt.mark].kind in leading_kinds(action.kind):
            yield from takewhile(_only_shows, body)  # who stops together with its process
            return


def _only_shows(stmt: Stmt) -> bool:
    return isinstance(stmt, If) and all(isinstance(each, Mark) for each in stmt.then)


def _would_do(each: Instance, words: str, system: TransitionSystem) -> bool:
    """Returns whether the handler of a condition indicates or performs what ``words`` say."""
    who, _, what = words.partition(" ")
    if each.action.kind is not ActionKind.STEP or who != acting(system, each.transition.events):
        return False
    marks = [system.marks[n.mark] for n in nodes(each.action.body) if isinstance(n, Mark)]
    said = {verb for m in marks if m.kind is MarkKind.INDICATION for verb in verbs(m.text)}
    return what.partition(" ")[0].partition("(")[0] in said


# ---- messages ---------------------------------------------------------------------------------


def _why_not_received(to: str, message: str, sender: str | None, trace: Trace) -> Reason:
    """Returns the fate of the copies of ``message`` for ``to``."""
    named = message or "message"
    copies = [
        arrow
        for arrow in causality(trace).arrows
        if arrow.receiver == to
        and (sender is None or arrow.sender == sender)
        and _has(arrow.message, message)
    ]
    if not copies:
        by = f" from {sender}" if sender else ""
        return Reason(f"no {named}{by} is on its way to {to}: none has been sent")
    outcomes = dict.fromkeys(_outcome(arrow) for arrow in copies)
    steps = sorted({step for _, step in outcomes if step is not None})
    return Reason(listing(dict.fromkeys(text for text, _ in outcomes)), tuple(steps))


def _outcome(arrow: Arrow) -> tuple[str, int | None]:
    """Returns the fate of a copy in words, and the number of the step that decided it."""
    copy = f"{arrow.message} from {arrow.sender} to {arrow.receiver}"
    match arrow.how:
        case CopyOutcome.RECEIVED | CopyOutcome.FORGED | CopyOutcome.COUNTED:
            step = arrow.sent if arrow.ended is None else arrow.ended
            return f"{copy} was received in step {step}", step
        case CopyOutcome.LOST:
            return f"{copy} was lost in step {arrow.ended}", arrow.ended
        case CopyOutcome.MISSED:
            return f"{copy} never arrives, because of a crash", None
        case _:
            return f"{copy} is on its way, and not the next one that the link can deliver", None
