"""Routes arrows from mark to mark, around the marks of others."""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import pairwise
from math import hypot

from checker.render.diagram.parts import Point

RADIUS = 10.0
"""The radius of a mark on a lane."""

CLEAR = 17.0
"""The distance that an arrow that crosses a lane keeps from its marks."""

FLAT = 23.0
"""The distance that a steep arrow keeps: it crosses the lane in a flat piece, half-way between two
marks.
"""

STEEP = 130.0
"""An arrow that goes down further than that leaves its lane and reaches the other one in bends."""


PIECES = 12
"""The number of lines that approximate an arc."""


class Ways:
    """The positions of the marks on each lane."""

    def __init__(self, lanes: dict[str, float]) -> None:
        self._x = lanes
        self._marks: dict[str, list[float]] = {lane: [] for lane in lanes}

    def take(self, lane: str, y: float) -> None:
        """Registers a mark on ``lane``."""
        insort(self._marks[lane], y)

    def free(self, lane: str, y: float, least: float) -> float:
        """Returns the first y from ``y`` on where ``lane`` has no mark nearer than ``CLEAR``.

        It is not behind ``least`` where that can be: the arrow would become long.
        """
        marks = self._marks[lane]
        here = y
        for mark in marks[bisect_left(marks, y - CLEAR) :]:
            if abs(mark - here) >= CLEAR:
                break
            here = mark + CLEAR
        return here if here <= least else y

    def between(self, start: Point, end: Point, to_mark: bool = True) -> tuple[Point, ...]:
        """Routes from ``start`` to ``end``, with bends where the straight line is too near to
        marks.

        The way begins at the edge of a mark, and ends at one where it goes ``to_mark``.
        """
        (x, y), (to_x, to_y) = start, end
        side = 1.0 if to_x > x else -1.0
        points = [start]
        if to_y - y > STEEP and abs(to_x - x) > 80:
            points += [(x + 40 * side, y + 26), (to_x - 40 * side, to_y - 26)]
        points.append(end)
        crossed = [(lane, at) for lane, at in self._x.items() if min(x, to_x) < at < max(x, to_x)]
        for lane, at in sorted(crossed, key=lambda pair: pair[1] * side):
            points = self._past(points, lane, at)
        return self._trim_ends(points, to_mark)

    def _past(self, points: list[Point], lane: str, at: float) -> list[Point]:
        """Returns ``points`` with a bend where they cross ``lane`` at one of its marks."""
        for i, ((x, y), (to_x, to_y)) in enumerate(pairwise(points)):
            if not min(x, to_x) < at < max(x, to_x):
                continue
            here = y + (to_y - y) * (at - x) / (to_x - x)
            steep = abs(to_y - y) / abs(to_x - x)
            near = self._near(lane, here, min(CLEAR * (1 + steep * steep) ** 0.5, 2 * CLEAR))
            if near is None:
                return points
            above, below = near - CLEAR, near + CLEAR
            if steep > 1:
                above, below = near - FLAT, near + FLAT
            better = above if here <= near else below
            if not y - 6 <= better <= max(to_y, y) + 6:
                better = below if better == above else above
            if steep <= 1:
                return [*points[: i + 1], (at, better), *points[i + 1 :]]
            side = 1.0 if to_x > x else -1.0
            jog = [(at - 22 * side, better - 4), (at + 22 * side, better + 4)]
            return [*points[: i + 1], *jog, *points[i + 1 :]]
        return points

    def _near(self, lane: str, y: float, clear: float) -> float | None:
        """Returns the mark of ``lane`` that is nearest to ``y``, if it is nearer than ``clear``."""
        marks = self._marks[lane]
        i = bisect_left(marks, y)
        nearest = min(marks[max(i - 1, 0) : i + 1], key=lambda mark: abs(mark - y), default=None)
        return nearest if nearest is not None and abs(nearest - y) < clear else None

    def _trim_ends(self, points: list[Point], to_mark: bool) -> tuple[Point, ...]:
        first = _towards(points[0], points[1], RADIUS + 1)
        last = _towards(points[-1], points[-2], RADIUS + 3 if to_mark else 0)
        return (first, *points[1:-1], last)


def _towards(a: Point, b: Point, far: float) -> Point:
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = max((dx * dx + dy * dy) ** 0.5, 0.001)
    part = min(far / length, 0.45)
    return a[0] + dx * part, a[1] + dy * part


def distance(point: Point, points: tuple[Point, ...]) -> float:
    """Returns the distance of ``point`` from the line along ``points``."""
    return min(_from_piece(point, a, b) for a, b in pairwise(points))


def _from_piece(point: Point, a: Point, b: Point) -> float:
    (x, y), (dx, dy) = a, (b[0] - a[0], b[1] - a[1])
    squared = dx * dx + dy * dy
    part = ((point[0] - x) * dx + (point[1] - y) * dy) / squared if squared else 0.0
    part = min(max(part, 0.0), 1.0)
    return hypot(x + part * dx - point[0], y + part * dy - point[1])


def bent(points: tuple[Point, ...], far: float) -> tuple[Point, ...]:
    """Returns a way between the same ends that is ``far`` lower in the middle."""
    if not points:
        return points
    thirds = [along(points, part) for part in (0.3, 0.7)]
    return (points[0], *((x, y + far) for x, y in thirds), points[-1])


def polyline(points: tuple[Point, ...], curved: bool) -> tuple[Point, ...]:
    """Returns points along an arrow; an arc (a cubic Bézier curve) is approximated by lines."""
    if not curved:
        return points
    a, b, c, d = points
    found = []
    for i in range(PIECES + 1):
        t, u = i / PIECES, 1 - i / PIECES
        weights = u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t
        x, y = (sum(w * p[k] for w, p in zip(weights, (a, b, c, d), strict=True)) for k in (0, 1))
        found.append((x, y))
    return tuple(found)


def along(points: tuple[Point, ...], part: float) -> Point:
    """Returns the point at ``part`` (0 to 1) of the way."""
    pieces = [(((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2) ** 0.5, a, b) for a, b in pairwise(points)]
    left = part * sum(length for length, _, _ in pieces)
    for length, a, b in pieces:
        if left <= length and length:
            share = left / length
            return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share
        left -= length
    return points[-1]
