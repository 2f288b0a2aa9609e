"""What a spec declares, and where each name is visible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from msgspec import Struct, field

from checker import resources
from checker.diagnostics import Span
from checker.language.library import Library
from checker.language.parser.cache import parse
from checker.language.reading import read
from checker.language.syntax import ast, ast_items, ast_objects
from checker.language.syntax.walk import nodes_of
from checker.language.typecheck.interfaces import find_shared_property


class Declaration(Struct, frozen=True):
    """A name that is declared: ``kind``, such as ``state`` or ``message``; ``span``: of the name;
    ``whole``: of all that declares it; ``document``: the sentence that belongs to it."""

    name: str
    kind: str
    span: Span
    whole: Span
    document: str = ""


class Names(Struct):
    """The names of a module or role: ``of``: what each declares; ``roles``: the roles in it;
    ``behind``: those of the original of a variant and of the interface of a protocol."""

    of: dict[str, Declaration] = field(default_factory=dict)
    roles: dict[str, Names] = field(default_factory=dict)
    behind: list[Names] = field(default_factory=list)

    def find(self, name: str) -> Declaration | None:
        """Returns the declaration of ``name`` here or behind; ``None`` where there is none."""
        if name in self.of:
            return self.of[name]
        found = (names.find(name) for names in self.behind)
        return next((each for each in found if each is not None), None)

    def find_anywhere(self, name: str) -> Declaration | None:
        """Returns the same, or what any of the roles calls so."""
        inner = (names.find_anywhere(name) for names in self.every_role())
        return self.find(name) or next((each for each in inner if each is not None), None)

    def role(self, name: str) -> Names | None:
        """Returns the names of a role, here or behind."""
        found = self.roles.get(name)
        return found or next((r for n in self.behind if (r := n.role(name)) is not None), None)

    def every_role(self) -> Iterator[Names]:
        """Yields the names of each role, here and behind."""
        yield from self.roles.values()
        for names in self.behind:
            yield from names.every_role()

    def every(self) -> dict[str, Declaration]:
        """Returns all that is visible inside, by name."""
        found: dict[str, Declaration] = {}
        for names in (self, *self.behind, *self.every_role()):
            inner = names.of if names is self else names.every()
            found.update({name: each for name, each in inner.items() if name not in found})
        return found


class Visible:
    """The modules that a file sees: its own, those of its imports, those of the tool."""

    def __init__(self, specs: Iterable[ast_items.Spec], library: Library | None = None) -> None:
        """``specs``: the file and all its imports, nearest first; ``library``: the same, typed,
        where it can be."""
        self.top = Names()
        self._library = library
        self.modules: dict[str, Names] = {}
        self._items: dict[str, ast_items.Item] = {}
        for spec in (*specs, *shipped()):
            for item in spec.items:
                for one in of_item(item):
                    self.top.of.setdefault(one.name, one)
                if isinstance(item, _WITH_NAMES):
                    self._items.setdefault(item.name.text, item)

    def names(self, module: str) -> Names:
        """Returns the names of a module; those of none where there is no such module."""
        if module not in self.modules:
            self.modules[module] = found = Names()
            item = self._items.get(module)
            if item is not None:
                self._collect(item, found)
        return self.modules[module]

    def items(self) -> Iterable[ast_items.Item]:
        """Returns the modules as syntax trees."""
        return self._items.values()

    def _collect(self, item: ast_items.Item, found: Names) -> None:
        _collect(item, found)
        match item:
            case ast_items.Protocol(implements=ast.Name(text, _)):
                found.behind.append(self.names(text))
            case ast_items.Variant(of=ast.Name(text, _)):
                found.behind.append(self.names(text))
            case ast_items.Interface(items=items):
                lists = (i for i in items if isinstance(i, ast_items.PropertyList))
                for one in (name for each in lists for name in each.names):
                    declared = self.property(one.text, item.name.text)
                    if declared is not None:
                        found.of.setdefault(one.text, declared)
            case _:
                pass

    def property(self, name: str, module: str) -> Declaration | None:
        """Returns the property ``name`` that may be asked of ``module`` though it is not its own:
        several interfaces may have one of that name, and which is meant is for the type check to
        say.  Where nothing can be typed it is the first."""
        every = [
            inner
            for item in self._items.values()
            if isinstance(item, ast_items.Interface)
            for inner in item.items
            if isinstance(inner, ast_items.PropertyDecl) and inner.name.text == name
        ]
        meant = self._meant(name, self._interface_of(module))
        every.sort(key=lambda each: meant not in (each.span, each.name.span))
        return next(of_item(every[0])) if every else None

    def _meant(self, name: str, interface: str) -> Span | None:
        """Returns where the property is declared that is asked for by ``name`` of an interface."""
        over = None if self._library is None else self._library.interface_called(interface)
        if self._library is None or over is None:
            return None
        found = find_shared_property(name, over, self._library.bases())
        return None if found is None else found.span

    def _interface_of(self, module: str) -> str:
        """Returns the interface that a protocol implements, also as a variant of another one; of
        any other module its own name."""
        for _ in self._items:
            match self._items.get(module):
                case ast_items.Protocol(implements=ast.Name(text, _)):
                    return text
                case ast_items.Variant(of=ast.Name(text, _)):
                    module = text
                case _:
                    break
        return module


_WITH_NAMES = ast_items.Interface | ast_items.Protocol | ast_items.Variant | ast_objects.Object


@cache
def shipped() -> tuple[ast_items.Spec, ...]:
    """Returns the syntax trees of the interfaces and protocols that every file sees."""
    return tuple(parse(read(f), str(f)) for f in sorted(resources.interfaces().glob("*.bcast")))


def of_item(item: object) -> Iterator[Declaration]:
    """Yields what an item declares in the list that it stands in."""

    def made(kind: str, name: ast.Name, document: str = "") -> Declaration:
        return Declaration(name.text, kind, name.span, getattr(item, "span", name.span), document)

    match item:
        case ast_items.OperatorDecl(kind=kind, name=name, returns=returned):
            yield made(kind, name)
            if returned is not None:
                yield Declaration(returned.name.text, "indication", returned.name.span, item.span)
        case ast_items.State(name=name, shared=shared, stable=stable, ghost=ghost, synced=synced):
            kept = ("stable" * stable, "synced" * synced)
            words = ("ghost" * ghost, *kept, "shared" * shared, "state")
            yield made(" ".join(word for word in words if word), name)
        case ast_items.PropertyDecl(name=name, document=document, lemma=lemma):
            yield made("invariant" if lemma else "property", name, document)
        case ast_items.Handler(name=name) if name is not None:
            yield made("handler", name)
        case ast_items.RoleChange(name=name, size=size):
            yield made("role" if size is not None else "", name)
        case _ if type(item) in _KINDS:
            yield made(_KINDS[type(item)], item.name)  # type: ignore[attr-defined]
    if type(item) in _TYPED:
        for label in _labels(item):
            yield Declaration(label.text, "label", label.span, getattr(item, "span", label.span))


_TYPED = (ast_items.State, ast_items.TypeAlias, ast_items.Message, ast_items.Parameter)
_KINDS: dict[type, str] = {
    ast_items.Interface: "interface",
    ast_objects.Object: "object",
    ast_items.Protocol: "protocol",
    ast_items.Variant: "variant",
    ast_items.Check: "check",
    ast_items.Mutant: "check",
    ast_items.TypeAlias: "type",
    ast_items.Constant: "constant",
    ast_items.Definition: "definition",
    ast_items.Procedure: "procedure",
    ast_items.Parameter: "parameter",
    ast_items.Message: "message",
    ast_items.Uses: "layer",
    ast_items.Role: "role",
    ast_objects.Operation: "operation",
}


def _labels(node: object) -> Iterator[ast.Name]:
    """Yields the labels of the enumerations in a type."""
    for part in nodes_of(node):
        if isinstance(part, ast.EnumType):
            yield from part.labels


def _collect(item: object, found: Names) -> None:
    """Adds what stands inside of a module or role to its names."""
    for parameter in getattr(item, "parameters", ()):
        _add(parameter, found)
    for name in getattr(item, "types", ()):
        found.of[name.text] = Declaration(name.text, "type", name.span, name.span)
    for inner in getattr(item, "items", ()):
        if isinstance(inner, ast_items.Role | ast_items.RoleChange):
            _collect(inner, found.roles.setdefault(inner.name.text, Names()))
        _add(inner, found)
        _add_timers(inner, found)


def _add(item: object, found: Names) -> None:
    for one in of_item(item):
        if one.kind:
            found.of.setdefault(one.name, one)


def _add_timers(item: object, found: Names) -> None:
    """Adds the timers and named alternatives of a handler: their first use declares them."""
    match item:
        case ast_items.Handler(event=ast_items.OnTimeout(ast.Name(text, span), _)):
            found.of.setdefault(text, Declaration(text, "timer", span, item.head))
        case ast_items.Handler(body=body) | ast_items.Procedure(body=body):
            for each in ast.statements_in(body):
                if isinstance(each, ast.Either):
                    for name in filter(None, each.names):
                        made = Declaration(name.text, "alternative", name.span, each.span)
                        found.of.setdefault(name.text, made)
                if isinstance(each, ast.Timer):
                    timer = Declaration(each.name.text, "timer", each.name.span, each.span)
                    found.of.setdefault(each.name.text, timer)
        case _:
            pass
