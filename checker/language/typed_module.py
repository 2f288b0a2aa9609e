"""Types what a file declares."""

from __future__ import annotations

from collections.abc import Iterator

from checker.language.library import Library, Source
from checker.language.mutants import is_mutant
from checker.language.syntax import ast_items, ast_objects, typed
from checker.language.syntax.ast_chance import ExpectChance
from checker.language.typecheck.checks import check_of
from checker.language.typecheck.objects import check_object
from checker.language.typecheck.scope import Reporter
from checker.language.typecheck.unasked import unknown_words, with_unasked
from checker.polling import poll
from checker.records import replace


def module_of(source: Source, library: Library) -> typed.Module:
    """Returns what ``source`` declares, typed; its errors go to the library's ``report``."""
    _twice(source, library.report)
    for problem in unknown_words(source.text or "", source.spec.file):
        library.report.found[problem] = None
    library.around(source.spec.file)
    for decl in source.objects():
        check_object(decl, library.report, library.around(source.spec.file))
    interfaces = [library.interface(i.name) for i in source.interfaces()]
    protocols = [library.protocol(p.name) for p in source.protocols()]
    for imported in library.sources[1:]:
        for protocol_decl in imported.protocols():
            library.protocol(protocol_decl.name)
    checks: list[typed.Check] = []
    for item in source.apart():
        if isinstance(item, ast_items.Check):
            poll()
            protocol = library.protocol(item.protocol)
            if is_mutant(item.name.text):
                checks += _mutant(item, protocol, library)
            elif protocol is not None:
                checks.append(check_of(item, protocol, library))
    return typed.Module(
        source.spec.file,
        tuple(i for i in interfaces if i is not None),
        tuple(p for p in protocols if p is not None),
        with_unasked(checks, source.text),
    )


def _mutant(
    item: ast_items.Check, protocol: typed.Protocol | None, library: Library
) -> Iterator[typed.Check]:
    """Yields the check of a mutant, unless there are errors, which may be those of its original.
    What the original is warned of is not said again."""
    if not any(isinstance(part, ast_items.Expect | ExpectChance) for part in item.items):
        hint = "add what the mutant breaks, such as `expect agreement violated`"
        library.report.add("C049", "nothing is expected of this mutant", item.name.span, hint=hint)
    if protocol is not None and not library.report.found:
        yield replace(check_of(item, protocol, library), warnings=())


def _twice(source: Source, report: Reporter) -> None:
    """Reports what one file, or a file and its imports, declare twice."""
    seen: dict[tuple[str, str], str] = {}
    modules = ast_items.Interface | ast_items.Protocol | ast_items.Variant
    for each in reversed(source.all()):
        for item in each.apart():
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
