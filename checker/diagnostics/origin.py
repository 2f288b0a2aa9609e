"""The origin of a property: the part of a spec or of the library that declares it."""

from __future__ import annotations

from msgspec import Struct

from checker.diagnostics import Span

INTERFACE, PROTOCOL, CHECK, LANGUAGE = "interface", "protocol", "check", "language"
KINDS = (INTERFACE, PROTOCOL, CHECK, LANGUAGE)


class Origin(Struct, frozen=True):
    """The ``interface``, ``protocol`` or ``check`` (``kind``) called ``name`` that declares a
    property, or the ``language``.

    ``shipped``: it is part of the tool's library.  ``hides``: the interface of the library that has
    another property of the same name, at ``hidden``; empty where there is none.
    """

    kind: str
    name: str
    shipped: bool = False
    hides: str = ""
    hidden: Span | None = None
