"""Events of an execution: a closed union of records, whose values are data.

Only :mod:`checker.words.events` puts an event into words.  Code that treats kinds of events
differently matches on the union, so that mypy lists the places that a new kind has to touch.

Processes are named as the spec's check numbers them (``p1``); messages and other values are texts
as :func:`checker.results.show_values.show` renders them.
"""

from __future__ import annotations

from msgspec import Struct

from checker.results.domains import Positive

Named = tuple[tuple[str, str], ...]
"""Pairs of a name and a rendered value."""


class At(Struct, frozen=True):
    """A source location in one of the header's sources; lines and columns count from 1."""

    file: str
    line: Positive
    column: Positive


class Passage(Struct, frozen=True):
    """The text of a source from ``begin`` to just before ``end_line`` and ``end_column``."""

    begin: At
    end_line: Positive
    end_column: Positive


class Call(Struct, frozen=True):
    """A request, an indication, or an output of an oracle, with its arguments.

    ``operator``: with the path of its layer in front, such as ``rb.deliver``, empty where a log
    names none; ``values``: all
    arguments; ``named``: those to which the author of the spec gives a name.
    """

    operator: str
    values: tuple[str, ...] = ()
    named: Named = ()

    def __str__(self) -> str:
        """Returns ``rb.deliver(p1, a)``; the arguments alone where there is no operator."""
        values = ", ".join(self.values)
        return f"{self.operator}({values})" if self.operator else values

    @property
    def outermost(self) -> bool:
        """Whether it is between the protocol and its client, not between two of its layers."""
        return "." not in self.operator

    @property
    def name(self) -> str:
        """The operator without the path of its layer."""
        return self.operator.rpartition(".")[2]

    @property
    def layer(self) -> str:
        """The path of the layer; empty for the outermost one."""
        return self.operator.rpartition(".")[0]


class _Event(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """``process``: whose step it is, empty for the environment; ``at``: the handler or statement
    that does it, ``None`` where no statement of the spec does."""

    process: str = ""
    at: At | None = None


class World(_Event, frozen=True):
    """An event of the environment, in which no process acts; ``process`` is empty."""


# ---- what processes do ------------------------------------------------------------------------


class Handled(_Event, frozen=True, tag="handler"):
    """A handler runs; ``arguments``: the names that it binds, with their values."""

    handler: str
    arguments: Named = ()


class Sent(_Event, frozen=True, tag="send"):
    """A process sends a message to the receivers, in order."""

    message: str
    receivers: tuple[str, ...]


class CopyLeft(_Event, frozen=True, tag="copy"):
    """A copy of a message that was sent before leaves for one receiver."""

    message: str
    receiver: str


class Received(_Event, frozen=True, tag="receive"):
    """A process receives a message."""

    message: str
    sender: str


class Requested(_Event, frozen=True, tag="request"):
    """The client, or the layer above, makes a request of a process."""

    call: Call


class Indicated(_Event, frozen=True, tag="indication"):
    """A process makes an indication to its client, or to the layer above."""

    call: Call


class Performed(_Event, frozen=True, tag="perform"):
    """A process acts on its environment."""

    act: str


class Stored(_Event, frozen=True, tag="store"):
    """A process writes a stable variable."""

    variable: str
    value: str


class Synced(_Event, frozen=True, tag="sync"):
    """What a process has stored of ``variables``, one or several, is on its disk from now on."""

    variables: str


class SyncFailed(_Event, frozen=True, tag="fail"):
    """A ``sync`` of ``variables`` fails: they may not be on disk."""

    variables: str


class TimerChanged(_Event, frozen=True, tag="timer"):
    """A process starts or cancels a timer; ``does``: the verb; ``timer``: empty where it has no
    name."""

    does: str
    timer: str


class TimedOut(_Event, frozen=True, tag="timeout"):
    """A timer expires."""

    timer: str


class AlternativeTaken(_Event, frozen=True, tag="alternative"):
    """A process takes a named alternative of an ``either``."""

    alternative: str


class Chosen(_Event, frozen=True, tag="choice"):
    """The initial value of a variable is chosen; ``process`` is empty for shared state."""

    variable: str
    value: str


class Drawn(_Event, frozen=True, tag="coin"):
    """A value is drawn by chance.  ``variable``: empty if the value has no name,
    :data:`checker.model.ir.FLIP` for a coin; ``process``: empty if no process draws it."""

    variable: str
    value: str


# ---- faults -----------------------------------------------------------------------------------


class Crashed(_Event, frozen=True, tag="crash"):
    """A process crashes; ``lead``: the one that it dies with, empty where it stops on its own."""

    lead: str = ""


class PowerFailed(Crashed, frozen=True, tag="power"):
    """A process crashes because its power fails: what it has stored may not be on its disk."""


class DiskLost(Crashed, frozen=True, tag="wipe"):
    """A process crashes, and its disk is lost."""


class Left(_Event, frozen=True, tag="left"):
    """Of several values of ``variable`` that the disk may have held, a power failure leaves one."""

    variable: str
    value: str


class Forgotten(Struct, frozen=True):
    """A variable whose value a process has lost: what it ``had`` when it stopped, and ``has``."""

    variable: str
    had: str
    has: str


class Recovered(_Event, frozen=True, tag="recover"):
    """A process recovers; ``lead`` as in :class:`Crashed`; ``lost``: its volatile state."""

    lead: str = ""
    lost: tuple[Forgotten, ...] = ()


class Paused(_Event, frozen=True, tag="pause"):
    """The process stops, for as long as it takes: inside a handler, or while a timer waits;
    ``lead`` as in :class:`Crashed`."""

    lead: str = ""


class Resumed(_Event, frozen=True, tag="resume"):
    """The process, which has paused inside a handler, goes on; ``lead`` as in
    :class:`Crashed`."""

    lead: str = ""


class Lost(_Event, frozen=True, tag="lose"):
    """A message of ``process`` is lost; ``by``: the process that omits it, empty for the link;
    ``down``: its sender or receiver, where the message is lost since that has crashed."""

    message: str
    receiver: str
    by: str = ""
    down: str = ""


class Forged(_Event, frozen=True, tag="forge"):
    """The Byzantine ``process`` makes a process receive a message; ``claimed``: in whose name,
    empty where that is its own."""

    message: str
    receiver: str
    claimed: str = ""


class TurnedFaulty(World, frozen=True, tag="omit"):
    """The process ``culprit`` omits its first message."""

    culprit: str


class CrashForeseen(World, frozen=True, tag="foresee"):
    """Oracles know from now on that ``victim`` will crash."""

    victim: str


class Partitioned(World, frozen=True, tag="partition"):
    """The network splits: the processes ``apart`` are cut off from the others."""

    apart: tuple[str, ...]


class Healed(World, frozen=True, tag="heal"):
    """The network is whole again."""


class Cut(World, frozen=True, tag="cut"):
    """The link between two processes is cut; ``one_way``: only the way from ``first`` to
    ``second``."""

    first: str
    second: str
    one_way: bool = False


class CutHealed(World, frozen=True, tag="mend"):
    """A link that was cut, or one way of it, is open again; ``one_way`` as in :class:`Cut`."""

    first: str
    second: str
    one_way: bool = False


class Reset(World, frozen=True, tag="reset"):
    """The connection of two processes breaks: both ends will be told."""

    first: str
    second: str


class Disconnected(_Event, frozen=True, tag="disconnect"):
    """The process learns that its connection to ``peer`` has broken."""

    peer: str


# ---- oracles and time -------------------------------------------------------------------------

OPINIONS = ("suspect", "restore", "trust")
"""The indications of failure detectors about one process."""


class OracleIndicated(_Event, frozen=True, tag="detect"):
    """An oracle, such as a failure detector, makes an indication to a process."""

    call: Call

    @property
    def about(self) -> str:
        """The process of which a failure detector gives its opinion; empty where the indication is
        another one."""
        opinion = self.call.name in OPINIONS and len(self.call.values) == 1
        return self.call.values[0] if opinion and "," not in self.call.values[0] else ""


class OracleAsked(World, frozen=True, tag="ask"):
    """The process ``asker`` makes a request of an oracle."""

    asker: str
    oracle: str
    request: Call


class DetectorSettled(World, frozen=True, tag="settle"):
    """Failure detectors make no mistake from now on; ``spared``: the process that does not crash
    any more, where one is chosen."""

    spared: str = ""


class ClockTicked(World, frozen=True, tag="tick"):
    """The clock of one process ticks."""

    clock: str


class ClocksTicked(World, frozen=True, tag="ticks"):
    """All clocks tick."""


class RoundEnded(World, frozen=True, tag="round"):
    """A synchronous round ends, and the next one begins."""


class BecameSynchronous(World, frozen=True, tag="gst"):
    """The system is synchronous from now on."""


Effect = Sent | CopyLeft | Indicated | Performed | Stored | Synced
"""What a crash inside a handler can cut off."""

Event = (
    Handled
    | Effect
    | Received
    | Requested
    | SyncFailed
    | TimerChanged
    | TimedOut
    | AlternativeTaken
    | Chosen
    | Drawn
    | Crashed
    | PowerFailed
    | DiskLost
    | Left
    | Recovered
    | Paused
    | Resumed
    | Lost
    | Forged
    | OracleIndicated
    | TurnedFaulty
    | CrashForeseen
    | Partitioned
    | Healed
    | Cut
    | CutHealed
    | Reset
    | Disconnected
    | OracleAsked
    | DetectorSettled
    | ClockTicked
    | ClocksTicked
    | RoundEnded
    | BecameSynchronous
)
"""An event."""


def kind_name(event: Event) -> str:
    """Returns the word by which documents distinguish kinds of events, such as ``send``."""
    return str(type(event).__struct_config__.tag)


def message_of(event: Event) -> str:
    """Returns the message of an event; empty for an event without a message."""
    match event:
        case Sent() | CopyLeft() | Received() | Lost() | Forged():
            return event.message
        case _:
            return ""


def peers_of(event: Event) -> tuple[str, ...]:
    """Returns the processes at the other end of an event's message."""
    match event:
        case Sent():
            return event.receivers
        case CopyLeft() | Lost() | Forged():
            return (event.receiver,)
        case Received():
            return (event.sender,)
        case _:
            return ()


def named_values(event: Event) -> Named:
    """Returns the values of an event that have names: those that a handler binds, arguments, and
    the processes to which something happens."""
    match event:
        case Handled():
            return event.arguments
        case Requested() | Indicated() | OracleIndicated():
            return event.call.named
        case TurnedFaulty():
            return (("process", event.culprit),)
        case CrashForeseen():
            return (("process", event.victim),)
        case ClockTicked():
            return (("process", event.clock),)
        case Partitioned():
            return (("side", "{" + ", ".join(event.apart) + "}"),)
        case Cut() | CutHealed() if event.one_way:
            return (("from", event.first), ("to", event.second))
        case Cut() | CutHealed() | Reset():
            return (("link", f"{{{event.first}, {event.second}}}"),)
        case Disconnected():
            return (("peer", event.peer),)
        case DetectorSettled() if event.spared:
            return (("p", event.spared),)
        case _:
            return ()
