"""Defines readings: a property's formula as a tree whose leaves are worded.

Expressions in it are those of :mod:`checker.model.ir`, over the state and the names that the
enclosing quantifiers bind.  No search uses a reading; it explains single executions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from checker.model.types import Value

if TYPE_CHECKING:
    from checker.model.ir import Domain, Expr

Phrase = tuple["str | Expr", ...]
"""Text with expressions in between, which stand for their values."""


class Specification(Struct, frozen=True):
    """A sequential object, with respect to which an execution is asked to be ``kind``.

    ``calls``: the operations of the clients, each with its process and arguments; ``outcomes``: for
    the number of a state (0 is the first) and that of a call the states and results to which it may
    lead, where some order of the calls leads there.
    """

    kind: str
    object: str
    calls: tuple[tuple[int, str, tuple[Value, ...]], ...]
    outcomes: Mapping[tuple[int, int], tuple[tuple[int, tuple[Value, ...]], ...]]

    @property
    def name(self) -> str:
        """How the spec asks for it."""
        return f"{self.kind} as {self.object}"


AtomKind = Literal[
    "history", "order", "twice", "standing", "act", "opinion", "cause", "operations", "state",
    "guard", "values",
]  # fmt: skip


class Atom(Struct, frozen=True):
    """A statement about one state: ``subject``, then one of the verbs, then ``objects``.

    ``kind`` is its subject matter: ``history`` (``op``: which), ``order``, ``twice``, ``standing``
    (``op``: `correct`, `crashed` or `faulty`), ``act``, ``opinion``, ``cause``, ``state``, or
    ``values`` where it does not depend on the state.  ``owner`` and ``about``: at which process,
    and which entries.  ``yes`` and ``no`` are verbs for what is so, and is not so now; ``later``:
    for what is, or is not, so from now on, with ``{}`` in the place of an adverb.  ``otherwise``:
    pairs of a condition and a predicate for what is not so; the first one whose condition holds is
    used in place of ``no``.  ``formula``: the text in the spec.  ``of``: the object that operations
    are compared with.
    """

    expr: Expr
    kind: AtomKind
    subject: Phrase
    yes: str
    no: str
    later: str
    objects: Phrase
    formula: Phrase
    op: str = ""
    owner: Expr | None = None
    about: tuple[Expr, ...] = ()
    otherwise: tuple[tuple[Expr, Phrase], ...] = ()
    of: Specification | None = None

    def from_now_on(self, adverb: str) -> str:
        """Returns ``later`` with ``never``, ``ever`` or another adverb, which may be empty."""
        return " ".join(self.later.format(adverb).split())


class Join(Struct, frozen=True):
    """``op`` is ``not``, ``and``, ``or``, ``=>`` or ``==`` (both sides are true, or none is)."""

    op: str
    parts: tuple[Node, ...]


class Range(Struct, frozen=True):
    """``kind`` (``forall`` or ``exists``) ``name in domain``, restricted to ``condition`` and
    ``where``. ``among``: that a value is in the domain, where the state decides that; ``noun``: the
    noun for such a value; ``author``: its name in the spec, empty for a pattern."""

    kind: Literal["forall", "exists"]
    name: str
    domain: Domain
    condition: Expr
    where: Node | None
    among: Atom | None
    body: Node
    noun: str
    author: str
    formula: Phrase


class Timed(Struct, frozen=True):
    """``op`` is ``always``, ``eventually`` (one part) or ``~>`` (two)."""

    op: str
    parts: tuple[Node, ...]


Node = Atom | Join | Range | Timed


class Reading(Struct, frozen=True):
    """A property's reading; ``looking``: it is evaluated only in states in which all of these
    hold; ``of_runs``: what a finite execution violates is not a matter of its last state alone."""

    root: Node
    looking: tuple[Expr, ...] = field(default=())
    of_runs: bool = False
