"""The echo broadcast (Srikanth, Toueg 1987) as a threshold automaton, drawn up by hand from
``specs/byzantine/echo.bcast``: the tests' own, not the tool's."""

from __future__ import annotations

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


def at_least(constant: int = 0, **terms: int) -> Condition:
    """The sum of the terms, and ``constant``, is at least 0."""
    return AtLeast(Linear(tuple(sorted(terms.items())), constant))


ASLEEP, WISHES, SENT, ACCEPTED = range(4)


def _place(name: str, wants: bool, echoed: bool, accepted: bool, initial: bool) -> Location:
    values = (("wants", wants), ("echoed", echoed), ("accepted", accepted))
    own = frozenset({0}) if echoed else frozenset[int]()
    return Location(name, 0, values, initial=initial, own=own)


LOCATIONS = (
    _place("asleep", False, False, False, True),
    _place("wishes", True, False, False, True),
    _place("asleep, echoed", False, True, False, False),
    _place("wishes, echoed", True, True, False, False),
    _place("asleep, echoed, accepted", False, True, True, False),
    _place("wishes, echoed, accepted", True, True, True, False),
    _place("asleep, accepted", False, False, True, False),
    _place("wishes, accepted", True, False, True, False),
)

JOINS = at_least(-1, **{"#ECHO": 1, "T": -1})
ENOUGH_WITH_OWN = at_least(1, **{"#ECHO": 1, "n": -1, "T": 1})
ENOUGH = at_least(0, **{"#ECHO": 1, "n": -1, "T": 1})

RULES = (
    Rule(1, 3, And(), (0,), "upon condition wants and not echoed"),
    Rule(0, 2, JOINS, (0,), "upon condition #received(ECHO) >= T + 1"),
    Rule(1, 3, JOINS, (0,), "upon condition #received(ECHO) >= T + 1"),
    Rule(2, 4, ENOUGH_WITH_OWN, (), "upon condition #received(ECHO) + … >= n - T"),
    Rule(3, 5, ENOUGH_WITH_OWN, (), "upon condition #received(ECHO) + … >= n - T"),
    Rule(0, 6, ENOUGH, (), "upon condition #received(ECHO) + … >= n - T"),
    Rule(1, 7, ENOUGH, (), "upon condition #received(ECHO) + … >= n - T"),
    Rule(6, 4, JOINS, (0,), "upon condition #received(ECHO) >= T + 1"),
    Rule(7, 5, JOINS, (0,), "upon condition #received(ECHO) >= T + 1"),
    Rule(7, 5, And(), (0,), "upon condition wants and not echoed"),
)

ECHO = Automaton(
    "EchoBroadcast",
    parameters=("n", "T", "f"),
    hidden=("faulty",),
    quotients=(),
    constraints=(at_least(f=1, faulty=-1), at_least(n=1, faulty=-1)),
    resilience=And((at_least(-1, n=1, T=-3), at_least(T=1, f=-1))),
    groups=(Group("processes", Linear((("faulty", -1), ("n", 1))), Mode.CORRECT),),
    locations=LOCATIONS,
    kinds=(Kind("ECHO", "ECHO", (), None, Linear((("faulty", 1),))),),
    receipts=(Receipt("#ECHO", (0,)),),
    rules=RULES,
)

WISHED = frozenset({1, 3, 5, 7})
DONE = frozenset({4, 5, 6, 7})

UNFORGEABILITY = Question(
    "unforgeability", AllOf((Somebody(DONE), NotState(Somebody(WISHED)))), False, Somebody(DONE)
)
CORRECTNESS = Question(
    "correctness",
    AllOf((NotState(Somebody(frozenset({0, 2, 4, 6}))), Somebody(frozenset({1, 3})))),
    True,
)
RELAY = Question(
    "relay", AllOf((Somebody(DONE), Somebody(frozenset({0, 1, 2, 3})))), True, Somebody(DONE)
)
