"""Describes steps in English."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from checker.diagnostics.english import listing
from checker.model.ir import ActionKind
from checker.results import events as ev
from checker.results.trace import START, Lack, Step, StepKind
from checker.words.events import assignment, sentence, stops

LEADING: dict[ActionKind, tuple[Any, ...]] = {
    ActionKind.STEP: (ev.Handled, ev.Indicated, ev.Performed),
    ActionKind.REQUEST: (ev.Requested,),
    ActionKind.RECEIVE: (ev.Received, ev.Disconnected),
    ActionKind.LOSE: (ev.Lost,),
    ActionKind.CRASH: (ev.Crashed,),
    ActionKind.EFFECT: (
        ev.Resumed,
        ev.CopyLeft,
        ev.Sent,
        ev.Indicated,
        ev.Performed,
        ev.Stored,
        ev.Synced,
        ev.TimerChanged,
        ev.Handled,
    ),
    ActionKind.RECOVER: (ev.Recovered,),
    ActionKind.TIMEOUT: (ev.TimedOut, ev.Handled),
    ActionKind.DETECT: (ev.OracleIndicated,),
    ActionKind.FORGE: (ev.Forged,),
    ActionKind.WORLD: (ev.World,),
}
"""The kinds of events that can be a step's headline, by kind of action, the best one first."""


def leading_kinds(kind: ActionKind) -> frozenset[str]:
    """Returns the names of the kinds of events that can be the headline of a step of ``kind``."""
    classes = (
        each
        for wanted in LEADING[kind]
        for each in (*wanted.__subclasses__(), *([] if wanted is ev.World else [wanted]))
    )
    return frozenset(str(each.__struct_config__.tag) for each in classes)


def leading(kind: StepKind, events: tuple[ev.Event, ...]) -> ev.Event | None:
    """Returns the event that is the headline of a step of ``kind``; ``None`` if there is none."""
    if kind == START:
        return None
    found = (e for wanted in LEADING[ActionKind(kind)] for e in events if isinstance(e, wanted))
    return next(found, None)


def headline(step: Step) -> str:
    """Returns a step as one sentence, without a full stop."""
    if step.kind == START:
        shared = [assignment(e) for e in step.events if isinstance(e, ev.Chosen) and not e.process]
        return f"the start: {listing(shared)}" if shared else "the start"
    lead = leading(step.kind, step.events)
    said = sentence(lead) if lead is not None else going_on(step.process, step.inner) or step.action
    if crashes_inside(step):
        return f"{said}, and {next(stops(e) for e in step.events if isinstance(e, ev.Crashed))}"
    return f"{said}, and pauses" if pauses_inside(step) else said


def going_on(process: str, inner: str) -> str:
    """Returns the text of a step that only continues inside the handler ``inner``, with no visible
    event; empty if ``inner`` is empty."""
    return f"{process} goes on with {inner}" if inner else ""


def crashes_inside(step: Step) -> bool:
    """Returns whether a process crashes inside the handler that runs in ``step``."""
    return step.kind != "crash" and any(isinstance(e, ev.Crashed) for e in step.events)


def pauses_inside(step: Step) -> bool:
    """Returns whether a process pauses inside the handler that runs in ``step``."""
    return step.kind != "world" and any(isinstance(e, ev.Paused) for e in step.events)


def is_led_by(step: Step, event: ev.Event) -> bool:
    """Returns whether the headline of ``step`` begins with ``event``."""
    return event == leading(step.kind, step.events)


def beside_headline(step: Step) -> Iterator[ev.Event]:
    """Yields the events of ``step`` that its headline does not show, except handlers."""
    for event in step.events:
        if not isinstance(event, ev.Handled) and (
            crashes_inside(step) or not is_led_by(step, event)
        ):
            yield event


def cut_text(event: ev.Event) -> str:
    """Returns the text for an effect of a handler that a crash prevented."""
    return f"it crashed before this: {sentence(event)}"


def outcome_texts(step: Step) -> Iterator[str]:
    """Yields the results of ``step``: its events, and the variables that it changes."""
    yield from map(sentence, beside_headline(step))
    yield from map(cut_text, step.cut)
    for change in step.changes:
        if not change.quiet:
            whose = f" of {change.process}" if change.process else ""
            yield f"{change.title}{whose}: {change.before} → {change.after}"


def act_never_done(lack: Lack) -> str:
    """Returns ``act a is never performed`` for an external action that a property requires."""
    never = "never has its effect" if lack.operator == "effects" else "is never performed"
    return f"act {lack.indication} {never}"
