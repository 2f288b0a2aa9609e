"""Types protocols: first their declarations, then their handlers and properties."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from checker.diagnostics.english import listing
from checker.language.syntax import ast, ast_items, typed
from checker.language.typecheck.declarations import (
    Declared,
    declare,
    declare_definitions,
    in_order,
    see,
)
from checker.language.typecheck.definitions import check_definitions
from checker.language.typecheck.expressions import check, check_stored
from checker.language.typecheck.handlers import handler
from checker.language.typecheck.leads import leads
from checker.language.typecheck.own_properties import own_properties
from checker.language.typecheck.procedures import (
    check_procedures,
    declare_procedures,
    never_started,
    timers_of,
)
from checker.language.typecheck.scope import UNKNOWN, Hole, Home, Reporter, Scope
from checker.language.typecheck.state import infer_state_type, init_choices
from checker.language.typecheck.statements import below as seen_from_above
from checker.language.typecheck.types import BOOL, INT, enums_in, field_names, resolve, size_of

Interfaces = Callable[[ast.Name], typed.Interface | None]
Offering = Callable[[str], list[str]]
Layers = Callable[[ast.Name], tuple[typed.Interface, typed.Protocol | None] | None]
Written = TypeVar("Written", bound=ast_items.ProtocolItem)


def protocol_of(
    decl: ast_items.Protocol,
    report: Reporter,
    interfaces: Interfaces,
    layers: Layers,
    shipped: bool = False,
    homes: dict[str, Home] | None = None,
    around: Home | None = None,
    offering: Offering | None = None,
) -> typed.Protocol:
    """Returns the protocol ``decl``; errors go to ``report``, its declarations to ``homes``;
    ``around``: what its file declares outside of protocols; ``offering``: from the name of a
    request to the interfaces that have it."""
    home = Home(report, decl.name.text, params={"n": INT, "f": INT})
    if homes is not None:
        homes[home.name] = home
    declared = Declared(report)
    if around is not None:
        see(around, home, declared)
    home.role_types = frozenset(r.name.text for r in _of(decl.items, ast_items.Role))
    parameters = _types_and_parameters(decl, home, declared)
    roles = _roles(decl, home, declared)
    _find_interface(decl, roles, home, interfaces, offering)
    _adopt(home, home.interface, declared)
    used = _layers(decl, home, declared, layers)
    _messages(decl, home, declared)
    shared = [i for i in _of(decl.items, ast_items.State) if i.shared]
    _declare_states(decl, shared, roles, home, declared)
    check_definitions(home)
    requires = _requires(decl, home)
    home.leads = leads(roles, home)
    made = tuple(_role(role, home, bool(home.roles[0])) for role in roles)
    check_procedures(home)
    if home.acts is None:
        below = (x.protocol.acts for x in used if x.protocol is not None)
        home.acts = next((seen_from_above(t) for t in below if t is not None), None)
    promised = home.interface.properties if home.interface is not None else ()
    properties = own_properties(_of(decl.items, ast_items.PropertyDecl), home, promised)
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


def _find_interface(
    decl: ast_items.Protocol,
    roles: tuple[ast_items.Role, ...],
    home: Home,
    interfaces: Interfaces,
    offering: Offering | None,
) -> None:
    """Gives ``home`` the interface that ``decl`` implements; if it should have one, reports it."""
    if decl.implements is None:
        _require_interface(roles, home, offering)
        return
    home.interface = interfaces(decl.implements)
    if home.interface is None:
        home.lost.add("implements")


def _declare_states(
    decl: ast_items.Protocol,
    shared: list[ast_items.State],
    roles: tuple[ast_items.Role, ...],
    home: Home,
    declared: Declared,
) -> None:
    """Declares in ``home`` what all processes share, and of each role its state, its names of
    handlers and its timers."""
    if home.roles[0]:
        _declare(decl.items, shared, None, home, declared)
    else:
        _state_types(shared, None, home, declared)
    for role in roles:
        own = _of(role.items, ast_items.State)
        inner = declared.copy()
        _declare(role.items, own, role.name.text, home, inner)
        for item in _of(role.items, ast_items.Handler):
            if item.name is not None:
                inner.add(item.name, "a handler")
        home.timers[role.name.text] = timers_of(role, home)


def _require_interface(
    roles: tuple[ast_items.Role, ...], home: Home, offering: Offering | None
) -> None:
    """Reports that a protocol without an interface handles a request, once for all that it needs
    an interface for."""
    for role in roles:
        for item in role.items:
            if isinstance(item, ast_items.Handler) and isinstance(item.event, ast_items.OnRequest):
                op = item.event.op
                found = [] if offering is None else offering(op.text)
                names = listing((f"`{name}`" for name in found), "or")
                which = (
                    f"`I` can be {names}"
                    if found
                    else f"and `interface I {{ request {op.text}(…) … }}`"
                )
                hint = f"name its interface: `protocol {home.name} implements I`; {which}"
                message = "a protocol without an interface has no requests"
                home.report.add("N022", message, op.span, hint=hint)
                home.lost.add("implements")
                return


def _of(items: Iterable[object], kind: type[Written]) -> list[Written]:
    return [item for item in items if isinstance(item, kind)]


def _declare(
    items: Iterable[object],
    states: list[ast_items.State],
    role: str | None,
    home: Home,
    declared: Declared,
) -> None:
    """Declares the definitions, procedures and ``states`` of a role, or of all of them."""
    declare_definitions(_of(items, ast_items.Definition), role, home, declared)
    declare_procedures(_of(items, ast_items.Procedure), role, home, declared)
    _state_types(states, role, home, declared)


def _requires(decl: ast_items.Protocol, home: Home) -> typed.Expr | None:
    if decl.requires is None:
        return None
    try:
        return check(decl.requires, Scope(home, "constant"), BOOL)
    except Hole:
        return None


def _types_and_parameters(
    decl: ast_items.Protocol, home: Home, declared: Declared
) -> tuple[typed.Parameter, ...]:
    """Declares the types, the constants and the parameters, of which each may mention others;
    returns the latter in the order written."""
    made: dict[str, typed.Parameter] = {}
    states = {i.name.text for i in decl.items if isinstance(i, ast_items.State)}
    for item in in_order([*decl.parameters, *decl.items], home):
        if isinstance(item, ast_items.Parameter):
            if declared.add(item.name, "a parameter"):
                made[item.name.text] = _parameter(item, home)
        else:
            declare(item, home, declared, states)
    return tuple(made[name] for p in decl.parameters if (name := p.name.text) in made)


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


def _roles(decl: ast_items.Protocol, home: Home, declared: Declared) -> tuple[ast_items.Role, ...]:
    """Returns the roles as written; without any, one role that holds the protocol's own items."""
    roles = [i for i in decl.items if isinstance(i, ast_items.Role)]
    kept = [r for r in roles if declared.add(r.name, "a role")]
    own: list[ast_items.State | ast_items.Handler] = []
    for item in decl.items:
        if isinstance(item, ast_items.Handler) or (
            isinstance(item, ast_items.State) and not item.shared
        ):
            own.append(item)
    anywhere = [i for i in decl.items if isinstance(i, ast_items.Definition | ast_items.Procedure)]
    if roles:
        for item in own:
            span = item.head if isinstance(item, ast_items.Handler) else item.span
            hint = "move it into a role" + (
                ", or write `shared state`" if isinstance(item, ast_items.State) else ""
            )
            home.report.add(
                "N025", "in a protocol with roles this belongs in a role", span, hint=hint
            )
        home.roles = tuple(r.name.text for r in kept) or ("",)
        return tuple(kept)
    choices = tuple(i for i in decl.items if isinstance(i, ast_items.InitChoice))
    names = {i.name.text for i in decl.items if isinstance(i, ast_items.State) and not i.shared}
    mine = tuple(c for c in choices if c.name.text in names)
    nobody = ast.Name("", decl.name.span)
    size = ast.Name("n", decl.name.span)
    items: tuple[ast_items.RoleItem, ...] = (*own, *mine, *anywhere)
    return (ast_items.Role(nobody, size, None, items, decl.name.span),)


def _outer_choices(decl: ast_items.Protocol) -> list[ast_items.InitChoice]:
    """Returns ``init choose`` outside of roles that is about shared (or unknown) state."""
    local: set[str] = set()
    if not any(isinstance(i, ast_items.Role) for i in decl.items):
        local = {i.name.text for i in decl.items if isinstance(i, ast_items.State) and not i.shared}
    found = (i for i in decl.items if isinstance(i, ast_items.InitChoice))
    return [i for i in found if i.name.text not in local]


def _messages(decl: ast_items.Protocol, home: Home, declared: Declared) -> None:
    for item in decl.items:
        if isinstance(item, ast_items.Message) and declared.add(item.name, "a message"):
            names = field_names(item.fields, home)
            types = (resolve(f.type, home) for f in item.fields)
            fields = tuple(zip(names, types, strict=True))
            home.messages[item.name.text] = typed.MessageDecl(
                item.name.text, fields, item.name.span
            )


def _state_types(
    states: list[ast_items.State], role: str | None, home: Home, declared: Declared
) -> None:
    """Determines the types of state variables: those declared first, then those inferred from
    initial values."""
    found: dict[str, typed.Type] = {}
    home.states[role] = found
    home.ghosts.update((role, s.name.text) for s in states if s.ghost)
    home.stable.update((role, s.name.text) for s in states if s.stable)
    what = "a shared state variable" if role is None else "a state variable"
    kept = [s for s in states if declared.add(s.name, what)]
    found.update({s.name.text: UNKNOWN for s in states})
    for state in kept:
        found[state.name.text] = UNKNOWN if state.type is None else resolve(state.type, home)
    for state in kept:
        if state.type is None:
            found[state.name.text] = infer_state_type(state, role, home)


def _layers(
    decl: ast_items.Protocol, home: Home, declared: Declared, layers: Layers
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


def _adopt(home: Home, interface: typed.Interface | None, declared: Declared) -> None:
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


def _role(role: ast_items.Role, home: Home, named: bool) -> typed.Role:
    name = role.name.text
    never_started(role, home)
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
        home.leads.get(name, ""),
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
        made.append(
            typed.StateDecl(
                name.text, type_, initial, name.span, state.stable, state.ghost, state.synced
            )
        )
    return tuple(made)
