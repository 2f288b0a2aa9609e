"""Several rounds of an automaton that is one round.

Between two rounds everybody moves at once: who is ahead begins the next round, and who is not is
*left behind*, where it keeps its values and does nothing anymore.  So the executions are those in
which each process stops in some round, if the protocol is communication-closed (see
:mod:`checker.parametric.extract.rounds`).
"""

from __future__ import annotations

from collections.abc import Mapping

from checker.parametric.automaton.arithmetic import linear
from checker.parametric.automaton.automaton import AtLeast, Automaton, Location
from checker.records import replace

BEHIND = "left behind"


def with_rounds(
    automaton: Automaton, entered: Mapping[int, int], read: frozenset[str], last: str
) -> Automaton:
    """Returns ``automaton`` with locations in which processes are left behind, and where everybody
    is in the next round.

    ``entered``: by locations in which a process is ahead, those in which it begins the next round;
    ``read``: names of the values on which a question can depend, so that others of who is left
    behind are forgotten; ``last``: the parameter that is the number of rounds, at least 1.
    """
    locations = list(automaton.locations)
    behind: dict[object, int] = {}
    following: list[int] = []
    for at, location in enumerate(automaton.locations):
        if at in entered:
            following.append(entered[at])
            continue
        values = tuple(value for value in location.values if value[0] in read)
        key = location.group, location.crashed, values
        if key not in behind:
            behind[key] = len(locations)
            kept = (location.group, values)
            name = f"{automaton.groups[location.group].name}, {BEHIND}, {len(behind)}"
            locations.append(Location(name, *kept, crashed=location.crashed))
        following.append(behind[key])
    following += range(len(following), len(locations))
    return replace(
        automaton,
        locations=tuple(locations),
        next_round=tuple(following),
        rounds=last,
        constraints=(*automaton.constraints, AtLeast(linear({last: 1}, -1))),
    )
