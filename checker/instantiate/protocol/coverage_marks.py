"""Defines coverage marks: the messages, branches and crash points that a search has reached."""

from __future__ import annotations

from checker.diagnostics import Span
from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.world import Instance, World
from checker.language.syntax import typed
from checker.model import ir
from checker.model.ir import TRUE, Block, Expr, MarkInfo, MarkKind, SourceLocation
from checker.model.types import VariantT


def register_messages(world: World) -> None:
    """Registers every message type, so that a type which is never sent is reported."""
    for instance in world.instances:
        for decl in instance.protocol.messages:
            _message(world, instance, decl.name)


def _message(world: World, instance: Instance, name: str) -> ir.Mark:
    decl = next(d for d in instance.protocol.messages if d.name == name)
    path = instance.family.replace("[_]", "")
    info = MarkInfo(
        MarkKind.MESSAGE,
        f"{path}{name}",
        required=not instance.protocol.shipped,
        place=world.place(decl.span),
    )
    return ir.Mark(world.mark(info))


def message_mark(env: Env, message: typed.Expr) -> Block:
    """Returns the mark of the type of a message that is passed to a link or to a layer below."""
    world, instance = env.world, env.instance
    if isinstance(message, typed.Construct):
        return (_message(world, instance, message.message),)
    if not isinstance(message.type, typed.Message):
        return ()
    value = lower(message, env)
    assert isinstance(value.type, VariantT)
    result: list[ir.Stmt] = []
    for index, case in enumerate(value.type.cases):
        tag = TRUE if len(value.type.cases) == 1 else ir.IsCase(value, index)
        this = _message(world, instance, case.name)
        result.append(this if tag == TRUE else ir.If(tag, (this,)))
    return tuple(result)


def branch(world: World, which: str, span: Span) -> Block:
    """Returns the mark of a branch of the statement at ``span``, where coverage is enabled."""
    if not world.coverage:
        return ()
    place = world.place(span)
    return (ir.Mark(world.mark(MarkInfo(MarkKind.BRANCH, which, place=place))),)


def point(
    world: World, effect: str, args: tuple[Expr, ...] = (), place: SourceLocation | None = None
) -> Block:
    """Returns the mark of the crash point just before an effect, where coverage is enabled."""
    if not world.coverage:
        return ()
    text = f"before {_effect_text(world, effect, args)}{_handler(world, place)}"
    return (ir.Mark(world.mark(MarkInfo(MarkKind.POINT, text, place=place))),)


def _effect_text(world: World, effect: str, args: tuple[Expr, ...]) -> str:
    """Returns an effect approximately as it is written in the spec."""
    kind, _, name = effect.partition(".")
    match kind:
        case "send":
            return f"`{' '.join(('send', *_message_in(args[-1:])))}`"
        case "store":
            return f"the write of `{world.variables[name].title}`"
        case "indicate":
            return f"`{name}(…)`"
        case "request":
            return f"the request `{name}`"
        case _:
            return f"`{effect}`"


def _message_in(args: tuple[Expr, ...]) -> tuple[str, ...]:
    """Returns the type of the message that is sent, where it is a literal."""
    for arg in args:
        if isinstance(arg, ir.Make) and isinstance(arg.type, VariantT):
            if arg.type.name == "network":
                return _message_in(arg.args)
            return (arg.type.cases[arg.case].name,)
    return ()


def _handler(world: World, place: SourceLocation | None) -> str:
    """Returns the handler that contains ``place``."""
    if place is None:
        return ""
    place = place.caller
    best: tuple[Span, str] | None = None
    for instance in world.instances:
        for role in instance.protocol.roles:
            for handler in role.handlers:
                span = handler.span
                begins = (span.line, span.column) <= (place.line, place.column)
                if span.file == place.file and begins:
                    if best is None or (span.line, span.column) > (best[0].line, best[0].column):
                        best = (span, handler.label)
    return "" if best is None else f", inside `{best[1]}`"
