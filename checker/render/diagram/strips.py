"""Lays out what each process indicated and performed, and where the violation shows."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from rich.cells import cell_len

from checker.render.diagram.identity import Identities
from checker.render.diagram.operations import text_of_indication
from checker.render.diagram.parts import Box, Item, Lane, Mark, Strip, Violation
from checker.render.diagram.places import ON_A_LANE, Room, beside
from checker.render.diagram.words import CHARACTER
from checker.render.terminal.columns import shorten
from checker.results.events import Indicated, Performed
from checker.results.trace import Step, Trace
from checker.words.steps import act_never_done

WORDS = 7.2
"""The width of a bold character of 12 pixels in a proportional font."""

HEIGHT, GAP = 20.0, 5.0
"""The height of a box in a strip, and the gap between two."""


class _Entry(Struct, frozen=True):
    """A box of a strip: ``about`` is the indication or the act; ``step``: ``None`` where it never
    happens."""

    step: int | None
    about: str
    perform: bool = False

    @property
    def text(self) -> str:
        return f"perform {self.about}" if self.perform else self.about


def strips_of(
    trace: Trace,
    steps: Sequence[Step],
    lanes: Sequence[Lane],
    identities: Identities,
    top: float,
    width: float,
) -> tuple[Strip, ...]:
    """Lays out a strip for each lane, its first box at ``top``; ``width``: the widest box."""
    happened = _indications(trace, steps)
    missing = _missing(trace, lanes)
    most = int((width - 30) / CHARACTER)
    found = []
    for lane in lanes:
        told = [*happened[lane.process], *missing[lane.process]]
        short = [shorten(entry.text, most) for entry in told]
        wide = max((cell_len(text) * CHARACTER + 30 for text in short), default=0.0)
        items = []
        for i, (entry, said) in enumerate(zip(told, short, strict=True)):
            y, step = top + i * (HEIGHT + GAP), entry.step
            box = Box(lane.x - wide / 2, y, lane.x + wide / 2, y + HEIGHT)
            again = step is not None and trace.loop is not None and step > trace.loop
            identity = identities.of(entry.about)
            items.append(Item(step, said, entry.text, identity, entry.perform, box, again))
        found.append(Strip(lane.process, lane.x, tuple(items)))
    return tuple(found)


def _indications(trace: Trace, steps: Sequence[Step]) -> dict[str, list[_Entry]]:
    """Returns for each process, in order, each indication or ``perform``."""
    found: dict[str, list[_Entry]] = {p: [] for p in trace.processes}
    for step in steps:
        for event in step.events:
            if isinstance(event, Indicated) and event.call.outermost:
                said = text_of_indication(trace, step.number, event)
                found[event.process].append(_Entry(step.number, said))
            elif isinstance(event, Performed):
                found[event.process].append(_Entry(step.number, event.act, perform=True))
    return found


def _missing(trace: Trace, lanes: Sequence[Lane]) -> dict[str, list[_Entry]]:
    """Returns the indications that correct processes lack, by process."""
    correct = {lane.process for lane in lanes if lane.correct}
    found: dict[str, list[_Entry]] = {lane.process: [] for lane in lanes}
    for lack in trace.lacking:
        if lack.process in correct and lack.indication:
            found[lack.process].append(_Entry(None, lack.indication))
    return found


def _named_processes(trace: Trace) -> set[str]:
    """Returns the processes that are values of the property's variables in the violation."""
    return {value for _, value in trace.witness} & set(trace.processes)


def violating_step(trace: Trace) -> int | None:
    """Returns the step that violates the property, or ends in an error; ``None`` where the
    violation is that something never happens, or nothing is known of the step in error.
    """
    if trace.failing is not None:
        return trace.failing.number
    safety = trace.word == "violated" and trace.loop is None and trace.failure is None
    return trace.length if safety else None


def violations_of(
    trace: Trace,
    lanes: Sequence[Lane],
    marks: Sequence[Mark],
    strips: Sequence[Strip],
    room: Room,
    end: float,
) -> tuple[Violation, ...]:
    """Returns where the violation shows: at the last step, or at the ends of lanes on which
    something never happens.
    """
    if trace.word not in ("violated", "error"):
        return ()
    text = f"{trace.property_name} is violated"
    if trace.word == "error" or trace.failure is not None:
        text = "the run ends with an error here"
    at = next((m for m in marks if m.step == violating_step(trace) and m.first and m.lane), None)
    if at is not None:
        text = "violated here" if trace.failure is None else f"error {trace.failure.code} here"
        wide = cell_len(text) * WORDS + 8
        places = [
            Box(at.x - wide / 2, at.y + 22, at.x + wide / 2, at.y + 38),
            *(box for box, _ in beside(at.x, at.y + 26, wide, 16, 12)),
            *(box for box, _ in beside(at.x, at.y - 26, wide, 16, 12)),
            *(box for box, _ in beside(at.x, at.y, wide, 16, 24)),
        ]
        liked = [(box, ON_A_LANE * -(i == 0) + 10 * (i == 0)) for i, box in enumerate(places)]
        box = places[room.best(liked)]
        room.take(box)
        return (Violation(at.step, at.lane, at.x, at.y, text, box),)
    step = violating_step(trace)
    step = trace.length if step is None and trace.failure is not None else step
    middle = (lanes[0].x + lanes[-1].x) / 2 if lanes else 0.0
    at_ends = [("", middle, text)] if step is not None else []
    at_ends = at_ends or _at_ends(trace, lanes, strips) or [("", middle, text)]
    return tuple(
        Violation(step, p, x, end + 30, said, _centred_box(x, said, end + 42, room.width))
        for p, x, said in at_ends
    )


def _at_ends(
    trace: Trace, lanes: Sequence[Lane], strips: Sequence[Strip]
) -> list[tuple[str, float, str]]:
    """Returns at the ends of which lanes the violation shows, with its x and text."""
    lacking = {s.process: [i for i in s.items if i.missing] for s in strips}
    found = [
        (lane.process, lane.x, _never(lacking[lane.process]))
        for lane in lanes
        if lacking[lane.process]
    ]
    if found:
        return found
    never = [
        (lane.process, lane.x, f"never: {shorten(lack.operator, 22)}")
        for lane in lanes
        for lack in trace.lacking
        if lane.correct and lack.process == lane.process
    ]
    if never:
        return never
    named = _named_processes(trace)
    alone = [lane for lane in lanes if lane.correct and lane.process in named]
    never_done = (act_never_done(lack) for lack in trace.lacking if lack.is_act)
    said = next(never_done, f"{trace.property_name} is violated")
    return [(alone[0].process, alone[0].x, said)] if len(alone) == 1 else []


def _centred_box(x: float, said: str, top: float, width: float) -> Box:
    """Returns a box for ``said`` around ``x``, inside a picture of that width."""
    half = cell_len(said) * WORDS / 2
    x = min(max(x, half + 6), max(width - half - 6, half))
    return Box(x - half, top, x + half, top + 16)


def _never(items: list[Item]) -> str:
    first = shorten(items[0].whole, 22)
    return f"never: {first}" + (f" and {len(items) - 1} more" if len(items) > 1 else "")
