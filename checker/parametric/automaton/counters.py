"""An exact automaton at small sizes as a finite transition system, for any engine: its variables
count the processes in each location, and what was sent.

Parameters, and how many processes begin in each location, are chosen at the start, so that one
system is the automaton at all sizes up to a number.  The property is that the system never violates
a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import assert_never

from checker.model.build import assign, at_most, conj, disj, integer, negation
from checker.model.ir import (
    TRUE,
    Action,
    ActionKind,
    Apply,
    Assume,
    Block,
    Choose,
    Expr,
    If,
    Local,
    Op,
    Property,
    PropertyKind,
    Read,
    Stmt,
    TransitionSystem,
    Universe,
    Variable,
    VariableKind,
)
from checker.model.types import IntT
from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    AllOf,
    And,
    AnyOf,
    AtLeast,
    Automaton,
    Burst,
    Condition,
    Counts,
    Linear,
    Not,
    NotState,
    Or,
    Question,
    Rule,
    Somebody,
    StateFormula,
    sent_name,
)
from checker.parametric.automaton.execution import configurations, satisfies
from checker.records import replace
from checker.results.answer import Path, State

PASSED = "@passed"
"""The variable that counts the formulas ``before`` of the question that have been passed."""

CHOSEN = "@chosen"
ANY: Mapping[str, int] = MappingProxyType({})


class CounterSystem:
    """``automaton``, where no parameter is larger than ``largest``, and steps that bring a number
    of sent messages above ``most_sent`` are left out.

    ``system``: the transition system; its only property is that nothing violates ``question``,
    which is not about ends.  ``fixed``: numbers of some parameters, and of processes that begin in
    some locations.  The automaton is exact, and each parameter has another name than any location.
    """

    def __init__(
        self,
        automaton: Automaton,
        question: Question,
        largest: int,
        most_sent: int,
        fixed: Mapping[str, int] = ANY,
    ) -> None:
        assert automaton.exact and not question.at_end
        self.automaton = automaton
        self.question = question
        self.fixed = fixed
        self.parameters = (*automaton.parameters, *automaton.hidden)
        self.places = [location.name for location in automaton.locations]
        self.kinds = [sent_name(kind) for kind in range(len(automaton.kinds))]
        self.types: dict[str, IntT] = {}
        self.types.update((name, IntT(0, largest)) for name in (*self.parameters, *self.places))
        self.types.update((name, IntT(0, most_sent)) for name in self.kinds)
        quotients = {one.name: self._quotient(one.numerator, one.divisor)
                     for one in automaton.quotients}  # fmt: skip
        self.types.update((name, term.type) for name, term in quotients.items()
                          if isinstance(term.type, IntT))  # fmt: skip
        self.types[PASSED] = IntT(0, len(question.before))
        variables = tuple(
            Variable(name, type_, min(max(0, type_.lo), type_.hi), VariableKind.SHARED)
            for name, type_ in self.types.items()
        )
        self.system = TransitionSystem(
            automaton.name, (), variables, tuple(self._init(quotients)),
            tuple(action for _, action in self._actions()), tuple(self._monitor()),
            (self._property(),), (),
        )  # fmt: skip

    # ---- terms and formulas -------------------------------------------------------------------

    def _read(self, name: str) -> Read:
        return Read(self.types[name], name)

    def _number(self, term: Linear) -> Expr:
        """Returns the value of ``term``, with the range that follows from its parts."""
        parts = [(self._read(name), by) for name, by in term.terms if by]
        low = high = term.constant
        found: Expr = integer(term.constant)
        for read, by in parts:
            assert isinstance(read.type, IntT)
            least, most = sorted((read.type.lo * by, read.type.hi * by))
            each = read if by == 1 else Apply(IntT(least, most), Op.MUL, (read, integer(by)))
            low, high = low + least, high + most
            found = Apply(IntT(low, high), Op.ADD, (found, each))
        return found

    def _quotient(self, numerator: Linear, divisor: int) -> Expr:
        number = self._number(numerator)
        assert isinstance(number.type, IntT)
        range_ = IntT(number.type.lo // divisor, number.type.hi // divisor)
        return Apply(range_, Op.DIV, (number, integer(divisor)))

    def _condition(self, condition: Condition) -> Expr:
        match condition:
            case AtLeast(term):
                return at_most(integer(0), self._number(term))
            case Not(part):
                return negation(self._condition(part))
            case And(parts):
                return conj(*(self._condition(part) for part in parts))
            case Or(parts):
                return disj(*(self._condition(part) for part in parts))
            case _:
                assert_never(condition)

    def _state(self, formula: StateFormula) -> Expr:
        match formula:
            case Somebody(locations, least):
                return at_most(integer(least), self._number(self._there(locations)))
            case Counts(condition):
                return self._condition(condition)
            case NotState(part):
                return negation(self._state(part))
            case AllOf(parts):
                return conj(*(self._state(part) for part in parts))
            case AnyOf(parts):
                return disj(*(self._state(part) for part in parts))
            case _:
                assert_never(formula)

    def _there(self, locations: Iterable[int]) -> Linear:
        return Linear(tuple((self.places[at], 1) for at in sorted(locations)))

    # ---- the system ---------------------------------------------------------------------------

    def _init(self, quotients: Mapping[str, Expr]) -> Iterator[Stmt]:
        """Yields the choice of all sizes, and of where processes begin."""
        automaton = self.automaton
        for name in self.parameters:
            yield from self._chosen(name)
        yield from (assign(self._read(name), value) for name, value in quotients.items())
        sizes = And((automaton.resilience, *automaton.constraints))
        yield Assume(self._condition(sizes))
        for index, group in enumerate(automaton.groups):
            begins = [at for at, each in enumerate(automaton.locations)
                      if each.initial and each.group == index]  # fmt: skip
            size = self._number(group.size)
            for done, at in enumerate(begins):
                yield from self._chosen(self.places[at])
                yield Assume(at_most(self._number(self._there(begins[: done + 1])), size))
            yield Assume(at_most(size, self._number(self._there(begins))))
        yield Assume(self._condition(And(automaton.begins)))
        yield Assume(self._state(self.question.begins))

    def _chosen(self, name: str) -> Block:
        read = self._read(name)
        if name in self.fixed:
            return (assign(read, integer(self.fixed[name])),)
        local = f"{CHOSEN} {name}"
        choice = Choose(local, Universe(read.type), TRUE)
        return choice, assign(read, Local(read.type, local))

    def _actions(self) -> Iterator[tuple[int, Action]]:
        """Yields each rule that may be taken, by its number, and what it does."""
        for index, rule in enumerate(self.automaton.rules):
            changed = self._sent(rule)
            room = [at_most(value, integer(self.types[name].hi))
                    for name, value in changed.items()]  # fmt: skip
            occupied = at_most(integer(1), self._read(self.places[rule.source]))
            body: list[Stmt] = [assign(self._read(name), new) for name, new in changed.items()]
            for at, more in ((rule.source, -1), (rule.target, 1)):
                moved = Linear(((self.places[at], 1),), more)
                body.append(assign(self._read(self.places[at]), self._number(moved)))
            guard = conj(occupied, self._condition(rule.guard), *room)
            name = f"{rule.label} ({index})"
            yield index, Action(name, ActionKind.STEP, (), guard, tuple(body), TRUE, rule.place)

    def _sent(self, rule: Rule) -> dict[str, Expr]:
        """Returns the numbers of sent messages that the rule changes, and to which."""
        found: dict[str, Expr] = {}
        for kind in sorted({*rule.sends, *rule.resets}):
            before = () if kind in rule.resets else ((self.kinds[kind], 1),)
            found[self.kinds[kind]] = self._number(Linear(before, rule.sends.count(kind)))
        return found

    def _monitor(self) -> Iterator[Stmt]:
        for number, formula in enumerate(self.question.before):
            now = conj(self._passed(number), self._state(formula))
            yield If(now, (assign(self._read(PASSED), integer(number + 1)),))

    def _passed(self, number: int) -> Expr:
        passed = self._read(PASSED)
        return conj(at_most(integer(number), passed), at_most(passed, integer(number)))

    def _property(self) -> Property:
        bad = conj(self._passed(len(self.question.before)), self._state(self.question.violated))
        return Property(self.question.property, PropertyKind.INVARIANT, bad, TRUE, "")

    # ---- runs ---------------------------------------------------------------------------------

    def path(self, run: AcceleratedRun) -> Path:
        """Returns the states of ``run``, one behind each step of a process.

        Raises ``NotARun`` where it is no run of the automaton.
        """
        values = dict(run.values)
        bursts = [burst for segment in run.segments for burst in segment]
        single = tuple((Burst(burst.rule, 1),) for burst in bursts for _ in range(burst.times))
        before, passed, states = self.question.before, 0, []
        for at in configurations(self.automaton, replace(run, segments=single)):
            while passed < len(before) and satisfies(at, before[passed], self.automaton, values):
                passed += 1
            numbers = {**values, **dict(zip(self.places, at.where, strict=True)), PASSED: passed}
            numbers.update(zip(self.kinds, at.correct, strict=True))
            states.append(tuple(numbers[name] for name in self.types))
        return Path(tuple(states))

    def run(self, first: State, actions: Iterable[str]) -> AcceleratedRun:
        """Returns the run from the state ``first`` by ``actions`` of the system, by name."""
        at = dict(zip(self.types, (int(str(value)) for value in first), strict=True))
        rules = {action.name: rule for rule, action in self._actions()}
        places = {*self.places, *self.kinds, PASSED}
        values = tuple((name, at[name]) for name in at if name not in places)
        bursts = tuple((Burst(rules[name], 1),) for name in actions)
        return AcceleratedRun(values, tuple(at[name] for name in self.places), bursts)
