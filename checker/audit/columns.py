"""The columns of a log of events, what they hold, and the kinds of events."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum

from checker.language.syntax.typed import Interface
from checker.language.typecheck.types import INT, PROC, fits


class Holds(Enum):
    """What a column holds."""

    NAME = "a name or a number"  # compared for equality only
    INTEGER = "an integer"
    BOOLEAN = "true or false"
    NUMBER = "a number or a time"  # in seconds since any moment
    ANYTHING = "anything"  # it is for readers


COLUMNS: Mapping[str, Holds] = {
    "run": Holds.NAME,
    "process": Holds.NAME,
    "pos": Holds.INTEGER,
    "kind": Holds.NAME,
    "msg": Holds.NAME,
    "sender": Holds.NAME,
    "to": Holds.NAME,
    "seq": Holds.INTEGER,
    "producer": Holds.NAME,
    "epoch": Holds.INTEGER,
    "transactional": Holds.BOOLEAN,
    "control": Holds.NAME,
    "partition": Holds.NAME,
    "offset": Holds.INTEGER,
    "ts": Holds.NUMBER,
    "vc": Holds.ANYTHING,
    "payload_hash": Holds.NAME,
    "status": Holds.NAME,
    "effect": Holds.BOOLEAN,
    **dict.fromkeys(
        ("name", "arguments", "state", "message", "fields", "from", "receivers", "lost", "call"),
        Holds.ANYTHING,
    ),
}
"""The columns that a log may have."""

FOR_READERS = ("seq", "producer", "epoch", "transactional", "control")
"""Columns that no property speaks of, besides those that hold anything."""

READ = tuple(
    name
    for name, holds in COLUMNS.items()
    if holds is not Holds.ANYTHING and name not in FOR_READERS
)
"""The columns that a property speaks of."""

REQUIRED = ("process", "pos", "kind")
"""The columns that have a value in every row."""

STATUS = ("ok", "fail", "maybe")
"""What became of an event: it happened, it did not happen, it may have happened."""


class Kind(IntEnum):
    """What an event is to the properties of an interface."""

    OTHER = 0  # none of these; it is counted, and nothing is asked of it
    REQUEST = 1
    INDICATION = 2
    PERFORM = 3
    CRASH = 4
    RECOVER = 5
    START = 6
    END = 7
    GAP = 8


KINDS: Mapping[str, Kind] = {
    "request": Kind.REQUEST,
    "broadcast": Kind.REQUEST,
    "indicate": Kind.INDICATION,
    "deliver": Kind.INDICATION,
    "perform": Kind.PERFORM,
    "crash": Kind.CRASH,
    "recover": Kind.RECOVER,
    "start": Kind.START,
    "end": Kind.END,
    "gap": Kind.GAP,
}
"""The kinds of events that any log may have, by their names."""


Operators = Mapping[str, tuple[str, ...]]
"""Of each request and indication, by its name, the columns that its arguments are: a position is
the ``offset``, a process the ``sender`` of an indication, and whom a request is ``to``."""


def operators_of(interface: Interface) -> Operators:
    """Returns the columns that the arguments of requests and indications of ``interface`` are."""
    found = {}
    for operators, process in ((interface.requests, "to"), (interface.indications, "sender")):
        for operator in operators:
            kinds = [kind for _, kind in operator.fields]
            positions = "msg" if len(kinds) == 1 else "offset"
            found[operator.name] = tuple(
                process if kind == PROC else positions if fits(kind, INT) else "msg"
                for kind in kinds
            )
    return found


def kinds_of(interface: Interface, renamed: Mapping[str, str]) -> dict[str, Kind]:
    """Returns what each kind of event is that a log of ``interface`` may have: the requests and
    indications by their own names, too; ``renamed``: names of the log, and what they stand for."""
    found = dict(KINDS)
    found |= {operator.name: Kind.REQUEST for operator in interface.requests}
    found |= {operator.name: Kind.INDICATION for operator in interface.indications}
    return found | {name: found[meant] for name, meant in renamed.items() if meant in found}
