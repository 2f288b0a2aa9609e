"""A registry of extensions of one kind: names, and the objects that they stand for.

Those that travel with the tool are a table of names and references ``module:attribute``; others are
entry points of installed distributions.  Nothing is imported before it is asked for.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError

NAME = re.compile(r"[a-z][a-z0-9_-]*")
"""What an extension can be called."""


class Origin(Struct, frozen=True):
    """Where an extension is from: a ``reference`` (``module:attribute``) of a ``distribution`` and
    its version (empty: the tool's own)."""

    name: str
    reference: str
    distribution: str = ""

    def __str__(self) -> str:
        return f"{self.distribution or 'bivalence'} ({self.reference})"


@lru_cache(maxsize=8)
def _declared(group: str, folders: tuple[str, ...]) -> tuple[Origin, ...]:
    """Returns the entry points of ``group`` in ``folders``, which are those of ``sys.path``: they
    are read once, as every check asks for them."""
    from importlib.metadata import entry_points

    return tuple(
        Origin(
            point.name,
            point.value,
            "" if point.dist is None else f"{point.dist.name} {point.dist.version}",
        )
        for point in entry_points(group=group)
    )


class Registry(Struct, frozen=True):
    """The extensions of a ``kind`` (``engine``): ``built_in`` ones by name, and the entry points of
    ``group``; ``reserved``: names that none may have.
    """

    kind: str
    group: str
    built_in: Mapping[str, str]
    reserved: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Returns the names that can be asked for: the built-in ones, then the others by name."""
        try:
            claimed = {origin.name for origin in self.outside()}
        except SpecError:  # it is reported to who asks for one of them
            claimed = set()
        usable = {name for name in claimed if NAME.fullmatch(name)} - {*self.reserved}
        return (*self.built_in, *sorted(usable - self.built_in.keys()))

    def outside(self) -> tuple[Origin, ...]:
        """Returns the extensions that other distributions declare; raises :class:`SpecError` (E042)
        where what is installed can't be read."""
        try:
            return _declared(self.group, tuple(sys.path))
        except Exception as why:
            raise self._unusable(f"the entry points of installed packages: {_text(why)}") from why

    def origin(self, name: str) -> Origin:
        """Returns where the extension ``name`` is from: a built-in name is the tool's own.

        Raises :class:`SpecError` where there is none (E008), or where several claim the name, or
        it may not be one (E042).
        """
        if name in self.built_in:
            return Origin(name, self.built_in[name])
        claims = [origin for origin in self.outside() if origin.name == name]
        if not claims:
            message = f"unknown {self.kind} {name!r}"
            hint = f"{self.kind}s: {', '.join((*self.reserved, *self.names()))}"
            raise SpecError((Diagnostic("E008", message, hint=hint),))
        if len(claims) > 1 or name in self.reserved or not NAME.fullmatch(name):
            raise self._claimed(name, claims)
        return claims[0]

    def require_unclaimed(self, name: str) -> None:
        """Raises :class:`SpecError` (E042) where ``name`` is the tool's own, and an extension from
        outside claims it, too."""
        if name not in self.built_in and name not in self.reserved:
            return
        try:
            claims = [origin for origin in self.outside() if origin.name == name]
        except SpecError:  # nobody can claim a name where nothing can be read
            return
        if claims:
            raise self._claimed(name, claims)

    def _claimed(self, name: str, claims: list[Origin]) -> SpecError:
        told = " and ".join(map(str, claims))
        if len(claims) > 1:
            return self._unusable(f"{told} have the same name {name!r}")
        taken = name in self.built_in or name in self.reserved
        why = (
            "the tool already uses that name"
            if taken
            else "a name has only lower case letters, digits"
        )
        return self._unusable(f"{told} can't be called {name!r}: {why}")

    def load(self, origin: Origin) -> object:
        """Returns the object of an extension; raises :class:`SpecError` (E042)."""
        with self.blaming(origin):
            module, _, attribute = origin.reference.partition(":")
            found: object = importlib.import_module(module.strip())
            for part in attribute.split("[")[0].strip().split("."):
                found = getattr(found, part)
            return found

    @contextmanager
    def blaming(self, origin: Origin, *, but: tuple[type[Exception], ...] = ()) -> Iterator[None]:
        """Turns what an extension from outside raises in this block into :class:`SpecError` (E042);
        ``but``: what it may raise."""
        try:
            yield
        except (Exception, SystemExit) as why:
            if not origin.distribution or isinstance(why, (*but, SpecError, MemoryError)):
                raise
            raise self.refusal(origin, f"fails with {_text(why)}") from why

    def refusal(self, origin: Origin, why: str) -> SpecError:
        """Returns the error of an extension that can't be used; ``why``: a predicate."""
        return self._unusable(f"{origin.name} of {origin} {why}")

    def _unusable(self, message: str) -> SpecError:
        hint = f"{self.kind}s of the tool itself: {', '.join(self.built_in)}"
        return SpecError((Diagnostic("E042", f"{self.kind}: {message}", hint=hint),))


def _text(why: BaseException) -> str:
    return " ".join(f"{type(why).__name__}: {why}".split())
