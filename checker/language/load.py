"""Loads a file as a typed module, or reports all of its errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING

from checker import kept, resources
from checker.diagnostics import Diagnostic, Span, SpecError
from checker.language import kept_module
from checker.language.kept_module import KeptModule
from checker.language.mutants import is_mutant
from checker.language.reading import read
from checker.language.syntax import typed
from checker.records import replace

if TYPE_CHECKING:
    from checker.language.library import Library
    from checker.language.syntax import ast_items, ast_objects
    from checker.language.typecheck.scope import Home

Change = Callable[["ast_items.Check", typed.Protocol], "ast_items.Check"]


class Spec:
    """A file that is read, parsed and typed once, however often its checks are asked for.

    ``path``: as the user named it; ``module``: what the file declares.  Converted to a string it is
    its path.
    """

    def __init__(self, text: str, path: str) -> None:
        """Raises :class:`SpecError` as :func:`load` does."""
        self.path = path
        self._text = text
        self._library: Library | None = None
        self._elsewhere: dict[tuple[str, frozenset[tuple[str, str]]], typed.Check] = {}
        self._only: frozenset[str] = frozenset()
        found = kept_module.load(text, path)
        if found is None:
            module = self._read()
            found = kept_module.keep(text, self._opened().sources[0], path, module)
            found = found or KeptModule(module, {}, ())
        self.module, self._digests = found.module, found.digests

    def _read(self) -> typed.Module:
        """Returns what the file declares; raises :class:`SpecError` with all of its errors."""
        from checker.language.typed_module import module_of

        try:
            library = self._opened()
            module = module_of(library.sources[0], library)
            if library.report.found:
                raise SpecError(tuple(library.report.found))
            return module
        except SpecError as error:
            raise SpecError(sort_diagnostics(error.diagnostics, str(Path(self.path)))) from None
        except RecursionError:
            message = "the imports of this file nest too deeply"
            raise SpecError(
                (Diagnostic("S004", message, Span(str(Path(self.path)), 1, 1, 1, 1)),)
            ) from None

    def _opened(self) -> Library:
        """Returns the file with its imports and the modules that they see, parsed once."""
        from checker.language.library import Library, open_source, prelude
        from checker.language.typecheck.scope import Reporter

        if self._library is None:
            source = open_source(self._text, Path(self.path))
            self._library = Library(source, prelude(), Reporter())
        return self._library

    def __getstate__(self) -> dict[str, object]:
        """Returns what another process needs, which opens the file again if it has to."""
        return {**vars(self), "_library": None}

    def __str__(self) -> str:
        return self.path

    def declare(self, check: typed.Check) -> None:
        """Declares what determines ``check``, if it is one of the file as it is written."""
        digest = self._digests.get(check.name)
        if digest is not None and any(check is each for each in self.module.checks):
            kept.name(check, digest)

    @property
    def names(self) -> list[str]:
        """The names of the checks, in the order of the file."""
        return [check.name for check in self.module.checks]

    @property
    def objects(self) -> Mapping[str, tuple[ast_objects.Object, Home]]:
        """The objects in sight of the file, those of the library among them, each with what its
        own file declares."""
        library = self._opened()
        return library.around(library.sources[0].spec.file).objects

    @property
    def interfaces(self) -> list[str]:
        """The names of the interfaces in sight of the file, its own first, and of its protocols
        that implement one."""
        library = self._opened()
        protocols = [p.name for p in self._protocols() if p.implements is not None]
        return [*library.interface_names(), *protocols]

    def asked_of(self, name: str) -> tuple[typed.Interface, tuple[typed.PropertyDef, ...]]:
        """Returns the interface called ``name``, one of ``interfaces``, or implemented by the
        protocol of that name, and its properties with their origins."""
        from checker.language.typecheck.origins import of_interface

        library = self._opened()
        interface = library.interface_called(name)
        if interface is not None:
            return interface, of_interface(interface, library)
        protocol = next(p for p in self._protocols() if p.name == name)
        assert protocol.implements is not None
        return protocol.implements, of_interface(protocol.implements, library, protocol)

    def _protocols(self) -> list[typed.Protocol]:
        """Returns the protocols that the file sees, but for those of the library."""
        from checker.language.syntax import ast_items

        library = self._opened()
        kinds = ast_items.Protocol | ast_items.Variant
        items = [item for source in library.sources for item in source.spec.items]
        found = [library.protocol(item.name) for item in items if isinstance(item, kinds)]
        return [protocol for protocol in found if protocol is not None]

    def difference(self, name: str) -> list[str]:
        """Returns how the protocol of the check ``name`` differs from that which it is a variant
        of, as lines; none where it is no variant."""
        from checker.language.variant_text import difference

        protocol = next(c.protocol for c in self.module.checks if c.name == name)
        return [] if protocol.variant is None else [*difference(protocol.name, protocol.variant)]

    def only(self, properties: Iterable[str]) -> Spec:
        """Returns the same file with those of its checks that ask any of ``properties``, and in
        them these alone: without scenarios, and without the numbers that they expect."""
        kept = frozenset(properties)
        narrow = copy(self)
        narrow._only = kept
        checks = tuple(_narrow(check, kept) for check in self.module.checks)
        narrow.module = replace(self.module, checks=tuple(c for c in checks if c.prove or c.chance))
        narrow._elsewhere, narrow._digests = {}, {}
        return narrow

    def check_in_world(self, name: str, world: Mapping[str, str]) -> typed.Check:
        """Returns the check ``name``, which must exist, with the clauses of its environment that
        ``world`` names replaced (see :mod:`checker.language.typecheck.world_settings`).

        Raises :class:`SpecError` for invalid settings.
        """
        key = name, frozenset(world.items())
        if key not in self._elsewhere:
            self._elsewhere[key] = self._replace_world(name, world)
        return self._elsewhere[key]

    def check_asking(
        self,
        name: str,
        world: Mapping[str, str],
        asked: tuple[str, str, str],
        where: Span,
        *,
        free_inputs: bool,
    ) -> typed.Check:
        """Returns the same, which asks a property in place of its own; errors in that are located
        at ``where``.  ``asked``: its name, sentence and formula.

        ``free_inputs``: what clients request is chosen when a run starts.
        """

        from checker.language.typecheck.instead import asking_instead, with_free_inputs
        from checker.language.typecheck.world_settings import in_world

        def change(decl: ast_items.Check, protocol: typed.Protocol) -> ast_items.Check:
            asking = asking_instead(in_world(decl, world), *asked, where)
            return with_free_inputs(asking, protocol.implements) if free_inputs else asking

        return replace(self._typed(name, change), overridden=tuple(world.items()))

    def _typed(self, name: str, change: Change) -> typed.Check:
        """Returns the check ``name`` as ``change`` has it; raises :class:`SpecError`."""
        from checker.language.syntax import ast_items
        from checker.language.typecheck.checks import check_of
        from checker.language.typecheck.scope import Reporter

        library = self._opened()
        library.report = Reporter()
        items = library.sources[0].apart()
        checks = (item for item in items if isinstance(item, ast_items.Check))
        decl = next(item for item in checks if item.name.text == name)
        protocol = library.protocol(decl.protocol)
        assert protocol is not None
        check = check_of(change(decl, protocol), protocol, library)
        if library.report.found:
            raise SpecError(sort_diagnostics(tuple(library.report.found), str(Path(self.path))))
        return check

    def _replace_world(self, name: str, world: Mapping[str, str]) -> typed.Check:
        from checker.language.typecheck.unasked import unasked
        from checker.language.typecheck.world_settings import in_world

        check = self._typed(name, lambda decl, _: in_world(decl, world))
        if self._only:
            check = _narrow(check, self._only)
        if is_mutant(name):
            check = replace(check, warnings=())
        left_out = unasked(check, self.module.checks, self._text)
        return replace(check, overridden=tuple(world.items()), unasked=left_out)


def _narrow(check: typed.Check, properties: frozenset[str]) -> typed.Check:
    """Returns ``check`` with only those of ``properties`` that it asks."""
    return replace(
        check,
        prove=tuple(p for p in check.prove if p.name in properties),
        expect=tuple(e for e in check.expect if e.what in properties),
        chance=tuple(q for q in check.chance if q.name in properties),
        scenarios=(),
        only=tuple(sorted(properties)),
    )


def open_spec(path: Path | str) -> Spec:
    """Reads the file at ``path``, or the one of the library that has this name.

    Raises :class:`SpecError` with every diagnostic, sorted by location: E001 where the file can't
    be read, S… for syntax, N… for names and types, C… for checks.
    """
    where = resources.spec_path(path)
    return Spec(read(where), str(where))


def load(path: Path | str) -> typed.Module:
    """Returns the typed module of the file at ``path``; raises what :func:`open_spec` does."""
    return open_spec(path).module


def load_text(text: str, path: Path | str) -> typed.Module:
    """Loads a text as :func:`load` does a file; imports are resolved relative to ``path``."""
    return Spec(text, str(path)).module


def sort_diagnostics(found: tuple[Diagnostic, ...], file: str) -> tuple[Diagnostic, ...]:
    """Sorts diagnostics by location, those of ``file`` itself first."""

    def place(diagnostic: Diagnostic) -> tuple[bool, str, int, int, str]:
        span = diagnostic.span or Span(file, 0, 0, 0, 0)
        return span.file != file, span.file, span.line, span.column, diagnostic.code

    return tuple(sorted(found, key=place))
