"""Provenance of traces: writes it into the header of a trace, and reads it back."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.instantiate.instantiated import Instantiated
from checker.instantiate.protocol.sizes import describe_sizes
from checker.language.syntax import typed
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.resources import display_name, version
from checker.results.trace import Header, Source, Trace

if TYPE_CHECKING:
    from checker.language.sources import SourceText

GROWN = "capacity of "
"""Prefix, in a header's settings, of the capacities with which its system was instantiated."""
ONLY = "property asked alone: "
"""Prefix, in a header's settings, of the properties that were asked of those of the check."""

OF_A_LOG = "run of a log"
"""What a header's settings have where the run explains a log."""


def for_a_log(check: typed.Check) -> typed.Check:
    """Returns ``check`` as the log of an implementation is held to it: without its properties, and
    with crashes at any point of a handler, also where no property could tell."""
    points = "everywhere" if check.crash_points == "inside" else check.crash_points
    return replace(check, prove=(), expect=(), crash_points=points)


def header_of(
    path: str, check: typed.Check, made: Instantiated, options: Options, *, sources: bool = True
) -> Header:
    """Returns the header of traces of ``check``, from the file ``path``, with its system ``made``.

    ``sources``: whether it includes the texts of the spec.
    """
    settings = dict(options.settings)
    settings |= {f"{GROWN}{name}": str(size) for name, size in made.capacities.items()}
    settings |= {f"{ONLY}{name}": "yes" for name in check.only}
    return Header(
        version(),
        path,
        check.name,
        describe_sizes(check, made.sizes),
        settings,
        options.fine_steps,
        _sources(path, made.system) if sources else (),
    )


def settings_of(header: Header) -> tuple[dict[str, str], dict[str, int]]:
    """Returns the user's settings, and the capacities with which the system was instantiated."""
    asked, grown = dict[str, str](), dict[str, int]()
    for name, value in header.settings.items():
        if name.startswith(GROWN):
            grown[name.removeprefix(GROWN)] = int(value)
        elif not name.startswith(ONLY) and name != OF_A_LOG:
            asked[name] = value
    return asked, grown


def asked_alone(header: Header) -> tuple[str, ...]:
    """Returns the properties that were asked, where those were not all of the check."""
    return tuple(name.removeprefix(ONLY) for name in header.settings if name.startswith(ONLY))


def _sources(path: str, system: TransitionSystem) -> tuple[Source, ...]:
    """Returns the spec's text, with those of the tool's own files that ``system`` is made from.

    A cell of a sweep may run where its spec is not: then only the latter are returned.
    """
    from checker.language.sources import shipped_texts

    places = [mark.place for mark in system.marks] + [p.place for p in system.properties]
    mentioned = {place.file for place in places if place is not None}
    shipped = (_source(text) for text in shipped_texts() if text.file in mentioned)
    return (*_own(path), *shipped)


def sources_named(path: str, files: Collection[str]) -> tuple[Source, ...]:
    """Returns the texts of the spec ``path`` and of those of the tool's own ``files``, by the names
    that places have; without the spec if it can't be read."""
    from checker.language.sources import shipped_texts

    shipped = map(_source, shipped_texts())
    return (*_own(path), *(each for each in shipped if each.file in files))


def with_own_sources(trace: Trace) -> Trace:
    """Returns ``trace`` with the texts of its spec, where they are available and it has none."""
    header = trace.header
    if any(not source.shipped for source in header.sources):
        return trace
    return replace(trace, header=replace(header, sources=(*_own(header.file), *header.sources)))


def with_sources_of(trace: Trace) -> Trace:
    """Returns ``trace`` with the texts of its spec as they are now, where it has any."""
    header = trace.header
    if not header.sources:
        return trace
    shipped = (source for source in header.sources if source.shipped)
    return replace(trace, header=replace(header, sources=(*_own(header.file), *shipped)))


def _own(path: str) -> tuple[Source, ...]:
    from checker.language.sources import own_texts

    try:
        return tuple(_source(text) for text in own_texts(path))
    except SpecError:
        return ()


def _source(text: SourceText) -> Source:
    return Source(display_name(text.file), text.digest, text.data.decode("utf-8"), text.shipped)
