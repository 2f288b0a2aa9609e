"""Resolves names of modules: in files, their imports, and the library of the tool."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from msgspec import Struct, field

from checker import resources
from checker.diagnostics import Diagnostic, Span, SpecError
from checker.language.elsewhere import import_hint
from checker.language.kept_prelude import kept
from checker.language.mutants import with_mutants
from checker.language.parser.cache import parse
from checker.language.reading import digest_of, identity_of, lines_at, read
from checker.language.syntax import ast, ast_items, ast_objects, typed
from checker.language.typecheck.declarations import file_home
from checker.language.typecheck.interfaces import base_of, complete
from checker.language.typecheck.objects import check_object
from checker.language.typecheck.protocols import protocol_of
from checker.language.typecheck.scope import Home, Reporter, suggestion
from checker.language.typecheck.variants import expand
from checker.records import replace

DETECTORS = ("FailureDetector", "LeaderDetector")
"""Interfaces of layers that a check provides: `detector …`, or `given … as …`."""

Declared = ast_items.Protocol | ast_items.Variant


class Source(Struct):
    """A file, followed by its imports; ``digest``: of its ``text``."""

    spec: ast_items.Spec
    imports: list[Source] = field(default_factory=list)
    digest: bytes = b""
    text: str | None = None

    def interfaces(self) -> list[ast_items.Interface]:
        return [i for i in self.spec.items if isinstance(i, ast_items.Interface)]

    def protocols(self) -> list[Declared]:
        """Returns its protocols and variants, the mutants of its checks among them."""
        return [i for i in self.apart() if isinstance(i, ast_items.Protocol | ast_items.Variant)]

    def apart(self) -> tuple[ast_items.Item, ...]:
        """Returns the items of the file, the mutants of checks as items of their own."""
        return with_mutants(self.spec).items

    def objects(self) -> list[ast_objects.Object]:
        return [i for i in self.spec.items if isinstance(i, ast_objects.Object)]

    def all(self) -> list[Source]:
        """Returns this file and all that it imports, each once, nearest first."""
        found: dict[str, Source] = {}
        waiting = [self]
        while waiting:
            source = waiting.pop(0)
            if source.spec.file not in found:
                found[source.spec.file] = source
                waiting.extend(source.imports)
        return list(found.values())


def open_source(text: str, path: Path) -> Source:
    """Returns the file with all that it imports; raises :class:`SpecError` with the errors of
    any."""
    return _open(text, path, (), {})


def _open(text: str, path: Path, open_now: tuple[str, ...], done: dict[str, Source]) -> Source:
    source = Source(parse(text, str(path)), digest=digest_of(text), text=text)
    here = (*open_now, identity_of(path))
    done[here[-1]] = source
    wrong: list[Diagnostic] = []
    for item in source.spec.items:
        if not isinstance(item, ast_items.Import):
            continue
        target = target_of(item, path)
        identity = identity_of(target)
        if identity in here:
            message = f"`{item.path}` imports this file in turn"
            wrong.append(Diagnostic("N015", message, item.span))
        elif identity in done:
            source.imports.append(done[identity])
        else:
            try:
                inner = _open(read(target, item.span), target, here, done)
                source.imports.append(inner)
            except SpecError as error:
                wrong.extend(error.diagnostics)
    if wrong:
        raise SpecError(tuple(wrong))
    return source


def target_of(item: ast_items.Import, importing: Path) -> Path:
    """Returns the path of the file that an import in the file ``importing`` names: one of the
    library, or one relative to the folder of ``importing``."""
    found = resources.spec_path(item.path)
    return found if found.is_absolute() else Path(os.path.normpath(importing.parent / found))


def imports_of(source: Source) -> list[tuple[Path, Source]]:
    """Returns the paths that the imports of ``source`` and of all that it imports name, each with
    the file."""
    known = {identity_of(Path(each.spec.file)): each for each in source.all()}
    found = []
    for each in source.all():
        for item in each.spec.items:
            if isinstance(item, ast_items.Import):
                target = target_of(item, Path(each.spec.file))
                found.append((target, known[identity_of(target)]))
    return found


class Library:
    """The modules visible to one file: its own, its imports', those of the tool.

    Interfaces and protocols are typed when they are first requested; their errors go to ``report``.
    """

    def __init__(self, source: Source, prelude: Prelude | None, report: Reporter) -> None:
        self.report = report
        self.sources = source.all()
        self.prelude = prelude
        self._interfaces: dict[str, typed.Interface | None] = {}
        self._bases: dict[str, typed.Interface | None] = {}
        self._protocols: dict[str, typed.Protocol | None] = {}
        self._open: list[str] = []
        self._originals: list[str] = []
        self._homes: dict[str, Home] = {}
        self._files: dict[str, Home] = {}

    # ---- visible modules ----------------------------------------------------------------------

    def interface_names(self) -> list[str]:
        own = [i.name.text for s in self.sources for i in s.interfaces()]
        return [*own, *(self.prelude.interfaces if self.prelude else ())]

    def protocol_names(self) -> list[str]:
        own = [p.name.text for s in self.sources for p in s.protocols()]
        return [*own, *(self.prelude.protocols if self.prelude else ())]

    def _interface_decl(self, name: str) -> ast_items.Interface | None:
        found = (i for s in self.sources for i in s.interfaces() if i.name.text == name)
        return next(found, None)

    def _protocol_decl(self, name: str) -> Declared | None:
        found = (p for s in self.sources for p in s.protocols() if p.name.text == name)
        return next(found, None)

    def bases(self) -> list[typed.Interface]:
        """Returns all visible interfaces, with the properties that they define themselves."""
        own = (self._base(i.name.text) for s in self.sources for i in s.interfaces())
        found = [i for i in own if i is not None]
        names = {i.name for i in found}
        shipped = self.prelude.bases.values() if self.prelude else ()
        return [*found, *(i for i in shipped if i.name not in names)]

    def around(self, file: str) -> Home:
        """Returns what ``file`` and its imports declare outside of protocols."""
        if file not in self._files:
            source = next(s for s in self.sources if s.spec.file == file)
            specs = [each.spec for each in reversed(source.all())]
            home = file_home(specs, self.report)
            self._files[file] = home
            shipped = self._shipped() if self.prelude is None else self.prelude.objects
            home.objects = {**shipped, **home.objects}
        return self._files[file]

    def _shipped(self) -> dict[str, tuple[ast_objects.Object, Home]]:
        """Returns the objects of all files of the tool, which see one another."""
        found = (decl for source in self.sources for decl in source.objects())
        return {decl.name.text: (decl, self.around(decl.name.span.file)) for decl in found}

    # ---- interfaces ---------------------------------------------------------------------------

    def interface(self, name: ast.Name) -> typed.Interface | None:
        """Returns the interface called ``name``; ``None`` where there is none, which is
        reported."""
        found = self.interface_called(name.text)
        if found is None and self._interface_decl(name.text) is None:
            hint = f"`{name.text}` is a protocol"
            if name.text not in self.protocol_names():
                hint = _import_or_suggestion(name, self.interface_names())
            self.report.add("N013", f"no interface `{name.text}`", name.span, hint=hint)
        return found

    def _offering(self, request: str) -> list[str]:
        """Returns the visible interfaces that have a request of that name."""
        return [i.name for i in self.bases() if any(o.name == request for o in i.requests)]

    def interface_called(self, name: str) -> typed.Interface | None:
        decl = self._interface_decl(name)
        if decl is None:
            return self.prelude.interfaces.get(name) if self.prelude else None
        if name not in self._interfaces:
            base = self._base(name)
            self._interfaces[name] = (
                None if base is None else complete(decl, base, self.bases(), self.report)
            )
        return self._interfaces[name]

    def _base(self, name: str) -> typed.Interface | None:
        decl = self._interface_decl(name)
        if decl is not None and name not in self._bases:
            self._bases[name] = base_of(decl, self.report, self.around(decl.span.file))
        return self._bases.get(name)

    # ---- protocols ----------------------------------------------------------------------------

    def protocol(self, name: ast.Name) -> typed.Protocol | None:
        """Returns the protocol called ``name``; ``None`` where there is none, which is reported."""
        decl = self._protocol_decl(name.text)
        if decl is None and self.prelude and name.text in self.prelude.protocols:
            return self.prelude.protocols[name.text]
        if decl is None:
            self._unknown_protocol(name)
            return None
        return self._build(decl, name)

    def _unknown_protocol(self, name: ast.Name) -> None:
        hint = _import_or_suggestion(name, self.protocol_names())
        if name.text in self.interface_names():
            hint = f"`{name.text}` is an interface"
        self.report.add("C001", f"no protocol `{name.text}`", name.span, hint=hint)

    def _build(self, decl: Declared, asked: ast.Name) -> typed.Protocol | None:
        name = decl.name.text
        if name in self._protocols:
            return self._protocols[name]
        if name in self._open:
            chain = [*self._open[self._open.index(name) :], name]
            shown = " uses ".join(f"`{n}`" for n in chain)
            self.report.add("N015", f"cyclic layers: {shown}", asked.span)
            return None
        self._open.append(name)
        if isinstance(decl, ast_items.Variant):
            built = self._build_variant(decl)
        else:
            built = self._build_protocol(decl, self.report)
        self._open.pop()
        self._protocols[name] = built
        return built

    def _build_protocol(self, decl: ast_items.Protocol, report: Reporter) -> typed.Protocol:
        shipped, around = self.prelude is None, self.around(decl.span.file)
        return protocol_of(
            decl, report, self.interface, self.layer, shipped, self._homes, around, self._offering
        )

    def _build_variant(self, decl: ast_items.Variant) -> typed.Protocol | None:
        """Returns the protocol that ``decl`` stands for; of the errors in what it inherits, those
        that the original does not have, too, name the variant."""
        expanded = expand(decl, self._original, self.report, self._lines_at)
        if expanded is None:
            return None
        whole, variant = expanded
        self._originals.append(decl.of.text)
        self.protocol(decl.of)
        report = Reporter()
        built = self._build_protocol(whole, report)
        self._originals.pop()
        self.report.broken |= report.broken
        for found in report.found:
            if found not in self.report.found:
                inherited = found.span is not None and not _is_within(found.span, decl.span)
                where = f", in the variant `{decl.name.text}`" if inherited else ""
                self.report.found[replace(found, message=found.message + where)] = None
        return replace(built, variant=variant)

    def _original(self, name: ast.Name) -> Declared | None:
        """Returns the declaration that a variant is made from; ``None`` where there is none, which
        is reported."""
        decl = self._protocol_decl(name.text)
        if decl is None and self.prelude is not None:
            decl = self.prelude.declared.get(name.text)
        if decl is None:
            self._unknown_protocol(name)
        return decl

    def _lines_at(self, span: Span) -> list[str]:
        texts = (source.text for source in self.sources if source.spec.file == span.file)
        return lines_at(span, next(texts, None))

    def home(self, protocol: str) -> Home:
        """Returns the declarations of ``protocol``, which is typed already, for formulas written
        elsewhere."""
        found = self._homes.get(protocol)
        if found is None:
            assert self.prelude is not None
            found = self.prelude.homes[protocol]
        return replace(found, report=self.report)

    def layer(self, name: ast.Name) -> tuple[typed.Interface, typed.Protocol | None] | None:
        """Resolves ``uses x : name``: an interface, and the protocol that implements it.

        The protocol is ``None`` where none does, or several do, or where the interface is that of a
        failure detector: then the check has to give it.  ``None`` alone: unclear and reported.
        """
        protocol = None
        if self._protocol_decl(name.text) is not None:
            protocol = self.protocol(name)
        elif self.prelude and name.text in self.prelude.protocols:
            protocol = self.prelude.protocols[name.text]
        elif name.text not in self.interface_names():
            known = [*self.interface_names(), *self.protocol_names()]
            message = f"no interface or protocol `{name.text}`"
            hint = _import_or_suggestion(name, known)
            self.report.add("N013", message, name.span, hint=hint)
            return None
        else:
            interface = self.interface_called(name.text)
            if interface is None:
                return None
            candidates = [] if name.text in DETECTORS else self.implementing(name.text)
            only = (
                self.protocol(ast.Name(candidates[0], name.span)) if len(candidates) == 1 else None
            )
            return interface, only
        protocol = self._with_interface(protocol, name)
        if protocol is None or protocol.implements is None:
            return None
        return protocol.implements, protocol

    def implementing(self, interface: str) -> list[str]:
        """Returns the protocols that implement ``interface``: of the files, otherwise of the tool.

        Those that are being typed, as they use such a layer, are left out.
        """
        own = [p.name.text for p in self._implementing(interface)]
        if own or self.prelude is None:
            return own
        return [p.name for p in self.prelude.implementing(interface)]

    def _implementing(self, interface: str) -> list[ast_items.Protocol]:
        """Returns the protocols of the files that implement ``interface``, except those being
        typed, and variants: these stand for a layer only where they are named."""
        found = []
        for source in self.sources:
            for decl in source.protocols():
                if isinstance(decl, ast_items.Protocol) and decl.implements is not None:
                    being_typed = decl.name.text in (*self._open, *self._originals)
                    if decl.implements.text == interface and not being_typed:
                        found.append(decl)
        return found

    def _with_interface(
        self, protocol: typed.Protocol | None, name: ast.Name
    ) -> typed.Protocol | None:
        if protocol is None or protocol.implements is not None:
            return protocol
        message = f"`{name.text}` implements no interface, so it can't be a layer"
        self.report.add("N022", message, name.span, hint=f"`protocol {name.text} implements I`")
        return None


def _is_within(span: Span, whole: Span) -> bool:
    inner, outer = (span.line, span.column), (whole.line, whole.column)
    return span.file == whole.file and outer <= inner <= (whole.end_line, whole.end_column)


def _import_or_suggestion(name: ast.Name, known: list[str]) -> str:
    """Returns the hint for a module that is not visible: what to import, or which is meant."""
    found = import_hint(name.text, name.span.file) or suggestion(name.text, known)
    return found.replace("and more", "and more, which `bivalence list` names")


class Prelude(Struct, frozen=True):
    """The typed library of the tool."""

    bases: dict[str, typed.Interface]
    interfaces: dict[str, typed.Interface]
    protocols: dict[str, typed.Protocol]
    homes: dict[str, Home]
    declared: dict[str, Declared]
    objects: dict[str, tuple[ast_objects.Object, Home]]

    def implementing(self, interface: str) -> list[typed.Protocol]:
        found = self.protocols.values()
        return [p for p in found if p.implements and p.implements.name == interface]


@cache
def prelude() -> Prelude:
    """Returns the interfaces and default protocols of the tool; raises :class:`SpecError`."""
    try:
        files = sorted(resources.interfaces().glob("*.bcast"))
    except (FileNotFoundError, OSError):
        files = []
    return kept(files, lambda: _typed_prelude(files))


def _typed_prelude(files: list[Path]) -> Prelude:
    whole = Source(ast_items.Spec("", ()))
    whole.imports = [open_source(read(path), path) for path in files]
    report = Reporter()
    library = Library(whole, None, report)
    objects = library.around("").objects
    for decl, around in objects.values():
        check_object(decl, report, around)
    bases = {i.name: i for i in library.bases()}
    found = {n: library.interface_called(n) for n in library.interface_names()}
    interfaces = {n: i for n, i in found.items() if i is not None}
    decls = [p for s in library.sources for p in s.protocols()]
    built = {p.name.text: library.protocol(p.name) for p in decls}
    if report.found:
        raise SpecError(tuple(report.found))
    protocols = {n: p for n, p in built.items() if p is not None}
    homes = {name: library.home(name) for name in protocols}
    declared = {d.name.text: d for d in decls}
    return Prelude(bases, interfaces, protocols, homes, declared, objects)
