"""How a property reads: its formula as a tree whose leaves can be said in words.

Expressions in it are those of :mod:`checker.system.ir`, over the state and the names that the
quantifiers around them bind.  Nothing is explored with a reading; it explains single runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.system.ir import Domain, Expr

Phrase = tuple["str | Expr", ...]
"""Text with expressions in between, which stand for their values."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A statement about one state: ``subject``, then one of the verbs, then ``objects``.

    ``kind`` tells what it is about: ``history`` (``op``: whose), ``order``, ``twice``, ``standing``
    (``op``: `correct`, `crashed` or `faulty`), ``act``, ``opinion``, ``cause``, ``state``, or
    ``values`` where no state is needed to tell.  ``owner`` and ``about``: at which process, and
    which entries.  ``yes``, ``no``, ``never`` are verbs for what is so, is not, and is not in all
    the time to come.  ``otherwise``: pairs of a condition and a predicate for what is not so; the
    first one whose condition holds is used in place of ``no``.  ``formula``: as the spec says it.
    """

    expr: Expr
    kind: str
    subject: Phrase
    yes: str
    no: str
    never: str
    objects: Phrase
    formula: Phrase
    op: str = ""
    owner: Expr | None = None
    about: tuple[Expr, ...] = ()
    otherwise: tuple[tuple[Expr, Phrase], ...] = ()


@dataclass(frozen=True, slots=True)
class Join:
    """``op`` is ``not``, ``and``, ``or``, ``=>`` or ``==`` (both sides are true, or none is)."""

    op: str
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """``kind`` (``forall`` or ``exists``) ``name in domain``: of those that fit ``condition`` and
    ``where``.  ``among``: that one is in the domain, where the state decides that; ``noun``: what
    such a value is called; ``author``: the name that the spec gives it, empty for a pattern."""

    kind: str
    name: str
    domain: Domain
    condition: Expr
    where: Node | None
    among: Atom | None
    body: Node
    noun: str
    author: str
    formula: Phrase


@dataclass(frozen=True, slots=True)
class Timed:
    """``op`` is ``always``, ``eventually`` (one part) or ``~>`` (two)."""

    op: str
    parts: tuple[Node, ...]


Node = Atom | Join | Range | Timed


@dataclass(frozen=True, slots=True)
class Reading:
    """``looking``: the property looks at those states only in which all of these hold."""

    root: Node
    looking: tuple[Expr, ...] = field(default=())
