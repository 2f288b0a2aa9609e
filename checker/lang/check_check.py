"""Checks: the world around a protocol, and what is asked of it."""

from __future__ import annotations

from collections.abc import Iterable

from checker.lang import ast, ast_items, typed
from checker.lang.check_client import clients_of
from checker.lang.check_expr import check
from checker.lang.check_interface import alike, borrowed
from checker.lang.check_types import INT, PROC
from checker.lang.scope import Hole, Home, Reporter, Scope, suggestion

LINKS = ("perfect", "fifo", "lossy", "duplicating", "persistent", "bounded")
_LATER_LINKS = ("fair_loss", "stubborn", "authenticated")
_LATER_FAULTS = ("recover", "omission", "byzantine", "partition")
_CONTRADICT = (
    ("perfect", "lossy"),
    ("perfect", "duplicating"),
    ("perfect", "persistent"),
    ("fifo", "persistent"),
    ("fifo", "duplicating"),
    ("bounded", "persistent"),
)
VERDICTS = ("holds", "violated", "vacuous", "unknown")
_COUNTS = ("states", "depth", "trace")


def check_of(
    decl: ast_items.Check,
    protocol: typed.Protocol,
    interfaces: list[typed.Interface],
    report: Reporter,
) -> typed.Check:
    """The check ``decl`` of ``protocol``; what is wrong goes to ``report``."""
    home = _home(protocol, report)
    for item in decl.items:
        if isinstance(item, ast.Later):
            report.add("N001", f"{item.what} is not supported yet", item.span)
    links, capacity = _links([i for i in decl.items if isinstance(i, ast_items.Link)], report)
    expect = _expectations([i for i in decl.items if isinstance(i, ast_items.Expect)], report)
    asked = [n for i in decl.items if isinstance(i, ast_items.Prove) for n in i.names]
    asked += [i.what for i in decl.items if isinstance(i, ast_items.Expect) and _about_property(i)]
    return typed.Check(
        decl.name.text,
        protocol,
        _settings([i for i in decl.items if isinstance(i, ast_items.Setting)], home),
        _crash([i for i in decl.items if isinstance(i, ast_items.Fault)], home),
        links,
        capacity,
        clients_of([i for i in decl.items if isinstance(i, ast_items.Client)], home),
        _properties(asked, protocol, interfaces, report),
        expect,
        decl.name.span,
        _crash_points([i for i in decl.items if isinstance(i, ast_items.CrashPoints)], report),
        _allowed([i for i in decl.items if isinstance(i, ast_items.Allow)], report),
    )


def _home(protocol: typed.Protocol, report: Reporter) -> Home:
    params: dict[str, typed.Type] = {"n": INT, "f": INT}
    params.update({p.name: p.type for p in protocol.parameters})
    roles = tuple(r.name for r in protocol.roles)
    return Home(report, protocol.name, params=params, roles=roles, interface=protocol.implements)


def _settings(items: list[ast_items.Setting], home: Home) -> tuple[typed.Setting, ...]:
    made: dict[str, typed.Setting] = {}
    for item in items:
        name = item.name.text
        if name not in home.params:
            hint = suggestion(name, home.params)
            message = f"`{home.name}` has no parameter `{name}`"
            home.report.add("C002", message, item.name.span, hint=hint)
        elif name in made:
            home.report.add("C009", f"`{name}` is set twice", item.name.span)
        else:
            try:
                value = check(item.value, Scope(home, "constant"), home.params[name])
            except Hole:
                continue
            if home.params[name] == PROC and not isinstance(value, typed.Named):
                home.report.add(
                    "C010", f"`{name}` needs the name of a process", item.value.span, "such as `p1`"
                )
                continue
            made[name] = typed.Setting(name, value, item.name.span)
    return tuple(made.values())


def _crash(items: list[ast_items.Fault], home: Home) -> typed.Expr | None:
    bound: typed.Expr | None = None
    for item in items:
        kind = item.kind.text
        if kind in _LATER_FAULTS:
            message = f"`faults {kind}` is not supported yet"
            home.report.add("N001", message, item.kind.span, "`crash <= …`")
        elif kind != "crash":
            hint = suggestion(kind, ("crash", *_LATER_FAULTS))
            home.report.add("C004", f"no kind of fault `{kind}`", item.kind.span, hint=hint)
        elif item.bound is None:
            home.report.add("C010", "how many may crash?", item.span, "`crash <= 1`")
        elif bound is not None:
            home.report.add("C009", "`crash` is set twice", item.span)
        else:
            try:
                bound = check(item.bound, Scope(home, "constant"), INT)
            except Hole:
                continue
    return bound


def _links(items: list[ast_items.Link], report: Reporter) -> tuple[tuple[str, ...], int | None]:
    kinds: list[str] = []
    capacity: int | None = None
    for item in items:
        kind, span = item.kind.text, item.kind.span
        if kind in _LATER_LINKS:
            report.add("N001", f"`links {kind}` is not supported yet", span)
        elif kind not in LINKS:
            hint = suggestion(kind, (*LINKS, *_LATER_LINKS))
            report.add("C004", f"no kind of link `{kind}`", span, hint=hint)
        elif kind in kinds:
            report.add("C009", f"`{kind}` is there twice", span)
        elif (kind == "bounded") != (item.capacity is not None):
            message = "how many messages fit?" if kind == "bounded" else "only `bounded` has a size"
            report.add("C010", message, item.span, "`bounded 2`")
        elif item.capacity == 0:
            report.add("C010", "a link that holds nothing carries nothing", item.span)
        else:
            for one, other in _CONTRADICT:
                if kind in (one, other) and (one if kind == other else other) in kinds:
                    there = one if kind == other else other
                    report.add("C003", f"links can't be both {there} and {kind}", span)
            kinds.append(kind)
            capacity = item.capacity if kind == "bounded" else capacity
    return tuple(kinds) or ("perfect",), capacity


def _crash_points(items: list[ast_items.CrashPoints], report: Reporter) -> str:
    where = "inside"
    for item in items:
        where = item.where.text
        if where not in ("inside", "between_handlers"):
            hint = suggestion(where, ("inside", "between_handlers"))
            report.add("C010", f"no crash points `{where}`", item.where.span, hint=hint)
    return where


def _allowed(items: list[ast_items.Allow], report: Reporter) -> bool:
    for item in items:
        if item.what.text != "unused":
            message = f"`allow {item.what.text}` is not known"
            report.add("C010", message, item.what.span, "`allow unused`")
    return bool(items)


# ---- properties and expectations --------------------------------------------------------------


def _about_property(item: ast_items.Expect) -> bool:
    return isinstance(item.value, str) and item.what.text not in _COUNTS


def _expectations(items: list[ast_items.Expect], report: Reporter) -> tuple[typed.Expectation, ...]:
    made: dict[str, typed.Expectation] = {}
    for item in items:
        what, value = item.what.text, item.value
        if what in made:
            report.add("C009", f"`{what}` is expected twice", item.what.span)
        elif isinstance(value, int):
            if what not in _COUNTS:
                message = f"a number can't be expected of `{what}`"
                wanted = "`states`, `depth` or `trace`"
                report.add("C008", message, item.what.span, wanted)
        elif what in _COUNTS:
            report.add("C008", f"`{what}` is a number", item.value_span, "a number")
        elif value not in VERDICTS:
            hint = suggestion(value, VERDICTS)
            report.add("C008", f"no verdict `{value}`", item.value_span, hint=hint)
        made[what] = typed.Expectation(what, value, item.span)
    return tuple(made.values())


def _properties(
    asked: Iterable[ast.Name],
    protocol: typed.Protocol,
    interfaces: list[typed.Interface],
    report: Reporter,
) -> tuple[typed.PropertyDef, ...]:
    made: dict[str, typed.PropertyDef] = {}
    for name in asked:
        if name.text in made:
            continue
        found = find_property(name.text, protocol, interfaces)
        if found is None:
            hint = suggestion(name.text, property_names(protocol, interfaces))
            if protocol.implements is None and not hint:
                hint = "properties of runs need an interface: `protocol P implements I`"
            message = f"`{protocol.name}` has no property `{name.text}`"
            report.add("C007", message, name.span, hint=hint)
        else:
            made[name.text] = found
    return tuple(made.values())


def find_property(
    name: str, protocol: typed.Protocol, interfaces: list[typed.Interface]
) -> typed.PropertyDef | None:
    """The protocol's own property, its interface's, or one of an interface of the same shape."""
    for found in protocol.properties:
        if found.name == name:
            return found
    if protocol.implements is None:
        return None
    for found in protocol.implements.properties:
        if found.name == name:
            return found
    return borrowed(name, protocol.implements, interfaces)


def property_names(protocol: typed.Protocol, interfaces: list[typed.Interface]) -> set[str]:
    """The names that :func:`find_property` finds."""
    names = {p.name for p in protocol.properties}
    if protocol.implements is not None:
        names.update(p.name for p in protocol.implements.properties)
        for other in interfaces:
            if alike(protocol.implements, other):
                names.update(p.name for p in other.properties)
    return names
