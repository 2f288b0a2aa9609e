"""A threshold automaton as its file says it: names, conditions and formulas, with their places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span
from checker.parametric.automaton.automaton import (
    And,
    AtLeast,
    Condition,
    Linear,
    Not,
    Or,
    Quotient,
)


class Finally(Struct, frozen=True):
    """``<> part``."""

    part: Formula


class Globally(Struct, frozen=True):
    """``[] part``."""

    part: Formula


class All(Struct, frozen=True):
    """A conjunction in which there are temporal operators."""

    parts: tuple[Formula, ...]


class Any(Struct, frozen=True):
    """A disjunction in which there are temporal operators."""

    parts: tuple[Formula, ...]


class Negation(Struct, frozen=True):
    """A negation of a formula with temporal operators."""

    part: Formula


Formula: TypeAlias = AtLeast | Not | And | Or | Finally | Globally | All | Any | Negation
"""A formula of linear temporal logic; its conditions are about parameters, variables and the
numbers of processes in locations."""


class WrittenRule(Struct, frozen=True):
    """``number: source -> target when (guard) do { updates }``; ``updates``: the new value of a
    variable, as a term over the old values, for those that are assigned."""

    number: int
    source: str
    target: str
    guard: Condition
    updates: Mapping[str, Linear]
    span: Span
    guard_span: Span


class Specification(Struct, frozen=True):
    """``name: formula``; ``text``: the formula as written, on one line."""

    name: str
    formula: Formula
    text: str
    span: Span


class Written(Struct, frozen=True):
    """A file; ``quotients``: the divisions in it; ``begins``: conditions
    that hold at first."""

    file: str
    name: str
    shared: tuple[str, ...]
    parameters: tuple[str, ...]
    quotients: tuple[Quotient, ...]
    assumptions: tuple[Condition, ...]
    locations: tuple[str, ...]
    begins: tuple[Condition, ...]
    rules: tuple[WrittenRule, ...]
    specifications: tuple[Specification, ...]
    warnings: tuple[Diagnostic, ...] = ()
