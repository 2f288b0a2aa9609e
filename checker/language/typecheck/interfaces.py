"""Types interfaces: requests, indications, and the properties that they guarantee."""

from __future__ import annotations

from checker.language.syntax import ast, ast_items, ast_objects, typed
from checker.language.typecheck.declarations import see
from checker.language.typecheck.histories import history_name
from checker.language.typecheck.own_properties import own_properties
from checker.language.typecheck.scope import Home, Reporter, suggestion
from checker.language.typecheck.types import INT, field_names, resolve, show
from checker.records import replace


def base_of(decl: ast_items.Interface, report: Reporter, around: Home) -> typed.Interface:
    """Returns the interface with the properties that it defines itself; errors go to ``report``;
    ``around``: what its file declares outside of it."""
    home = Home(report, decl.name.text, params={"n": INT, "f": INT}, of_interface=True)
    see(around, home)
    seen: set[str] = set()
    histories: dict[str, str] = {}
    for item in decl.items:
        if isinstance(item, ast_items.TypeAlias):
            home.types[item.name.text] = resolve(item.type, home, item.name.text)
    operators: dict[str, list[typed.Operator]] = {"request": [], "indication": []}

    def declare(
        kind: str,
        written: ast.Name,
        fields: tuple[ast.Field, ...],
        returns: ast_objects.Returned | None = None,
    ) -> None:
        name = written.text
        if name in seen:
            report.add("N004", f"`{name}` is declared twice", written.span)
            return
        told = history_name(name)
        if told in histories:
            message = f"`{told}(p)` would be the history of `{histories[told]}` and of `{name}`"
            report.add("N035", message, written.span, hint="give one of them another name")
        histories.setdefault(told, name)
        seen.add(name)
        names = field_names(fields, home)
        given = tuple(zip(names, (resolve(f.type, home) for f in fields), strict=True))
        answer = None if returns is None or kind != "request" else returns.name.text
        operators[kind].append(typed.Operator(name, given, answer))

    for item in decl.items:
        if isinstance(item, ast_items.OperatorDecl):
            declare(item.kind, item.name, item.fields, item.returns)
            if item.returns is not None and item.kind == "request":
                declare("indication", item.returns.name, item.returns.fields)
            elif item.returns is not None:
                message = "an indication has no return"
                hint = "write `returns` after a `request`"
                report.add("N061", message, item.returns.span, hint=hint)
    requests, indications = tuple(operators["request"]), tuple(operators["indication"])
    bare = typed.Interface(decl.name.text, requests, indications, (), decl.name.span)
    home.interface = bare
    own = [i for i in decl.items if isinstance(i, ast_items.PropertyDecl)]
    return replace(bare, properties=own_properties(own, home))


def complete(
    decl: ast_items.Interface,
    base: typed.Interface,
    others: list[typed.Interface],
    report: Reporter,
) -> typed.Interface:
    """Returns ``base`` with the properties that it takes from ``others`` by name."""
    properties = {p.name: p for p in base.properties}
    known = {
        p.name for other in others if has_same_operators(base, other) for p in other.properties
    }
    for item in decl.items:
        if not isinstance(item, ast_items.PropertyList):
            continue
        for name in item.names:
            if name.text in properties:
                message = f"duplicate property `{name.text}`"
                report.add("N004", message, name.span)
                continue
            found = find_shared_property(name.text, base, others)
            if found is None:
                hint = suggestion(name.text, known)
                report.add("C007", f"no property `{name.text}`", name.span, hint=hint)
            else:
                properties[name.text] = found
    return replace(base, properties=tuple(properties.values()))


def find_shared_property(
    name: str, interface: typed.Interface, others: list[typed.Interface]
) -> typed.PropertyDef | None:
    """Returns the property ``name`` of the least of ``others`` that has the same operators.

    Several modules of a textbook define the same property; it is taken from the one with the
    weakest guarantees.  Those whose arguments have the same types come first.
    """
    having = [o for o in others if any(p.name == name for p in o.properties)]
    having = [o for o in having if has_same_operators(interface, o)]
    if not having:
        return None
    least = min(having, key=lambda o: (_types(o) != _types(interface), len(o.properties)))
    return next(p for p in least.properties if p.name == name)


def has_same_operators(one: typed.Interface, other: typed.Interface) -> bool:
    """Tells whether two interfaces have requests and indications of the same names, with as many
    arguments, and payloads and processes at the same positions."""
    return _shape(one) == _shape(other)


def _shape(interface: typed.Interface) -> tuple[frozenset[tuple[str, ...]], ...]:
    opaque = (typed.Msg, typed.Proc)
    return tuple(
        frozenset(
            (o.name, *(type(t).__name__ if isinstance(t, opaque) else "value" for _, t in o.fields))
            for o in operators
        )
        for operators in (interface.requests, interface.indications)
    )


def _types(interface: typed.Interface) -> tuple[tuple[str, str], ...]:
    operators = (*interface.requests, *interface.indications)
    return tuple(sorted((o.name, " ".join(show(t) for _, t in o.fields)) for o in operators))
