"""Encodes accelerated executions of a threshold automaton as a formula of linear integer
arithmetic.

An execution consists of segments: a new one begins where a condition of a rule has become true.
Conditions of rules are monotonic in the numbers of sent messages and never become false, so that
there are at most as many segments as different conditions, plus one.  Within a segment a rule is
taken only if its condition was true at the segment's start.  So every execution of the automaton is
a solution of the formula; and every solution is an execution, for in a segment rules can be taken
in the order of their sources (they make no cycle), each at once as often as in the solution: a
location has been filled before it is left, and holds enough processes, for the number left at the
end of the segment is not negative.  The method is sound and complete for these automata.

Sources: I. Konnov, M. Lazić, H. Veith, J. Widder: A short counterexample property, POPL 2017;
A. R. Balasubramanian, J. Esparza, M. Lazić: Complexity of verification and synthesis of threshold
automata, ATVA 2020 (one formula for all orders in which guards become true).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import assert_never

import z3
from msgspec import Struct, field

from checker.graphs import reached
from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    AllOf,
    And,
    AnyOf,
    AtLeast,
    Automaton,
    Condition,
    Counts,
    Linear,
    Mode,
    Not,
    NotState,
    Or,
    Rule,
    Somebody,
    StateFormula,
    sent_name,
)
from checker.parametric.symbolic.cycles import arranged, on_cycles, ranks, supplied
from checker.parametric.symbolic.guards import (
    All,
    Any,
    Choice,
    Counted,
    byzantine_senders,
    correct_senders_name,
    counts,
    stuck_condition,
)
from checker.parametric.symbolic.terms import all_of, any_of, not_negative, total


class CounterConfiguration(Struct, frozen=True):
    """The numbers of processes in each location, and of sent messages, between two segments."""

    where: tuple[z3.ArithRef, ...]
    sent: Mapping[str, z3.ArithRef]


class Shape(Struct, frozen=True):
    """Which executions a formula is about.

    ``cuts``: so many moments that a question speaks of, at which a segment may begin; ``resets``:
    exactly so many steps reset variables; ``anywhere``: they begin in any configuration with as
    many processes as some initial one has; ``behind``: they end directly behind the last step that
    resets variables.
    """

    cuts: int = 0
    resets: int = 0
    anywhere: bool = False
    behind: bool = False


ALL = Shape()
"""All executions without resets."""


class Runs(Struct):
    """The formula: its ``assertions``, the ``numbers`` of parameters, ``moments`` from the first to
    the last, and in ``taken`` how often rules are taken in each segment.  ``origin``: the initial
    configuration: the first moment, unless the execution begins anywhere.  ``ranks``: numbers of
    locations by which rules of a segment are sorted; ``cyclic``: the locations on cycles.
    """

    automaton: Automaton
    assertions: list[z3.BoolRef] = field(default_factory=list)
    numbers: dict[str, z3.ArithRef] = field(default_factory=dict)
    moments: list[CounterConfiguration] = field(default_factory=list)
    taken: list[dict[int, z3.ArithRef]] = field(default_factory=list)
    fresh: int = 0
    origin: CounterConfiguration = CounterConfiguration((), MappingProxyType({}))
    ranks: list[int] = field(default_factory=list)
    cyclic: list[int] = field(default_factory=list)

    def cut(self, number: int, moment: int) -> z3.BoolRef:
        """Returns whether the ``number``-th cut is at a moment, by its number."""
        return z3.Bool(f"cut!{number}!{moment}")

    def number(self, term: Linear, sent: Mapping[str, z3.ArithRef] | None = None) -> z3.ArithRef:
        """Encodes ``term`` over parameters and the numbers of sent messages."""
        sent = sent or {}
        parts: list[z3.ArithRef] = []
        for name, by in term.terms:
            each = sent[name] if name in sent else self.numbers[name]
            parts.append(each if by == 1 else by * each)
        return total([*parts, z3.IntVal(term.constant)] if term.constant or not parts else parts)

    def condition(
        self, condition: Condition, sent: Mapping[str, z3.ArithRef] | None = None
    ) -> z3.BoolRef:
        """Encodes ``condition`` over parameters and the numbers of sent messages."""
        match condition:
            case AtLeast(term):
                return not_negative(self.number(term, sent))
            case Not(part):
                return z3.Not(self.condition(part, sent))
            case And(parts):
                return all_of(self.condition(part, sent) for part in parts)
            case Or(parts):
                return any_of(self.condition(part, sent) for part in parts)
            case _:
                assert_never(condition)

    def variable(self, name: str) -> z3.ArithRef:
        """Returns a new integer variable."""
        self.fresh += 1
        return z3.Int(f"{name}!{self.fresh}")

    def natural(self, name: str) -> z3.ArithRef:
        """Returns a new integer variable that is at least 0."""
        made = self.variable(name)
        self.assertions.append(not_negative(made))
        return made

    def counted_formula(self, formula: Counted, sent: Mapping[str, z3.ArithRef]) -> z3.BoolRef:
        """Encodes ``formula`` over the numbers of sent messages; it may only occur where it is
        asserted or implied.
        """
        match formula:
            case AtLeast():
                return self.condition(formula, sent)
            case Choice():
                return self.choice(formula, sent)
            case All(parts):
                return all_of(self.counted_formula(part, sent) for part in parts)
            case Any(parts):
                return any_of(self.counted_formula(part, sent) for part in parts)
            case _:
                assert_never(formula)

    def choice(self, choice: Choice, sent: Mapping[str, z3.ArithRef]) -> z3.BoolRef:
        """Encodes that there are such receipts: variables for them, and the condition on them."""
        used = counts(choice)
        receipts = [each for each in self.automaton.receipts if each.name in used]
        parts: list[z3.BoolRef] = []
        told: dict[int, z3.ArithRef] = {}
        lied: dict[int, z3.ArithRef] = {}
        for kind in sorted({kind for receipt in receipts for kind in receipt.kinds}):
            told[kind], lied[kind] = self.variable("told"), self.variable("lied")
            mine = 1 if kind in choice.own else 0
            least = sent[correct_senders_name(kind)] - mine if choice.reliable else z3.IntVal(0)
            parts += [
                told[kind] >= least,
                told[kind] >= 0,
                told[kind] <= sent[sent_name(kind)] - mine,
                lied[kind] >= 0,
                lied[kind] <= self.number(self.automaton.kinds[kind].forged),
            ]
        heard = dict(sent)
        for receipt in receipts:
            lies = []
            for (sender, forged), _ in byzantine_senders(self.automaton, receipt).items():
                kinds = [
                    kind
                    for kind in receipt.kinds
                    if self.automaton.kinds[kind].sender == sender
                    and self.automaton.kinds[kind].forged == forged
                ]
                if len(kinds) == 1:
                    lies.append(lied[kinds[0]])
                    continue
                union = self.variable("union")
                parts += [union >= lied[kind] for kind in kinds]
                parts += [
                    union <= total([lied[kind] for kind in kinds]),
                    union <= self.number(forged),
                ]
                lies.append(union)
            heard[receipt.name] = total([*(told[kind] for kind in receipt.kinds), *lies])
        return z3.And(*parts, self.condition(choice.condition, heard))

    def state(self, formula: StateFormula, moment: CounterConfiguration) -> z3.BoolRef:
        """Encodes ``formula`` of a configuration."""
        match formula:
            case Somebody(locations, least):
                there = [moment.where[location] for location in sorted(locations)]
                return total(there) >= least
            case Counts(condition):
                names = [location.name for location in self.automaton.locations]
                counted = dict(zip(names, moment.where, strict=True))
                return self.condition(condition, {**moment.sent, **counted})
            case NotState(part):
                return z3.Not(self.state(part, moment))
            case AllOf(parts):
                return all_of(self.state(part, moment) for part in parts)
            case AnyOf(parts):
                return any_of(self.state(part, moment) for part in parts)
            case _:
                assert_never(formula)

    def end(self, moment: CounterConfiguration, resting: Mapping[Counted, list[int]]) -> z3.BoolRef:
        """Encodes that an execution can stay there forever: no fairness constraint of a correct
        process is enabled.

        ``resting``: when a process can stay in which locations, where it has to leave at all.
        """
        parts = []
        for formula, locations in resting.items():
            nobody = z3.And(*(moment.where[location] == 0 for location in locations))
            parts.append(z3.Or(nobody, self.counted_formula(formula, moment.sent)))
        return z3.And(*parts)

    def first(self, model: z3.ModelRef) -> tuple[int, ...]:
        """Returns how many messages of each kind have been sent at first."""
        sent = self.moments[0].sent
        kinds = range(len(self.automaton.kinds))
        return tuple(_value(model, sent[sent_name(kind)]) for kind in kinds)

    def run(self, model: z3.ModelRef) -> AcceleratedRun:
        """Returns the execution that a model represents."""
        values = tuple((name, _value(model, term)) for name, term in self.numbers.items())
        begin = tuple(_value(model, term) for term in self.moments[0].where)
        where = list(begin)
        segments = []
        for taken in self.taken:
            times = {rule: _value(model, term) for rule, term in taken.items()}
            times = {rule: often for rule, often in times.items() if often}
            if times:
                segments.append(tuple(arranged(self.automaton, self.ranks, where, times)))
        return AcceleratedRun(values, begin, tuple(segments))


def begin(automaton: Automaton, shape: Shape = ALL) -> Runs:
    """Encodes the parameters and the first configuration."""
    rank = ranks(automaton)
    runs = Runs(automaton, ranks=rank, cyclic=sorted(on_cycles(automaton, rank)))
    _sizes(runs)
    start = _initial(runs)
    runs.origin = start
    if shape.anywhere:
        inside = set(automaton.next_round) or reachable_locations(automaton)
        zero = z3.IntVal(0)
        where = [runs.natural("where") if at in inside else zero for at in range(len(rank))]
        _require_sizes(runs, where)
        sent = dict(start.sent)
        if not automaton.next_round:
            sent = {name: runs.natural("first") for name in _counters(automaton)}
        start = CounterConfiguration(tuple(where), sent)
    runs.moments.append(start)
    return runs


def _initial(runs: Runs) -> CounterConfiguration:
    """Encodes an initial configuration."""
    automaton = runs.automaton
    where = [
        runs.natural("begin") if location.initial else z3.IntVal(0)
        for location in automaton.locations
    ]
    _require_sizes(runs, where)
    first = {location.name: where[at] for at, location in enumerate(automaton.locations)}
    runs.assertions += [runs.condition(each, first) for each in automaton.begins]
    nothing = {name: z3.IntVal(0) for name in _counters(automaton)}
    return CounterConfiguration(tuple(where), nothing)


def _require_sizes(runs: Runs, where: list[z3.ArithRef]) -> None:
    """Encodes that each group has as many processes as it should."""
    automaton = runs.automaton
    for index, group in enumerate(automaton.groups):
        there = [where[at] for at, each in enumerate(automaton.locations) if each.group == index]
        runs.assertions.append(total(there) == runs.number(group.size))


def _sizes(runs: Runs) -> None:
    """Encodes the parameters."""
    automaton = runs.automaton
    quotients = {quotient.name for quotient in automaton.quotients}
    for name in (*automaton.parameters, *automaton.hidden, *sorted(quotients)):
        if name not in runs.numbers:
            runs.numbers[name] = z3.Int(name)
            if name not in quotients:
                runs.assertions.append(runs.numbers[name] >= 0)
    for quotient in automaton.quotients:
        rest = runs.number(quotient.numerator) - quotient.divisor * runs.numbers[quotient.name]
        runs.assertions += [rest >= 0, rest < quotient.divisor]
    runs.assertions += [runs.condition(each) for each in automaton.constraints]


def resting(automaton: Automaton) -> dict[Counted, list[int]]:
    """Returns when a correct process can stay where it is forever: for all locations that it has to
    leave by some rule.
    """
    found: dict[Counted, list[int]] = {}
    leaving: dict[int, list[Rule]] = {}
    for rule in automaton.rules:
        if rule.is_fair:
            leaving.setdefault(rule.source, []).append(rule)
    for index, rules in leaving.items():
        location = automaton.locations[index]
        if not location.crashed and automaton.groups[location.group].mode is Mode.CORRECT:
            found.setdefault(stuck_condition(automaton, location, rules), []).append(index)
    return found


def advance(runs: Runs, taken: dict[int, z3.ArithRef]) -> None:
    """Adds a segment in which rules are taken ``taken`` times, and the configuration after it.  A
    rule that resets variables has to be the only one of its segment."""
    automaton, moment = runs.automaton, runs.moments[-1]
    coming: dict[int, list[z3.ArithRef]] = {}
    going: dict[int, list[z3.ArithRef]] = {}
    more: dict[str, list[z3.ArithRef]] = {}
    for index, often in taken.items():
        rule = automaton.rules[index]
        if rule.source != rule.target:
            coming.setdefault(rule.target, []).append(often)
            going.setdefault(rule.source, []).append(often)
        mode = automaton.groups[automaton.locations[rule.source].group].mode
        for kind in rule.sends:
            more.setdefault(sent_name(kind), []).append(often)
            if mode is Mode.CORRECT and not automaton.exact:
                more.setdefault(correct_senders_name(kind), []).append(often)
    where = list(moment.where)
    for location in sorted(coming.keys() | going.keys()):
        changed = runs.natural("where")
        left = total(going.get(location, []))
        runs.assertions.append(
            changed == total([where[location], *coming.get(location, [])]) - left
        )
        where[location] = changed
    for index in taken:
        rule = automaton.rules[index]
        if rule.source == rule.target:
            there = [moment.where[rule.source], *coming.get(rule.source, [])]
            runs.assertions.append(z3.Or(taken[index] == 0, total(there) > 0))
    back: dict[str, list[z3.BoolRef]] = {}
    for index, often in taken.items():
        for kind in automaton.rules[index].resets:
            back.setdefault(sent_name(kind), []).append(often > 0)
    if not back:
        distances = {at: runs.variable("distance") for at in runs.cyclic}
        runs.assertions += supplied(automaton, runs.ranks, moment.where, taken, distances)
    sent = dict(moment.sent)
    for name in sorted(more.keys() | back.keys()):
        before = sent[name]
        if name in back:
            before = z3.If(any_of(back[name]), z3.IntVal(0), before)
        sent[name] = runs.variable("sent")
        runs.assertions.append(sent[name] == total([before, *more.get(name, [])]))
    runs.taken.append(taken)
    runs.moments.append(CounterConfiguration(tuple(where), sent))


def reachable_locations(automaton: Automaton) -> set[int]:
    """Returns the locations that can be reached from initial ones, ignoring guards, in the first
    round and in later ones."""
    initial = [at for at, location in enumerate(automaton.locations) if location.initial]
    initial += automaton.next_round
    after: dict[int, list[int]] = {}
    for rule in automaton.rules:
        after.setdefault(rule.source, []).append(rule.target)
    return set(reached(initial, lambda at: after.get(at, ())))


def reachable_rules(automaton: Automaton) -> list[int]:
    """Returns the rules that can be reached from initial locations, ignoring guards."""
    found = reachable_locations(automaton)
    return [index for index, rule in enumerate(automaton.rules) if rule.source in found]


def _counters(automaton: Automaton) -> list[str]:
    kinds = range(len(automaton.kinds))
    return [name for kind in kinds for name in (sent_name(kind), correct_senders_name(kind))]


def _value(model: z3.ModelRef, term: z3.ArithRef) -> int:
    found = model.eval(term, model_completion=True)
    if not isinstance(found, z3.IntNumRef):
        raise ValueError(f"no number for {term}")
    return int(found.as_long())
