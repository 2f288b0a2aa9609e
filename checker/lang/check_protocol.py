"""Protocols: their declarations, then what their handlers and properties say."""

from __future__ import annotations

from collections.abc import Callable

from checker.lang import ast, ast_items, typed
from checker.lang.check_expr import check
from checker.lang.check_handler import handler
from checker.lang.check_property import property_of
from checker.lang.check_state import inferred, init_choices, initial_value
from checker.lang.check_types import BOOL, INT, enums_in, field_names, resolve, size_of
from checker.lang.scope import UNKNOWN, Hole, Home, Reporter, Scope

Interfaces = Callable[[ast.Name], typed.Interface | None]
Layers = Callable[[ast.Name], typed.Protocol | None]
_RESERVED = {
    "self": "the process itself",
    "Proc": "the set of processes",
    "Msg": "the type of payloads",
    "n": "the number of processes",
    "f": "the bound of faults",
    "all": "every process",
}


class _Declared:
    """Names of one protocol, each with one meaning."""

    def __init__(self, report: Reporter) -> None:
        self.report = report
        self.names: dict[str, str] = {}

    def add(self, name: ast.Name, what: str) -> bool:
        """Notes ``name``; ``False`` (and reported) where it has a meaning already."""
        taken = _RESERVED.get(name.text) or self.names.get(name.text)
        if taken:
            message = f"`{name.text}` is already {taken}"
            self.report.add("N004", message, name.span, hint="choose another name")
            return False
        self.names[name.text] = what
        return True


def protocol_of(
    decl: ast_items.Protocol,
    report: Reporter,
    interfaces: Interfaces,
    layers: Layers,
    shipped: bool = False,
) -> typed.Protocol:
    """The protocol ``decl``; what is wrong goes to ``report``."""
    home = Home(report, decl.name.text, params={"n": INT, "f": INT})
    declared = _Declared(report)
    for item in decl.items:
        if isinstance(item, ast_items.TypeAlias) and declared.add(item.name, "a type"):
            home.types[item.name.text] = resolve(item.type, home, item.name.text)
    parameters = _parameters(decl, home, declared)
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
        _state_types(own, role.name.text, home, _copy(declared))
    _later(decl, home)
    requires = None
    if decl.requires is not None:
        try:
            requires = check(decl.requires, Scope(home, "constant"), BOOL)
        except Hole:
            pass
    return typed.Protocol(
        decl.name.text,
        parameters,
        home.interface,
        requires,
        tuple(_role(role, home, bool(home.roles[0])) for role in roles),
        _states(shared, None, home),
        init_choices(_outer_choices(decl), None, home),
        tuple(home.messages.values()),
        used,
        _properties(decl, home),
        decl.name.span,
        shipped,
    )


def _copy(declared: _Declared) -> _Declared:
    other = _Declared(declared.report)
    other.names = dict(declared.names)
    return other


def _parameters(
    decl: ast_items.Protocol, home: Home, declared: _Declared
) -> tuple[typed.Parameter, ...]:
    made = []
    for parameter in decl.parameters:
        if not declared.add(parameter.name, "a parameter"):
            continue
        type_ = resolve(parameter.type, home)
        if not isinstance(type_, typed.Proc | typed.Int) and type_ != UNKNOWN:
            message = "parameters of this type are not supported yet"
            home.report.add("N001", message, parameter.type.span, "`Proc`, `Nat` or a range")
            type_ = UNKNOWN
        default = None
        if parameter.default is not None:
            try:
                default = check(parameter.default, Scope(home, "constant"), type_)
            except Hole:
                pass
        home.params[parameter.name.text] = type_
        made.append(typed.Parameter(parameter.name.text, type_, default, parameter.name.span))
    return tuple(made)


def _roles(decl: ast_items.Protocol, home: Home, declared: _Declared) -> tuple[ast_items.Role, ...]:
    """The roles as written; without any, one role that holds the protocol's own items."""
    roles = [i for i in decl.items if isinstance(i, ast_items.Role)]
    kept = [r for r in roles if declared.add(r.name, "a role")]
    own: list[ast_items.State | ast_items.Handler] = []
    for item in decl.items:
        if isinstance(item, ast.Later):
            home.report.add("N001", f"{item.what} is not supported yet", item.span)
        elif isinstance(item, ast_items.Handler) or (
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
    """``init choose`` outside of roles that is about shared state (or about nothing known)."""
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
    """The types of state variables: those written first, then those told by initial values."""
    found: dict[str, typed.Type] = {}
    home.states[role] = found
    what = "a shared state variable" if role is None else "a state variable"
    kept = [s for s in states if declared.add(s.name, what)]
    for state in kept:
        found[state.name.text] = UNKNOWN if state.type is None else resolve(state.type, home)
    for state in kept:
        if state.type is None:
            found[state.name.text] = inferred(state, role, home)


def _layers(
    decl: ast_items.Protocol, home: Home, declared: _Declared, layers: Layers
) -> tuple[typed.Layer, ...]:
    made = []
    for item in decl.items:
        if not isinstance(item, ast_items.Uses) or not declared.add(item.name, "a layer"):
            continue
        protocol = layers(item.of)
        if protocol is None or protocol.implements is None:
            home.lost.add(item.name.text)
            continue
        _adopt(home, protocol.implements, declared)
        layer = typed.Layer(item.name.text, protocol, item.span)
        home.layers[item.name.text] = layer
        made.append(layer)
    return tuple(made)


def _adopt(home: Home, interface: typed.Interface | None, declared: _Declared) -> None:
    """Makes the enums of an interface known: their labels, and their names where free."""
    operators = (*interface.requests, *interface.indications) if interface else ()
    for operator in operators:
        for _, type_ in operator.fields:
            for enum in enums_in(type_):
                home.enums.setdefault(enum.labels, enum)
                if enum.name and enum.name not in declared.names:
                    home.types.setdefault(enum.name, enum)


def _later(decl: ast_items.Protocol, home: Home) -> None:
    """What is not supported yet declares its name all the same: one diagnostic is enough."""
    items = [*decl.items]
    for item in decl.items:
        if isinstance(item, ast_items.Role):
            items.extend(item.items)
    for item in items:
        if isinstance(item, ast.Later) and item.declares:
            home.lost.add(item.declares)
            for role in home.roles:
                home.states.setdefault(role, {}).setdefault(item.declares, UNKNOWN)


def _role(role: ast_items.Role, home: Home, named: bool) -> typed.Role:
    for item in role.items:
        if isinstance(item, ast.Later):
            home.report.add("N001", f"{item.what} is not supported yet", item.span)
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
                initial = initial_value(state.initial, type_, Scope(home, "initial", role))
            except Hole:
                pass
        made.append(typed.StateDecl(state.name.text, type_, initial, state.name.span))
    return tuple(made)


def _properties(decl: ast_items.Protocol, home: Home) -> tuple[typed.PropertyDef, ...]:
    return own_properties([i for i in decl.items if isinstance(i, ast_items.PropertyDecl)], home)


def own_properties(
    decls: list[ast_items.PropertyDecl], home: Home
) -> tuple[typed.PropertyDef, ...]:
    """The properties written in a protocol or an interface."""
    made: dict[str, typed.PropertyDef] = {}
    seen: set[str] = set()
    for decl in decls:
        if decl.name.text in seen:
            message = f"two properties are called `{decl.name.text}`"
            home.report.add("N004", message, decl.name.span)
            continue
        seen.add(decl.name.text)
        built = property_of(decl, home)
        if built is not None:
            made[built.name] = built
    return tuple(made.values())
