"""The messages of a run as arrows: their ways, and places for their texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from checker.views.picture_identity import Identities
from checker.views.picture_parts import Box, Drawn, Label, Line, Mark, Point
from checker.views.picture_paths import RADIUS, Ways, along
from checker.views.picture_places import Room
from checker.views.picture_words import LINE, shortened, title_of_arrow, width_of
from checker.witness.causality import Arrow, Causality, How

NEVER = "never arrives"

FAR = 260.0
"""An arrow that goes down further than that has its text again near its end."""


class Arrows:
    """Finds ways for the arrows of a run."""

    def __init__(
        self,
        found: Causality,
        identities: Identities,
        lanes: dict[str, float],
        apart: float,
        context: frozenset[int],
    ) -> None:
        self._found, self._identities, self._context = found, identities, context
        self._x, self._apart = lanes, apart
        self._ways = Ways(lanes)
        self._at: dict[tuple[int, str], Point] = {}
        self._lost: dict[int, Mark] = {}

    def routed(
        self, marks: list[Mark], row: Callable[[int], float], loop: int | None
    ) -> tuple[tuple[Drawn, ...], list[Mark]]:
        """The arrows without texts, and the marks of the steps that lose a message."""
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
        """Crosses in the column before the receiver, never two at the same place."""
        taken: set[Point] = set()
        for arrow in self._found.arrows:
            step = arrow.ended
            if arrow.how is not How.LOST or step is None:
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
        """The points of an arrow and whether it is an arc; no points: it is not drawn."""
        to_x = self._x[arrow.receiver]
        end = self._end_of(arrow)
        start = None if arrow.sent is None else self._at.get((arrow.sent, arrow.sender))
        if arrow.how is How.FORGED and end is not None:
            start = (self._x[arrow.sender], end[1] - 26)
        if start is None:
            if end is None:
                return (), False
            side = 1.0 if self._x[arrow.sender] <= to_x else -1.0
            start = (to_x - 60 * side, end[1] - 22)
        if arrow.sender == arrow.receiver:
            return self._to_itself(arrow, start, end), True
        if end is not None:
            return self._ways.between(start, end), False
        side = 1.0 if to_x > start[0] else -1.0
        if arrow.how is How.MISSED:
            lanes = abs(to_x - start[0]) / self._apart
            y = start[1] + 26 + 7 * lanes
            end = (to_x, self._ways.free(arrow.receiver, y, y + 60))
            self._ways.take(arrow.receiver, end[1])
            return self._ways.between(start, end), False
        reach = self._apart * 0.42
        stub = (start[0] + side * reach, start[1] + 22)
        return self._ways.between(start, stub), False

    def _end_of(self, arrow: Arrow) -> Point | None:
        if arrow.ended is None:
            return None
        if arrow.how is How.LOST:
            mark = self._lost.get(arrow.ended)
            return None if mark is None else (mark.x, mark.y)
        return self._at.get((arrow.ended, arrow.receiver))

    def _to_itself(self, arrow: Arrow, start: Point, end: Point | None) -> tuple[Point, ...]:
        """An arc at the right of the lane: start, the two points that pull it, end."""
        (x, y) = start
        if end is None:
            if arrow.how is How.MISSED:
                return ()
            return (x + 7, y + 7), (x + 28, y + 10), (x + 34, y + 16), (x + 30, y + 26)
        if arrow.how is How.LOST:
            return (x + 7, y + 7), (x + 30, y + 8), (end[0], end[1] - 30), end
        if end[1] - y < 4:
            return (x + 8, y - 6), (x + 40, y - 18), (x + 40, y + 18), (x + 8, y + 6)
        bulge = min(30 + (end[1] - y) * 0.08, 54.0)
        return (
            (x + RADIUS * 0.8, y + 7),
            (x + bulge, y + 14),
            (x + bulge, end[1] - 14),
            (x + RADIUS * 0.8 + 2, end[1] - 8),
        )

    def labelled(self, arrows: tuple[Drawn, ...], room: Room, most: int) -> tuple[Drawn, ...]:
        """``arrows`` with the text of each multicast once, and again where one is long."""
        groups: dict[tuple[int, int | None, str], list[int]] = defaultdict(list)
        for i, arrow in enumerate(arrows):
            groups[arrow.multicast, arrow.sent, arrow.message].append(i)
        found = list(arrows)
        for members in groups.values():
            places = [(i, at) for i in members for at in _places(arrows[i])]
            line = Line(
                "",
                shortened(arrows[members[0]].message, most),
                arrows[members[0]].message,
                arrows[members[0]].identity,
            )
            boxes = [_around(point, line) for _, (point, _) in places]
            liked = [(box, d) for box, (_, (_, d)) in zip(boxes, places, strict=True)]
            best = room.best(liked)
            chosen = places[best][0]
            room.take(boxes[best])
            found[chosen] = replace(found[chosen], label=Label(boxes[best], (line,)))
            for i in members:
                found[i] = self._noted(found[i], line, room)
        return tuple(found)

    def _noted(self, arrow: Drawn, line: Line, room: Room) -> Drawn:
        """``arrow`` with a word at its end, where there is one."""
        if arrow.how is How.MISSED:
            word = Line("", NEVER, NEVER)
        elif arrow.label is None and arrow.points[-1][1] - arrow.points[0][1] > FAR:
            word = line
        else:
            return arrow
        boxes = [_around(along(arrow.points, part), word) for part in (0.78, 0.68, 0.86)]
        best = room.best([(box, i * 1.0) for i, box in enumerate(boxes)])
        room.take(boxes[best])
        return replace(arrow, note=Label(boxes[best], (word,)))


def _places(arrow: Drawn) -> list[tuple[Point, float]]:
    """Points at which the text of an arrow may be centred, with how little they are liked."""
    worse = 0.0 if arrow.how in (How.RECEIVED, How.FORGED) else 4.0
    if arrow.curved:
        (_, (ax, ay), (bx, by), _) = arrow.points
        return [((max(ax, bx) * 0.8 + arrow.points[0][0] * 0.2, (ay + by) / 2), worse + 6)]
    parts = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26)
    return [(along(arrow.points, part), worse + i * 0.5) for i, part in enumerate(parts)]


def _around(point: Point, line: Line) -> Box:
    half = width_of(line) / 2 + 3
    return Box(point[0] - half, point[1] - LINE / 2, point[0] + half, point[1] + LINE / 2)
