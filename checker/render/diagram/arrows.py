"""Routes the messages of an execution as arrows, and places their texts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from math import hypot

from rich.cells import cell_len

from checker.records import replace
from checker.render.diagram.identity import Identities
from checker.render.diagram.parts import Box, Drawn, Label, Line, Mark, Point
from checker.render.diagram.paths import RADIUS, Ways, along, bent, distance, polyline
from checker.render.diagram.places import Room
from checker.render.diagram.words import CHARACTER, LINE, text_of_arrow, title_of_arrow, width_of
from checker.render.terminal.columns import shorten
from checker.results.causality import Arrow, Causality, CopyOutcome
from checker.words.steps import headline

NEVER = "never arrives"

FAR = 260.0
"""An arrow that goes down further than that has its text again near its end."""


BEND = 17.0
"""How far in the middle an arrow is from the one before it with the same ends."""


DOTS = 17.0
"""The length of the dots at the end of an arrow that is under way."""


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
        most: int,
    ) -> None:
        self._found, self._identities, self._context = found, identities, context
        self._most = most
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
        ways: Counter[tuple[Point, ...]] = Counter()
        for arrow in self._found.arrows:
            points, curved = self._way(arrow)
            ways[points] += 1
            if ways[points] > 1 and not curved:
                points = bent(points, BEND * (ways[points] - 1))
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
                        claimed=arrow.claimed,
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
            said = f"Step {step}: {headline(self._found.steps[step])}"
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
        """Returns the points of an arrow and whether it is an arc; no points: it is not drawn, as
        what a crash cut off.
        """
        if arrow.how is CopyOutcome.MISSED and self._found.was_cut_off(arrow):
            return (), False
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
        half = (
            min(cell_len(text_of_arrow(arrow.message, arrow.claimed)), self._most) * CHARACTER / 2
        )
        reach = max(reach, min(half + 40, self._apart - 24))
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

    def label(self, arrows: tuple[Drawn, ...], room: Room) -> tuple[Drawn, ...]:
        """Returns ``arrows`` with the text of each multicast once, and again where one is long."""
        groups: dict[tuple[int, int | None, str], list[int]] = defaultdict(list)
        for i, arrow in enumerate(arrows):
            groups[arrow.multicast, arrow.sent, arrow.message].append(i)
        found = list(arrows)
        for members in groups.values():
            first = arrows[members[0]]
            said = text_of_arrow(first.message, first.claimed)
            line = Line("", shorten(said, self._most), said, first.identity)
            places = [
                (i, box, bad + _ambiguity(arrows[i], box, room))
                for i in members
                for box, bad in _places(arrows[i], line)
            ]
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
        ends = [along(arrow.points, part) for part in (0.78, 0.68, 0.86)]
        beside = [(x, y + by) for by in (13, -13) for x, y in ends]
        boxes = [_around(place, word) for place in (*ends, *beside)]
        best = room.best(
            [
                (box, i + 30 * (i >= len(ends)) + _ambiguity(arrow, box, room))
                for i, box in enumerate(boxes)
            ]
        )
        room.take(boxes[best])
        return replace(arrow, note=Label(boxes[best], (word,)))


def path_of(arrow: Drawn) -> tuple[Point, ...]:
    """Returns points along an arrow, with the dots at the end of one that is under way."""
    points = polyline(arrow.points, arrow.curved)
    if arrow.how is CopyOutcome.UNDER_WAY and not arrow.curved:
        (x, y), (to_x, to_y) = points[-2:]
        part = DOTS / max(hypot(to_x - x, to_y - y), 1.0)
        points = (*points, (to_x + (to_x - x) * part, to_y + (to_y - y) * part))
    return points


def anchor_of(arrow: Drawn, box: Box) -> Point:
    """Returns the point of ``box`` that shows to which arrow a text in it belongs: its middle, or,
    beside an arc or an end, the middle of the side that faces it.
    """
    middle = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    xs = [x for x, _ in path_of(arrow)]
    if arrow.curved or not min(xs) <= middle[0] <= max(xs):
        return box.left if middle[0] > arrow.points[0][0] else box.right, middle[1]
    return middle


def _ambiguity(arrow: Drawn, box: Box, room: Room) -> float:
    anchor = anchor_of(arrow, box)
    own = distance(anchor, path_of(arrow))
    return room.ambiguity(anchor, own, arrow.message)


def _places(arrow: Drawn, line: Line) -> list[tuple[Box, float]]:
    """Returns places for the text of an arrow, each with a penalty."""
    worse = (
        0.0 if arrow.how in (CopyOutcome.RECEIVED, CopyOutcome.FORGED, CopyOutcome.COUNTED) else 4.0
    )
    if arrow.curved:
        return [(box, worse + 6) for box in _outside(arrow, line)]
    if arrow.how is CopyOutcome.UNDER_WAY:
        (from_x, from_y), (x, y) = arrow.points[0], arrow.points[-1]
        side = 1.0 if x > from_x else -1.0
        centre = from_x + side * (width_of(line) / 2 + 5)
        level = from_y + (y - from_y) * min(abs((centre - from_x) / (x - from_x)), 1.0)
        return (
            [
                (_around((centre + side * out, level + down), line), worse + i * 0.5)
                for i, (out, down) in enumerate(((0, -11), (0, 11), (9, -11), (9, 11)))
            ]
            + [
                (_around((x + side * (width_of(line) / 2 + DOTS + 8), y + down), line), worse + 9)
                for down in (0, -8, 8)
            ]
            + [(_around(along(arrow.points, part), line), worse + 20) for part in (0.5, 0.4, 0.6)]
        )
    parts = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82)
    found = [
        (_around(along(arrow.points, part), line), worse + i * 0.5) for i, part in enumerate(parts)
    ]
    for i, part in enumerate((0.5, 0.36, 0.64)):
        x, y = along(arrow.points, part)
        found += [(_around((x, y + by), line), worse + 30 + i) for by in (-13, 13)]
    return found


def _outside(arrow: Drawn, line: Line) -> list[Box]:
    """Returns boxes beside an arc: at its middle, then towards its ends."""
    (x, _), (ax, ay), (bx, by), _ = arrow.points
    side = 1.0 if ax + bx > 2 * x else -1.0
    edge = x + side * (abs(ax + bx - 2 * x) * 0.36 - 2)
    half = width_of(line) / 2 + 3
    middle = (ay + by) / 2
    path = path_of(arrow)
    others = (along(path, part) for part in (0.25, 0.75, 0.12, 0.88))
    return [
        *(_around((edge + side * half, middle + down), line) for down in (0, 14, -14)),
        *(_around((near + side * (half + 2), level), line) for near, level in others),
    ]


def _around(point: Point, line: Line) -> Box:
    half = width_of(line) / 2 + 3
    return Box(point[0] - half, point[1] - LINE / 2, point[0] + half, point[1] + LINE / 2)
