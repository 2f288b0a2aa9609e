"""Extracts the faults of an execution from its marks.

A crash that oracles predict (:mod:`checker.instantiate.oracles.crash_prophecy`) counts as a fault
from the prediction on, since it must happen.  The crash itself is then the same fault, not another
one.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from checker.instantiate.variable_names import BYZANTINE, DOOMED
from checker.model import build, interpreter, ir
from checker.model.build import negation
from checker.model.interpreter import Event, State
from checker.model.ir import TRUE, Expr, MarkInfo, MarkKind, TransitionSystem
from checker.model.types import AtomT, SetT, Value

HELD_UP = "held up"
"""The text of the mark of a message that is lost because a round ends while its link is cut or the
network is split.  The cut or split is the fault, not the loss."""
DROPPED = "dropped"
"""The text of the mark of a message that is lost because its connection breaks.  The break is the
fault, not the loss."""

WITH_CRASH = "lost with a crash"
"""The text of the mark of a message that is lost because its sender or receiver is down.  The crash
is the fault, not the loss."""


class FaultKind(StrEnum):
    """The kinds of faults in an execution."""

    CRASH = "crash"  # args: process; it is down, or foreseen to be
    POWER = "power"  # args: process
    WIPE = "wipe"  # args: process
    SYNC = "sync"  # args: process; one of its syncs fails
    LOSS = "loss"  # args: sender, receiver, message, and the omitting process, if any
    PAUSE = "pause"  # args: process
    SPLIT = "split"  # args: the side of the network that is cut off
    CUT = "cut"  # args: the two ends of a link as a set, or who sends and who receives
    RESET = "reset"  # args: the two ends of a connection as a set
    BYZANTINE = "byzantine"  # args: process; fixed initially


class Fault(Struct, frozen=True):
    """A fault that happened."""

    kind: FaultKind
    args: tuple[Value, ...]


_KINDS = {
    MarkKind.CRASH: FaultKind.CRASH,
    MarkKind.FORESEE: FaultKind.CRASH,
    MarkKind.POWER: FaultKind.POWER,
    MarkKind.WIPE: FaultKind.WIPE,
    MarkKind.FAIL_SYNC: FaultKind.SYNC,
    MarkKind.LOSE: FaultKind.LOSS,
    MarkKind.PAUSE: FaultKind.PAUSE,
    MarkKind.PARTITION: FaultKind.SPLIT,
    MarkKind.CUT: FaultKind.CUT,
    MarkKind.RESET: FaultKind.RESET,
}

_STOPS = (MarkKind.CRASH, MarkKind.POWER, MarkKind.WIPE, MarkKind.PAUSE)


def fault_kind(info: MarkInfo) -> FaultKind | None:
    """Returns the fault that a mark denotes, or ``None``.  If a process stops with its lead, only
    the stop of the lead is a fault."""
    part_of_another = info.kind is MarkKind.LOSE and info.text in (HELD_UP, DROPPED, WITH_CRASH)
    follows = info.kind in _STOPS and len(info.names) > 1
    return None if part_of_another or follows else _KINDS.get(info.kind)


def new(system: TransitionSystem, info: MarkInfo, args: tuple[Expr, ...]) -> Expr:
    """Returns whether the fault that a mark denotes has not been predicted before."""
    if info.kind is MarkKind.CRASH:
        for variable in system.variables:
            if variable.name == DOOMED:
                return negation(build.member(args[0], ir.Read(variable.type, DOOMED)))
    return TRUE


def faults_of(
    system: TransitionSystem, steps: Iterable[tuple[Event, ...]]
) -> tuple[tuple[Fault, ...], ...]:
    """Returns the faults of each step of an execution; predicted faults count once, when they are
    predicted."""
    foreseen: set[Fault] = set()
    found: list[tuple[Fault, ...]] = []
    for events in steps:
        here: list[Fault] = []
        for event in events:
            info = system.marks[event.mark]
            kind = fault_kind(info)
            if kind is None:
                continue
            fault = Fault(kind, event.args)
            if info.kind is not MarkKind.CRASH or fault not in foreseen:
                here.append(fault)
            if info.kind is MarkKind.FORESEE:
                foreseen.add(fault)
        found.append(tuple(here))
    return tuple(found)


def byzantine(system: TransitionSystem) -> tuple[tuple[Value, Expr], ...]:
    """Returns each process that may be Byzantine, with the condition that it is."""
    for variable in system.variables:
        if variable.name == BYZANTINE:
            assert isinstance(variable.type, SetT) and isinstance(variable.type.item, AtomT)
            who, faulty = variable.type.item, ir.Read(variable.type, BYZANTINE)
            ranks = range(who.first, who.first + len(who.labels))
            return tuple((p, build.member(ir.Const(who, p), faulty)) for p in ranks)
    return ()


def faults_at_start(system: TransitionSystem, state: State) -> tuple[Fault, ...]:
    """Returns the processes that are Byzantine."""
    return tuple(
        Fault(FaultKind.BYZANTINE, (who,))
        for who, is_ in byzantine(system)
        if interpreter.holds(system, is_, state)
    )


def is_message(system: TransitionSystem, event: Event) -> bool:
    """Tells whether an event sends a message to some process, or fabricates one."""
    info = system.marks[event.mark]
    return info.kind is MarkKind.FORGE or (info.kind is MarkKind.SEND and bool(event.args[1]))
