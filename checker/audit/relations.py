"""A small relational algebra, in which the plan of each property is written once.

E. F. Codd: A Relational Model of Data for Large Shared Data Banks, CACM 1970; with windows, as SQL
has had them since 2003.  A plan says nothing of how it is run: :mod:`checker.audit.arrow_engine`
runs it over Arrow tables in this process, :mod:`checker.audit.spark_engine` as operations on
DataFrames.  A column holds a value of one type or null; what is compared with null is null, and a
row whose condition is null is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

Scalar = bool | int | float | str


@dataclass(frozen=True, slots=True, eq=False)
class Expr:
    """An expression over the columns of one row."""

    def __eq__(self, other: object) -> Apply:  # type: ignore[override]
        return _apply("==", self, other)

    def __ne__(self, other: object) -> Apply:  # type: ignore[override]
        return _apply("!=", self, other)

    def __lt__(self, other: object) -> Apply:
        return _apply("<", self, other)

    def __le__(self, other: object) -> Apply:
        return _apply("<=", self, other)

    def __gt__(self, other: object) -> Apply:
        return _apply(">", self, other)

    def __ge__(self, other: object) -> Apply:
        return _apply(">=", self, other)

    def __add__(self, other: object) -> Apply:
        return _apply("+", self, other)

    def __sub__(self, other: object) -> Apply:
        return _apply("-", self, other)

    def __and__(self, other: object) -> Apply:
        return _apply("and", self, other)

    def __or__(self, other: object) -> Apply:
        return _apply("or", self, other)

    def __invert__(self) -> Apply:
        return Apply("not", (self,))

    def is_null(self) -> Apply:
        """Returns whether it is null."""
        return Apply("is null", (self,))

    def otherwise(self, other: object) -> Apply:
        """Returns its value, or that of ``other`` where it is null."""
        return _apply("otherwise", self, other)

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True, eq=False)
class Column(Expr):
    """The value of a column."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Expr):
    """A value."""

    value: Scalar


@dataclass(frozen=True, slots=True, eq=False)
class Apply(Expr):
    """An operation on the values of expressions; ``if``: a condition and two alternatives."""

    operation: str
    operands: tuple[Expr, ...]


def _apply(operation: str, *operands: object) -> Apply:
    return Apply(operation, tuple(expression(each) for each in operands))


def expression(value: object) -> Expr:
    """Returns ``value`` if it is an expression, and otherwise the constant; raises ``TypeError``
    for what is neither."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, bool | int | float | str):
        return Constant(value)
    raise TypeError(f"{value!r} is no value of a column")


def col(name: str) -> Column:
    """Returns the column ``name`` as an expression."""
    return Column(name)


def either(condition: Expr, then: object, otherwise: object) -> Apply:
    """Returns ``then`` where ``condition`` is true, and elsewhere ``otherwise``."""
    return _apply("if", condition, then, otherwise)


# ---- relations ----------------------------------------------------------------------------------

How = Literal["inner", "left", "semi", "anti"]
Aggregate = tuple[Literal["count", "min", "max", "sum"], str]
"""A function over the rows of a group, and its column; ``count`` counts the rows."""
WindowFunction = tuple[Literal["number", "previous", "greatest_before"], str]
"""A function over the rows before this one in its part of the table: ``number`` counts from 1,
``previous`` is the value in the row before, ``greatest_before`` the greatest (of integers)
in all of them; these two are null in the first row."""


class Relation(Struct, frozen=True, eq=False):
    """A bag of rows, all with the same columns."""

    def where(self, condition: Expr) -> Relation:
        """Returns the rows for which ``condition`` is true."""
        return Where(self, condition)

    def select(self, *kept: str, **computed: object) -> Relation:
        """Returns the columns ``kept``, and others that are ``computed`` from them."""
        columns: dict[str, Expr] = {name: Column(name) for name in kept}
        columns |= {name: expression(value) for name, value in computed.items()}
        return Select(self, columns)

    def join(self, other: Relation, *on: str, how: How = "inner") -> Relation:
        """Returns the rows with those of ``other`` that are equal in ``on``; no other column is in
        both.  ``semi``, ``anti``: the rows that have such, or have none."""
        return Join(self, other, on, how)

    def group(self, *by: str, **aggregates: Aggregate) -> Relation:
        """Returns a row for each combination of values in ``by`` that occurs."""
        return Group(self, by, aggregates)

    def window(self, by: tuple[str, ...], order: str, **computed: WindowFunction) -> Relation:
        """Returns the rows with further columns, computed in the order of ``order`` among the rows
        that are equal in ``by``."""
        return Window(self, by, order, computed)

    def union(self, other: Relation) -> Relation:
        """Returns the rows of both, which have the same columns."""
        return Union(self, other)

    def keep(self) -> Relation:
        """Returns the same rows, computed once however often they are asked for."""
        return Keep(self)


class Scan(Relation, frozen=True, eq=False):
    """A table that the engine has under this name."""

    table: str


class Where(Relation, frozen=True, eq=False):
    """Those rows for which ``condition`` is true."""

    source: Relation
    condition: Expr


class Select(Relation, frozen=True, eq=False):
    """Rows of other columns, each computed from a row of ``source``."""

    source: Relation
    columns: Mapping[str, Expr]


class Join(Relation, frozen=True, eq=False):
    """Rows of ``left``, with those of ``right`` that are equal in the columns ``on``."""

    left: Relation
    right: Relation
    on: tuple[str, ...]
    how: How


class Group(Relation, frozen=True, eq=False):
    """A row for each combination of values in ``by``."""

    source: Relation
    by: tuple[str, ...]
    aggregates: Mapping[str, Aggregate]


class Window(Relation, frozen=True, eq=False):
    """The rows of ``source`` with further columns, from the rows that precede them."""

    source: Relation
    by: tuple[str, ...]
    order: str
    computed: Mapping[str, WindowFunction]


class Union(Relation, frozen=True, eq=False):
    """The rows of both."""

    one: Relation
    other: Relation


class Keep(Relation, frozen=True, eq=False):
    """The rows of ``source``, which are asked for more than once: they are computed once."""

    source: Relation
