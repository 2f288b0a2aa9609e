"""The marks that a transition passes, told one by one."""

from __future__ import annotations

from typing import assert_never

from checker.system import interpreter
from checker.system.ir import MarkInfo, MarkKind, TransitionSystem
from checker.system.types import SetT, Value
from checker.witness.show import show
from checker.witness.trace import Event


def tell(system: TransitionSystem, event: interpreter.Event) -> Event:
    """``event`` as a trace holds it."""
    info = system.marks[event.mark]
    texts = [show(t, v) for t, v in zip(info.types, event.args, strict=True)]
    who = texts[0] if texts else ""
    match info.kind:
        case MarkKind.HANDLER | MarkKind.BRANCH:
            named = _named(info, texts)
            return _event(info, f"{who}: {info.text}", who, info.text, arguments=named)
        case MarkKind.SEND:
            to = members_shown(info, event.args)
            told = f"{who} sends {texts[2]} to {', '.join(to) or 'nobody'}"
            return _event(info, told, who, message=texts[2], peers=to)
        case MarkKind.RECEIVE:
            told = f"{who} receives {texts[2]} from {texts[1]}"
            return _event(info, told, who, message=texts[2], peers=(texts[1],))
        case MarkKind.LOSE:
            told = f"the link loses {texts[2]} from {who} to {texts[1]}"
            return _event(info, told, who, message=texts[2], peers=(texts[1],))
        case MarkKind.COPY:
            told = f"{texts[2]} leaves {who} for {texts[1]}"
            return _event(info, told, who, message=texts[2], peers=(texts[1],))
        case MarkKind.REQUEST:
            call = f"{info.text}({', '.join(texts[1:])})"
            told = f"{who} is asked: {call}"
            return _event(info, told, who, call, arguments=_named(info, texts))
        case MarkKind.INDICATION:
            call = f"{info.text}({', '.join(texts[1:])})"
            return _event(info, f"{who} indicates {call}", who, call, arguments=_named(info, texts))
        case MarkKind.CRASH:
            return _event(info, f"{who} crashes", who)
        case _:
            assert_never(info.kind)


def _event(
    info: MarkInfo,
    sentence: str,
    process: str,
    name: str = "",
    message: str = "",
    peers: tuple[str, ...] = (),
    arguments: tuple[tuple[str, str], ...] = (),
) -> Event:
    return Event(info.kind.value, sentence, process, name, message, peers, arguments)


def _named(info: MarkInfo, texts: list[str]) -> tuple[tuple[str, str], ...]:
    """Bound names with values, without the process and without names that the tool made up."""
    pairs = zip(info.names[1:], texts[1:], strict=False)
    authors = ((name.partition(".")[0], text) for name, text in pairs)
    return tuple((name, text) for name, text in authors if name and not name.startswith("_"))


def members_shown(info: MarkInfo, args: tuple[Value, ...]) -> tuple[str, ...]:
    """The receivers of a ``SEND`` mark, in order."""
    type_, value = info.types[1], args[1]
    if not isinstance(type_, SetT):
        return (show(type_, value),)
    assert isinstance(value, frozenset)
    return tuple(show(type_.item, v) for v in sorted(value))
