"""Describes a state in words, for interactive stepping."""

from __future__ import annotations

from collections.abc import Iterator

from checker.model.interpreter import State
from checker.model.ir import TransitionSystem, VariableKind
from checker.model.types import AtomT, MapT, universe
from checker.results.show_values import show
from checker.simulate.choices import Choice

SHOWN = (VariableKind.LOCAL, VariableKind.SHARED)
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


def why_not(words: str, ways: tuple[Choice, ...], down: frozenset[str], waiting: list[str]) -> str:
    """Explains why the step that ``words`` describe is not enabled, as far as that is easily found.

    ``down``: the crashed processes; ``waiting``: the messages in transit, in words.
    """
    who = words.split(maxsplit=1)[0] if words.split() else ""
    if who in down:
        return f"{who} is down"
    if words.endswith("crashes") and not any(way.kind == "crash" for way in ways):
        return "the check allows no (more) crashes"
    own = [way for way in ways if way.process == who]
    if " receives " in words:
        wanted = words.split(" receives ", 1)[1]
        name = wanted.partition("(")[0].split()[0] if wanted.split() else ""
        there = [said for said in waiting if name in said and said.endswith(f"to {who}")]
        if there:
            return f"on its way to {who} is: {'; '.join(there)}"
        return f"no message {name} is on its way to {who}"
    if not own:
        return f"nothing is possible at {who}" if who else "nothing like it is possible"
    return f"what {who} can do is: {'; '.join(way.text for way in own)}"
