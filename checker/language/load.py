"""Loads a file as a typed module, or reports all of its errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from pathlib import Path

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.language.library import Library, Source, open_source, prelude, read
from checker.language.syntax import ast_items, ast_objects, typed
from checker.language.typecheck.checks import check_of
from checker.language.typecheck.instead import asking_instead, with_free_inputs
from checker.language.typecheck.objects import check_object
from checker.language.typecheck.scope import Home, Reporter
from checker.language.typecheck.unasked import unasked, with_unasked
from checker.language.typecheck.world_settings import in_world
from checker.language.variant_text import difference
from checker.records import replace


class Spec:
    """A file that is read, parsed and typed once, however often its checks are asked for.

    ``path``: as the user named it; ``module``: what the file declares.  Converted to a string it is
    its path.
    """

    def __init__(self, text: str, path: str) -> None:
        """Raises :class:`SpecError` as :func:`load` does."""
        self.path = path
        self._elsewhere: dict[tuple[str, frozenset[tuple[str, str]]], typed.Check] = {}
        self._only: frozenset[str] = frozenset()
        try:
            self._source = open_source(text, Path(path))
            report = Reporter()
            self._library = Library(self._source, prelude(), report)
            self.module = module_of(self._source, self._library)
            if report.found:
                raise SpecError(tuple(report.found))
        except SpecError as error:
            raise SpecError(sort_diagnostics(error.diagnostics, str(Path(path)))) from None
        except RecursionError:
            message = "the imports of this file nest too deeply"
            raise SpecError(
                (Diagnostic("S004", message, Span(str(Path(path)), 1, 1, 1, 1)),)
            ) from None

    def __str__(self) -> str:
        return self.path

    @property
    def names(self) -> list[str]:
        """The names of the checks, in the order of the file."""
        return [check.name for check in self.module.checks]

    @property
    def objects(self) -> Mapping[str, tuple[ast_objects.Object, Home]]:
        """The objects in sight of the file, those of the library among them, each with what its
        own file declares."""
        return self._library.around(self._source.spec.file).objects

    def difference(self, name: str) -> list[str]:
        """Returns how the protocol of the check ``name`` differs from that which it is a variant
        of, as lines; none where it is no variant."""
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
        narrow._elsewhere = {}
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

        def change(decl: ast_items.Check, protocol: typed.Protocol) -> ast_items.Check:
            asking = asking_instead(in_world(decl, world), *asked, where)
            return with_free_inputs(asking, protocol.implements) if free_inputs else asking

        return replace(self._typed(name, change), overridden=tuple(world.items()))

    def _typed(
        self, name: str, change: Callable[[ast_items.Check, typed.Protocol], ast_items.Check]
    ) -> typed.Check:
        """Returns the check ``name`` as ``change`` has it; raises :class:`SpecError`."""
        library = self._library
        library.report = Reporter()
        checks = (item for item in self._source.spec.items if isinstance(item, ast_items.Check))
        decl = next(item for item in checks if item.name.text == name)
        protocol = library.protocol(decl.protocol)
        assert protocol is not None
        check = check_of(change(decl, protocol), protocol, library)
        if library.report.found:
            raise SpecError(sort_diagnostics(tuple(library.report.found), str(Path(self.path))))
        return check

    def _replace_world(self, name: str, world: Mapping[str, str]) -> typed.Check:
        check = self._typed(name, lambda decl, _: in_world(decl, world))
        if self._only:
            check = _narrow(check, self._only)
        left_out = unasked(check, self.module.checks)
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
    """Reads the file at ``path``.

    Raises :class:`SpecError` with every diagnostic, sorted by location: E001 where the file can't
    be read, S… for syntax, N… for names and types, C… for checks.
    """
    return Spec(read(Path(path)), str(path))


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


def module_of(source: Source, library: Library) -> typed.Module:
    """Returns what ``source`` declares, typed; its errors go to the library's ``report``."""
    _twice(source, library.report)
    library.around(source.spec.file)
    for decl in source.objects():
        check_object(decl, library.report, library.around(source.spec.file))
    interfaces = [library.interface(i.name) for i in source.interfaces()]
    protocols = [library.protocol(p.name) for p in source.protocols()]
    for imported in library.sources[1:]:
        for protocol_decl in imported.protocols():
            library.protocol(protocol_decl.name)
    checks = []
    for item in source.spec.items:
        if isinstance(item, ast_items.Check):
            protocol = library.protocol(item.protocol)
            if protocol is not None:
                checks.append(check_of(item, protocol, library))
    return typed.Module(
        source.spec.file,
        tuple(i for i in interfaces if i is not None),
        tuple(p for p in protocols if p is not None),
        with_unasked(checks),
    )


def _twice(source: Source, report: Reporter) -> None:
    """Reports what one file, or a file and its imports, declare twice."""
    seen: dict[tuple[str, str], str] = {}
    modules = ast_items.Interface | ast_items.Protocol | ast_items.Variant
    for each in reversed(source.all()):
        for item in each.spec.items:
            if not isinstance(item, modules | ast_items.Check | ast_objects.Object):
                continue
            kind = "module" if isinstance(item, modules) else type(item).__name__.lower()
            if kind == "check" and each is not source:
                continue
            name = item.name.text
            if (kind, name) in seen:
                where = seen[kind, name]
                there = (
                    "already declared here"
                    if where == each.spec.file
                    else f"already declared in `{where}`"
                )
                report.add("N004", f"`{name}` is {there}", item.name.span)
            seen[kind, name] = each.spec.file
