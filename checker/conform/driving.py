"""Drives an implementation through a run, and compares it with the spec after each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct

from checker.results.trace import Json, Step, Trace
from checker.words.steps import headline


class Implementation(Protocol):
    """What is driven: all processes of a system that takes its steps when it is told to."""

    def do(self, step: Step) -> None:
        """Does what ``step`` says: its ``kind``, ``process`` and ``events`` have who receives
        which message, is asked what, or crashes."""
        ...

    def observe(self) -> Mapping[str, Mapping[str, Any]]:
        """Returns, by process, the values of those variables of the spec that it has."""
        ...


class Difference(Struct, frozen=True):
    """After ``step`` a variable of ``process`` has another value than in the spec."""

    step: Step
    process: str
    variable: str
    expected: Any
    found: Any

    @property
    def text(self) -> str:
        """It in words."""
        return (
            f"after step {self.step.number} ({headline(self.step)}): {self.variable} of"
            f" {self.process} is {self.found!r}, and in the spec {self.expected!r}"
        )


def drive(run: Trace, implementation: Implementation) -> Difference | None:
    """Lets ``implementation`` take the steps of ``run``, the start first, and compares what can be
    observed of it after each; returns the first difference, or ``None``.

    Raises ``KeyError`` for a process or variable that is not in the spec, and what the
    implementation raises.
    """
    for step in run.steps:
        implementation.do(step)
        for process, variables in implementation.observe().items():
            for name, found in variables.items():
                expected, value = value_in(step, process, name), plain(found)
                if expected != value:
                    return Difference(step, process, name, expected, value)
    return None


def value_in(step: Step, process: str, variable: str) -> Any:
    """Returns the value of a variable of ``process`` after ``step``; of shared variables that of
    all."""
    value = plain(step.state[variable])
    if isinstance(value, dict) and process in value:
        return value[process]
    return value


def plain(value: Json | Any) -> Any:
    """Returns a value of the Informal Trace Format, or one of Python, as plain data that can be
    compared: sets as frozen sets, sequences as tuples, an option as ``None`` or its value."""
    match value:
        case {"#set": list() as items}:
            return frozenset(map(plain, items))
        case {"#map": list() as pairs}:
            return {plain(key): plain(item) for key, item in pairs}
        case {"#tup": list() as items}:
            return tuple(map(plain, items))
        case {"#bigint": str(digits)}:
            return int(digits)
        case {"tag": "None", "value": _}:
            return None
        case {"tag": "Some", "value": item}:
            return plain(item)
        case Mapping():
            return _Record((str(key), plain(item)) for key, item in value.items())
        case set() | frozenset():
            return frozenset(map(plain, value))
        case list() | tuple():
            return tuple(map(plain, value))
        case _:
            return value


class _Record(dict[str, Any]):
    """A record, which may be in a set."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))
