"""What goes wrong in a run, as its marks tell it.

A crash that oracles foresee (:mod:`checker.system.instantiate.crash_prophecy`) is a fault from then
on: it is owed.  When it comes true it is the same fault, and not one more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from checker.system import build, interpreter, ir
from checker.system.build import negation
from checker.system.instantiate.crash_prophecy import DOOMED, FORESEEN
from checker.system.instantiate.partitions import SPLITTING
from checker.system.instantiate.world import BYZANTINE
from checker.system.interpreter import Event, State
from checker.system.ir import TRUE, Expr, MarkInfo, MarkKind, TransitionSystem
from checker.system.types import AtomT, SetT, Value


class FaultKind(StrEnum):
    """What can go wrong in a run."""

    CRASH = "crash"  # args: process; it is down, or foreseen to be
    LOSS = "loss"  # args: sender, receiver, message, and the process that omits it, if one does
    SPLIT = "split"  # args: the side of the network that is cut off
    BYZANTINE = "byzantine"  # args: process; it is so from the start


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that went wrong."""

    kind: FaultKind
    args: tuple[Value, ...]


def fault_kind(info: MarkInfo) -> FaultKind | None:
    """Which fault a mark tells of, if any."""
    match info.kind:
        case MarkKind.CRASH:
            return FaultKind.CRASH
        case MarkKind.LOSE:
            return FaultKind.LOSS
        case MarkKind.WORLD if info.text == SPLITTING:
            return FaultKind.SPLIT
        case MarkKind.WORLD if info.text == FORESEEN:
            return FaultKind.CRASH
        case _:
            return None


def new(system: TransitionSystem, info: MarkInfo, args: tuple[Expr, ...]) -> Expr:
    """Whether the fault that a mark tells of has not been foreseen before."""
    if info.kind is MarkKind.CRASH:
        for variable in system.variables:
            if variable.name == DOOMED:
                return negation(build.member(args[0], ir.Read(variable.type, DOOMED)))
    return TRUE


def faults_of(
    system: TransitionSystem, steps: Iterable[tuple[Event, ...]]
) -> tuple[tuple[Fault, ...], ...]:
    """The faults of each step of a run; what was foreseen in an earlier one is not counted again.

    ``steps``: the events of each.
    """
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
            if info.text == FORESEEN:
                foreseen.add(fault)
        found.append(tuple(here))
    return tuple(found)


def byzantine(system: TransitionSystem) -> tuple[tuple[Value, Expr], ...]:
    """Each process that may be Byzantine, with the condition that it is."""
    for variable in system.variables:
        if variable.name == BYZANTINE:
            assert isinstance(variable.type, SetT) and isinstance(variable.type.item, AtomT)
            who, faulty = variable.type.item, ir.Read(variable.type, BYZANTINE)
            ranks = range(who.first, who.first + len(who.labels))
            return tuple((p, build.member(ir.Const(who, p), faulty)) for p in ranks)
    return ()


def faults_at_start(system: TransitionSystem, state: State) -> tuple[Fault, ...]:
    """The processes that are Byzantine."""
    return tuple(
        Fault(FaultKind.BYZANTINE, (who,))
        for who, is_ in byzantine(system)
        if interpreter.holds(system, is_, state)
    )
