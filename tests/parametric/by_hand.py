"""Threshold automata written by hand, of protocols whose properties are known."""

from __future__ import annotations

from checker.parametric.automaton.arithmetic import linear, plus, times
from checker.parametric.automaton.automaton import (
    AllOf,
    And,
    AtLeast,
    Automaton,
    Condition,
    Group,
    Kind,
    Linear,
    Location,
    Mode,
    NotState,
    Question,
    Receipt,
    Rule,
    Somebody,
)

N, T, F = linear({"n": 1}), linear({"T": 1}), linear({"f": 1})
FAULTY = linear({"faulty": 1})
ONE = linear({}, 1)


def at_least(left: Linear, right: Linear) -> Condition:
    return AtLeast(plus(left, times(right, -1)))


def received(name: str, by: int = 1) -> Linear:
    return linear({name: by})


def somebody(*locations: int) -> Somebody:
    return Somebody(frozenset(locations))


def nobody(*locations: int) -> NotState:
    return NotState(somebody(*locations))


BOUNDED = (at_least(F, FAULTY), at_least(N, FAULTY))
MORE_THAN_THREE = And((at_least(N, plus(times(T, 3), ONE)), at_least(T, F)))
"""n > 3 * T and f <= T."""

# Srikanth and Toueg 1987: who wishes to, or has T + 1 echoes, echoes; who has n - T accepts.
IDLE, WISHES, ECHOED, WISHED_ECHOED, ACCEPTED, WISHED_ACCEPTED = range(6)


def echo_broadcast(accepts: Linear | None = None) -> Automaton:
    """With Byzantine faults; ``accepts``: so many echoes, n - T if it isn't given."""
    few = at_least(received("#ECHO"), plus(T, ONE))
    many = at_least(received("#ECHO"), accepts or plus(N, times(T, -1)))
    return Automaton(
        name="echo",
        parameters=("n", "T", "f", *(() if accepts is None else ("accepts",))),
        hidden=("faulty",),
        quotients=(),
        constraints=BOUNDED,
        resilience=MORE_THAN_THREE,
        groups=(Group("correct", plus(N, times(FAULTY, -1)), Mode.CORRECT),),
        locations=(
            Location("idle", 0, (), initial=True),
            Location("wishes", 0, (), initial=True),
            Location("echoed", 0, ()),
            Location("wished, echoed", 0, ()),
            Location("accepted", 0, ()),
            Location("wished, accepted", 0, ()),
        ),
        kinds=(Kind("ECHO", "ECHO", (), None, FAULTY),),
        receipts=(Receipt("#ECHO", (0,)),),
        rules=(
            Rule(WISHES, WISHED_ECHOED, And(), (0,), "wish"),
            Rule(IDLE, ECHOED, few, (0,), "join"),
            Rule(ECHOED, ACCEPTED, many, (), "accept"),
            Rule(WISHED_ECHOED, WISHED_ACCEPTED, many, (), "accept"),
            Rule(IDLE, ACCEPTED, many, (0,), "accept"),
        ),
    )


UNFORGEABILITY = Question(
    "unforgeability",
    AllOf((somebody(ACCEPTED, WISHED_ACCEPTED), nobody(WISHES, WISHED_ECHOED, WISHED_ACCEPTED))),
    at_end=False,
)
CORRECTNESS = Question(
    "correctness",
    AllOf((nobody(IDLE, ECHOED, ACCEPTED), somebody(WISHES, WISHED_ECHOED))),
    at_end=True,
)
RELAY = Question(
    "relay",
    AllOf((somebody(ACCEPTED, WISHED_ACCEPTED), somebody(IDLE, WISHES, ECHOED, WISHED_ECHOED))),
    at_end=True,
    premise=somebody(ACCEPTED, WISHED_ACCEPTED),
)


def folklore_broadcast() -> Automaton:
    """Who wishes to, or has one message, sends it and accepts; crash faults.  Of each group:
    idle, wishes, accepted, and crashed."""
    locations: list[Location] = []
    rules: list[Rule] = []
    one = at_least(received("#M"), ONE)
    for group, name in enumerate(("correct", "crashing")):
        first = len(locations)
        locations += [
            Location(f"{name}, idle", group, (), initial=True),
            Location(f"{name}, wishes", group, (), initial=True),
            Location(f"{name}, accepted", group, ()),
        ]
        rules += [
            Rule(first + 1, first + 2, And(), (0,), "wish"),
            Rule(first, first + 2, one, (0,), "relay"),
        ]
    return Automaton(
        name="folklore",
        parameters=("n", "f"),
        hidden=("faulty",),
        quotients=(),
        constraints=BOUNDED,
        resilience=at_least(N, plus(F, ONE)),
        groups=(
            Group("correct", plus(N, times(FAULTY, -1)), Mode.CORRECT),
            Group("crashing", FAULTY, Mode.CRASHING),
        ),
        locations=tuple(locations),
        kinds=(Kind("M", "M", (), None, Linear()),),
        receipts=(Receipt("#M", (0,)),),
        rules=tuple(rules),
    )


FOLKLORE_RELAY = Question("relay", AllOf((somebody(2), somebody(0, 1))), at_end=True)
FOLKLORE_UNIFORM = Question("uniform_relay", AllOf((somebody(5), somebody(0, 1))), at_end=True)
FOLKLORE_UNFORGEABILITY = Question(
    "unforgeability", AllOf((somebody(2, 5), nobody(1, 2, 4, 5))), at_end=False
)


def naive_voting() -> Automaton:
    """Everybody votes; who has more than n / 2 votes for a value decides it; Byzantine faults."""
    rules = []
    for value in (0, 1):
        rules.append(Rule(value, 2 + value, And(), (value,), "vote"))
        for decided in (0, 1):
            votes = received(f"#VOTE({decided})", 2)
            rules.append(Rule(2 + value, 4 + decided, at_least(votes, plus(N, ONE)), (), "decide"))
    return Automaton(
        name="voting",
        parameters=("n", "T", "f"),
        hidden=("faulty",),
        quotients=(),
        constraints=BOUNDED,
        resilience=MORE_THAN_THREE,
        groups=(Group("correct", plus(N, times(FAULTY, -1)), Mode.CORRECT),),
        locations=(
            Location("begins with 0", 0, (), initial=True),
            Location("begins with 1", 0, (), initial=True),
            Location("voted 0", 0, ()),
            Location("voted 1", 0, ()),
            Location("decided 0", 0, ()),
            Location("decided 1", 0, ()),
        ),
        kinds=tuple(Kind(f"VOTE({value})", "VOTE", (value,), None, FAULTY) for value in (0, 1)),
        receipts=tuple(Receipt(f"#VOTE({value})", (value,)) for value in (0, 1)),
        rules=tuple(rules),
    )


AGREEMENT = Question("agreement", AllOf((somebody(4), somebody(5))), at_end=False)
