"""Makes the automaton of a file: shared variables are what is sent, locations are one group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from checker.diagnostics import Diagnostic, SpecError
from checker.model.ir import SourceLocation
from checker.parametric.automaton.arithmetic import (
    comparisons,
    conjunction,
    linear,
    names,
    plus,
    rewritten,
    times,
    to_nnf,
)
from checker.parametric.automaton.automaton import (
    And,
    AtLeast,
    Automaton,
    Condition,
    Group,
    Kind,
    Linear,
    Location,
    Mode,
    Rule,
    sent_name,
)
from checker.parametric.threshold.simplify import simplified
from checker.parametric.threshold.written import Written, WrittenRule

EVERYBODY = "processes"
"""The number of processes, where no parameter is called so."""


def convert(written: Written) -> tuple[Automaton, Mapping[str, Linear]]:
    """Returns the automaton, and what variables are in terms of parameters and of what was sent.

    Raises :class:`SpecError` (E120, E121) for all that the format allows and the automaton can't
    do.
    """
    found: list[Diagnostic] = []
    begins = [part for condition in written.begins for part in _equations(condition)]
    first = _first_values(written, begins)
    sent = {name: Linear(((sent_name(at), 1),)) for at, name in enumerate(written.shared)}
    variables = {name: plus(sent[name], first[name]) for name in written.shared}
    empty = {name for condition in begins for name in _empty(condition, written.locations)}
    different = dict.fromkeys(rule.guard for rule in written.rules)
    guards = {guard: _guard(guard, written, variables) for guard in different}
    rules = [_rule(rule, guards[rule.guard], written, variables, found) for rule in written.rules]
    if found:
        raise SpecError(tuple(found))
    at_first = {**first, **{name: Linear() for name in empty}}
    starts = [to_nnf(rewritten(condition, at_first)) for condition in begins]
    size = EVERYBODY
    while size in (*written.parameters, *written.shared, *written.locations):
        size += "_"
    unknown = sorted({name for term in first.values() for name, _ in term.terms}
                     - {*written.parameters})  # fmt: skip
    automaton = Automaton(
        name=written.name,
        parameters=written.parameters,
        hidden=(size, *unknown),
        quotients=written.quotients,
        constraints=(),
        resilience=conjunction([_assumed(each, written) for each in written.assumptions]),
        groups=(Group(size, Linear(((size, 1),)), Mode.CORRECT),),
        locations=tuple(
            Location(name, 0, (), initial=name not in empty) for name in written.locations
        ),
        kinds=tuple(Kind(name, name, (), None, Linear()) for name in written.shared),
        receipts=(),
        rules=tuple(rules),
        exact=True,
        begins=tuple(each for each in starts if each != And()),
    )
    return automaton, variables


def _assumed(condition: Condition, written: Written) -> Condition:
    """Returns an assumption; it is left out where it says that a parameter is not negative."""
    always = simplified(condition, frozenset(written.parameters)) == And()
    return And() if always else to_nnf(condition)


def _first_values(written: Written, begins: Iterable[Condition]) -> dict[str, Linear]:
    """Returns the initial values of the shared variables: terms over parameters, or where no
    equation says one, an unknown of its own."""
    first = {name: Linear(((f"{name} at first", 1),)) for name in written.shared}
    sizes = {*written.parameters}
    for condition in begins:
        term = _equal_to_zero(condition)
        by = dict(term.terms) if term is not None else {}
        used = [name for name in by if name not in sizes]
        if term is None or len(used) != 1 or used[0] not in first or abs(by[used[0]]) != 1:
            continue
        rest = linear({name: each for name, each in by.items() if name in sizes}, term.constant)
        first[used[0]] = times(rest, -by[used[0]])
    return first


def _parts(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, And):
        for part in condition.parts:
            yield from _parts(part)
    else:
        yield condition


def _equations(condition: Condition) -> Iterator[Condition]:
    """Yields the parts of a conjunction; the two comparisons of an equation stay together."""
    parts = list(_parts(to_nnf(condition)))
    while parts:
        part = parts.pop(0)
        opposite = AtLeast(times(part.linear, -1)) if isinstance(part, AtLeast) else None
        if opposite in parts:
            parts.remove(opposite)
            yield And((part, opposite))
        else:
            yield part


def _equal_to_zero(condition: Condition) -> Linear | None:
    """Returns the term that the condition says to be 0, if it is an equation."""
    if isinstance(condition, And) and len(condition.parts) == 2:
        one, other = condition.parts
        if isinstance(one, AtLeast) and other == AtLeast(times(one.linear, -1)):
            return one.linear
    return None


def _empty(condition: Condition, locations: Iterable[str]) -> Iterator[str]:
    """Yields the locations that an initial condition leaves empty."""
    term = _equal_to_zero(condition)
    if term is not None and not term.constant and {name for name, _ in term.terms} <= {*locations}:
        if all(by > 0 for _, by in term.terms) or all(by < 0 for _, by in term.terms):
            yield from (name for name, _ in term.terms)


def _guard(guard: Condition, written: Written, variables: Mapping[str, Linear]) -> Condition:
    return simplified(rewritten(guard, variables), frozenset(written.parameters))


def _rule(
    rule: WrittenRule,
    guard: Condition,
    written: Written,
    variables: Mapping[str, Linear],
    found: list[Diagnostic],
) -> Rule:
    if names(rule.guard) & {*written.locations}:
        message = f"the guard of rule {rule.number} compares numbers of processes in locations"
        found.append(Diagnostic("E121", message, rule.guard_span,
                                hint="compare shared variables"))  # fmt: skip
    for part in comparisons(guard):
        if len({by > 0 for name, by in part.terms if name.startswith("#")}) > 1:
            message = f"the guard of rule {rule.number} compares shared variables with one another"
            hint = "compare sums of shared variables with terms over parameters"
            found.append(Diagnostic("E121", message, rule.guard_span, hint=hint))
            break
    sends, resets = list[int](), list[int]()
    for name, new in rule.updates.items():
        kind = written.shared.index(name)
        first = plus(variables[name], Linear(((sent_name(kind), -1),)))
        back = not names(AtLeast(new)) & {*written.shared}
        more = plus(new, times(first if back else Linear(((name, 1),)), -1))
        if more.terms or more.constant < 0:
            found.append(_unsendable(rule, name, back))
            continue
        sends += [kind] * more.constant
        resets += [kind] * back
    place = SourceLocation(rule.span.file, rule.span.line, rule.span.column)
    locations = written.locations
    return Rule(
        locations.index(rule.source), locations.index(rule.target), guard, tuple(sorted(sends)),
        f"rule {rule.number}", place, is_fair=False, resets=tuple(sorted(resets)),
    )  # fmt: skip


def _unsendable(rule: WrittenRule, name: str, back: bool) -> Diagnostic:
    """Returns the diagnostic; ``back``: the new value depends on parameters only."""
    message = f"rule {rule.number} does not add a number to `{name}`"
    hint = f"write `{name}' == {name} + 1`, or leave it unchanged"
    if back:
        message = f"rule {rule.number} does not reset `{name}` to its initial value"
        hint = f"write the value that `inits` gives to `{name}`"
    return Diagnostic("E120", message, rule.span, hint=hint)
