"""Lays out a trace as a space-time diagram, independently of how it is drawn.

Time runs downwards, one column per process, as in the terminal: an execution of 5 or of 5,000 steps
scrolls like text, labels stay horizontal, and there is room for them between the columns. (In
textbooks time often goes to the right; that reads well for ten steps and not for a hundred.) Each
step has a row of its own, below all earlier ones. In the layout by causality a step is as far down
as the longest chain of steps that leads to it, so that what does not depend on one another stands
side by side, see :func:`checker.render.diagram.rows.rows_of`.

A copy that a process did not send, since it crashed before, is no arrow: the crash tells it, struck
out. A copy that a crashed process would have sent to itself is not drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rich.cells import cell_len

from checker.records import replace
from checker.render.diagram.arrows import Arrows, path_of
from checker.render.diagram.identity import Identities
from checker.render.diagram.operations import intervals_of
from checker.render.diagram.parts import Bar, Box, Label, Lane, LoopBox, Mark, Picture, Span
from checker.render.diagram.places import Room, beside
from checker.render.diagram.rows import Layout, home_of, is_everybodys, rows_of, tops_of
from checker.render.diagram.strips import GAP, HEIGHT, strips_of, violating_step, violations_of
from checker.render.diagram.words import (
    CHARACTER,
    LINE,
    Seat,
    arrivals_of,
    ends_of,
    fate_of,
    seats_of,
    sentences_of,
    sides_of,
    text_of_arrow,
    text_of_bar,
    title_of,
    title_of_run,
    width_of,
)
from checker.render.terminal.step_items import choices_of_shared_state
from checker.results.causality import Arrow, Causality, CopyOutcome, causality
from checker.results.trace import Step, Trace
from checker.words.wrappers import fold_wrappers

__all__ = ["Picture", "picture_of"]

TOP = 62.0
"""The y at which lanes start; their heads are above."""

LEAST = 460.0
"""The least width of a picture."""

STRIPS = 88.0
"""The distance between the end of the execution and the strips."""

BAR = 42.0
"""The height of what concerns all lanes."""

BASE, CRASH, OTHERS = 46.0, 24.0, 26.0
"""The height of a step, and what a crash inside it and marks on other lanes add to it."""


def picture_of(trace: Trace, layout: Layout = "steps") -> Picture:
    """Lays out the space-time diagram of ``trace``; the same trace always gives the same one."""
    return _Plan(trace, layout).picture()


class _Plan:
    """Collects the parts of a picture."""

    def __init__(self, trace: Trace, layout: Layout) -> None:
        trace, self._wrappers = fold_wrappers(trace)
        self._trace, self._layout = trace, layout
        self._found: Causality = causality(trace)
        self._steps = self._found.steps
        self._identities = Identities(trace, self._steps)
        explanation = trace.explanation
        self._context = frozenset(explanation.context if explanation else ())
        most = 24 if len(trace.processes) <= 4 else 19
        self._most = most
        self._homes = tuple(home_of(step, trace.processes) for step in self._steps)
        ended: dict[int | None, list[Arrow]] = defaultdict(list)
        for arrow in self._found.arrows:
            ended[arrow.ended].append(arrow)
        self._seats = [
            seats_of(step, home, most, self._identities, arrivals_of(step, ended[step.number]))
            for step, home in zip(self._steps, self._homes, strict=True)
        ]
        self._rows = rows_of(self._found, self._homes, trace.loop, layout)
        self._missing = {
            arrow.sent
            for arrow in self._found.arrows
            if arrow.how is CopyOutcome.MISSED and not self._found.was_cut_off(arrow)
        }
        heights = tuple(self._height(step) for step in self._steps)
        self._tops = tops_of(self._rows, heights, TOP + 14)
        self._end = self._tops[-1] + 6
        self._place_lanes()

    def _height(self, step: Step) -> float:
        seats = self._seats[step.number]
        if not step.number:
            lines = max((len(seat.lines) for seat in seats), default=0)
            height = BASE + LINE * max(0, lines - 2) + OTHERS if seats else 16.0
            return height + BAR if self._is_bar(step) else height
        if self._is_bar(step):
            return BAR
        own = [seat for seat in seats if seat.kind != "also"]
        lines = sum(len(seat.lines) for seat in own)
        crash = any(seat.kind == "crash" for seat in own[1:])
        others = len({seat.lane for seat in seats}) > 1
        crash |= step.number in self._missing
        return BASE + LINE * max(0, lines - 2) + CRASH * crash + OTHERS * others

    def _is_bar(self, step: Step) -> bool:
        if not step.number:
            return bool(choices_of_shared_state(step))
        return is_everybodys(step, self._homes[step.number])

    def _place_lanes(self) -> None:
        widths = [width_of(line) for seats in self._seats for s in seats for line in s.lines]
        said = {text_of_arrow(arrow.message, arrow.claimed) for arrow in self._found.arrows}
        widths += [min(cell_len(text), self._most) * CHARACTER for text in said]
        widest = max(widths, default=60.0)
        apart = min(max(widest + 56, 176.0), 236.0)
        margin = min(max(widest + 34, 80.0), apart)
        between = apart * max(len(self._trace.processes) - 1, 0)
        margin = max(margin, (LEAST - between) / 2)
        self._x = {p: margin + i * apart for i, p in enumerate(self._trace.processes)}
        self._apart, self._margin = apart, margin
        self._width = 2 * margin + apart * max(len(self._x) - 1, 0)

    def _is_loop(self, step: int | None) -> bool:
        loop = self._trace.loop
        return loop is not None and step is not None and step > loop

    def _y(self, step: int) -> float:
        return self._tops[self._rows[step]]

    def picture(self) -> Picture:
        trace = self._trace
        bare = [self._mark(seat) for step in self._steps for seat in self._marks_of(step)]
        routes = Arrows(
            self._found,
            self._identities,
            self._x,
            self._apart,
            TOP + 8,
            self._context,
            self._most,
        )
        arrows, lost = routes.route(bare, self._y, trace.loop)
        bare += lost
        if not self._seats[0]:
            bare.insert(0, Mark(0, "", "start", 12.0, TOP + 4, "The start"))
        room = Room(self._x.values(), self._width)
        for mark in bare:
            room.take(Box(mark.x - 11, mark.y - 11, mark.x + 11, mark.y + 11))
        for arrow in arrows:
            room.take_path(path_of(arrow), arrow.message)
        bars = tuple(self._bars())
        for bar in bars:
            room.take(Box(0, bar.y - 9, self._width, bar.y + 9))
        marks = tuple(self._place_label(mark, room) for mark in bare)
        arrows = routes.label(arrows, room)
        lanes = tuple(self._lane(p, marks) for p in trace.processes)
        top = self._end + STRIPS
        strips = strips_of(trace, self._steps, lanes, self._identities, top, self._apart - 16)
        longest = max((len(strip.items) for strip in strips), default=0)
        return Picture(
            title=title_of_run(trace),
            sentences=sentences_of(trace),
            width=self._width,
            height=top + max(longest, 1) * (HEIGHT + GAP) + 14,
            top=TOP,
            end=self._end,
            lanes=lanes,
            marks=marks,
            bars=bars,
            arrows=arrows,
            strips=strips,
            loop=self._loop_box(),
            violations=violations_of(trace, lanes, marks, strips, room, self._end),
            identities=self._identities.names,
            ends=ends_of(trace),
            layout=self._layout,
            notes=self._wrappers,
            operations=tuple(intervals_of(trace, self._x, marks, self._end)),
        )

    def _marks_of(self, step: Step) -> Iterator[tuple[Seat, float, bool]]:
        """Yields the marks of ``step``, with their heights; those of the start are below its
        bar.
        """
        y = self._y(step.number)
        if not step.number and self._is_bar(step):
            y += BAR - OTHERS
        for i, seat in enumerate(self._seats[step.number]):
            if seat.kind == "also":
                yield seat, y + OTHERS + (CRASH if self._crashes(step) else 0), False
            elif seat.kind == "crash" and i:
                yield seat, y + CRASH, False
            else:
                yield seat, y, True

    def _crashes(self, step: Step) -> bool:
        return any(seat.kind == "crash" for seat in self._seats[step.number][1:])

    def _mark(self, placed: tuple[Seat, float, bool]) -> Mark:
        seat, y, first = placed
        label = None
        if seat.lines:
            label = Label(Box(0, 0, max(width_of(line) for line in seat.lines), 0), seat.lines)
        return Mark(
            step=seat.step,
            lane=seat.lane,
            kind=seat.kind,
            x=self._x[seat.lane],
            y=y,
            title=seat.title,
            label=label,
            context=seat.step in self._context,
            loop=self._is_loop(seat.step),
            first=first,
        )

    def _place_label(self, mark: Mark, room: Room) -> Mark:
        """Returns ``mark`` with a place for its label."""
        if mark.label is None:
            return mark
        lines = mark.label.lines
        gap = {"detect": 19, "crash": 30, "world": 17}.get(mark.kind, 15)
        if mark.step == violating_step(self._trace):
            gap = max(gap, 22)
        places = beside(mark.x, mark.y, mark.label.box.right, LINE * len(lines) + 2, gap)
        from_outside = any(line.sign == "request" for line in lines)
        liked = [
            (box, (1.0 if right == from_outside else 0.0) + i * 0.2)
            for i, (box, right) in enumerate(places)
        ]
        box, right = places[room.best(liked)]
        room.take(box)
        return replace(mark, label=Label(box, lines, right))

    def _bars(self) -> Iterator[Bar]:
        for step in self._steps:
            if not self._is_bar(step):
                continue
            sides = sides_of(step, self._trace.processes)
            yield Bar(
                step=step.number,
                y=self._y(step.number),
                text=text_of_bar(step, self._trace.processes),
                title=title_of(step),
                apart=sides[1] if sides else (),
                context=step.number in self._context,
                loop=self._is_loop(step.number),
            )

    def _lane(self, process: str, marks: tuple[Mark, ...]) -> Lane:
        trace, y = self._trace, TOP
        events = [m for m in marks if m.lane == process and m.kind in ("crash", "recover")]
        fate = next((fate for fate in trace.fates if fate.process == process), None)
        down = fate is not None and fate.crashed and not any(m.kind == "crash" for m in events)
        spans = []
        for mark in sorted(events, key=lambda m: m.y):
            spans.append(Span(y, mark.y, down))
            y, down = mark.y, mark.kind == "crash"
        spans.append(Span(y, self._end, down))
        faulty = fate.faulty if fate is not None else ""
        correct = fate is not None and not (fate.crashed or fate.faulty)
        return Lane(
            process, self._x[process], tuple(spans), faulty, fate_of(trace, process), correct
        )

    def _loop_box(self) -> LoopBox | None:
        loop = self._trace.loop
        if loop is None:
            return None
        inside = [self._rows[step.number] for step in self._steps if step.number > loop]
        if not inside:
            return None
        top = self._tops[min(inside)] - 22
        return LoopBox(Box(8, top, self._width - 8, self._end - 2), "repeats forever")
