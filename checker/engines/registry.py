"""Finds engines by name, and what each can do: the pipeline refuses requests from it before any
work is done, and the report describes limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from checker.diagnostics import Diagnostic, SpecError
from checker.engines.capabilities import Ability, Can, Feature
from checker.engines.engine import ClusterUse, Engine
from checker.engines.search_engine import SearchEngine
from checker.extensions.registry import Origin
from checker.extensions.tables import AUTO, DEFAULT, ENGINES

STATES_NEEDED = (Feature.RUNS, Feature.TABLES, Feature.REDUCTIONS)
"""The features that only a :class:`SearchEngine` can have."""


def origin_of(name: str) -> Origin:
    """Returns where the engine ``name`` is from; ``auto`` begins with the default one.

    Raises :class:`SpecError` where there is none (E008), or several claim the name (E042).
    """
    return ENGINES.origin(resolved_name(name))


def engine_of(name: str) -> Engine:
    """Returns the engine ``name``; raises :class:`SpecError` as :func:`origin_of` does, and where
    it can't be used (E042)."""
    return _load(origin_of(name))


def resolved_name(name: str) -> str:
    """Returns the name of the engine that ``name`` asks for."""
    return DEFAULT if name == AUTO else name


def needs_cluster(name: str) -> bool:
    """Returns whether the engine ``name`` runs on a cluster."""
    return engine_of(name).cluster is ClusterUse.REQUIRED


def keeps_states(name: str) -> bool:
    """Returns whether the engine ``name`` can keep states in the folder of a run."""
    return isinstance(engine_of(name), SearchEngine)


def _load(origin: Origin) -> Engine:
    found = ENGINES.load(origin)
    with ENGINES.blaming(origin):
        wrong = what_is_wrong(found, origin.name)
    if wrong or not isinstance(found, Engine):
        raise ENGINES.refusal(origin, wrong)
    return found


def what_is_wrong(found: object, name: str) -> str:
    """Returns why ``found`` can't be the engine ``name``, as a predicate; empty where it can."""
    if not isinstance(found, Engine):
        return f"is not an engine, but of type {type(found).__name__}"
    if found.name != name:
        return f"calls itself {found.name!r}"
    declared = found.capabilities
    if not isinstance(declared, Mapping):
        return "does not declare its capabilities as a mapping"
    for feature, ability in declared.items():
        if not (isinstance(feature, Feature) and isinstance(ability, Ability)):
            return f"declares {ability!r} of {feature!r}"
        if bool(ability.note) == (ability.can is Can.YES):
            return f"has no explanation of {feature.value}, or an unneeded one"
        able = ability.can in (Can.YES, Can.PARTLY)
        if able and feature in STATES_NEEDED and not isinstance(found, SearchEngine):
            return f"is not a SearchEngine, so it can't have {feature.value}"
    return ""


# ---- what engines can do ----------------------------------------------------------------------


def require(engine: str, feature: Feature) -> None:
    """Raises :class:`SpecError` if ``engine`` lacks the feature; ``auto`` is the default one."""
    ability = engine_of(engine).ability(feature)
    if ability.can is not Can.NO:
        return
    built_in = (engine_of(name) for name in ENGINES.built_in)
    able = next(e.name for e in built_in if e.ability(feature).can is not Can.NO)
    message = f"the {engine} engine {ability.note}"
    raise SpecError((Diagnostic(ability.code, message, hint=f"`--engine {able}` does"),))


def can(engine: str, feature: Feature) -> bool:
    """Returns whether ``engine`` supports the feature, within limits at least."""
    return engine_of(engine).ability(feature).can in (Can.YES, Can.PARTLY)


def ignored_features(engine: str, wanted: Iterable[Feature]) -> tuple[str, ...]:
    """Returns the report's remarks on features that were requested and are ignored."""
    found = engine_of(engine)
    abilities = [found.ability(feature) for feature in wanted]
    return tuple(f"the {engine} engine {a.note}" for a in abilities if a.can is Can.IGNORED)


def table() -> list[str]:
    """Returns what the tool's own engines can do in Markdown, line by line; notes below."""
    engines = [engine_of(name) for name in ENGINES.built_in]
    lines = [
        f"| | {' | '.join(engine.name for engine in engines)} |",
        f"|---|{'---|' * len(engines)}",
    ]
    notes: list[str] = []
    for feature in Feature:
        cells = []
        for engine in engines:
            ability, mark = engine.ability(feature), ""
            if ability.note:
                note = f"The {engine.name} engine {ability.note}."
                if note not in notes:
                    notes.append(note)
                mark = f" ({notes.index(note) + 1})"
            cells.append(f"{ability.can.value}{mark}")
        lines.append(f"| {feature.value} | {' | '.join(cells)} |")
    return [*lines, "", *(f"{i}. {note}" for i, note in enumerate(notes, 1))]
