"""The columns of a log of events, what they hold, and the kinds of events."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum

from msgspec import Struct

from checker.language.syntax.typed import Interface, Operator
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
    "group": Holds.NAME,
    "generation": Holds.INTEGER,
    "transaction": Holds.NAME,
    "uncommitted": Holds.BOOLEAN,
    "ts": Holds.NUMBER,
    "vc": Holds.ANYTHING,
    "payload_hash": Holds.NAME,
    "status": Holds.NAME,
    "effect": Holds.BOOLEAN,
    **dict.fromkeys(
        (
            "name",
            "arguments",
            "state",
            "message",
            "fields",
            "from",
            "receivers",
            "lost",
            "call",
            "chosen",
        ),
        Holds.ANYTHING,
    ),
}
"""The columns that a log may have."""

FOR_READERS = ("producer", "transactional", "control")
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
    NOTICE = 9  # a request or an indication without a message
    CONTROL = 10  # a record of a log that no process reads, such as the end of a transaction


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
    "control": Kind.CONTROL,
}
"""The kinds of events that any log may have, by their names."""


class Role(Struct, frozen=True):
    """A request or an indication of an interface.

    ``number``: among all of them; ``kind``: of its events; ``columns``: those that its arguments
    are: a position is the ``offset``, a process the ``sender`` of an indication, and whom a request
    is ``to``; an argument called like a column of :data:`NAMED` is that.
    """

    name: str
    number: int
    kind: Kind
    columns: tuple[str, ...]


NAMED = ("partition", "generation", "transaction")
"""The columns that arguments are which have their names."""

Operators = Mapping[str, tuple[str, ...]]
"""The columns that the arguments of each request and indication are."""


def roles_of(interface: Interface) -> tuple[Role, ...]:
    """Returns the requests and the indications of ``interface``, in this order."""
    both = [(operator, Kind.REQUEST, "to") for operator in interface.requests]
    both += [(operator, Kind.INDICATION, "sender") for operator in interface.indications]
    found = []
    for number, (operator, kind, process) in enumerate(both):
        columns = _columns_of(operator, process)
        is_notice = bool(columns) and {*columns} <= {*NAMED, "offset"}
        found.append(Role(operator.name, number, Kind.NOTICE if is_notice else kind, columns))
    return tuple(found)


def _columns_of(operator: Operator, process: str) -> tuple[str, ...]:
    positions = "msg" if len(operator.fields) == 1 else "offset"
    return tuple(
        process
        if kind == PROC
        else name
        if name in NAMED
        else positions
        if fits(kind, INT)
        else "msg"
        for name, kind in operator.fields
    )


def operators_of(interface: Interface) -> Operators:
    """Returns the columns that the arguments of requests and indications of ``interface`` are."""
    return {role.name: role.columns for role in roles_of(interface)}


class Kinds(dict[str, Kind]):
    """The kinds of events of an interface, by their names in a log.  ``numbers``: the number of the
    request or indication that a name stands for; empty where their kinds tell them apart."""

    numbers: Mapping[str, int]


def kinds_of(interface: Interface, renamed: Mapping[str, str]) -> Kinds:
    """Returns what each kind of event is that a log of ``interface`` may have: the requests and
    indications by their own names, too; ``renamed``: names of the log, and what they stand for."""
    roles = roles_of(interface)
    found = Kinds({**KINDS, **{role.name: role.kind for role in roles}})
    numbers = {role.name: role.number for role in roles}
    for name, kind in KINDS.items():
        alike = [role for role in roles if role.kind is kind]
        if name not in numbers and len(alike) == 1:
            numbers[name] = alike[0].number
    for name, meant in renamed.items():
        if meant in found:
            found[name] = found[meant]
            numbers |= {name: numbers[meant]} if meant in numbers else {}
    is_plain = len({role.kind for role in roles}) == len(roles)
    found.numbers = {} if is_plain else numbers
    return found
