"""Describes a state in words, for interactive stepping."""

from __future__ import annotations

from collections.abc import Iterator

from checker.model.interpreter import State
from checker.model.ir import TransitionSystem, VariableKind
from checker.model.types import AtomT, MapT, universe
from checker.results.show_values import show

SHOWN = (VariableKind.LOCAL, VariableKind.SHARED, VariableKind.GHOST)
"""The kinds of variables that the spec itself declares."""


def variables(system: TransitionSystem, state: State) -> Iterator[tuple[str, str, str]]:
    """Yields process, name and value of each of the spec's variables in ``state``; shared variables
    have an empty process.
    """
    for variable, value in zip(system.variables, state, strict=True):
        if variable.kind not in SHOWN or variable.name.startswith("@"):
            continue
        title, type_ = variable.title or variable.name, variable.type
        if isinstance(type_, MapT) and isinstance(type_.key, AtomT):
            assert isinstance(value, tuple)
            for key, held in zip(universe(type_.key), value, strict=True):
                yield show(type_.key, key), title, show(type_.value, held)
        else:
            yield "", title, show(type_, value)
