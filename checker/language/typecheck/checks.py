"""Types checks: the environment of a protocol, and the properties to check."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from checker.diagnostics import Diagnostic
from checker.language.library import Library
from checker.language.syntax import ast, ast_chance, ast_clauses, ast_items, typed
from checker.language.typecheck.all_sizes import Every, every_of, require_general
from checker.language.typecheck.bounds import bounds_of
from checker.language.typecheck.budgets import budgets_of
from checker.language.typecheck.chance import chance_questions
from checker.language.typecheck.clients import clients_of
from checker.language.typecheck.exactly_once import OVER, NotHere, is_once, once
from checker.language.typecheck.expressions import check
from checker.language.typecheck.fair_handlers import fair_handlers_of
from checker.language.typecheck.interfaces import find_shared_property, has_same_operators
from checker.language.typecheck.late_requirements import late_requirements
from checker.language.typecheck.layers import World, check_given, stack_of
from checker.language.typecheck.objects import consistency_property, is_consistency, of_clients
from checker.language.typecheck.origins import hiding, with_origin
from checker.language.typecheck.own_properties import own_properties
from checker.language.typecheck.scenarios import scenarios_of
from checker.language.typecheck.scope import Hole, Home, Reporter, Scope, suggestion
from checker.language.typecheck.types import INT, PROC
from checker.language.typecheck.views import of_view, view_of
from checker.language.typecheck.without_effect import (
    never_disconnected,
    never_recovered,
    never_synced,
)
from checker.language.typecheck.world import (
    detector_of,
    faults_of,
    links_of,
    require_connections,
    rules_of,
    timing_of,
)
from checker.records import replace

VERDICTS = ("holds", "holds within", "violated", "vacuous", "unknown")
_COUNTS = ("states", "depth", "trace")


def check_of(decl: ast_items.Check, protocol: typed.Protocol, library: Library) -> typed.Check:
    """Returns the check ``decl`` of ``protocol``; errors go to the report of ``library``."""
    home = _home(protocol, library)
    faults = faults_of(_of(decl, ast_items.Fault), home)
    links, capacity = links_of(_of(decl, ast_items.Link), home)
    timing = timing_of(_of(decl, ast_items.Timing), home)
    detector = detector_of(_of(decl, ast_items.Detector), home)
    given = check_given(_of(decl, ast_items.Given), protocol, library)
    world = World(decl.name.span, faults.crash is not None, faults.recover, timing, detector)
    asked = _names_asked(decl)
    settings = _settings(_of(decl, ast_items.Setting), home)
    every = _every(decl, settings, home)
    own = _own_properties(decl, protocol, library)
    prove = _properties(asked, protocol, own, library, faults.recover)
    made = typed.Check(
        name=decl.name.text,
        protocol=protocol,
        settings=tuple(settings.values()),
        crash=faults.crash,
        links=links,
        capacity=capacity,
        clients=clients_of(_of(decl, ast_items.Client), home),
        prove=prove,
        expect=_expectations(_of(decl, ast_items.Expect), home.report),
        span=decl.name.span,
        crash_points=_crash_points(_of(decl, ast_items.CrashPoints), home.report),
        allow_unused=_allows_unused(_of(decl, ast_items.Allow), home.report),
        recover=faults.recover,
        omission=faults.omission,
        byzantine=faults.byzantine,
        role_faults=faults.of_roles,
        budgets=budgets_of(_of(decl, ast_clauses.HandlerBudget), protocol, given, home),
        fair=fair_handlers_of(_of(decl, ast_clauses.FairHandlers), protocol, given, home),
        recovering=faults.recovering,
        partitions=faults.partition,
        splits=faults.splits,
        pauses=faults.pause,
        pause_span=faults.pause_span,
        kill=faults.kill,
        power=faults.power,
        wipe=faults.wipe,
        sync=faults.sync,
        cuts=faults.cuts,
        resets=faults.reset,
        link_rules=rules_of(_of(decl, ast_items.LinkRule), home),
        timing=timing,
        detector=detector,
        given=given,
        warnings=stack_of(protocol, given, world, library, (*prove, *own)),
        scenarios=_scenarios(decl, asked, home),
        every=every.names,
        when=every.when,
        every_span=every.span,
        invariants=tuple(p for p in own if p.lemma),
        bounds=bounds_of(_of(decl, ast_clauses.StateBound), library.home(protocol.name)),
        view=view_of(_of(decl, ast_clauses.View), library.home(protocol.name)),
        chance=_chance(decl, protocol, own, library),
    )
    require_connections(made, faults.reset_span, home.report)
    return replace(made, warnings=made.warnings + _warnings_of(made, own, home.report))


def _every(decl: ast_items.Check, settings: dict[str, typed.Setting], home: Home) -> Every:
    every = every_of(_of(decl, ast_items.Every), settings, home)
    require_general(every, decl.items, _COUNTS, home)
    return every


def _names_asked(decl: ast_items.Check) -> list[ast.Name]:
    """Returns the names of the properties that a check proves or expects."""
    asked = [n for i in _of(decl, ast_items.Prove) for n in i.names]
    return asked + [i.what for i in _of(decl, ast_items.Expect) if _about_property(i)]


def _scenarios(
    decl: ast_items.Check, asked: list[ast.Name], home: Home
) -> tuple[typed.Scenario, ...]:
    scenarios = _of(decl, ast_clauses.Scenario)
    return scenarios_of(scenarios, {name.text for name in asked}, home.report)


def _warnings_of(
    check: typed.Check, own: tuple[typed.PropertyDef, ...], report: Reporter
) -> tuple[Diagnostic, ...]:
    """Returns the warnings about ``check``, whose ``own`` properties are declared in it."""
    stored = (*never_recovered(check, own), *never_synced(check))
    unheard = (*of_clients(check, report), *never_disconnected(check))
    hidden = hiding(check.prove)
    return (*unheard, *of_view(check), *stored, *hidden, *late_requirements(check))


def _chance(
    decl: ast_items.Check,
    protocol: typed.Protocol,
    own: tuple[typed.PropertyDef, ...],
    library: Library,
) -> tuple[typed.ChanceQuestion, ...]:
    asked = [q for item in _of(decl, ast_chance.ProveChance) for q in item.questions]
    expected = _of(decl, ast_chance.ExpectChance)
    home = _seen_here(decl.name, protocol, library)
    sizes = _home(protocol, library)
    others = (*protocol.invariants, *_askable(protocol, library.bases()), *own)
    return chance_questions(asked, expected, home, sizes, others, protocol)


_Item = TypeVar("_Item")


def _of(decl: ast_items.Check, kind: type[_Item]) -> list[_Item]:
    return [item for item in decl.items if isinstance(item, kind)]


def _home(protocol: typed.Protocol, library: Library) -> Home:
    params: dict[str, typed.Type] = {"n": INT, "f": INT}
    params.update({p.name: p.type for p in protocol.parameters})
    roles = tuple(r.name for r in protocol.roles)
    its = library.home(protocol.name)
    return Home(
        library.report,
        protocol.name,
        params=params,
        roles=roles,
        leads={role.name: role.lead for role in protocol.roles if role.lead},
        interface=protocol.implements,
        lost=its.lost,
        constants=its.constants,
        definitions=its.definitions,
    )


def _settings(items: list[ast_items.Setting], home: Home) -> dict[str, typed.Setting]:
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
    return made


def _crash_points(items: list[ast_items.CrashPoints], report: Reporter) -> str:
    where = "inside"
    for item in items:
        where = item.where.text
        if where not in ("inside", "between_handlers"):
            hint = suggestion(where, ("inside", "between_handlers"))
            report.add("C010", f"unknown crash points `{where}`", item.where.span, hint=hint)
    return where


def _allows_unused(items: list[ast_items.Allow], report: Reporter) -> bool:
    for item in items:
        if item.what.text != "unused":
            message = f"unknown clause `allow {item.what.text}`"
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
                message = f"`{what}` is not a number that a check can expect"
                wanted = "`states`, `depth` or `trace`"
                report.add("C008", message, item.what.span, wanted)
        elif what in _COUNTS:
            report.add("C008", f"`{what}` takes a number", item.value_span, "a number")
        elif value not in VERDICTS:
            hint = suggestion(value, VERDICTS)
            report.add("C008", f"unknown verdict `{value}`", item.value_span, hint=hint)
        made[what] = typed.Expectation(what, value, item.span, _without(item, report))
    return tuple(made.values())


def _without(item: ast_items.Expect, report: Reporter) -> typed.Happening | None:
    """Returns the words that no step of the expected counterexample fits, where there are any."""
    words = item.without
    if words is None:
        return None
    if item.value != "violated":
        message = f"`without` needs the expectation `violated`, not `{item.value}`"
        report.add("C037", message, words.span, f"`expect {item.what.text} violated without …`")
        return None
    if not words.text.strip(" .…"):
        message = "these words fit every step"
        report.add("C037", message, words.span, 'the beginning of a step, such as `"p1 crashes"`')
        return None
    return typed.Happening(words.text, words.span)


def _properties(
    asked: Iterable[ast.Name],
    protocol: typed.Protocol,
    own: tuple[typed.PropertyDef, ...],
    library: Library,
    recover: bool,
) -> tuple[typed.PropertyDef, ...]:
    interfaces, report = library.bases(), library.report
    lost = library.home(protocol.name).lost
    written = {p.name: p for p in (*protocol.invariants, *own)}
    made: dict[str, typed.PropertyDef] = {}
    for name in asked:
        if name.text in made:
            continue
        if is_consistency(name.text):
            consistent = consistency_property(name, _seen_here(name, protocol, library))
            made.update({} if consistent is None else {name.text: consistent})
            continue
        found = written.get(name.text) or find_property(name.text, protocol, interfaces)
        if found is None and ("implements" in lost or name.text in report.broken):
            continue
        if found is None and is_once(name.text):
            found = _once(name, protocol, report, recover)
            if found is not None:
                made[name.text] = found
        elif found is None:
            hint = suggestion(name.text, property_names(protocol, interfaces) | written.keys())
            if protocol.implements is None and not hint:
                hint = "such a property needs an interface: `protocol P implements I`"
            message = f"`{protocol.name}` has no property `{name.text}`"
            report.add("C007", message, name.span, hint=hint)
        else:
            made[name.text] = found
    return tuple(with_origin(found, protocol, own, library) for found in made.values())


def _seen_here(at: ast.Name, protocol: typed.Protocol, library: Library) -> Home:
    """Returns the declarations of ``protocol``, and the objects of the file of ``at``."""
    home = library.home(protocol.name)
    return replace(home, objects={**home.objects, **library.around(at.span.file).objects})


def _own_properties(
    decl: ast_items.Check, protocol: typed.Protocol, library: Library
) -> tuple[typed.PropertyDef, ...]:
    """Returns the check's own properties and lemmas, which may name those that can be asked of the
    protocol; their names must be distinct from those that the protocol itself has."""
    written = _of(decl, ast_items.PropertyDecl)
    if not written:
        return ()
    taken = {p.name for p in (*protocol.properties, *protocol.invariants)}
    for item in written:
        if item.name.text in taken:
            message = f"`{protocol.name}` already has a property `{item.name.text}`"
            library.report.add("N004", message, item.name.span)
    others = (*protocol.invariants, *_askable(protocol, library.bases()))
    return own_properties(written, _seen_here(decl.name, protocol, library), others)


def _once(
    name: ast.Name, protocol: typed.Protocol, report: Reporter, recover: bool
) -> typed.PropertyDef | None:
    """Returns ``exactly_once over effects``; ``None`` where it does not apply, which is
    reported."""
    times, _, over = name.text.partition(" over ")
    choices = ", ".join(f"`{times} over {o}`" for o in OVER)
    if over not in OVER:
        message = f"`{times}` needs `over`: there are three such properties"
        if over:
            message = f"`{times}` can't be checked over `{over}`"
        report.add("C018", message, name.span, choices, suggestion(over, OVER) if over else "")
        return None
    try:
        return once(name.text, protocol, name.span, recover)
    except NotHere as reason:
        message = f"`{name.text}` does not apply to `{protocol.name}`: {reason}"
        report.add("C018", message, name.span)
        return None


def find_property(
    name: str, protocol: typed.Protocol, interfaces: list[typed.Interface]
) -> typed.PropertyDef | None:
    """Returns the protocol's own property, its interface's, or that of an interface of the same
    shape."""
    for found in protocol.properties:
        if found.name == name:
            return found
    if protocol.implements is None:
        return None
    for found in protocol.implements.properties:
        if found.name == name:
            return found
    return find_shared_property(name, protocol.implements, interfaces)


def _askable(
    protocol: typed.Protocol, interfaces: list[typed.Interface]
) -> Iterable[typed.PropertyDef]:
    """Returns all properties that can be asked of ``protocol`` by their names."""
    found = (find_property(n, protocol, interfaces) for n in property_names(protocol, interfaces))
    return (definition for definition in found if definition is not None)


def property_names(protocol: typed.Protocol, interfaces: list[typed.Interface]) -> set[str]:
    """Returns the names that :func:`find_property` finds."""
    names = {p.name for p in protocol.properties}
    if protocol.implements is not None:
        names.update(p.name for p in protocol.implements.properties)
        for other in interfaces:
            if has_same_operators(protocol.implements, other):
                names.update(p.name for p in other.properties)
    return names
