"""Resolves names: the declarations of a protocol, and the locals around an expression."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn, Protocol

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, Span
from checker.language.notations import foreign_name
from checker.language.syntax import ast, ast_items, ast_objects, typed
from checker.records import replace

if TYPE_CHECKING:
    from checker.language.typecheck.blanks import Blank

UNKNOWN = typed.Enum("?", ())
"""The type of what was already reported; it fits everywhere.  Never in a module that is loaded."""


class Hole(Exception):
    """Raised where an error has been reported and nothing can be built."""


class Reporter:
    """Collects diagnostics, each location and message once.

    ``broken``: the properties whose formulas have errors, which are reported where they stand.
    ``blanks``: the holes, by their places.
    """

    def __init__(self) -> None:
        self.found: dict[Diagnostic, None] = {}
        self._said: set[tuple[str, str, Span | None]] = set()
        self.broken: set[str] = set()
        self.blanks: dict[Span, Blank] = {}

    def add(self, code: str, message: str, span: Span, expected: str = "", hint: str = "") -> None:
        """Adds a diagnostic; what stands in a definition is reported where that is called."""
        found = Diagnostic(code, message, span.caller, expected, hint)
        if (code, message, found.span) not in self._said:
            self._said.add((code, message, found.span))
            self.found[found] = None

    def fail(
        self, code: str, message: str, span: Span, expected: str = "", hint: str = ""
    ) -> NoReturn:
        """Reports and raises :class:`Hole`."""
        self.add(code, message, span, expected, hint)
        raise Hole


def suggestion(word: str, known: Iterable[str]) -> str:
    """Returns what is written here for the ``word`` of another language, ``did you mean …?``, the
    known names, or nothing."""
    if foreign := foreign_name(word):
        return foreign
    choices = sorted(set(known))
    close = difflib.get_close_matches(word[:60], choices, 1)
    if close:
        return f"did you mean `{close[0]}`?"
    if not choices:
        return ""
    shown = ", ".join(f"`{c}`" for c in choices[:8])
    return f"there is {shown}" + (" and more" if len(choices) > 8 else "")


GIVEN = {"n": "the number of processes", "f": "the maximum number of faulty processes"}
"""Parameters that every protocol has."""


OWN_CORRECT = (
    "`correct` is known to properties only; a handler keeps its own: "
    "`state correct : set<Proc> = Proc`"
)
"""The hint where code asks who is correct."""


def another_name(name: str, what: str = "") -> str:
    """Returns the hint to choose another name than ``name`` for ``what``."""
    given = "every protocol has the parameters `n` and `f`; " if name in GIVEN else ""
    return f"{given}choose another name{what}"


class Known(Struct, frozen=True):
    """A local name; ``role``: the role that a process is known to have, if any; ``varies``: it is
    declared by ``var`` and can be assigned."""

    type: typed.Type
    role: str | None = None
    varies: bool = False


class Definition(Struct):
    """A definition as written in ``home``; ``bodies``: its typed body by mode and role, ``None``
    where it can't stand there; ``open``: those that are being typed; ``recursive``: those that call
    themselves."""

    decl: ast_items.Definition
    home: Home
    params: tuple[tuple[str, typed.Type], ...]
    result: typed.Type
    bodies: dict[tuple[str, str | None], typed.Expr | None] = field(default_factory=dict)
    open: set[tuple[str, str | None]] = field(default_factory=set)
    recursive: dict[tuple[str, str | None], typed.Recursive] = field(default_factory=dict)


class Formulas(Protocol):
    """The properties that a formula may name."""

    @property
    def names(self) -> frozenset[str]: ...

    def find(self, name: ast.Name) -> typed.Expr:
        """Returns the formula of one of ``names``; raises :class:`Hole` where it has an error,
        which is reported."""
        ...


class Home(Struct):
    """The declarations of a protocol (or an interface, or a check, or the top of a file).

    ``states``: by role, then by name; shared state under ``None``, as are the definitions and
    procedures that stand outside of roles.  ``params`` has ``n`` and ``f``.  ``role_types``: the
    names of roles, which are known before the roles are.
    """

    report: Reporter
    name: str = ""
    types: dict[str, typed.Type] = field(default_factory=dict)
    params: dict[str, typed.Type] = field(default_factory=dict)
    states: dict[str | None, dict[str, typed.Type]] = field(default_factory=dict)
    ghosts: set[tuple[str | None, str]] = field(default_factory=set)
    """The role and name of each ghost."""
    stable: set[tuple[str | None, str]] = field(default_factory=set)
    """The role and name of each stable variable."""
    messages: dict[str, typed.MessageDecl] = field(default_factory=dict)
    roles: tuple[str, ...] = ("",)
    leads: dict[str, str] = field(default_factory=dict)
    """By role that dies with another: that other role."""
    role_types: frozenset[str] = frozenset()
    layers: dict[str, typed.Layer] = field(default_factory=dict)
    interface: typed.Interface | None = None
    enums: dict[tuple[str, ...], typed.Enum] = field(default_factory=dict)
    timers: dict[str, dict[str, typed.Type | None]] = field(default_factory=dict)
    """By role: the timers that it has an ``upon timeout`` for, with the type of their keys."""
    constants: dict[str, typed.Expr] = field(default_factory=dict)
    definitions: dict[str | None, dict[str, Definition]] = field(default_factory=dict)
    procedures: dict[str | None, dict[str, ast_items.Procedure]] = field(default_factory=dict)
    objects: dict[str, tuple[ast_objects.Object, Home]] = field(default_factory=dict)
    """The objects in sight, each with what its file declares."""
    acts: typed.Type | None = None
    """The type of the protocol's acts, as far as is known."""
    lost: set[str] = field(default_factory=set)
    """Layers, and ``implements``, that could not be resolved: reported already."""
    of_interface: bool = False
    """Whether these are the declarations of an interface, which has no state."""

    formulas: Formulas | None = None

    def labels(self, name: str) -> list[typed.Enum]:
        """Returns the enums that have a label ``name``."""
        return [e for e in self.enums.values() if name in e.labels]

    def state(self, name: str, role: str | None) -> tuple[str | None, typed.Type] | None:
        """Returns the role (``None``: shared) and type of a state variable that is visible to
        ``role``."""
        for where in (role, None):
            if where in self.states and name in self.states[where]:
                return where, self.states[where][name]
        return None

    def definition(self, name: str, role: str | None) -> Definition | None:
        """Returns the definition called ``name`` that is visible to ``role``; without a role, one
        of any."""
        places = (role, None) if role is not None else (None, *self.roles)
        found = (self.definitions.get(place, {}).get(name) for place in places)
        return next((each for each in found if each is not None), None)

    def procedure(self, name: str, role: str | None) -> ast_items.Procedure | None:
        """Returns the procedure called ``name`` that is visible to ``role``."""
        own = self.procedures.get(role, {}).get(name)
        return own or self.procedures.get(None, {}).get(name)

    def process_prefixes(self) -> dict[str, str]:
        """Maps the prefixes of the names of roles' members to the roles."""
        found: dict[str, str] = {}
        for role in self.roles:
            shared = [r for r in self.roles if r[:1] == role[:1]]
            prefix = "p" if not role else role[0].lower() if len(shared) == 1 else role
            found[prefix] = role
        return found

    def process_role(self, name: str) -> str | None:
        """Returns the role of the process called ``name`` (``p1``); ``None`` where no name fits."""
        stem = name.rstrip("0123456789")
        number = name[len(stem) :]
        if not number or number.startswith("0") or len(number) > 4:
            return None
        return self.process_prefixes().get(stem)


class Scope(Struct, frozen=True):
    """The context of an expression.

    ``mode``: ``code``, ``property``, ``initial`` (value of a state), ``choice`` (``init choose``)
    or ``constant`` (sizes, settings). ``role``: that of the code.  ``free``: collects the names
    that ``received`` binds.  ``inside``: the procedures that are being inlined, outermost first.
    ``untyped``: where to write the type of an expression whose type is not known.  ``hints``: by
    names, the hint if nothing is called so here.
    """

    home: Home
    mode: str
    role: str | None = None
    names: dict[str, Known] = field(default_factory=dict)
    free: dict[str, typed.Type] | None = None
    inside: tuple[str, ...] = ()
    untyped: str = ""
    hints: dict[str, str] = field(default_factory=dict)

    @property
    def report(self) -> Reporter:
        return self.home.report

    @property
    def bound(self) -> tuple[str, ...]:
        """The names that are bound here."""
        return (*self.names, *(self.free or ()))

    def bind(self, names: dict[str, Known]) -> Scope:
        return replace(self, names={**self.names, **names}) if names else self

    def meaning_of(self, name: str) -> str:
        """Returns the present meaning of ``name``, in words; empty where it is free."""
        if name in self.names or (self.free is not None and name in self.free):
            return "a name bound above"
        if name in self.home.params:
            return GIVEN.get(name, "a parameter")
        if name in self.home.constants:
            return "a constant"
        if self.home.definition(name, self.role) is not None:
            return "a definition"
        if self.home.procedure(name, self.role) is not None:
            return "a procedure"
        if self.mode != "property" and self.home.state(name, self.role) is not None:
            return "a state variable"
        if self.mode == "property" and self.home.state(name, None) is not None:
            return "a state variable"
        if name in self.home.roles or name in ("Proc", "self"):
            return "a set of processes" if name != "self" else "the process itself"
        if name in self.home.messages:
            return "a message"
        if name in self.home.types:
            return "a type"
        return ""

    def visible(self) -> set[str]:
        """Returns every visible name."""
        found = {*self.names, *self.home.params, *self.home.types, *self.home.messages}
        found.update(self.home.constants)
        found.update(r for r in self.home.roles if r)
        found.update(self.free or ())
        for where in (self.role, None):
            found.update(self.home.states.get(where, ()))
        for enum in self.home.enums.values():
            found.update(enum.labels)
        return found | {"self"} if self.mode == "code" else found
