"""Places labels where they hide least."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from checker.render.diagram.parts import Box, Point
from checker.render.diagram.paths import distance

WIDE, HIGH = 56.0, 20.0
"""The size of the cells of the spatial index."""

CROWD, NEAR = 6, 60
"""In a cell no more arrows than ``CROWD`` are counted; of a piece of an arrow, no more cells than
``NEAR`` rows at either end.
"""

ON_A_BOX, ON_AN_ARROW, ON_A_LANE, OUTSIDE = 100.0, 12.0, 60.0, 500.0
"""The cost of placing a label there."""

AMBIGUOUS = 300.0
"""The cost of placing the text of an arrow where it could be that of another one."""

CLEARLY = 5.0
"""The text of an arrow is nearer to it than to any other one by at least that."""


class Room:
    """The space that is taken: boxes (marks, labels), arrows, lanes; ``width``: of the picture."""

    def __init__(self, lanes: Iterable[float], width: float) -> None:
        self._lanes = sorted(lanes)
        self.width = width
        self._boxes: dict[tuple[int, int], list[Box]] = defaultdict(list)
        self._pieces: dict[tuple[int, int], list[tuple[Point, Point]]] = defaultdict(list)
        self._owners: dict[tuple[Point, Point], set[str]] = defaultdict(set)

    def take(self, box: Box) -> None:
        """Marks ``box`` as taken."""
        for cell in _cells(box):
            self._boxes[cell].append(box)

    def take_path(self, points: tuple[Point, ...], message: str = "") -> None:
        """Marks the path of an arrow of ``message`` along ``points`` as taken."""
        for a, b in pairwise(points):
            self._owners[a, b].add(message)
            (x, y), (to_x, to_y) = (a, b) if a[1] <= b[1] else (b, a)
            slope = (to_x - x) / (to_y - y) if to_y - y > 0.01 else 0.0
            first, last = int(y // HIGH), int(to_y // HIGH)
            for row in range(first, last + 1):
                if first + NEAR < row < last - NEAR:
                    continue
                if slope:
                    ends = [x + slope * (min(max(at * HIGH, y), to_y) - y) for at in (row, row + 1)]
                else:
                    ends = [x, to_x]
                for column in range(int(min(ends) // WIDE), int(max(ends) // WIDE) + 1):
                    held = self._pieces[column, row]
                    if len(held) < CROWD:
                        held.append((a, b))

    def cost(self, box: Box, enough: float = float("inf")) -> float:
        """Returns the cost of a label at ``box``; 0 is best.

        Counting stops once the cost is ``enough``.
        """
        found = OUTSIDE if box.left < 0 or box.right > self.width else 0.0
        at = bisect_left(self._lanes, box.left)
        if at < len(self._lanes) and self._lanes[at] < box.right:
            found += ON_A_LANE
        boxes: set[int] = set()
        pieces: set[tuple[Point, Point]] = set()
        for cell in _cells(box):
            if cell in self._boxes:
                boxes.update(id(other) for other in self._boxes[cell] if box.meets(other))
            if cell in self._pieces:
                pieces.update(self._pieces[cell])
        found += ON_A_BOX * len(boxes)
        if found >= enough:
            return found
        crossed = sum(crosses(box, a, b) for a, b in pieces)
        return found + ON_AN_ARROW * crossed

    def ambiguity(self, anchor: Point, own: float, message: str) -> float:
        """Returns the cost of a text of ``message`` at ``anchor``, whose arrow is ``own`` away:
        whether an arrow of another message is as near, and twice as much if one is nearer.
        """
        reach = own + CLEARLY
        near = Box(anchor[0] - reach, anchor[1] - reach, anchor[0] + reach, anchor[1] + reach)
        others = (
            distance(anchor, piece)
            for cell in _cells(near)
            for piece in self._pieces.get(cell, ())
            if self._owners[piece] != {message}
        )
        nearest = min(others, default=reach)
        return AMBIGUOUS * ((nearest < reach) + (nearest <= own))

    def best(self, candidates: Iterable[tuple[Box, float]]) -> int:
        """Returns the index of the candidate (a box and its own penalty) with the least cost."""
        least, found = float("inf"), 0
        in_order = sorted(enumerate(candidates), key=lambda candidate: candidate[1][1])
        for index, (box, disliked) in in_order:
            if disliked >= least:
                break
            cost = self.cost(box, least - disliked) + disliked
            if cost < least:
                least, found = cost, index
        return found


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for row in range(int(box.top // HIGH), int(box.bottom // HIGH) + 1):
        for column in range(int(box.left // WIDE), int(box.right // WIDE) + 1):
            yield column, row


def crosses(box: Box, a: Point, b: Point) -> bool:
    """Returns whether the line ``a`` to ``b`` crosses ``box`` (Liang and Barsky's clipping)."""
    (x, y), (dx, dy) = a, (b[0] - a[0], b[1] - a[1])
    enters, leaves = 0.0, 1.0
    edges = (
        (-dx, x - box.left),
        (dx, box.right - x),
        (-dy, y - box.top),
        (dy, box.bottom - y),
    )
    for slope, room in edges:
        if slope == 0:
            if room <= 0:
                return False
        elif slope < 0:
            enters = max(enters, room / slope)
        else:
            leaves = min(leaves, room / slope)
    return enters < leaves


def beside(x: float, y: float, width: float, height: float, gap: float) -> list[tuple[Box, bool]]:
    """Returns boxes beside a mark at (x, y), each with whether it is on its right."""
    right, left = x + gap, x - gap - width
    found = []
    for start, is_right in ((right, True), (left, False)):
        for top in (y - height / 2, y - height - 3, y + 3):
            found.append((Box(start, top, start + width, top + height), is_right))
    return found
