"""Declares the names of protocols and files: which are taken, and what must come before what."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace

from checker.language.syntax import ast, ast_items, ast_objects, typed
from checker.language.typecheck.applications import ARITY
from checker.language.typecheck.definitions import check_definitions, constant, define
from checker.language.typecheck.histories import HISTORY
from checker.language.typecheck.scope import GIVEN, UNKNOWN, Home, Reporter, another_name
from checker.language.typecheck.types import INT, resolve

RESERVED = {
    "self": "the process itself",
    "Proc": "the set of processes",
    "Msg": "the type of payloads",
    "all": "every process",
    **GIVEN,
}


_FUNCTIONS = dict.fromkeys((*ARITY, *HISTORY, "received", "flip"), "a function")
"""Functions, which nothing else that is called may be called like."""


class Declared:
    """The names of one protocol, each with one meaning."""

    def __init__(self, report: Reporter) -> None:
        self.report = report
        self.names: dict[str, str] = {}

    def add(self, name: ast.Name, what: str) -> bool:
        """Adds ``name``; returns ``False`` (and reports) where it has a meaning already."""
        taken = RESERVED.get(name.text) or self.names.get(name.text)
        if what in ("a definition", "a procedure"):
            taken = taken or _FUNCTIONS.get(name.text)
        if taken:
            message = f"`{name.text}` is already {taken}"
            hint = another_name(name.text)
            if what == "a parameter" and name.text in GIVEN:
                hint = "leave it out: every protocol has the parameters `n` and `f`"
            self.report.add("N004", message, name.span, hint=hint)
            return False
        self.names[name.text] = what
        return True

    def copy(self) -> Declared:
        other = Declared(self.report)
        other.names = dict(self.names)
        return other


Early = ast_items.Parameter | ast_items.TypeAlias | ast_items.Constant
"""What is declared first, since anything may mention it."""


def in_order(items: Iterable[object]) -> Iterator[Early]:
    """Yields the parameters, types and constants among ``items``, each behind those that it
    mentions."""
    waiting = [item for item in items if isinstance(item, Early)]
    while waiting:
        names = {item.name.text for item in waiting}
        ready = [i for i in waiting if not names & (_mentioned(i) - {i.name.text})]
        item = (ready or waiting)[0]  # if none is ready, its error is that of the first
        waiting.remove(item)
        yield item


def declare(
    item: ast_items.TypeAlias | ast_items.Constant,
    home: Home,
    declared: Declared,
    states: Collection[str] = (),
) -> None:
    """Declares a type or a constant, which can't read ``states``, in ``home``."""
    name = item.name.text
    if isinstance(item, ast_items.Constant):
        if declared.add(item.name, "a constant"):
            known: dict[str, typed.Type] = {state: UNKNOWN for state in states}
            home.constants[name] = constant(item, replace(home, states={None: known}))
    elif declared.add(item.name, "a type"):
        home.types[name] = resolve(item.type, home, name)
    else:
        home.types.setdefault(name, UNKNOWN)


def _mentioned(item: Early) -> set[str]:
    """Returns the names that the type, the value or the default of ``item`` mentions."""
    match item:
        case ast_items.Parameter(default=value) | ast_items.Constant(value=value):
            return set(_names_in((item.type, value)))
        case _:
            return set(_names_in(item.type))


def _names_in(part: object) -> Iterator[str]:
    if isinstance(part, ast.Name):
        yield part.text
    elif isinstance(part, ast.NamedType):
        yield part.name
    elif isinstance(part, tuple):
        for each in part:
            yield from _names_in(each)
    elif is_dataclass(part):
        yield from _names_in(tuple(getattr(part, field.name) for field in fields(part)))


# ---- outside of protocols ---------------------------------------------------------------------


def file_home(specs: Iterable[ast_items.Spec], report: Reporter) -> Home:
    """Returns what the files ``specs`` declare outside of protocols; errors go to ``report``."""
    home = Home(report, params={"n": INT, "f": INT})
    declared = Declared(report)
    items = [item for spec in specs for item in spec.items]
    for item in in_order(items):
        assert not isinstance(item, ast_items.Parameter)
        declare(item, home, declared)
    found = [item for item in items if isinstance(item, ast_items.Definition)]
    define([d for d in found if declared.add(d.name, "a definition")], None, home)
    check_definitions(home)
    objects = [item for item in items if isinstance(item, ast_objects.Object)]
    home.objects.update({item.name.text: (item, home) for item in objects})
    return home


def see(around: Home, home: Home, declared: Declared | None = None) -> None:
    """Makes what a file declares visible in ``home``, and its names taken in ``declared``."""
    definitions = around.definitions.get(None, {})
    home.types.update(around.types)
    home.enums.update(around.enums)
    home.constants.update(around.constants)
    home.objects.update(around.objects)
    home.definitions.setdefault(None, {}).update(definitions)
    if declared is not None:
        declared.names.update(dict.fromkeys(around.types, "a type"))
        declared.names.update(dict.fromkeys(around.constants, "a constant"))
        declared.names.update(dict.fromkeys(definitions, "a definition"))
