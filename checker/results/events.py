"""Turns the marks that a transition passes into events of a trace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from checker.model import interpreter
from checker.model.ir import FLIP, MarkInfo, MarkKind, SourceLocation, TransitionSystem
from checker.model.types import SetT, Value
from checker.records import replace
from checker.resources import display_name
from checker.results.phrases import detector_output_text
from checker.results.show_values import show
from checker.results.trace import At, Event

SILENT = frozenset({MarkKind.BRANCH, MarkKind.MESSAGE, MarkKind.POINT})
"""Marks that record what a search has covered; a trace leaves them out."""

OF_ONE_MESSAGE = frozenset({MarkKind.RECEIVE, MarkKind.LOSE, MarkKind.COPY, MarkKind.FORGE})
"""Marks whose third argument is the message that the step is about."""


def trace_events(
    system: TransitionSystem, events: Iterable[interpreter.Event]
) -> tuple[Event, ...]:
    """Returns ``events`` as a trace holds them."""
    return tuple(tell(system, e) for e in events if system.marks[e.mark].kind not in SILENT)


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
        nobodys = info.kind in SILENT or info.kind is MarkKind.WORLD or not event.args
        nobodys = nobodys or (
            info.kind in (MarkKind.CHOICE, MarkKind.COIN) and len(event.args) == 1
        )
        if not first and not nobodys:
            first = show(info.types[0], event.args[0])
    return first


def about(system: TransitionSystem, events: Iterable[interpreter.Event]) -> str | None:
    """Returns the message that a step with ``events`` receives, loses or forges, or of which a copy
    leaves; ``None`` where it is about none."""
    for event in events:
        info = system.marks[event.mark]
        if info.kind in OF_ONE_MESSAGE:
            return show(info.types[2], event.args[2])
    return None


def tell(system: TransitionSystem, event: interpreter.Event) -> Event:
    """Returns one event in words and in data."""
    info = system.marks[event.mark]
    return replace(_trace_event(info, event), at=at(info.place))


def at(place: SourceLocation | None) -> At | None:
    """Returns a source location, as a trace holds it."""
    return None if place is None else At(display_name(place.file), place.line, place.column)


def _trace_event(info: MarkInfo, event: interpreter.Event) -> Event:
    texts = [show(t, v) for t, v in zip(info.types, event.args, strict=True)]
    who = texts[0] if texts else ""
    match info.kind:
        case MarkKind.SEND | MarkKind.RECEIVE | MarkKind.LOSE | MarkKind.COPY | MarkKind.FORGE:
            return _of_message(info, event, texts)
        case MarkKind.HANDLER | MarkKind.BRANCH | MarkKind.MESSAGE | MarkKind.POINT:
            named = _named_values(info, texts)
            return _event(info, f"{who}: {info.text}", who, info.text, arguments=named)
        case MarkKind.REQUEST | MarkKind.INDICATION | MarkKind.DETECT:
            return _of_operator(info, texts)
        case MarkKind.CRASH:
            return _event(info, f"{who} crashes", who)
        case MarkKind.RECOVER:
            return _event(info, f"{who} comes back up", who)
        case MarkKind.PERFORM:
            act = ", ".join(texts[1:])
            return _event(info, f"{who} performs {act}", who, act)
        case MarkKind.STORE:
            value = ", ".join(texts[1:])
            return _event(
                info, f"{who} stores {info.text} = {value}", who, f"{info.text} = {value}"
            )
        case MarkKind.CHOICE:
            *whose, value = texts
            said = f"{info.text} = {value}"
            of = f"{whose[0]} starts" if whose else "the run starts"
            return _event(info, f"{of} with {said}", "".join(whose), said)
        case MarkKind.COIN:
            *whose, value = texts
            said = f"{info.text} = {value}" if info.text else value
            if not whose:
                return _event(info, f"chance shows {said}", "", said)
            does = f"flips {value}" if info.text == FLIP else f"draws {said}"
            return _event(info, f"{who} {does}", who, said)
        case MarkKind.TIMER:
            verb, _, name = info.text.partition(" ")
            said = f"{verb}s {timer(name)}"
            return _event(info, f"{who} {said}", who, said)
        case MarkKind.TIMEOUT:
            name = timer(info.text).removeprefix("the ")
            return _event(info, f"{who}'s {name} expires", who, info.text)
        case MarkKind.WORLD:
            said = info.text.format(*texts)
            return _event(info, said, name=said, arguments=_pairs(info.names, texts))
        case _:
            assert_never(info.kind)


def timer(name: str) -> str:
    """Returns a timer in words; the one without a name is the empty one."""
    return f"the timer `{name}`" if name else "the timer"


def _of_message(info: MarkInfo, event: interpreter.Event, texts: list[str]) -> Event:
    first, second, message, *claimed = texts
    match info.kind:
        case MarkKind.SEND:
            to = members_shown(info, event.args)
            said = f"{first} sends {message} to {', '.join(to) or 'nobody'}"
            return _event(info, said, first, message=message, peers=to)
        case MarkKind.RECEIVE:
            said = f"{first} receives {message} from {second}"
        case MarkKind.LOSE if claimed:
            (by,) = claimed
            said = f"{by} omits {message} from {first} to {second}"
            return _event(info, said, first, by, message, (second,))
        case MarkKind.LOSE:
            said = f"the link loses {message} from {first} to {second}"
        case MarkKind.FORGE:
            sender = claimed[0] if claimed else first
            said = f"{first}, which is Byzantine, makes {second} receive {message} from {sender}"
            return _event(info, said, first, message=message, peers=(second,))
        case _:
            said = f"{message} leaves {first} for {second}"
    return _event(info, said, first, message=message, peers=(second,))


def _of_operator(info: MarkInfo, texts: list[str]) -> Event:
    """Returns the event of a request, an indication, or an output of an oracle."""
    who, *given = texts
    call = f"{info.text}({', '.join(given)})"
    arguments = _named_values(info, texts)
    if info.kind is MarkKind.REQUEST:
        return _event(info, f"{who} is asked: {call}", who, call, arguments=arguments)
    if info.kind is MarkKind.INDICATION:
        return _event(info, f"{who} indicates {call}", who, call, arguments=arguments)
    path, _, operator = info.text.rpartition(".")
    thinks = detector_output_text(call)
    if thinks:
        said = f"the detector tells {who} that it {thinks}"
    else:
        oracle = f"the oracle `{path}`" if path else "the oracle"
        said = f"{oracle} indicates {operator}({', '.join(given)}) to {who}"
    return _event(info, said, who, call, arguments=arguments)


def _event(
    info: MarkInfo,
    sentence: str,
    process: str = "",
    name: str = "",
    message: str = "",
    peers: tuple[str, ...] = (),
    arguments: tuple[tuple[str, str], ...] = (),
) -> Event:
    return Event(info.kind.value, sentence, process, name, message, peers, arguments)


def _named_values(info: MarkInfo, texts: list[str]) -> tuple[tuple[str, str], ...]:
    """Returns bound names with values, without the process."""
    return _pairs(info.names[1:], texts[1:])


def _pairs(names: tuple[str, ...], texts: list[str]) -> tuple[tuple[str, str], ...]:
    """Returns names with values, without names that the tool generated."""
    pairs = zip(names, texts, strict=False)
    authors = ((name.partition(".")[0], text) for name, text in pairs)
    return tuple((name, text) for name, text in authors if name and not name.startswith("_"))


def members_shown(info: MarkInfo, args: tuple[Value, ...]) -> tuple[str, ...]:
    """Returns the receivers of a ``SEND`` mark, in order."""
    type_, value = info.types[1], args[1]
    if not isinstance(type_, SetT):
        return (show(type_, value),)
    assert isinstance(value, frozenset)
    return tuple(show(type_.item, v) for v in sorted(value))
