"""Causality in an execution: messages as arrows, and Lamport's happened-before.

L. Lamport: Time, Clocks, and the Ordering of Events in a Distributed System, CACM 1978.  F.
Mattern: Virtual Time and Global States of Distributed Systems, 1989, for the vectors.

Everything here is read from the trace alone: the spec is not needed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from msgspec import Struct

from checker.graphs import reached
from checker.model.ir import CAUGHT_UP, VariableKind
from checker.records import replace
from checker.results import events as ev
from checker.results.terms import head
from checker.results.trace import RECORD, Step, Trace

NOBODY = ""
"""The lane of steps of no process: partitions, rounds, detectors that settle."""


class CopyOutcome(StrEnum):
    """The outcome of a copy of a message."""

    RECEIVED = "received"
    LOST = "lost"  # by the link
    FORGED = "forged"  # never sent: a Byzantine process made its receiver receive it
    UNDER_WAY = "under way"  # in flight when the execution ends, and it may still arrive
    MISSED = "missed"  # its sender crashed: the copy never left, or never arrives
    COUNTED = "counted"  # received as it was sent, and its receiver took no step after that


class Arrow(Struct, frozen=True):
    """A copy of a message: from step ``sent`` of ``sender`` to step ``ended`` of ``receiver``.

    ``sent`` is ``None`` where nothing in the execution sends it (``FORGED``: it is the step
    itself); ``ended`` is the step that receives or loses it, ``None`` where there is none.
    ``multicast``: arrows with the same number leave together.  ``claimed``: in whose name a forged
    message comes, where that is not ``sender``.
    """

    sender: str
    receiver: str
    message: str
    how: CopyOutcome
    sent: int | None
    ended: int | None
    multicast: int
    claimed: str = ""


@dataclass(frozen=True)
class Causality:
    """The causal order of a trace.

    ``steps``: those of the trace with the one that closes its loop; ``arrows`` in the order in
    which they leave; ``causes[i]``: the steps on which step number ``i`` depends directly.
    """

    steps: tuple[Step, ...]
    lanes: tuple[str, ...]
    arrows: tuple[Arrow, ...]
    causes: tuple[frozenset[int], ...]

    @cached_property
    def clocks(self) -> tuple[dict[str, int], ...]:
        """Returns for each step how many steps of each lane it depends on, itself included."""
        found: list[dict[str, int]] = []
        for step, causes in zip(self.steps, self.causes, strict=True):
            clock: dict[str, int] = {}
            for cause in causes:
                for lane, count in found[cause].items():
                    clock[lane] = max(clock.get(lane, 0), count)
            if step.number:
                lane = lane_of(step)
                clock[lane] = clock.get(lane, 0) + 1
            found.append(clock)
        return tuple(found)

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Returns for each step the length of the longest chain of steps that leads to it."""
        found: list[int] = []
        for causes in self.causes:
            found.append(1 + max((found[cause] for cause in causes), default=-1))
        return tuple(found)

    def was_cut_off(self, arrow: Arrow) -> bool:
        """Returns whether the copy was never sent: its sender crashed before it would have been."""
        return arrow.sent is not None and any(
            ev.message_of(cut) == arrow.message and arrow.receiver in ev.peers_of(cut)
            for cut in self.steps[arrow.sent].cut
        )

    def past(self, numbers: frozenset[int] | set[int]) -> frozenset[int]:
        """Returns the steps on which those of ``numbers`` depend, themselves included."""
        return frozenset(reached(numbers, self.causes.__getitem__))


def lane_of(step: Step) -> str:
    """Returns the process in whose column a step is; ``NOBODY`` for those of the environment.

    What a Byzantine process makes another one receive happens at the receiver; a loss happens on
    the link to it, and belongs to no process.
    """
    return step.process if step.kind != "lose" else NOBODY


def causality(trace: Trace) -> Causality:
    """Computes the order in which the steps of ``trace`` depend on one another.

    A step depends on the previous one of its process (ticks of its clock and ends of rounds are
    such steps, too), on the steps that sent what it receives, on the crash that a detector reports,
    and, where it reads or writes what every process sees (shared variables, what oracles have
    noted, and the environment's, such as a split network), on those that wrote it; one that writes
    shared state also on those that have read the previous value.
    """
    steps = trace.every_step
    arrows = _Post(trace).arrows(steps)
    lanes = tuple(trace.processes)
    if any(lane_of(step) == NOBODY for step in steps[1:]):
        lanes = (*lanes, NOBODY)
    causes: list[set[int]] = [set() for _ in steps]
    _in_lanes(steps, causes, frozenset(trace.processes))
    for arrow in arrows:
        if arrow.sent is not None and arrow.ended is not None and arrow.sent != arrow.ended:
            causes[arrow.ended].add(arrow.sent)
    _crashes_told(steps, causes)
    _common(steps, causes)
    _read(steps, causes)
    for number in range(1, len(steps)):
        causes[number].discard(number)
        if not causes[number]:
            causes[number].add(0)
    return Causality(steps, lanes, arrows, tuple(frozenset(c) for c in causes))


def _in_lanes(steps: tuple[Step, ...], causes: list[set[int]], processes: frozenset[str]) -> None:
    last: dict[str, int] = {}
    for step in steps[1:]:
        for lane in sorted(_concerned_processes(step, processes)):
            if lane in last:
                causes[step.number].add(last[lane])
            last[lane] = step.number


def _concerned_processes(step: Step, processes: frozenset[str]) -> set[str]:
    """Returns the processes whose later steps depend on ``step``, and on whose earlier ones it
    does.

    A step of the environment concerns the processes that it names, such as the one whose clock
    ticks; one that names none concerns those for which it changes something, such as the end of a
    round.
    """
    if step.kind == "lose":
        return set()
    if step.process:
        acting = {e.process for e in step.events if e.process and not isinstance(e, ev.Forged)}
        return acting | {step.process}
    named = {text for e in step.events for _, text in ev.named_values(e)} & processes
    return named or {change.process for change in step.changes if change.process}


def _crashes_told(steps: tuple[Step, ...], causes: list[set[int]]) -> None:
    """Adds that an output of a detector about a process depends on that one's last crash or
    recovery."""
    fallen: dict[str, int] = {}
    for step in steps:
        for event in step.events:
            if isinstance(event, ev.Crashed | ev.Recovered):
                fallen[event.process] = step.number
            elif isinstance(event, ev.OracleIndicated):
                for _, value in event.call.named:
                    if value in fallen:
                        causes[step.number].add(fallen[value])


def _common(steps: tuple[Step, ...], causes: list[set[int]]) -> None:
    """Adds that steps that write what all processes see are ordered as they happened."""
    last: dict[str, int] = {}
    for step in steps[1:]:
        nobodys = lane_of(step) == NOBODY and step.kind != "lose"
        for change in step.changes:
            everybodys = change.kind is VariableKind.SHARED or (
                change.kind is VariableKind.WORLD and not change.process
            )
            if not everybodys:
                continue
            if change.variable in last and (nobodys or change.kind is VariableKind.SHARED):
                causes[step.number].add(last[change.variable])
            if nobodys or change.kind is VariableKind.SHARED:
                last[change.variable] = step.number
        if nobodys:
            previous = last.get(NOBODY)
            if previous is not None:
                causes[step.number].add(previous)
            last[NOBODY] = step.number


def _read(steps: tuple[Step, ...], causes: list[set[int]]) -> None:
    """Adds that a read depends on the writes before it, and a write of shared state on the reads of
    the previous value."""
    written: dict[str, dict[str, int]] = defaultdict(dict)
    readers: dict[str, set[int]] = defaultdict(set)
    for step in steps[1:]:
        for variable in step.reads:
            causes[step.number].update(written[variable].values())
            readers[variable].add(step.number)
        for change in step.changes:
            if change.kind is VariableKind.SHARED:
                causes[step.number] |= readers.pop(change.variable, set())
            written[change.variable][change.process] = step.number


class _Post:
    """Follows the copies of all messages through an execution."""

    def __init__(self, trace: Trace) -> None:
        self._fine = trace.header.fine_steps
        self._found: list[Arrow] = []
        self._open: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        self._down = {fate.process for fate in trace.fates if fate.crashed or fate.recovered}
        self._planned: dict[str, list[ev.Sent]] = defaultdict(list)  # in fine steps: sent, not left
        self._multicasts = 0
        self._settled = trace.ends or trace.loop is not None

    def arrows(self, steps: tuple[Step, ...]) -> tuple[Arrow, ...]:
        for step in steps:
            if CAUGHT_UP in step.action:
                for sent in self._planned.pop(step.process, []):
                    self._leave(step.number, sent, CopyOutcome.UNDER_WAY)
            for event in step.events:
                self._follow(step.number, event)
            self._count(step, steps)
            for cut in step.cut:
                if isinstance(cut, ev.Sent):
                    self._leave(step.number, cut, CopyOutcome.MISSED)
        return tuple(self._close_arrow(arrow) for arrow in self._found)

    def _follow(self, step: int, event: ev.Event) -> None:
        match event:
            case ev.Sent() if not self._fine:
                self._leave(step, event, CopyOutcome.UNDER_WAY)
            case ev.Sent():
                self._planned[event.process].append(event)
            case ev.CopyLeft():
                self._take_planned(event)
                self._leave(step, event, CopyOutcome.UNDER_WAY)
            case ev.Crashed():
                self._planned.pop(event.process, None)
            case ev.Received(message, sender):
                self._arrive(step, (sender, event.process, message), CopyOutcome.RECEIVED)
            case ev.Lost(message, receiver):
                self._arrive(step, (event.process, receiver, message), CopyOutcome.LOST)
            case ev.Forged():
                self._multicasts += 1
                forged = Arrow(
                    event.process,
                    event.receiver,
                    event.message,
                    CopyOutcome.FORGED,
                    step,
                    step,
                    self._multicasts,
                    event.claimed,
                )
                self._found.append(forged)

    def _leave(self, step: int, event: ev.Sent | ev.CopyLeft, how: CopyOutcome) -> None:
        self._multicasts += 1
        for to in ev.peers_of(event):
            if how is CopyOutcome.UNDER_WAY:
                self._open[event.process, to, event.message].append(len(self._found))
            arrow = Arrow(event.process, to, event.message, how, step, None, self._multicasts)
            self._found.append(arrow)

    def _take_planned(self, copy: ev.CopyLeft) -> None:
        """Removes a copy that leaves from what its sender still has to send."""
        plans = self._planned[copy.process]
        for i, plan in enumerate(plans):
            if plan.message == copy.message and copy.receiver in plan.receivers:
                left = tuple(to for to in plan.receivers if to != copy.receiver)
                plans[i : i + 1] = [replace(plan, receivers=left)] if left else []
                return

    def _count(self, step: Step, steps: tuple[Step, ...]) -> None:
        """Closes the arrows of messages that are only counted, which receivers note as soon as they
        are sent: they matter to a receiver from its next step on, where the arrow ends."""
        for change in step.changes:
            if RECORD not in change.variable:
                continue
            message = change.variable.replace(RECORD, "")
            after = (s.number for s in steps[step.number + 1 :] if lane_of(s) == change.process)
            ended = None if change.process == lane_of(step) else next(after, None)
            how = CopyOutcome.COUNTED if ended is None else CopyOutcome.RECEIVED
            for (_, to, text), waiting in self._open.items():
                if to == change.process and waiting and head(text) == message:
                    index = waiting[-1]
                    if self._found[index].sent == step.number:
                        waiting.pop()
                        self._found[index] = replace(self._found[index], how=how, ended=ended)

    def _arrive(self, step: int, ends: tuple[str, str, str], how: CopyOutcome) -> None:
        """Ends a copy with its sender, receiver and message."""
        waiting = self._open[ends]
        if waiting:
            index = waiting.pop(0)
            self._found[index] = replace(self._found[index], how=how, ended=step)
            return
        again = [
            a
            for a in self._found
            if (a.sender, a.receiver, a.message) == ends and a.sent is not None
        ]  # a link that duplicates, or keeps what it has delivered
        self._multicasts += 1
        sent, number = (again[-1].sent, again[-1].multicast) if again else (None, self._multicasts)
        self._found.append(Arrow(*ends, how, sent, step, number))

    def _close_arrow(self, arrow: Arrow) -> Arrow:
        """Returns ``arrow``, as missed where its sender crashed and it is known not to arrive any
        more."""
        if arrow.how is CopyOutcome.UNDER_WAY and self._settled and arrow.sender in self._down:
            return replace(arrow, how=CopyOutcome.MISSED)
        return arrow
