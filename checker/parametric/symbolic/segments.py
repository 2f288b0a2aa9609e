"""Encodes the executions of a threshold automaton as segments, with conditions that are tracked.

Conditions of rules are monotonic in the numbers of sent messages.  One that *rises* is false at
first, and a segment begins where it becomes true.  One that *falls*, of an exact automaton, becomes
false: the step that makes it false is a segment of its own (*single*), between one at whose end it
is true and one at whose start it is false.  So in a segment that is not single, rising conditions
are true throughout if they are at its start, and falling ones if they are at its end.

A condition that is not tracked has to be true at that end of its segment where it is sure to be, if
it was when the rule was taken: the last one for a rising condition, the first one for a falling
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import z3
from msgspec import Struct

from checker.parametric.automaton.arithmetic import plus
from checker.parametric.automaton.automaton import AtLeast, Automaton, Linear, Rule, sent_name
from checker.parametric.symbolic.guards import All, Any, Counted, leaves
from checker.parametric.symbolic.runs import ALL, Runs, Shape, advance, begin
from checker.parametric.symbolic.terms import all_of, any_of, total, zero

Guards = Mapping[int, Counted]
"""When rules are enabled, by number."""


class Limit(Struct, frozen=True):
    """All rules that bring a falling condition closer to false have it in their guards, so that
    they make it false by one step at most: ``beyond`` holds behind each.

    ``rules``: these rules; ``exact``: no others have it in their guards, and each step counts
    alike, so that these can be taken one by one as long as ``beyond`` holds eventually.
    """

    beyond: AtLeast
    rules: tuple[int, ...]
    exact: bool


def split(automaton: Automaton, guards: Guards) -> tuple[Guards, Guards]:
    """Returns the rules that reset variables, and all others."""
    resetting = {rule: guard for rule, guard in guards.items() if automaton.rules[rule].resets}
    return resetting, {rule: guard for rule, guard in guards.items() if rule not in resetting}


def units(automaton: Automaton, guard: Counted) -> tuple[Counted, ...]:
    """Returns the parts of a guard that are tracked alone: its comparisons, where the automaton is
    exact, and otherwise the guard itself."""
    return tuple(dict.fromkeys(leaves(guard))) if automaton.exact else (guard,)


def false_units(formula: Counted, true: Mapping[Counted, bool]) -> list[Counted]:
    """Returns the units in ``formula`` that are not ``true``."""
    if formula in true:
        return [] if true[formula] else [formula]
    assert isinstance(formula, All | Any)
    return [each for part in formula.parts for each in false_units(part, true)]


def falls(unit: Counted) -> bool:
    """Returns whether the condition becomes false as messages are sent."""
    return isinstance(unit, AtLeast) and any(
        by < 0 and name.startswith("#") for name, by in unit.linear.terms
    )


def loss(rule: Rule, unit: AtLeast) -> int:
    """Returns by how much a step of ``rule`` brings the falling condition closer to false."""
    by = dict(unit.linear.terms)
    return -sum(by.get(sent_name(kind), 0) for kind in rule.sends)


def limits(automaton: Automaton, guards: Guards) -> dict[Counted, Limit]:
    """Returns the limits of falling conditions that have one."""
    found: dict[Counted, Limit] = {}
    units_of = {rule: units(automaton, guard) for rule, guard in guards.items()}
    for unit in dict.fromkeys(each for parts in units_of.values() for each in parts):
        if not isinstance(unit, AtLeast) or not falls(unit):
            continue
        users = {rule for rule, parts in units_of.items() if unit in parts}
        steps = {rule: loss(automaton.rules[rule], unit) for rule in guards}
        takers = tuple(rule for rule, step in steps.items() if step)
        if not takers or not all(_requires(guards[rule], unit) for rule in takers):
            continue
        most = max(steps.values())
        alike = all(steps[rule] == most for rule in takers)
        beyond = AtLeast(plus(unit.linear, Linear((), most)))
        found[unit] = Limit(beyond, takers, alike and users <= set(takers))
    return found


def _requires(guard: Counted, unit: Counted) -> bool:
    return guard == unit or (
        isinstance(guard, All) and any(_requires(part, unit) for part in guard.parts)
    )


def accelerate(
    automaton: Automaton, guards: Guards, tracked: frozenset[Counted], shape: Shape = ALL
) -> Runs:
    """Encodes all executions of ``shape``, and more where not all conditions of rules are
    ``tracked``.  Unneeded segments are empty, and the last ones, or the last before a reset.
    """
    return _Segments(automaton, guards, tracked, shape).encode()


class _Segments:
    """The formula that is made of ``tracked`` conditions."""

    def __init__(
        self, automaton: Automaton, guards: Guards, tracked: frozenset[Counted], shape: Shape
    ) -> None:
        self.runs = begin(automaton, shape)
        self.shape = shape
        self.resetting, self.guards = split(automaton, guards)
        self.limits = limits(automaton, self.guards) if automaton.exact else {}
        self.tracked = sorted(tracked, key=repr)
        self.falling = [unit for unit in self.tracked if automaton.exact and falls(unit)]
        self.by_guard: dict[Counted, list[int]] = {}
        for rule, guard in self.guards.items():
            self.by_guard.setdefault(guard, []).append(rule)

    def encode(self) -> Runs:
        for _ in range(self.shape.resets):
            self._between_resets()
            self._reset()
        if not self.shape.behind:
            self._between_resets()
        return self.runs

    def _reset(self) -> None:
        """Adds a segment of one step, which resets variables."""
        start = self.runs.moments[-1].sent
        taken = {rule: self.runs.natural("reset") for rule in self.resetting}
        self._assert(total(list(taken.values())) == 1)
        for rule, guard in self.resetting.items():
            able = self.runs.counted_formula(guard, start)
            self._assert(z3.Or(zero(taken[rule]), able))
        advance(self.runs, taken)

    def _between_resets(self) -> None:
        """Adds segments in which no rule resets variables."""
        before: dict[Counted, z3.BoolRef] = {}
        was_single: z3.BoolRef | None = None
        begins = len(self.runs.taken)
        more = len(self.falling) + self.shape.cuts
        for segment in range(begins, begins + len(self.tracked) + more + 1):
            single = z3.Bool(f"single!{segment}") if self.falling else None
            now = self._opened(segment, before)
            taken = {rule: self.runs.natural(f"taken!{segment}!{rule}") for rule in self.guards}
            if segment > begins:
                news = [z3.And(new, z3.Not(before[unit])) for unit, new in now.items()
                        if unit not in self.falling]  # fmt: skip
                news += [each for each in (single, was_single) if each is not None]
                news += [self.runs.cut(at, segment) for at in range(self.shape.cuts)]
                self._assert(any_of([_nobody(taken.values()), *news]))
            advance(self.runs, taken)
            self._fall(now, single, taken)
            self._require_guards(now, taken)
            before, was_single = now, single

    def _assert(self, formula: z3.BoolRef) -> None:
        self.runs.assertions.append(formula)

    def _opened(
        self, segment: int, before: Mapping[Counted, z3.BoolRef]
    ) -> dict[Counted, z3.BoolRef]:
        """Returns for each tracked condition whether it is true in the segment."""
        now = {unit: z3.Bool(f"open!{segment}!{at}") for at, unit in enumerate(self.tracked)}
        sent = self.runs.moments[-1].sent
        for unit, opened in now.items():
            if unit in self.falling:
                if before:
                    self._assert(z3.Implies(opened, before[unit]))
                continue
            self._assert(z3.Implies(opened, self.runs.counted_formula(unit, sent)))
            if before:
                self._assert(z3.Implies(before[unit], opened))
        return now

    def _fall(
        self,
        now: Mapping[Counted, z3.BoolRef],
        single: z3.BoolRef | None,
        taken: Mapping[int, z3.ArithRef],
    ) -> None:
        """Asserts that falling conditions are true where they are opened, and their limits."""
        start, end = self.runs.moments[-2].sent, self.runs.moments[-1].sent
        for unit in self.falling:
            assert single is not None
            last = self.runs.counted_formula(unit, end)
            first = self.runs.counted_formula(unit, start)
            self._assert(z3.Implies(now[unit], z3.Or(last, z3.And(single, first))))
        if single is not None:
            self._assert(z3.Implies(single, total(list(taken.values())) <= 1))
        for limit in self.limits.values():
            nobody = _nobody(taken[rule] for rule in limit.rules)
            self._assert(z3.Or(nobody, self.runs.counted_formula(limit.beyond, end)))

    def _require_guards(
        self, now: Mapping[Counted, z3.BoolRef], taken: Mapping[int, z3.ArithRef]
    ) -> None:
        true = dict(now)
        start, end = self.runs.moments[-2].sent, self.runs.moments[-1].sent
        for formula, rules in self.by_guard.items():
            for unit in units(self.runs.automaton, formula):
                if unit not in true:
                    falling = self.runs.automaton.exact and falls(unit)
                    true[unit] = self.runs.counted_formula(unit, start if falling else end)
            nobody = _nobody(taken[rule] for rule in rules)
            self._assert(any_of((nobody, _holds(formula, true))))


def _nobody(taken: Iterable[z3.ArithRef]) -> z3.BoolRef:
    return all_of(zero(often) for often in taken)


def _holds(formula: Counted, true: Mapping[Counted, z3.BoolRef]) -> z3.BoolRef:
    if formula in true:
        return true[formula]
    assert isinstance(formula, All | Any)
    parts = [_holds(part, true) for part in formula.parts]
    return all_of(parts) if isinstance(formula, All) else any_of(parts)
