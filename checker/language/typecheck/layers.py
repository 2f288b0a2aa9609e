"""Resolves the layers of a check: what implements each, and what that needs of the environment."""

from __future__ import annotations

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span
from checker.diagnostics.english import listing
from checker.language.library import DETECTORS, Library
from checker.language.syntax import ast_items, typed
from checker.language.syntax.stack import given_for, layers_of, stands_for
from checker.language.typecheck.interfaces import has_same_operators
from checker.language.typecheck.scope import Reporter, suggestion
from checker.language.typecheck.untaken import untaken_messages
from checker.records import replace

ORACLE = "oracle"
_LEADERS = "LeaderDetector"


class World(Struct, frozen=True):
    """The part of a check's environment that the layers depend on."""

    span: Span
    crash: bool
    recover: bool
    timing: typed.Timing | None
    detector: typed.Detector | None


def check_given(
    items: list[ast_items.Given], protocol: typed.Protocol, library: Library
) -> tuple[typed.Given, ...]:
    """Types ``given cons as oracle``, ``given fd as Heartbeats``; errors go to the library's
    report."""
    report = library.report
    made: dict[str, typed.Given] = {}
    for item in items:
        name = item.layer.text
        if name in made:
            report.add("C009", f"duplicate `given` for `{name}`", item.span)
            continue
        if item.what.text == ORACLE:
            made[name] = typed.Given(name, None, item.span)
            continue
        chosen = library.protocol(item.what)
        if chosen is not None:
            made[name] = typed.Given(name, chosen, item.span)
    given = tuple(made.values())
    stack = list(layers_of(protocol, given))
    for one in given:
        meant = [layer for layer in stack if one.layer in _names(layer)]
        if not meant and one.layer in _lost(protocol, given, library):
            continue
        if not meant:
            known = {n for layer in stack for n in _names(layer)}
            hint = suggestion(one.layer, known) or f"`{protocol.name}` uses no layers"
            report.add("C016", f"there is no layer `{one.layer}`", one.span, hint=hint)
        for layer in meant:
            _same_interface(layer, one, report)
    return tuple(replace(g, protocol=None) if _circle(g, given, report) else g for g in given)


def _circle(one: typed.Given, given: tuple[typed.Given, ...], report: Reporter) -> bool:
    """Tells whether what is given for a layer has that layer below itself, which is reported."""
    if one.protocol is None:
        return False
    for layer in layers_of(one.protocol, given):
        if given_for(layer, given) == one:
            message = f"cyclic layers: `{one.protocol.name}` also has a layer `{one.layer}`"
            hint = "give that layer another name, or name the protocol in `uses`"
            report.add("C016", message, one.span, hint=hint)
            return True
    return False


def _lost(
    protocol: typed.Protocol, given: tuple[typed.Given, ...], library: Library
) -> frozenset[str]:
    """Returns the names of layers, at any depth, that could not be resolved, which is reported
    where they stand."""
    below = (stands_for(layer, given) for layer in layers_of(protocol, given))
    whole = {p.name for p in (protocol, *below) if p is not None}
    return frozenset(name for each in whole for name in library.home(each).lost)


def _names(layer: typed.Layer) -> set[str]:
    return {layer.name, layer.interface.name} if layer.interface is not None else {layer.name}


def _same_interface(layer: typed.Layer, given: typed.Given, report: Reporter) -> None:
    wanted, chosen = layer.interface, given.protocol
    if chosen is None or wanted is None:
        return
    if chosen.implements is None or not has_same_operators(wanted, chosen.implements):
        has = f"implements `{chosen.implements.name}`" if chosen.implements else "has no interface"
        message = f"`{layer.name}` is a layer `{wanted.name}`, and `{chosen.name}` {has}"
        report.add("C016", message, given.span, f"a protocol that implements `{wanted.name}`")


def stack_of(
    protocol: typed.Protocol,
    given: tuple[typed.Given, ...],
    world: World,
    library: Library,
    asked: tuple[typed.PropertyDef, ...],
) -> tuple[Diagnostic, ...]:
    """Reports layers without implementation and environments that lack something; gives warnings.

    ``asked``: the properties of the check.
    """
    report = library.report
    heard = False
    told: set[str] = set()
    present = [protocol]
    for layer in layers_of(protocol, given):
        below = stands_for(layer, given)
        if below is not None:
            present.append(below)
            continue
        if given_for(layer, given) is not None or layer.interface is None:
            continue
        if layer.interface.name in DETECTORS:
            heard = True
            if layer.name not in told:
                _require_detector(layer, world, report)
        elif layer.name not in told:
            _missing(layer, world, library)
        told.add(layer.name)
    if world.detector is not None and not heard:
        message = f"`{protocol.name}` has no layer that is a failure detector"
        hint = "leave out `detector`, or write `uses fd : FailureDetector`"
        report.add("C015", message, world.detector.span, hint=hint)
    seen = {p.name: p for p in present}
    formulas = tuple(p.formula for p in asked)
    for each in seen.values():
        _timers(each, world, report)
    whole = not report.found  # a handler with an error is not there
    own = [p for p in seen.values() if whole and not p.shipped]
    return tuple(w for p in own for w in untaken_messages(p, formulas))


def _require_detector(layer: typed.Layer, world: World, report: Reporter) -> None:
    interface = layer.interface
    assert interface is not None
    leaders = interface.name == _LEADERS
    classes = ("Omega",) if leaders else ("P", "eventually P")
    wanted = listing((f"`detector {each}`" for each in classes), "or")
    if world.detector is None:
        message = f"the check does not set the class of the detector `{layer.name}`"
        hint = f"write {wanted}, or `given {layer.name} as …`"
        report.add("C014", message, world.span, hint=hint)
    elif (world.detector.kind == "Omega") != leaders:
        speaks = "names leaders" if world.detector.kind == "Omega" else "suspects processes"
        message = f"`{layer.name}` implements `{interface.name}`, and this detector {speaks}"
        report.add("C014", message, world.detector.span, wanted)


def _missing(layer: typed.Layer, world: World, library: Library) -> None:
    """Reports a layer that no protocol, or more than one, implements."""
    assert layer.interface is not None
    name = layer.interface.name
    several = library.implementing(name)
    hint = f"write `given {layer.name} as oracle`, or write or import a protocol for it"
    message = f"no protocol implements `{name}`, the layer `{layer.name}`"
    if several:
        shown = ", ".join(f"`{p}`" for p in several)
        message = f"several protocols implement `{name}`, the layer `{layer.name}`: {shown}"
        hint = f"choose one: `given {layer.name} as {several[0]}`"
    library.report.add("N014", message, world.span, hint=hint)


def _timers(protocol: typed.Protocol, world: World, report: Reporter) -> None:
    events = (h.event for role in protocol.roles for h in role.handlers)
    if world.timing is None and any(isinstance(e, typed.OnTimeout) for e in events):
        message = f"`{protocol.name}` has timeouts, and the check sets no timing"
        hint = "write `timing asynchronous`: a timeout may come at any time"
        report.add("C013", message, world.span, hint=hint)
