"""A strategy as rules: which values of which variables decide what the adversary lets happen.

Rules are found by sequential covering (Clark and Niblett, The CN2 induction algorithm, 1989), but
none may be wrong of any state that the strategy leads to: each is what decides in one state,
without the conditions that are not needed, numbers in ranges as wide as the other states allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from checker.model.interpreter import State
from checker.model.ir import TransitionSystem, VariableKind
from checker.model.types import MapT, universe
from checker.results.chance import Rule
from checker.results.narrate import is_of_processes
from checker.results.show_values import show

FIRST = (VariableKind.LOCAL, VariableKind.SHARED)
"""Variables that conditions speak of where they suffice; others only where they don't."""
LEFT = "steps left"
"""The name of the column with the number of steps left within a bound."""

Row = tuple[str, ...]


class Decision(Struct, frozen=True):
    """A state in which a strategy has a choice: its values by name, and the ``step`` chosen."""

    values: dict[str, str]
    step: str


def values_of(system: TransitionSystem, state: State, spare: int | None) -> dict[str, str]:
    """Returns the values of a state by name, those of a process one by one (``p1.phase``), the
    first ones to be asked for first; ``spare``: the steps that a bound leaves, if there is one."""
    ordered = sorted(
        zip(system.variables, state, strict=True), key=lambda pair: pair[0].kind not in FIRST
    )
    found = {} if spare is None else {LEFT: str(spare)}
    used = set[str]()
    for variable, value in ordered:
        title, type_ = variable.title or variable.name, variable.type
        if title in used:  # in another layer
            title = variable.name
        used.add(title)
        if isinstance(type_, MapT) and is_of_processes(system, type_):
            assert isinstance(value, tuple)
            for key, entry in zip(universe(type_.key), value, strict=True):
                found[f"{show(type_.key, key)}.{title}"] = show(type_.value, entry)
        else:
            found[title] = show(type_, value)
    return found


def rules_of(decisions: Sequence[Decision], most: int) -> tuple[Rule, ...]:
    """Returns rules that tell what is chosen in each of some states, the ones that speak of most
    states first, ``most`` at most.

    Every rule is true of all of these states, so their order does not matter.
    """
    if not decisions:
        return ()
    names = _deciding(decisions)
    rows = Counter((tuple(d.values[n] for n in names), d.step) for d in decisions)
    left = dict(sorted(rows.items(), key=lambda item: -item[1]))
    seen = [{row[i] for row, _ in rows} for i in range(len(names))]
    found: list[Rule] = []
    while left and len(found) < 4 * most:
        row, step = next(iter(left))
        conditions = _needed(row, [r for r, s in rows if s != step], seen)
        covered = [key for key in left if key[1] == step and _fits(key[0], conditions)]
        states = sum(left.pop(key) for key in covered)
        found.append(Rule(tuple((names[c.column], c.text) for c in conditions), step, states))
    found.sort(key=lambda rule: -rule.states)
    return tuple(found[:most])


def _deciding(decisions: Sequence[Decision]) -> list[str]:
    """Returns few names whose values decide what is chosen: without any of them they would not.
    Names that come late, and those with many values, go first."""
    names = [*decisions[0].values]
    several = {name: len({d.values[name] for d in decisions}) for name in names}
    kept = [name for name in names if several[name] > 1]
    for name in sorted(reversed(kept), key=lambda n: -several[n] * (n != LEFT)):
        fewer = [n for n in kept if n != name]
        if _decide(decisions, fewer):
            kept = fewer
    return kept


def _decide(decisions: Sequence[Decision], names: Sequence[str]) -> bool:
    chosen: dict[Row, str] = {}
    rows = ((tuple(d.values[n] for n in names), d.step) for d in decisions)
    return all(chosen.setdefault(row, step) == step for row, step in rows)


class _Condition(Struct, frozen=True):
    """A column has a ``value``, or a number of at least ``low`` and at most ``high``."""

    column: int
    value: str
    low: int | None = None
    high: int | None = None

    def holds(self, value: str) -> bool:
        if (self.low is None and self.high is None) or not is_number(value):
            return value == self.value
        number = int(value)
        above = self.low is None or number >= self.low
        return above and (self.high is None or number <= self.high)

    @property
    def text(self) -> str:
        if self.low == self.high:
            return f"= {self.value}"
        if self.low is None:
            return f"<= {self.high}"
        return f">= {self.low}" if self.high is None else f"in ({self.low}..{self.high})"


def is_number(value: str) -> bool:
    """Returns whether a value is shown as a number."""
    return value.removeprefix("-").isdecimal()


def _needed(row: Row, others: Sequence[Row], seen: Sequence[set[str]]) -> list[_Condition]:
    """Returns conditions that ``row`` satisfies and none of ``others`` does, without those that are
    not needed for that; ``seen``: all values of each column."""
    kept = [_Condition(column, value) for column, value in enumerate(row)]
    for condition in reversed(kept):
        fewer = [c for c in kept if c is not condition]
        if not any(_fits(other, fewer) for other in others):
            kept = fewer
    for position, condition in enumerate(kept):
        besides = [c for c in kept if c is not condition]
        values = [other[condition.column] for other in others if _fits(other, besides)]
        wide = _widened(condition, values)
        if any(wide.holds(value) for value in seen[condition.column] - {condition.value}):
            kept[position] = wide
    return kept


def _widened(condition: _Condition, others: Sequence[str]) -> _Condition:
    """Returns the widest range around a number without any of some others; what is no number, and
    what stands beside others that are none, stays as it is."""
    if not all(map(is_number, (condition.value, *others))):
        return condition
    value, numbers = int(condition.value), [*map(int, others)]
    low = max((n + 1 for n in numbers if n < value), default=None)
    high = min((n - 1 for n in numbers if n > value), default=None)
    return _Condition(condition.column, condition.value, low, high)


def _fits(row: Row, conditions: Sequence[_Condition]) -> bool:
    return all(condition.holds(row[condition.column]) for condition in conditions)
