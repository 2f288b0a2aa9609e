"""Loads a file as a typed module, or reports all of its errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.lang import ast_items, typed
from checker.lang.check_check import check_of
from checker.lang.library import Library, Source, open_source, prelude, read
from checker.lang.scope import Reporter
from checker.lang.world_settings import in_world


def load(path: Path | str) -> typed.Module:
    """Returns the typed module of the file at ``path``.

    Raises :class:`SpecError` with every diagnostic, sorted by location: E001 where the file can't
    be read, S… for syntax, N… for names and types, C… for checks.
    """
    where = Path(path)
    return load_text(read(where), where)


def load_text(text: str, path: Path | str) -> typed.Module:
    """Loads a text as :func:`load` does a file; imports are resolved relative to ``path``."""
    where = Path(path)
    try:
        source = open_source(text, where)
        report = Reporter()
        module = _module(source, Library(source, prelude(), report))
        if report.found:
            raise SpecError(tuple(report.found))
    except SpecError as error:
        raise SpecError(_sort_diagnostics(error.diagnostics, str(where))) from None
    except RecursionError:
        message = "the modules of this file nest too deeply"
        span = Span(str(where), 1, 1, 1, 1)
        raise SpecError((Diagnostic("S004", message, span),)) from None
    return module


def load_in_world(path: Path | str, name: str, world: Mapping[str, str]) -> typed.Check:
    """Returns the check ``name`` of the file at ``path``, with the clauses of its environment that
    ``world`` names replaced (see :mod:`checker.lang.world_settings`).

    The file must be loadable and have that check.  Raises :class:`SpecError` for invalid settings.
    """
    where = Path(path)
    source = open_source(read(where), where)
    report = Reporter()
    library = Library(source, prelude(), report)
    checks = (item for item in source.spec.items if isinstance(item, ast_items.Check))
    decl = next(item for item in checks if item.name.text == name)
    protocol = library.protocol(decl.protocol)
    assert protocol is not None
    check = check_of(in_world(decl, world), protocol, library)
    if report.found:
        raise SpecError(_sort_diagnostics(tuple(report.found), str(where)))
    return replace(check, overridden=tuple(world.items()))


def _sort_diagnostics(found: tuple[Diagnostic, ...], file: str) -> tuple[Diagnostic, ...]:
    """Sorts diagnostics by location, those of ``file`` itself first."""

    def place(diagnostic: Diagnostic) -> tuple[bool, str, int, int, str]:
        span = diagnostic.span or Span(file, 0, 0, 0, 0)
        return span.file != file, span.file, span.line, span.column, diagnostic.code

    return tuple(sorted(found, key=place))


def _module(source: Source, library: Library) -> typed.Module:
    _twice(source, library.report)
    interfaces = [library.interface(i.name) for i in source.interfaces()]
    protocols = [library.protocol(p.name) for p in source.protocols()]
    for imported in library.sources[1:]:
        for decl in imported.protocols():
            library.protocol(decl.name)
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
        tuple(checks),
    )


def _twice(source: Source, report: Reporter) -> None:
    """Reports what one file, or a file and its imports, declare twice."""
    seen: dict[tuple[str, str], str] = {}
    for each in reversed(source.all()):
        for item in each.spec.items:
            if isinstance(item, ast_items.Import):
                continue
            kind = "check" if isinstance(item, ast_items.Check) else "module"
            if kind == "check" and each is not source:
                continue
            name = item.name.text
            if (kind, name) in seen:
                where = seen[kind, name]
                there = "here already" if where == each.spec.file else f"in `{where}` already"
                report.add("N004", f"`{name}` is {there}", item.name.span)
            seen[kind, name] = each.spec.file
