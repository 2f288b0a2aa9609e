"""Where a trace comes from: written into its header, and read back."""

from __future__ import annotations

from checker.lang import typed
from checker.lang.sources import texts
from checker.options import Options, version
from checker.resources import called
from checker.system.instantiate.assemble import Instantiated
from checker.system.instantiate.sizes import shown
from checker.system.ir import TransitionSystem
from checker.witness.trace import Header, Source

GROWN = "capacity of "
"""Prefix, in a header's settings, of the capacities that its system was made with."""


def header_of(
    path: str, check: typed.Check, made: Instantiated, options: Options, *, sources: bool = True
) -> Header:
    """The header of traces of ``check``, from the file ``path``, with the system ``made`` of it.

    ``sources``: whether the texts of the spec are wanted, too.
    """
    settings = dict(options.settings)
    settings |= {f"{GROWN}{name}": str(size) for name, size in made.capacities.items()}
    return Header(
        version(),
        path,
        check.name,
        shown(check, made.sizes),
        settings,
        options.fine_steps,
        _sources(path, made.system) if sources else (),
    )


def settings_of(header: Header) -> tuple[dict[str, str], dict[str, int]]:
    """What the user had set, and the capacities that the system was made with."""
    asked, grown = dict[str, str](), dict[str, int]()
    for name, value in header.settings.items():
        if name.startswith(GROWN):
            grown[name.removeprefix(GROWN)] = int(value)
        else:
            asked[name] = value
    return asked, grown


def _sources(path: str, system: TransitionSystem) -> tuple[Source, ...]:
    """The spec as it is, with those of the tool's own files that ``system`` is made from."""

    places = [mark.place for mark in system.marks] + [p.place for p in system.properties]
    mentioned = {place.file for place in places if place is not None}
    return tuple(
        Source(called(s.file), s.digest, s.data.decode("utf-8"), s.shipped)
        for s in texts(path)
        if not s.shipped or s.file in mentioned
    )
