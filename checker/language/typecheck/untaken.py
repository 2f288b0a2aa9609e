"""Finds messages that are sent although no handler takes them and nothing counts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checker.diagnostics import Diagnostic, Span
from checker.language.syntax import typed
from checker.language.syntax.walk import nodes_of, parts

CODE = "C023"


def untaken_messages(
    protocol: typed.Protocol, formulas: Iterable[typed.Expr]
) -> Iterator[Diagnostic]:
    """Yields a warning for each message that ``protocol`` sends, and that neither a handler takes
    nor ``received`` counts, in its code or in ``formulas``; of what goes to one role, there."""
    counted = {n.message for n in nodes_of(tuple(formulas)) if isinstance(n, typed.Received)}
    taken = {role.name: _taken(role, protocol) | counted for role in protocol.roles}
    anywhere = frozenset[str]().union(*taken.values())
    told: set[tuple[str, str]] = set()
    for role in protocol.roles:
        for message, to, span in _sent(role):
            where = to if to and message in anywhere else ""
            if message in taken.get(where, anywhere) or (message, where) in told:
                continue
            told.add((message, where))
            whose = f" of `{where}`" if where else ""
            hint = f"write `upon receive {message}…`, or count it: `received({message}…)`"
            said = f"`{message}` is sent, but no handler{whose} receives it"
            yield Diagnostic(CODE, said, span, hint=hint, severity="warning")


def _taken(role: typed.Role, protocol: typed.Protocol) -> frozenset[str]:
    """Returns the messages that handlers of ``role`` take or count."""
    found: set[str] = set()
    for handler in role.handlers:
        match handler.event:
            case typed.OnReceive(message):
                found.add(message)
            case typed.OnIndication(_, _, patterns):
                found.update(_matched(patterns, protocol))
            case _:
                pass
        found.update(n.message for n in nodes_of(handler) if isinstance(n, typed.Received))
    return frozenset(found)


def _matched(patterns: Iterable[typed.Pattern], protocol: typed.Protocol) -> Iterator[str]:
    """Yields the messages that can be what one of ``patterns`` matches, or a part of it."""
    for node in nodes_of(tuple(patterns)):
        match node:
            case typed.Match(_, message):
                yield message
            case typed.Bind(kind) | typed.Ignore(kind) | typed.Equals(kind):
                if _has_messages(kind):
                    yield from (message.name for message in protocol.messages)
            case _:
                pass


def _has_messages(kind: object) -> bool:
    """Returns whether values of the type ``kind`` are messages of the protocol, or have some in
    them: ``option<Msg>`` of a layer's return, say."""
    if isinstance(kind, tuple):
        return any(map(_has_messages, kind))
    return isinstance(kind, typed.Message) or any(map(_has_messages, parts(kind)))


def _sent(role: typed.Role) -> Iterator[tuple[str, str, Span]]:
    """Yields the messages that handlers of ``role`` make, to send them now or later, each with the
    role that it goes to, where that is written, and its place."""
    for handler in role.handlers:
        sends = [node for node in nodes_of(handler.body) if isinstance(node, typed.Send)]
        to = {
            id(send.message): send.receivers.role or ""
            for send in sends
            if isinstance(send.receivers, typed.Processes)
        }
        for node in nodes_of(handler.body):
            if isinstance(node, typed.Construct):
                yield node.message, to.get(id(node), ""), node.span
