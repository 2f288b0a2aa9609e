"""Declares the names of protocols and files: which are taken, and what must come before what."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from checker.language.syntax import ast, ast_items, ast_objects, typed
from checker.language.typecheck.applications import ARITY
from checker.language.typecheck.definitions import check_definitions, constant, define
from checker.language.typecheck.expressions import hole
from checker.language.typecheck.histories import HISTORY
from checker.language.typecheck.scope import GIVEN, UNKNOWN, Home, Reporter, another_name
from checker.language.typecheck.types import INT, resolve
from checker.records import fields, is_record, replace

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


def in_order(items: Iterable[object], home: Home) -> Iterator[Early]:
    """Yields the parameters, types and constants among ``items``, each behind those that it
    mentions; circles are reported, and nothing is known of what is in them in ``home``."""
    waiting = [item for item in items if isinstance(item, Early)]
    while waiting:
        names = {name for item in waiting for name in _declared_by(item)}
        ready = next((i for i in waiting if not names & (_mentioned(i) - _labels(i))), None)
        if ready is None:
            for item in _report_circle(waiting, home):
                waiting.remove(item)
            continue
        waiting.remove(ready)
        yield ready


def _report_circle(waiting: list[Early], home: Home) -> list[Early]:
    """Reports a circle among ``waiting``, each of which mentions another or itself, and returns
    what is in it."""
    path = [waiting[0]]
    while path[-1] not in path[:-1]:
        mentioned = _mentioned(path[-1]) - _labels(path[-1])
        path.append(next(item for item in waiting if _declared_by(item) & mentioned))
    circle = path[path.index(path[-1]) :]
    shown = " mentions ".join(f"`{item.name.text}`" for item in circle)
    home.report.add("N015", f"cyclic definition: {shown}", circle[0].name.span)
    for item in circle[1:]:
        match item:
            case ast_items.TypeAlias():
                home.types[item.name.text] = UNKNOWN
            case ast_items.Constant(value=value):
                home.constants[item.name.text] = hole(value)
            case _:
                home.params[item.name.text] = UNKNOWN
    return circle[1:]


def declare_definitions(
    decls: Iterable[ast_items.Definition], role: str | None, home: Home, declared: Declared
) -> None:
    """Adds the definitions of ``role`` (``None``: that stand outside of roles) to ``home``."""
    decls = list(decls)
    kept = [decl for decl in decls if declared.add(decl.name, "a definition")]
    home.lost.update(decl.name.text for decl in decls if decl not in kept)
    define(kept, role, home)


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


def _labels(item: Early) -> set[str]:
    """Returns the labels that ``item``, if it is an enum, declares."""
    enum = item.type if isinstance(item, ast_items.TypeAlias) else None
    return {label.text for label in enum.labels} if isinstance(enum, ast.EnumType) else set()


def _declared_by(item: Early) -> set[str]:
    return {item.name.text, *_labels(item)}


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
    elif isinstance(part, ast.Field):
        yield from _names_in(part.type)
    elif isinstance(part, ast.NamedType):
        yield part.name
    elif isinstance(part, tuple):
        for each in part:
            yield from _names_in(each)
    elif is_record(part):
        yield from _names_in(tuple(getattr(part, field.name) for field in fields(part)))


# ---- outside of protocols ---------------------------------------------------------------------


def file_home(specs: Iterable[ast_items.Spec], report: Reporter) -> Home:
    """Returns what the files ``specs`` declare outside of protocols; errors go to ``report``."""
    home = Home(report, params={"n": INT, "f": INT})
    declared = Declared(report)
    items = [item for spec in specs for item in spec.items]
    for item in in_order(items, home):
        assert not isinstance(item, ast_items.Parameter)
        declare(item, home, declared)
    found = [item for item in items if isinstance(item, ast_items.Definition)]
    declare_definitions(found, None, home, declared)
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
