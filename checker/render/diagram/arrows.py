"""Routes the messages of an execution as arrows, and places their texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from checker.views.columns import shorten
from checker.views.picture_identity import Identities
from checker.views.picture_parts import Box, Drawn, Label, Line, Mark, Point
from checker.views.picture_paths import RADIUS, Ways, along
from checker.views.picture_places import Room
from checker.views.picture_words import LINE, title_of_arrow, width_of
from checker.witness.causality import Arrow, Causality, CopyOutcome

NEVER = "never arrives"

FAR = 260.0
"""An arrow that goes down further than that has its text again near its end."""


class Arrows:
    """Routes the arrows of an execution."""

    def __init__(
        self,
        found: Causality,
        identities: Identities,
        lanes: dict[str, float],
        apart: float,
        top: float,
        context: frozenset[int],
    ) -> None:
        self._found, self._identities, self._context = found, identities, context
        self._x, self._apart = lanes, apart
        self._ways = Ways(lanes)
        self._at: dict[tuple[int, str], Point] = {}
        self._lost: dict[int, Mark] = {}
        self._top = top
        self._together: dict[int, list[Arrow]] = defaultdict(list)
        for arrow in found.arrows:
            self._together[arrow.multicast].append(arrow)

    def route(
        self, marks: list[Mark], row: Callable[[int], float], loop: int | None
    ) -> tuple[tuple[Drawn, ...], list[Mark]]:
        """Returns the arrows without texts, and the marks of the steps that lose a message."""
        for mark in marks:
            self._ways.take(mark.lane, mark.y)
            self._at.setdefault((mark.step, mark.lane), (mark.x, mark.y))
        self._place_losses(row, loop)
        drawn = []
        for arrow in self._found.arrows:
            points, curved = self._way(arrow)
            if points:
                number = arrow.ended if arrow.ended is not None else arrow.sent
                drawn.append(
                    Drawn(
                        sender=arrow.sender,
                        receiver=arrow.receiver,
                        message=arrow.message,
                        how=arrow.how,
                        sent=arrow.sent,
                        ended=arrow.ended,
                        multicast=arrow.multicast,
                        identity=self._identities.of(arrow.message, True),
                        points=points,
                        curved=curved,
                        title=title_of_arrow(arrow),
                        context=self._context.issuperset(
                            {n for n in (arrow.sent, arrow.ended) if n}
                        )
                        and bool(self._context),
                        loop=loop is not None and number is not None and number > loop,
                    )
                )
        return tuple(drawn), list(self._lost.values())

    def _place_losses(self, row: Callable[[int], float], loop: int | None) -> None:
        """Places crosses in the column before the receiver, never two at the same place."""
        taken: set[Point] = set()
        for arrow in self._found.arrows:
            step = arrow.ended
            if arrow.how is not CopyOutcome.LOST or step is None:
                continue
            if self._found.steps[step].kind != "lose":
                continue
            to = self._x[arrow.receiver]
            side = 1.0 if self._x[arrow.sender] < to else -1.0
            x = to + 40 if arrow.sender == arrow.receiver else to - side * self._apart * 0.4
            y = row(step)
            while (x, y) in taken:
                x += 24 if arrow.sender == arrow.receiver else -side * 24
            taken.add((x, y))
            said = f"Step {step}: {self._found.steps[step].headline}"
            self._lost[step] = Mark(
                step,
                "",
                "lose",
                x,
                y,
                said,
                context=step in self._context,
                loop=loop is not None and step > loop,
            )

    def _way(self, arrow: Arrow) -> tuple[tuple[Point, ...], bool]:
        """Returns the points of an arrow and whether it is an arc; no points: it is not drawn."""
        to_x = self._x[arrow.receiver]
        end = self._end_of(arrow)
        start = None if arrow.sent is None else self._at.get((arrow.sent, arrow.sender))
        if arrow.how is CopyOutcome.FORGED and end is not None:
            lanes = abs(to_x - self._x[arrow.sender]) / self._apart
            start = (self._x[arrow.sender], max(end[1] - 10 - 8 * lanes, self._top))
        if start is None:
            if end is None:
                return (), False
            side = 1.0 if self._x[arrow.sender] <= to_x else -1.0
            start = (to_x - 60 * side, end[1] - 22)
        if arrow.sender == arrow.receiver:
            return self._to_itself(arrow, start, end), True
        if end is not None:
            return self._ways.between(start, end, arrow.how is not CopyOutcome.LOST), False
        side = 1.0 if to_x > start[0] else -1.0
        if arrow.how in (CopyOutcome.MISSED, CopyOutcome.COUNTED):
            lanes = abs(to_x - start[0]) / self._apart
            y = start[1] + 28 + 6 * lanes
            end = (to_x, self._ways.free(arrow.receiver, y, y + 60))
            self._ways.take(arrow.receiver, end[1])
            return self._ways.between(start, end), False
        lanes = round(abs(to_x - start[0]) / self._apart)
        reach = self._apart * min(0.34 + 0.08 * lanes, 0.6)
        stub = (start[0] + side * reach, start[1] + max(44 - 14 * lanes, 3))
        return self._ways.between(start, stub, to_mark=False), False

    def _end_of(self, arrow: Arrow) -> Point | None:
        if arrow.ended is None:
            return None
        if arrow.how is CopyOutcome.LOST:
            mark = self._lost.get(arrow.ended)
            return None if mark is None else (mark.x, mark.y)
        return self._at.get((arrow.ended, arrow.receiver))

    def _to_itself(self, arrow: Arrow, start: Point, end: Point | None) -> tuple[Point, ...]:
        """Returns an arc beside the lane: start, the two control points, end."""
        (x, y) = start
        side = self._emptier(arrow)
        if end is None:
            if arrow.how in (CopyOutcome.MISSED, CopyOutcome.COUNTED):
                return ()
            way = ((7.0, 7.0), (28.0, 10.0), (34.0, 16.0), (30.0, 26.0))
        elif arrow.how is CopyOutcome.LOST:
            return (x + 7, y + 7), (x + 30, y + 8), (end[0], end[1] - 30), end
        elif end[1] - y < 4:
            way = ((8.0, -6.0), (40.0, -18.0), (40.0, 18.0), (8.0, 6.0))
        else:
            down = end[1] - y
            bulge = min(30 + down * 0.08, 54.0)
            way = ((RADIUS * 0.8, 7.0), (bulge, 14.0), (bulge, down - 14), (10.0, down - 8))
        return tuple((x + dx * side, y + dy) for dx, dy in way)

    def _emptier(self, arrow: Arrow) -> float:
        """Returns 1 if fewer of the arrows that leave with ``arrow`` go to the right, else -1."""
        here = self._x[arrow.sender]
        others = self._together[arrow.multicast]
        right = sum(self._x[other.receiver] > here for other in others)
        left = sum(self._x[other.receiver] < here for other in others)
        return 1.0 if right <= left else -1.0

    def label(self, arrows: tuple[Drawn, ...], room: Room, most: int) -> tuple[Drawn, ...]:
        """Returns ``arrows`` with the text of each multicast once, and again where one is long."""
        groups: dict[tuple[int, int | None, str], list[int]] = defaultdict(list)
        for i, arrow in enumerate(arrows):
            groups[arrow.multicast, arrow.sent, arrow.message].append(i)
        found = list(arrows)
        for members in groups.values():
            line = Line(
                "",
                shorten(arrows[members[0]].message, most),
                arrows[members[0]].message,
                arrows[members[0]].identity,
            )
            places = [(i, *at) for i in members for at in _places(arrows[i], line)]
            chosen, box, _ = places[room.best([(box, bad) for _, box, bad in places])]
            room.take(box)
            found[chosen] = replace(found[chosen], label=Label(box, (line,)))
            far = max(
                members, key=lambda i: abs(self._x[found[i].receiver] - found[i].points[0][0])
            )
            for i in members:
                found[i] = self._note_end(found[i], line, room, i == far)
        return tuple(found)

    def _note_end(self, arrow: Drawn, line: Line, room: Room, far: bool) -> Drawn:
        """Returns ``arrow`` with a word at its end, where there is one; ``far``: none of its
        multicast goes further.
        """
        if arrow.how is CopyOutcome.MISSED and far:
            word = Line("", NEVER, NEVER)
        elif (
            arrow.how is not CopyOutcome.MISSED
            and arrow.label is None
            and arrow.points[-1][1] - arrow.points[0][1] > FAR
        ):
            word = line
        else:
            return arrow
        boxes = [_around(along(arrow.points, part), word) for part in (0.78, 0.68, 0.86)]
        best = room.best([(box, i * 1.0) for i, box in enumerate(boxes)])
        room.take(boxes[best])
        return replace(arrow, note=Label(boxes[best], (word,)))


def _places(arrow: Drawn, line: Line) -> list[tuple[Box, float]]:
    """Returns places for the text of an arrow, each with a penalty."""
    worse = (
        0.0 if arrow.how in (CopyOutcome.RECEIVED, CopyOutcome.FORGED, CopyOutcome.COUNTED) else 4.0
    )
    if arrow.curved:
        return [(box, worse + 6) for box in _outside(arrow, line)]
    if arrow.how is CopyOutcome.UNDER_WAY:
        x, y = arrow.points[-1]
        side = 1.0 if x > arrow.points[0][0] else -1.0
        half = width_of(line) / 2
        behind = (x + side * (half + 22), y)
        under = (x - side * max(half - 30, 0), y + 13)
        over = (x + side * (half + 8), y - 13)
        places = (behind, under, over)
        return [(_around(at, line), worse + i) for i, at in enumerate(places)]
    parts = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26)
    found = [
        (_around(along(arrow.points, part), line), worse + i * 0.5) for i, part in enumerate(parts)
    ]
    for i, part in enumerate((0.5, 0.36, 0.64)):
        x, y = along(arrow.points, part)
        found += [(_around((x, y + by), line), worse + 30 + i) for by in (-13, 13)]
    return found


def _outside(arrow: Drawn, line: Line) -> list[Box]:
    """Returns boxes beside an arc."""
    (x, _), (ax, ay), (bx, by), _ = arrow.points
    side = 1.0 if ax + bx > 2 * x else -1.0
    edge = x + side * (abs(ax + bx - 2 * x) * 0.36 - 2)
    half = width_of(line) / 2 + 3
    middle = (ay + by) / 2
    return [_around((edge + side * half, middle + down), line) for down in (0, 14, -14)]


def _around(point: Point, line: Line) -> Box:
    half = width_of(line) / 2 + 3
    return Box(point[0] - half, point[1] - LINE / 2, point[0] + half, point[1] + LINE / 2)
