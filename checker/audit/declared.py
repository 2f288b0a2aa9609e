"""Finds the properties that logs are checked against: of a library interface, or of a file."""

from __future__ import annotations

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.language.library import prelude
from checker.language.load import open_spec
from checker.language.syntax.typed import Interface, PropertyDef
from checker.language.typecheck.origins import hiding, of_library
from checker.language.typecheck.scope import suggestion


class Declared(Struct, frozen=True):
    """An interface, and the properties that are asked, with their origins.

    ``name``: as it was asked for; ``is_own``: it is declared in a file of the user's;
    ``warnings``: properties that hide others of the library.
    """

    name: str
    interface: Interface
    properties: tuple[PropertyDef, ...]
    is_own: bool = False
    warnings: tuple[Diagnostic, ...] = ()


def interface_called(name: str) -> Interface:
    """Returns the interface ``name`` of the library; raises :class:`SpecError` (E087)."""
    known = prelude().interfaces
    if name not in known:
        raise _unknown(name, name, sorted(known))
    return known[name]


def declared(name: str) -> Declared:
    """Returns the interface ``Name`` of the library, or ``FILE::Name``: an interface that the file
    sees, or one of its protocols, with the properties of that and of its interface.

    Raises :class:`SpecError`: E087 where there is no such one, or what is wrong with the file.
    """
    file, _, own = name.rpartition("::")
    if not file:
        interface = interface_called(own)
        return Declared(name, interface, of_library(interface, prelude()))
    spec = open_spec(file)
    if own not in spec.interfaces:
        raise _unknown(name, own, spec.interfaces)
    interface, properties = spec.asked_of(own)
    return Declared(name, interface, properties, True, tuple(hiding(properties)))


def _unknown(name: str, own: str, known: list[str]) -> SpecError:
    """Returns the error (E087) of ``--as name``, of which ``own`` is nothing that is ``known``."""
    option = f"--as {name}"
    span = Span(option, 0, len(option) - len(own) + 1, 0, len(option) + 1)
    listed = ", ".join(f"`{each}`" for each in known)
    message = f"unknown interface `{own}`"
    return SpecError((Diagnostic("E087", message, span, listed, suggestion(own, known)),))
