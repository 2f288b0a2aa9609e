"""Selects what a space-time diagram in a terminal shows: processes, and steps that matter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from checker.records import replace
from checker.render.terminal import marks as m
from checker.render.terminal.step_items import Block, LaneItem
from checker.results.causality import Arrow, CopyOutcome
from checker.results.trace import Trace


class Shown(Struct, frozen=True):
    """``processes``: only their lanes are drawn, empty: all; ``folded``: steps that the violation
    does not depend on are left out.
    """

    processes: tuple[str, ...] = ()
    folded: bool = False

    def lanes(self, trace: Trace) -> tuple[str, ...]:
        """Returns the processes to draw, in the order of the execution; all where it has none of
        those that are asked for."""
        found = tuple(p for p in trace.processes if p in self.processes)
        return found or trace.processes

    def left_out(self, trace: Trace, blocks: Sequence[Block]) -> frozenset[int]:
        """Returns the numbers of the steps that are not drawn."""
        lanes = self.lanes(trace)
        context = trace.explanation.context if self.folded and trace.explanation else ()
        unseen = (b.step.number for b in blocks if b.step.number and not _is_seen(b, lanes))
        return frozenset((*context, *unseen))

    def notes(self, trace: Trace, lanes: Iterable[str]) -> tuple[str, ...]:
        """Returns the legend's note on lanes that are not drawn."""
        shown = set(lanes)
        without = [process for process in trace.processes if process not in shown]
        unknown = [process for process in self.processes if process not in trace.processes]
        said = [f"left out: {', '.join(without)}"] if without and self.processes else []
        return (*said, *(f"there is no process {process}" for process in unknown))


def _is_seen(block: Block, lanes: Sequence[str]) -> bool:
    concerned = {end for arrow in block.arrows for end in _ends(arrow)}
    concerned |= {item.lane for item in block.items}
    return bool(block.bar) or not concerned.isdisjoint(lanes)


def _ends(arrow: Arrow) -> tuple[str, ...]:
    """Returns the processes at whose lanes the end of ``arrow`` is told: a loss at either."""
    lost = arrow.how is CopyOutcome.LOST
    return (arrow.sender, arrow.receiver) if lost else (arrow.receiver,)


def restricted(block: Block, lanes: Sequence[str]) -> Block:
    """Returns ``block`` with what concerns ``lanes``: the end of a message from or to another
    process is told in words."""
    whole = {arrow for arrow in block.arrows if {arrow.sender, arrow.receiver} <= set(lanes)}
    told = (
        _told(arrow, end) for arrow in block.arrows if arrow not in whole for end in _ends(arrow)
    )
    items = tuple(item for item in (*told, *block.items) if item.lane in lanes)
    return replace(block, arrows=tuple(a for a in block.arrows if a in whole), items=items)


def _told(arrow: Arrow, lane: str) -> LaneItem:
    """Returns the item in ``lane`` that says how ``arrow`` ends."""
    sender = arrow.claimed or arrow.sender
    other = f"to {arrow.receiver}" if lane == arrow.sender else f"from {sender}"
    if arrow.how is CopyOutcome.LOST:
        return LaneItem(lane, m.LOST, f"{arrow.message} {other} is lost", "", arrow.message)
    return LaneItem(lane, m.RECEIVE, f"{arrow.message} {other}", "", arrow.message)
