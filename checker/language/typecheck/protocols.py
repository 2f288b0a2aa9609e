"""Types protocols: first their declarations, then their handlers and properties."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass

from checker.language.syntax import ast, ast_items, typed
from checker.language.typecheck.expressions import check, check_stored
from checker.language.typecheck.handlers import blocks_of, handler
from checker.language.typecheck.own_properties import own_properties
from checker.language.typecheck.scope import (
    GIVEN,
    UNKNOWN,
    Hole,
    Home,
    Reporter,
    Scope,
    another_name,
)
from checker.language.typecheck.state import infer_state_type, init_choices
from checker.language.typecheck.statements import below as seen_from_above
from checker.language.typecheck.types import BOOL, INT, enums_in, field_names, resolve, size_of

Interfaces = Callable[[ast.Name], typed.Interface | None]
Layers = Callable[[ast.Name], tuple[typed.Interface, typed.Protocol | None] | None]
_RESERVED = {
    "self": "the process itself",
    "Proc": "the set of processes",
    "Msg": "the type of payloads",
    "all": "every process",
    **GIVEN,
}


class _Declared:
    """The names of one protocol, each with one meaning."""

    def __init__(self, report: Reporter) -> None:
        self.report = report
        self.names: dict[str, str] = {}

    def add(self, name: ast.Name, what: str) -> bool:
        """Adds ``name``; returns ``False`` (and reports) where it has a meaning already."""
        taken = _RESERVED.get(name.text) or self.names.get(name.text)
        if taken:
            message = f"`{name.text}` is already {taken}"
            hint = another_name(name.text)
            if what == "a parameter" and name.text in GIVEN:
                hint = "leave it out: every protocol has the parameters `n` and `f`"
            self.report.add("N004", message, name.span, hint=hint)
            return False
        self.names[name.text] = what
        return True


def protocol_of(
    decl: ast_items.Protocol,
    report: Reporter,
    interfaces: Interfaces,
    layers: Layers,
    shipped: bool = False,
    homes: dict[str, Home] | None = None,
) -> typed.Protocol:
    """Returns the protocol ``decl``; errors go to ``report``, its declarations to ``homes``."""
    home = Home(report, decl.name.text, params={"n": INT, "f": INT})
    if homes is not None:
        homes[home.name] = home
    declared = _Declared(report)
    parameters = _types_and_parameters(decl, home, declared)
    roles = _roles(decl, home, declared)
    if decl.implements is not None:
        home.interface = interfaces(decl.implements)
        if home.interface is None:
            home.lost.add("implements")
    _adopt(home, home.interface, declared)
    used = _layers(decl, home, declared, layers)
    _messages(decl, home, declared)
    shared = [i for i in decl.items if isinstance(i, ast_items.State) and i.shared]
    _state_types(shared, None, home, declared)
    for role in roles:
        own = [i for i in role.items if isinstance(i, ast_items.State)]
        within = _copy(declared)
        _state_types(own, role.name.text, home, within)
        for item in role.items:
            if isinstance(item, ast_items.Handler) and item.name is not None:
                within.add(item.name, "a handler")
    for role in roles:
        home.timers[role.name.text] = _timers(role)
    requires = None
    if decl.requires is not None:
        try:
            requires = check(decl.requires, Scope(home, "constant"), BOOL)
        except Hole:
            pass
    made = tuple(_role(role, home, bool(home.roles[0])) for role in roles)
    if home.acts is None:
        below = (x.protocol.acts for x in used if x.protocol is not None)
        home.acts = next((seen_from_above(t) for t in below if t is not None), None)
    promised = home.interface.properties if home.interface is not None else ()
    properties = own_properties(
        [i for i in decl.items if isinstance(i, ast_items.PropertyDecl)], home, promised
    )
    return typed.Protocol(
        decl.name.text,
        parameters,
        home.interface,
        requires,
        made,
        _states(shared, None, home),
        init_choices(_outer_choices(decl), None, home),
        tuple(home.messages.values()),
        used,
        tuple(p for p in properties if not p.lemma),
        decl.name.span,
        shipped,
        home.acts,
        tuple(p for p in properties if p.lemma),
    )


def _copy(declared: _Declared) -> _Declared:
    other = _Declared(declared.report)
    other.names = dict(declared.names)
    return other


def _types_and_parameters(
    decl: ast_items.Protocol, home: Home, declared: _Declared
) -> tuple[typed.Parameter, ...]:
    """Declares the types and the parameters, of which each may mention others; returns the latter
    in the order written."""
    aliases = [i for i in decl.items if isinstance(i, ast_items.TypeAlias)]
    waiting: list[ast_items.Parameter | ast_items.TypeAlias] = [*decl.parameters, *aliases]
    made: dict[str, typed.Parameter] = {}
    while waiting:
        names = {item.name.text for item in waiting}
        ready = [i for i in waiting if not names & (_mentioned(i) - {i.name.text})]
        item = (ready or waiting)[0]  # if none is ready, its error is that of the first
        waiting.remove(item)
        if isinstance(item, ast_items.Parameter):
            if declared.add(item.name, "a parameter"):
                made[item.name.text] = _parameter(item, home)
        elif declared.add(item.name, "a type"):
            home.types[item.name.text] = resolve(item.type, home, item.name.text)
        else:
            home.types.setdefault(item.name.text, UNKNOWN)
    return tuple(made[name] for p in decl.parameters if (name := p.name.text) in made)


def _mentioned(item: ast_items.Parameter | ast_items.TypeAlias) -> set[str]:
    """Returns the names that the type or the default of ``item`` mentions."""
    default = item.default if isinstance(item, ast_items.Parameter) else None
    return set(_names_in((item.type, default)))


def _names_in(part: object) -> Iterator[str]:
    if isinstance(part, ast.Name):
        yield part.text
    elif isinstance(part, ast.NamedType):
        yield part.name
    elif isinstance(part, tuple):
        for each in part:
            yield from _names_in(each)
    elif is_dataclass(part):
        yield from _names_in(tuple(getattr(part, field.name) for field in fields(part)))


def _parameter(item: ast_items.Parameter, home: Home) -> typed.Parameter:
    type_ = resolve(item.type, home)
    if not isinstance(type_, typed.Proc | typed.Int | typed.Bool) and type_ != UNKNOWN:
        message = "parameters of this type are not supported yet"
        home.report.add("N001", message, item.type.span, "`bool`, `Proc`, `Nat` or a range")
        type_ = UNKNOWN
    default = None
    if item.default is not None:
        try:
            default = check(item.default, Scope(home, "constant"), type_)
        except Hole:
            pass
    home.params[item.name.text] = type_
    return typed.Parameter(item.name.text, type_, default, item.name.span)


def _roles(decl: ast_items.Protocol, home: Home, declared: _Declared) -> tuple[ast_items.Role, ...]:
    """Returns the roles as written; without any, one role that holds the protocol's own items."""
    roles = [i for i in decl.items if isinstance(i, ast_items.Role)]
    kept = [r for r in roles if declared.add(r.name, "a role")]
    own: list[ast_items.State | ast_items.Handler] = []
    for item in decl.items:
        if isinstance(item, ast_items.Handler) or (
            isinstance(item, ast_items.State) and not item.shared
        ):
            own.append(item)
    if roles:
        for item in own:
            span = item.head if isinstance(item, ast_items.Handler) else item.span
            hint = "put it into a role" + (
                ", or write `shared state`" if isinstance(item, ast_items.State) else ""
            )
            home.report.add("N025", "in a protocol with roles this belongs to one", span, hint=hint)
        home.roles = tuple(r.name.text for r in kept) or ("",)
        return tuple(kept)
    choices = tuple(i for i in decl.items if isinstance(i, ast_items.InitChoice))
    names = {i.name.text for i in decl.items if isinstance(i, ast_items.State) and not i.shared}
    mine = tuple(c for c in choices if c.name.text in names)
    nobody = ast.Name("", decl.name.span)
    size = ast.Name("n", decl.name.span)
    items: tuple[ast_items.RoleItem, ...] = (*own, *mine)
    return (ast_items.Role(nobody, size, items, decl.name.span),)


def _outer_choices(decl: ast_items.Protocol) -> list[ast_items.InitChoice]:
    """Returns ``init choose`` outside of roles that is about shared (or unknown) state."""
    local: set[str] = set()
    if not any(isinstance(i, ast_items.Role) for i in decl.items):
        local = {i.name.text for i in decl.items if isinstance(i, ast_items.State) and not i.shared}
    found = (i for i in decl.items if isinstance(i, ast_items.InitChoice))
    return [i for i in found if i.name.text not in local]


def _messages(decl: ast_items.Protocol, home: Home, declared: _Declared) -> None:
    for item in decl.items:
        if isinstance(item, ast_items.Message) and declared.add(item.name, "a message"):
            names = field_names(item.fields, home)
            types = (resolve(f.type, home) for f in item.fields)
            fields = tuple(zip(names, types, strict=True))
            home.messages[item.name.text] = typed.MessageDecl(
                item.name.text, fields, item.name.span
            )


def _state_types(
    states: list[ast_items.State], role: str | None, home: Home, declared: _Declared
) -> None:
    """Determines the types of state variables: those declared first, then those inferred from
    initial values."""
    found: dict[str, typed.Type] = {}
    home.states[role] = found
    what = "a shared state variable" if role is None else "a state variable"
    kept = [s for s in states if declared.add(s.name, what)]
    found.update({s.name.text: UNKNOWN for s in states if s.name.text in _RESERVED})
    for state in kept:
        found[state.name.text] = UNKNOWN if state.type is None else resolve(state.type, home)
    for state in kept:
        if state.type is None:
            found[state.name.text] = infer_state_type(state, role, home)


def _layers(
    decl: ast_items.Protocol, home: Home, declared: _Declared, layers: Layers
) -> tuple[typed.Layer, ...]:
    made = []
    for item in decl.items:
        if not isinstance(item, ast_items.Uses):
            continue
        if not declared.add(item.name, "a layer"):
            home.lost.add(item.name.text)
            continue
        found = layers(item.of)
        if found is None:
            home.lost.add(item.name.text)
            continue
        interface, protocol = found
        _adopt(home, interface, declared)
        index = None if item.index is None else _index(item.index, home)
        layer = typed.Layer(item.name.text, protocol, item.span, interface, index)
        home.layers[item.name.text] = layer
        made.append(layer)
    return tuple(made)


def _adopt(home: Home, interface: typed.Interface | None, declared: _Declared) -> None:
    """Declares the enums of an interface: their labels, and their names where free."""
    operators = (*interface.requests, *interface.indications) if interface else ()
    for operator in operators:
        for _, type_ in operator.fields:
            for enum in enums_in(type_):
                home.enums.setdefault(enum.labels, enum)
                if enum.name and enum.name not in declared.names:
                    home.types.setdefault(enum.name, enum)


def _index(written: ast.Type, home: Home) -> typed.Type:
    """Returns the type of a family's indices: numbers from 0 on."""
    type_ = resolve(written, home)
    first = type_.lo if isinstance(type_, typed.Int) else None
    if type_ != UNKNOWN and not (isinstance(first, typed.Literal) and first.value == 0):
        message = "the layers of a family are numbered from 0 on"
        home.report.add("N029", message, written.span, "`Nat`, `Nat max k` or `0..k`")
        return UNKNOWN
    return type_


def _timers(role: ast_items.Role) -> set[str]:
    """Returns the timers that ``role`` waits for."""
    events = (i.event for i in role.items if isinstance(i, ast_items.Handler))
    return {e.timer.text for e in events if isinstance(e, ast_items.OnTimeout) and e.timer}


def _never_started(role: ast_items.Role, home: Home) -> None:
    """Reports timers that ``role`` waits for and never starts."""
    handlers = [i for i in role.items if isinstance(i, ast_items.Handler)]
    started = {name for h in handlers for name in _starts(h.body)}
    for each in handlers:
        if isinstance(each.event, ast_items.OnTimeout) and each.event.timer is not None:
            name = each.event.timer
            if name.text not in started:
                hint = f"write `start {name.text}` where it is to begin"
                message = f"the timer `{name.text}` is never started"
                home.report.add("N027", message, name.span, hint=hint)


def _starts(body: ast.Block) -> Iterator[str]:
    for stmt in body:
        if isinstance(stmt, ast.Timer) and stmt.kind == "start":
            yield stmt.name.text
        for inner in blocks_of(stmt):
            yield from _starts(inner)


def _role(role: ast_items.Role, home: Home, named: bool) -> typed.Role:
    _never_started(role, home)
    name = role.name.text
    handlers = []
    for item in role.items:
        if isinstance(item, ast_items.Handler):
            made = handler(item, name, home)
            if made is not None:
                handlers.append(made)
    return typed.Role(
        name,
        size_of(role.size, home) if named else None,
        _states([i for i in role.items if isinstance(i, ast_items.State)], name, home),
        init_choices([i for i in role.items if isinstance(i, ast_items.InitChoice)], name, home),
        tuple(handlers),
        role.name.span,
    )


def _states(
    states: list[ast_items.State], role: str | None, home: Home
) -> tuple[typed.StateDecl, ...]:
    made = []
    for state in states:
        type_ = home.states[role].get(state.name.text, UNKNOWN)
        initial = None
        if state.initial is not None and type_ != UNKNOWN:
            try:
                initial = check_stored(state.initial, type_, Scope(home, "initial", role))
            except Hole:
                pass
        name = state.name
        made.append(typed.StateDecl(name.text, type_, initial, name.span, state.stable))
    return tuple(made)
