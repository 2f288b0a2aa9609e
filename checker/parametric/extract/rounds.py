"""Protocols in rounds: what one round of them is.

A protocol is in rounds if a variable ``round: 1..last``, where ``last`` is any number, begins as 1
and is only ever increased by 1, and messages carry it.  It is *communication-closed* (T. Elrad,
N. Francez: Decomposition of distributed programs into communication-closed layers, Science of
Computer Programming 2, 1982) if a process sends messages of its round only, and reads those of its
round only.  Then the steps of every execution can be sorted by rounds, and each process still does
the same: a step depends on earlier steps of its process, and on messages of its round, which were
sent by steps of that round.  The number of the round no longer matters; whether it is the last one
is left open wherever a handler asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from checker.diagnostics import Span
from checker.instantiate.protocol.walk import nodes
from checker.language.syntax import typed
from checker.language.syntax.walk import mapped
from checker.parametric.automaton.fragment import FragmentErrors, Leaves
from checker.records import replace

ENTERS = "next round"
"""The operator of what is assigned to the variable where a process enters the next round."""

KIND = "this round"
"""The name that a handler has for what is known of the round: that there are more, or that it is
the last one.  It is chosen whenever a handler runs, and where it enters a round."""

EARLIER, LAST = 0, 1


class Rounds(Struct, frozen=True):
    """``variable``: has the number of the round, in the messages that ``places`` names at which
    position; ``last``: the parameter that is the number of the last one."""

    variable: typed.StateDecl
    last: str
    places: dict[str, int]


def one_round(check: typed.Check, found: FragmentErrors) -> typed.Check:
    """Returns ``check``, about all sizes, without numbers of rounds: messages are those of the
    round in which a process is.

    What is not communication-closed is added to ``found`` (E161), and what properties say of
    rounds (E163).  A protocol that is not in rounds is returned as it is.
    """
    rounds = rounds_of(check)
    return check if rounds is None else _Closing(check, rounds, found).check()


def rounds_of(check: typed.Check) -> Rounds | None:
    """Returns how the protocol of ``check`` is in rounds, or ``None`` where it is not."""
    free = {p.name for p in check.protocol.parameters} & {*check.every}
    for role in check.protocol.roles[:1]:
        for decl in role.states:
            last = _bound(decl.type)
            places = {
                message.name: position
                for message in check.protocol.messages
                for position, (_, type_) in enumerate(message.fields)
                if last is not None and _bound(type_) == last
            }
            if last in free and places:
                return Rounds(decl, last, places)
    return None


def _bound(type_: typed.Type) -> str | None:
    """Returns the parameter ``last`` of a type ``1..last``."""
    match type_:
        case typed.Int(typed.Literal(_, 1, _), typed.Param(_, name, _)):
            return name
        case _:
            return None


def _number(value: int, span: Span) -> typed.Literal:
    return typed.Literal(typed.Int(), value, span)


class _Closing:
    """Rewrites a check without numbers of rounds, and collects the places where it is not
    communication-closed."""

    def __init__(self, check: typed.Check, rounds: Rounds, found: FragmentErrors) -> None:
        self.whole, self.rounds, self.found = check, rounds, found
        self.name = rounds.variable.name
        span = rounds.variable.span
        self.kinds = typed.Int(_number(EARLIER, span), _number(LAST, span))

    def check(self) -> typed.Check:
        protocol, (role, *others) = self.whole.protocol, self.whole.protocol.roles
        for leaves in (*self._start(role), *self._properties()):
            self.found.add(leaves)
        states = tuple(decl for decl in role.states if decl.name != self.name)
        choices = tuple(choice for choice in role.choices if choice.name != self.name)
        handlers = tuple(self._handler(handler) for handler in role.handlers)
        role = replace(role, states=states, choices=choices, handlers=handlers)
        messages = tuple(
            replace(each, fields=self._without(each.name, each.fields))
            for each in protocol.messages
        )
        return replace(
            self.whole, protocol=replace(protocol, roles=(role, *others), messages=messages)
        )

    def _start(self, role: typed.Role) -> Iterator[Leaves]:
        decl = self.rounds.variable
        match decl.initial:
            case typed.Literal(_, 1, _) | None:
                pass
            case _:
                yield _open(f"`{self.name}` does not begin as 1", decl.span, "write `= 1`")
        for choice in role.choices:
            if choice.name == self.name:
                message = f"processes may begin with different values of `{self.name}`"
                yield _open(message, choice.span, f"let all begin with `{self.name} = 1`")

    def _properties(self) -> Iterator[Leaves]:
        for definition in self.whole.prove:
            read = (n for n in nodes(definition.formula) if isinstance(n, typed.StateRef))
            first = next((n for n in read if n.name == self.name), None)
            if first is not None:
                message = f"`{definition.name}` reads `{self.name}`, the number of a round"
                hint = "say it of variables that stay as they are, such as a decision"
                yield Leaves("E163", message, first.span, hint)

    # ---- declarations -------------------------------------------------------------------------

    def _handler(self, handler: typed.Handler) -> typed.Handler:
        match handler.event:
            case typed.OnReceive():
                message = f"`{handler.label}` takes a message of any round, when it arrives"
                hint = f"count those of this round: `upon condition #received(M({self.name})) >= k`"
                self.found.add(_open(message, handler.span, hint))
                return handler
            case typed.OnCondition(_, free) if any(_bound(type_) for _, type_ in free):
                message = f"`{handler.label}` reads messages of any round"
                hint = f"count those of this round: `#received(M({self.name}))`"
                self.found.add(_open(message, handler.span, hint))
        made: typed.Handler = self._change(handler)
        asks = any(isinstance(n, typed.Local) and n.name == KIND for n in nodes(made))
        enters = [n for n in nodes(made.body) if isinstance(n, typed.Operation) and n.op == ENTERS]
        if not asks and not enters:
            return made
        match made.event:
            case typed.OnCondition(_, free):
                event = replace(made.event, free=(*free, (KIND, self.kinds)))
                return replace(made, event=event)
            case _:
                message = f"`{handler.label}` asks for the round, or enters the next one"
                hint = "do that in a handler `upon condition …`"
                self.found.add(_open(message, handler.span, hint))
                return made

    def _without(self, message: str, fields: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns the ``fields`` of a message without the number of the round."""
        at = self.rounds.places.get(message)
        return fields if at is None else (*fields[:at], *fields[at + 1 :])

    # ---- code ---------------------------------------------------------------------------------

    def _mine(self, expr: object) -> bool:
        """Returns whether ``expr`` is the number of the round of the process itself."""
        return isinstance(expr, typed.StateRef) and expr.name == self.name and expr.owner is None

    def _change(self, node: Any) -> Any:
        match node:
            case typed.Int():
                return node
            case typed.Assign(typed.StateRef() as target, value, span) if self._mine(target):
                return self._assign(target, value, span)
            case typed.Operation(_, op, (left, typed.Param(_, self.rounds.last, _)), span) if (
                self._mine(left) and op in _FINAL
            ):
                kind = typed.Local(self.kinds, KIND, left.span)
                return typed.Operation(node.type, "==", (kind, _number(_FINAL[op], span)), span)
            case typed.Construct(_, message, args, span):
                at = self.rounds.places.get(message)
                if at is not None and not self._mine(args[at]):
                    text = f"a message of a round is sent that is not `{self.name}`"
                    hint = f"send `{message}({self.name}, …)`"
                    self.found.add(_open(text, args[at].span, hint))
                return replace(node, args=self._change(self._without(message, args)))
            case typed.Received():
                return self._received(node)
            case typed.StateRef(_, _, _, _, span) if self._mine(node):
                text = f"what a process does depends on the number `{self.name}`"
                hint = f"use `{self.name} < {self.rounds.last}` and `{self.name} += 1` only"
                self.found.add(_open(text, span, hint))
                return node
            case typed.Param(_, self.rounds.last, span):
                text = f"what a process does depends on the number `{self.rounds.last}`"
                hint = f"use it in `{self.name} < {self.rounds.last}` only"
                self.found.add(_open(text, span, hint))
                return node
            case _:
                return mapped(node, self._change)

    def _assign(self, target: typed.StateRef, value: typed.Expr, span: Span) -> typed.Assign:
        match value:
            case typed.Operation(_, "+", (own, typed.Literal(_, 1, _)), _) if self._mine(own):
                pass
            case _:
                text = f"`{self.name}` changes by something other than 1"
                hint = f"write `{self.name} += 1`: each process passes every round"
                self.found.add(_open(text, span, hint))
        return typed.Assign(target, typed.Operation(self.kinds, ENTERS, (), span), span)

    def _received(self, node: typed.Received) -> typed.Received:
        at = self.rounds.places.get(node.message)
        if at is None:
            text = f"`{node.message}` has no round, and processes of all rounds may send it"
            hint = f"give it a field of type `1..{self.rounds.last}`"
            self.found.add(_open(text, node.span, hint))
            return node
        pattern = node.patterns[at]
        if not (isinstance(pattern, typed.Equals) and self._mine(pattern.value)):
            text = f"messages of a round are counted that is not `{self.name}`"
            hint = f"count `#received({node.message}({self.name}, …))`"
            self.found.add(_open(text, node.span, hint))
        patterns = self._change(self._without(node.message, node.patterns))
        return replace(node, patterns=patterns)


_FINAL = {"<": EARLIER, "!=": EARLIER, "==": LAST, ">=": LAST}
"""By comparisons with the last round, what they say of a round."""


def _open(message: str, span: Span, hint: str) -> Leaves:
    return Leaves("E161", message, span, hint)
