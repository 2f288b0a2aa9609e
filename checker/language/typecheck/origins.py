"""Finds where the properties of a check come from, and which of the library's they hide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from checker import resources
from checker.diagnostics import Diagnostic, Span
from checker.diagnostics.origin import CHECK, INTERFACE, LANGUAGE, PROTOCOL, Origin
from checker.language.syntax import typed
from checker.language.typecheck.interfaces import find_shared_property
from checker.records import fields, is_record, replace

if TYPE_CHECKING:
    from checker.language.library import Library, Prelude


def with_origin(
    definition: typed.PropertyDef,
    protocol: typed.Protocol,
    own: Iterable[typed.PropertyDef],
    library: Library,
) -> typed.PropertyDef:
    """Returns ``definition``, which a check of ``protocol`` asks, with its origin; ``own``: the
    properties that the check itself declares."""
    return replace(definition, origin=_origin(definition, protocol, own, library))


def _origin(
    definition: typed.PropertyDef,
    protocol: typed.Protocol,
    own: Iterable[typed.PropertyDef],
    library: Library,
) -> Origin:
    if _is_in(definition, own):
        found = Origin(CHECK, definition.name)
    elif _is_in(definition, (*protocol.properties, *protocol.invariants)):
        found = Origin(PROTOCOL, protocol.name, protocol.shipped)
    else:
        found = _owner(definition, library)
    return _hiding(found, definition, protocol.implements, library)


def _owner(definition: typed.PropertyDef, library: Library) -> Origin:
    """Returns which interface in sight declares ``definition``; the language where none does."""
    shipped = [] if library.prelude is None else [*library.prelude.bases.values()]
    owners = (i for i in (*library.bases(), *shipped) if _is_in(definition, i.properties))
    owner = next(owners, None)
    return (
        Origin(LANGUAGE, "") if owner is None else Origin(INTERFACE, owner.name, owner in shipped)
    )


def _hiding(
    found: Origin,
    definition: typed.PropertyDef,
    interface: typed.Interface | None,
    library: Library,
) -> Origin:
    """Returns the origin with the property of the library that ``definition`` hides."""
    if found.shipped or interface is None or found.kind == LANGUAGE:
        return found
    hidden = _hidden(definition, interface, library.prelude)
    return found if hidden is None else replace(found, hides=hidden[0].name, hidden=hidden[1].span)


def of_interface(
    interface: typed.Interface, library: Library, protocol: typed.Protocol | None = None
) -> tuple[typed.PropertyDef, ...]:
    """Returns the properties of ``interface``, and before them those of a ``protocol`` that
    implements it, which hide others of the same names: with their origins."""
    own = () if protocol is None else protocol.properties
    names = {definition.name for definition in own}
    more = [each for each in interface.properties if each.name not in names]
    known = () if protocol is None else (Origin(PROTOCOL, protocol.name, protocol.shipped),)
    pairs = [(each, origin) for origin in known for each in own]
    pairs += [(each, _owner(each, library)) for each in more]
    return tuple(
        replace(each, origin=_hiding(origin, each, interface, library)) for each, origin in pairs
    )


def of_library(interface: typed.Interface, prelude: Prelude) -> tuple[typed.PropertyDef, ...]:
    """Returns the properties of an interface of the library, with the interfaces that declare
    them."""
    return tuple(
        replace(definition, origin=Origin(INTERFACE, owner.name, True))
        for definition in interface.properties
        for owner in prelude.bases.values()
        if _is_in(definition, owner.properties)
    )


def _is_in(definition: typed.PropertyDef, some: Iterable[typed.PropertyDef]) -> bool:
    return any(definition is each for each in some)


def _hidden(
    definition: typed.PropertyDef, interface: typed.Interface, prelude: Prelude | None
) -> tuple[typed.Interface, typed.PropertyDef] | None:
    """Returns the property of the library that a check would ask in place of ``definition`` if that
    did not exist, with its interface; ``None`` where there is none, or where it says the same."""
    if prelude is None:
        return None
    shipped = [*prelude.bases.values()]
    namesake = prelude.interfaces.get(interface.name)
    named = () if namesake is None else namesake.properties
    found = next((each for each in named if each.name == definition.name), None)
    found = found or find_shared_property(definition.name, interface, shipped)
    if found is None or normal_form(found.formula) == normal_form(definition.formula):
        return None
    return next(i for i in shipped if _is_in(found, i.properties)), found


def hiding(asked: Iterable[typed.PropertyDef]) -> Iterator[Diagnostic]:
    """Yields a warning (C053) for each property that hides another one of the library."""
    for definition in asked:
        origin = definition.origin
        if origin is None or origin.hidden is None:
            continue
        owner = "this check" if origin.kind == CHECK else f"{origin.kind} `{origin.name}`"
        where = f"{resources.display_name(origin.hidden.file)}:{origin.hidden.line}"
        message = (
            f"`{definition.name}` of {owner} hides the library's property of that name"
            f" (`{origin.hides}`, {where}), which has another formula"
        )
        hint = "rename it, or remove it to check the library's"
        yield Diagnostic("C053", message, definition.span, hint=hint, severity="warning")


def normal_form(formula: typed.Expr) -> object:
    """Returns ``formula`` without positions in the text; variables are numbered in the order in
    which they occur."""
    numbers: dict[str, int] = {}

    def form(node: object) -> object:
        if isinstance(node, tuple):
            return tuple(form(part) for part in node)
        if not is_record(node) or isinstance(node, type):
            return node
        if isinstance(node, typed.Local | typed.Bind):
            return "variable", numbers.setdefault(node.name, len(numbers))
        parts = (getattr(node, field.name) for field in fields(node))
        kept = tuple(form(part) for part in parts if not isinstance(part, Span))
        return (type(node).__name__, *kept)

    return form(formula)
