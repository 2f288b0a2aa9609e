"""Turns the marks that a transition passes into events of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from checker.diagnostics import Span
from checker.instantiate.faults.fault_marks import WITH_CRASH
from checker.model import interpreter
from checker.model.build import author_of
from checker.model.ir import WORLD, MarkInfo, MarkKind, SourceLocation, TransitionSystem
from checker.model.types import SetT, Value
from checker.resources import display_name
from checker.results import events as ev
from checker.results.events import At, Call, Event, Named, Passage
from checker.results.show_values import show

SILENT = frozenset({MarkKind.BRANCH, MarkKind.MESSAGE, MarkKind.POINT})
"""Marks that record what a search has covered; a trace leaves them out."""

OF_ONE_MESSAGE = frozenset({MarkKind.RECEIVE, MarkKind.LOSE, MarkKind.COPY, MarkKind.FORGE})
"""Marks whose third argument is the message that the step is about."""


_HAPPENS: Mapping[MarkKind, type[ev.Crashed | ev.Recovered | ev.Paused | ev.Resumed]] = {
    MarkKind.CRASH: ev.Crashed,
    MarkKind.POWER: ev.PowerFailed,
    MarkKind.WIPE: ev.DiskLost,
    MarkKind.RECOVER: ev.Recovered,
    MarkKind.PAUSE: ev.Paused,
    MarkKind.RESUME: ev.Resumed,
}
"""The event of each mark that says only which process it happened to."""


def trace_events(
    system: TransitionSystem, events: Iterable[interpreter.Event]
) -> tuple[Event, ...]:
    """Returns ``events`` as a trace holds them."""
    return tuple(event_of(system, e) for e in events if system.marks[e.mark].kind not in SILENT)


def acting(system: TransitionSystem, events: Iterable[interpreter.Event]) -> str:
    """Returns the process whose step has ``events``; where a Byzantine one sends, that is the
    receiver.

    Empty where it is the step of no process.
    """
    first = ""
    for event in events:
        info = system.marks[event.mark]
        if info.kind is MarkKind.FORGE:
            return show(info.types[1], event.args[1])
        nobodys = info.kind in (*SILENT, *WORLD, MarkKind.PAUSE) or not event.args
        nobodys = nobodys or (
            info.kind in (MarkKind.CHOICE, MarkKind.COIN) and len(event.args) == 1
        )
        if not first and not nobodys:
            first = show(info.types[0], event.args[0])
    return first


def about(system: TransitionSystem, events: Iterable[interpreter.Event]) -> str | None:
    """Returns the message that a step with ``events`` receives, loses or forges, or of which a copy
    leaves; ``None`` if it concerns no message."""
    for event in events:
        info = system.marks[event.mark]
        if info.kind in OF_ONE_MESSAGE:
            return show(info.types[2], event.args[2])
    return None


def at(place: SourceLocation | None) -> At | None:
    """Returns a source location, as a trace holds it."""
    return None if place is None else At(display_name(place.file), place.line, place.column)


def passage(span: Span) -> Passage:
    """Returns a source range, as a report holds it."""
    begin = At(display_name(span.file), span.line, span.column)
    return Passage(begin, span.end_line, span.end_column)


def _keyed(timer: str, key: list[str]) -> str:
    """Returns the name of a timer as it is written in the spec: ``lease[p1]``."""
    return f"{timer}[{', '.join(key)}]" if key else timer


def _cause_of_loss(info: MarkInfo, told: list[str]) -> tuple[str, str]:
    """Returns who omits a message, and who is down; both are empty for a loss on a link."""
    who = "".join(told[2:])
    return ("", who) if info.text == WITH_CRASH else (who, "")


def event_of(system: TransitionSystem, event: interpreter.Event) -> Event:
    """Returns what a mark that is not ``SILENT`` records, as an event."""
    info = system.marks[event.mark]
    texts = [show(t, v) for t, v in zip(info.types, event.args, strict=True)]
    first, *rest = texts or [""]
    place: Any = {"at": at(info.place)}
    who: Any = {"process": first, **place}
    match info.kind:
        case MarkKind.HANDLER | MarkKind.BRANCH | MarkKind.MESSAGE | MarkKind.POINT:
            return ev.Handled(info.text, _authors(info.names[1:], rest), **who)
        case MarkKind.SEND:
            return ev.Sent(rest[1], members_shown(info, event.args), **who)
        case MarkKind.COPY:
            return ev.CopyLeft(rest[1], rest[0], **who)
        case MarkKind.RECEIVE:
            return ev.Received(rest[1], rest[0], **who)
        case MarkKind.LOSE:
            return ev.Lost(rest[1], rest[0], *_cause_of_loss(info, rest), **who)
        case MarkKind.FORGE:
            return ev.Forged(rest[1], rest[0], "".join(n for n in rest[2:] if n != first), **who)
        case MarkKind.REQUEST:
            return ev.Requested(_call(info, rest), **who)
        case MarkKind.INDICATION:
            return ev.Indicated(_call(info, rest), **who)
        case MarkKind.DETECT:
            return ev.OracleIndicated(_call(info, rest), **who)
        case (
            MarkKind.CRASH
            | MarkKind.POWER
            | MarkKind.WIPE
            | MarkKind.RECOVER
            | MarkKind.PAUSE
            | MarkKind.RESUME
        ):
            return _HAPPENS[info.kind]("".join(rest), **who)
        case MarkKind.PERFORM:
            return ev.Performed(", ".join(rest), **who)
        case MarkKind.STORE | MarkKind.LEFT:
            kept = ev.Stored if info.kind is MarkKind.STORE else ev.Left
            return kept(info.text, ", ".join(rest), **who)
        case MarkKind.SYNC | MarkKind.FAIL_SYNC:
            synced = ev.Synced if info.kind is MarkKind.SYNC else ev.SyncFailed
            return synced(info.text, **who)
        case MarkKind.TIMER:
            does, _, timer = info.text.partition(" ")
            return ev.TimerChanged(does, _keyed(timer, rest), **who)
        case MarkKind.TIMEOUT:
            return ev.TimedOut(_keyed(info.text, rest), **who)
        case MarkKind.ALTERNATIVE:
            return ev.AlternativeTaken(info.text, **who)
        case MarkKind.CHOICE | MarkKind.COIN:
            chosen = ev.Chosen if info.kind is MarkKind.CHOICE else ev.Drawn
            return chosen(info.text, texts[-1], process="".join(texts[:-1]), **place)
        case MarkKind.PARTITION:
            return ev.Partitioned(_members(info, event.args, 0), **place)
        case MarkKind.HEAL:
            return ev.Healed(**place)
        case MarkKind.CUT:
            return ev.Cut(*_ends(info, event.args), **place)
        case MarkKind.MEND:
            return ev.CutHealed(*_ends(info, event.args), **place)
        case MarkKind.RESET:
            return ev.Reset(*_members(info, event.args, 0), **place)
        case MarkKind.DISCONNECT:
            return ev.Disconnected(rest[0], **who)
        case MarkKind.OMIT:
            return ev.TurnedFaulty(first, **place)
        case MarkKind.FORESEE:
            return ev.CrashForeseen(first, **place)
        case MarkKind.ASK:
            oracle, _, operator = info.text.rpartition(".")
            return ev.OracleAsked(first, oracle, Call(operator, tuple(rest)), **place)
        case MarkKind.SETTLE:
            return ev.DetectorSettled(first, **place)
        case MarkKind.TICK:
            return ev.ClockTicked(first, **place)
        case MarkKind.TICKS:
            return ev.ClocksTicked(**place)
        case MarkKind.ROUND:
            return ev.RoundEnded(**place)
        case MarkKind.SYNCHRONY:
            return ev.BecameSynchronous(**place)
        case _:
            assert_never(info.kind)


def _ends(info: MarkInfo, args: tuple[Value, ...]) -> tuple[str, str, bool]:
    """Returns the ends of a link that is cut or heals, and whether it is one way only."""
    one_way = len(args) == 2
    parts = range(2) if one_way else (0,)
    first, second = (end for part in parts for end in _members(info, args, part))
    return first, second, one_way


def _call(info: MarkInfo, rest: list[str]) -> Call:
    return Call(info.text, tuple(rest), _authors(info.names[1:], rest))


def _authors(names: tuple[str, ...], texts: list[str]) -> Named:
    """Returns names with values, without names that the tool generated."""
    pairs = zip(names, texts, strict=False)
    authors = ((author_of(name), text) for name, text in pairs)
    return tuple((name, text) for name, text in authors if name and not name.startswith("_"))


def members_shown(info: MarkInfo, args: tuple[Value, ...]) -> tuple[str, ...]:
    """Returns the receivers of a ``SEND`` mark, in order."""
    return _members(info, args, 1)


def _members(info: MarkInfo, args: tuple[Value, ...], position: int) -> tuple[str, ...]:
    """Returns the processes in a set of them, in order, or the one that is not in a set."""
    type_, value = info.types[position], args[position]
    if not isinstance(type_, SetT):
        return (show(type_, value),)
    assert isinstance(value, frozenset)
    return tuple(show(type_.item, v) for v in sorted(value))
