"""Explains why a step can't be taken with the alternative of an ``either`` that words name."""

from __future__ import annotations

import re

from checker.diagnostics.english import count
from checker.instantiate.protocol.handler_budgets import BUDGET, PER_PROCESS
from checker.model.interpreter import State
from checker.model.ir import MarkKind, TransitionSystem
from checker.model.types import IntT, MapT

_AS = re.compile(r"(?P<step>.*) as (?P<name>\w+'*)$")


def split_words(words: str, system: TransitionSystem) -> tuple[str, str] | None:
    """Returns the step and the alternative that ``words`` name; ``None`` where they name none."""
    found = _AS.match(words)
    known = {info.text for info in system.marks if info.kind is MarkKind.ALTERNATIVE}
    if found is None or found["name"] not in known:
        return None
    return found["step"], found["name"]


def why_not_there(name: str, who: str, system: TransitionSystem, state: State) -> str:
    """Returns why ``who`` can't take the alternative ``name``, though it can take the step."""
    for variable, taken in zip(system.variables, state, strict=True):
        if variable.name not in (f"{BUDGET} {name}", f"{BUDGET} {name}{PER_PROCESS}"):
            continue
        type_, value = variable.type, taken
        if isinstance(type_, MapT):
            at = system.processes.index(who) if who in system.processes else 0
            assert isinstance(taken, tuple)
            type_, value = type_.value, taken[at]
        assert isinstance(type_, IntT)
        if value == type_.hi:
            each = " per process" if isinstance(variable.type, MapT) else ""
            return f"the alternative `{name}` is used up: at most {count(type_.hi, 'time')}{each}"
    return f"no alternative `{name}` is there: its guard is false, or another handler has it"
