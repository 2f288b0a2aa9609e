"""Random threshold automata, as strategies of hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from checker.parametric.automaton.arithmetic import linear, plus, times
from checker.parametric.automaton.automaton import (
    AllOf,
    And,
    AnyOf,
    AtLeast,
    Automaton,
    Condition,
    Group,
    Kind,
    Location,
    Mode,
    Not,
    NotState,
    Or,
    Question,
    Quotient,
    Receipt,
    Rule,
    Somebody,
    StateFormula,
)

LIES = linear({"faulty": 1})


@st.composite
def bounds(draw: st.DrawFn, receipts: tuple[Receipt, ...], *, lower: bool = False) -> Condition:
    """A comparison of receipts with parameters; ``lower``: that stays true as they grow."""
    receipt = draw(st.sampled_from(receipts))
    by = draw(st.sampled_from([1, 1, 1, 2] if lower else [1, 1, 2, -1, -1]))
    terms = {receipt.name: by}
    if not lower and draw(st.integers(0, 4)) == 0:
        other = draw(st.sampled_from(receipts))
        terms[other.name] = draw(st.sampled_from([1, -1]))
    bound = linear(
        {"n": draw(st.sampled_from([0, 0, 1])), "f": draw(st.integers(-1, 2))},
        draw(st.integers(-1, 2)),
    )
    if draw(st.integers(0, 5)) == 0:
        bound = plus(linear({"half": 1}), linear({}, draw(st.integers(0, 1))))
    return AtLeast(plus(linear(terms), times(bound, -1 if by > 0 else 1)))


@st.composite
def guards(draw: st.DrawFn, receipts: tuple[Receipt, ...], depth: int = 2) -> Condition:
    shape = draw(st.integers(0, 8)) if depth else 0
    if shape <= 3:
        return draw(bounds(receipts))
    if shape == 4:
        return Not(draw(guards(receipts, depth - 1)))
    if shape == 5:
        return And()
    parts = draw(st.lists(guards(receipts, depth - 1), min_size=1, max_size=2))
    return And(tuple(parts)) if shape <= 7 else Or(tuple(parts))


@st.composite
def automata(draw: st.DrawFn) -> Automaton:
    """One or two groups; one or two kinds, perhaps counted together, perhaps of one sender, perhaps
    not sent to oneself; what locations know is what the rules that lead to them need."""
    crashing = draw(st.booleans())
    number = draw(st.integers(1, 2))
    sender = draw(st.sampled_from([None, None, "p1"]))
    kinds = tuple(Kind(f"M{kind}", "M", (kind,), sender, LIES) for kind in range(number))
    receipts = tuple(Receipt(f"#M{kind}", (kind,)) for kind in range(number))
    together = number == 2 and draw(st.booleans())
    if together:
        receipts += (Receipt("#M", (0, 1)),)
    others = frozenset(kind for kind in range(number) if draw(st.integers(0, 3)) == 0)
    locations: list[Location] = []
    rules: list[Rule] = []
    for group in range(1 + crashing):
        first = len(locations)
        sent: list[frozenset[int]] = []
        for index in range(draw(st.integers(2, 4))):
            initial = index == 0 or (index == 1 and draw(st.booleans()))
            has = frozenset() if initial else draw(st.frozensets(st.integers(0, number - 1)))
            if together and len(has) > 1:
                has = frozenset({0})
            known: tuple[Condition, ...] = ()
            if not initial and draw(st.integers(0, 2)) == 0:
                known = (draw(bounds(receipts, lower=True)),)
            crashed = group == 1 and not initial and draw(st.integers(0, 4)) == 0
            sent.append(has)
            locations.append(
                Location(f"L{group}{index}", group, (), initial, crashed, known, has & others)
            )
        for target in range(first, len(locations)):
            for source in range(first, target):
                more = sent[target - first] - sent[source - first]
                if not sent[source - first] <= sent[target - first] or locations[source].crashed:
                    continue
                if locations[target].initial or draw(st.integers(0, 3)) == 0:
                    continue
                guard = draw(guards(receipts))
                known = locations[target].known
                guard = And((guard, *known)) if known else guard
                rules.append(Rule(source, target, guard, tuple(sorted(more)), f"{source}-{target}"))
    size = plus(linear({"n": 1}), times(LIES, -1), linear({"crashes": -1 if crashing else 0}))
    groups = (Group("correct", size, Mode.CORRECT),)
    if crashing:
        groups += (Group("crashing", linear({"crashes": 1}), Mode.CRASHING),)
    faulty = plus(LIES, linear({"crashes": 1 if crashing else 0}))
    return Automaton(
        name="random",
        parameters=("n", "f"),
        hidden=("faulty", "crashes") if crashing else ("faulty",),
        quotients=(Quotient("half", linear({"n": 1, "f": 1}, -1), 2),),
        constraints=(
            AtLeast(plus(linear({"f": 1}), times(faulty, -1))),
            AtLeast(plus(linear({"n": 1}), times(faulty, -1))),
        ),
        resilience=And(),
        groups=groups,
        locations=tuple(locations),
        kinds=kinds,
        receipts=receipts,
        rules=tuple(rules),
    )


@st.composite
def questions(draw: st.DrawFn, automaton: Automaton) -> Question:
    return Question("random", draw(formulas(len(automaton.locations))), draw(st.booleans()))


@st.composite
def formulas(draw: st.DrawFn, locations: int, depth: int = 2) -> StateFormula:
    shape = draw(st.integers(0, 6)) if depth else 0
    if shape <= 2:
        some = draw(st.frozensets(st.integers(0, locations - 1), min_size=1, max_size=2))
        return Somebody(some, draw(st.sampled_from([1, 1, 2])))
    if shape == 3:
        return NotState(draw(formulas(locations, depth - 1)))
    parts = draw(st.lists(formulas(locations, depth - 1), min_size=2, max_size=2))
    return AllOf(tuple(parts)) if shape <= 5 else AnyOf(tuple(parts))
