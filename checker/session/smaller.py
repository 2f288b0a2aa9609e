"""Advice for a search that a limit ended: what would make the state space smaller."""

from __future__ import annotations

from checker.language.syntax import typed
from checker.model.ir import TransitionSystem, Variable, VariableKind
from checker.model.types import BagT, IntT, MapT, SeqT, SetT, Type
from checker.results.answer import DECIDED, Answer

MOST = 2
"""The largest number of variables that are named, of those that multiply the states most."""
OFTEN = 3
"""The number of explorations in which a capacity has to be guessed too low until the advice names
it."""


def advice(check: typed.Check, system: TransitionSystem, answer: Answer) -> tuple[str, ...]:
    """Returns what to bound, in words; nothing where no limit ended the search.

    The variables that multiply the states most come first, after those that outgrew a size again
    and again.  Where none of them does by itself, the one with the most values is named.
    """
    if answer.stopped in (None, DECIDED):
        return ()
    grown = [f"`{name}`" for each in answer.restarts[-1:] for name, _, _ in each.grown]
    if not answer.endless:
        grown = grown if len(answer.restarts) >= OFTEN else []
    heavy = [weight.name for weight in answer.weights]
    of_names = (_what_limits(name, check, system) for name in (*grown, *heavy))
    found = [said for said in dict.fromkeys(of_names) if said]
    if answer.endless:
        return tuple(found[:MOST])
    for variety in () if found else answer.varieties:
        limit = _what_limits(variety.name, check, system)
        if limit:
            sample = f"{variety.values} values in a sample of {variety.states} states"
            return (f"{limit}; {variety.name} has {sample}",)
    return tuple(found[:MOST])


def _what_limits(name: str, check: typed.Check, system: TransitionSystem) -> str:
    """Returns what limits the variable called ``name``, or messages of a kind in the link called
    so; empty where nothing is known to."""
    titles = [f"`{variable.title or variable.name}`" for variable in system.variables]
    of_name = [
        variable
        for variable, title in zip(system.variables, titles, strict=True)
        if name.endswith(title)
    ]
    if len(of_name) != 1:
        return ""
    (variable,) = of_name
    match variable.kind:
        case VariableKind.LINK:
            fewer = "fewer requests in `clients`" if check.clients else "fewer processes"
            return f"{fewer} put fewer messages in flight"
        case VariableKind.LOCAL | VariableKind.SHARED:
            term = _bounded(variable)
            return f"`bound {term} <= k` limits {name}" if term else ""
        case _:
            return ""


def _bounded(variable: Variable) -> str:
    """Returns a term of the spec that a bound of a check can limit; empty where there is none."""
    type_: Type = variable.type
    name = variable.title or variable.name
    if name != variable.name:  # of a layer
        return ""
    if variable.kind is VariableKind.LOCAL:
        assert isinstance(type_, MapT)
        type_, name = type_.value, f"p.{name}"
    if isinstance(type_, IntT):
        return name
    return f"#{name}" if isinstance(type_, SetT | SeqT | BagT) else ""
