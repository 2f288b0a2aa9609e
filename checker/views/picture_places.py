"""Places for labels: where they hide least."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from checker.views.picture_parts import Box, Point

BAND = 64.0
"""Height of the bands by which things are found again."""

ON_A_BOX, ON_AN_ARROW, ON_A_LANE, OUTSIDE = 100.0, 12.0, 60.0, 500.0
"""How bad it is to put a label there."""


class Room:
    """What is taken up already: boxes (marks, labels), arrows, lanes."""

    def __init__(self, lanes: Iterable[float], width: float) -> None:
        self._lanes = sorted(lanes)
        self._width = width
        self._boxes: dict[int, list[Box]] = defaultdict(list)
        self._pieces: dict[int, list[tuple[Point, Point]]] = defaultdict(list)

    def take(self, box: Box) -> None:
        """Nothing else should be where ``box`` is."""
        for band in _bands(box.top, box.bottom):
            self._boxes[band].append(box)

    def take_path(self, points: tuple[Point, ...]) -> None:
        """An arrow goes along ``points``."""
        for a, b in pairwise(points):
            for band in _bands(min(a[1], b[1]), max(a[1], b[1])):
                self._pieces[band].append((a, b))

    def cost(self, box: Box) -> float:
        """How bad it is to put a label at ``box``; 0 is best."""
        found = OUTSIDE if box.left < 0 or box.right > self._width else 0.0
        at = bisect_left(self._lanes, box.left)
        if at < len(self._lanes) and self._lanes[at] < box.right:
            found += ON_A_LANE
        boxes: set[int] = set()
        pieces: set[int] = set()
        for band in _bands(box.top, box.bottom):
            boxes |= {id(other) for other in self._boxes[band] if box.meets(other)}
            pieces |= {id(piece) for piece in self._pieces[band] if crosses(box, *piece)}
        return found + ON_A_BOX * len(boxes) + ON_AN_ARROW * len(pieces)

    def best(self, candidates: Iterable[tuple[Box, float]]) -> int:
        """The index of the candidate (a box and how little it is liked anyway) that costs least."""
        least, found = float("inf"), 0
        for index, (box, disliked) in enumerate(candidates):
            cost = self.cost(box) + disliked
            if cost < least:
                least, found = cost, index
            if cost <= 0:
                break
        return found


def _bands(top: float, bottom: float) -> Iterator[int]:
    yield from range(int(top // BAND), int(bottom // BAND) + 1)


def crosses(box: Box, a: Point, b: Point) -> bool:
    """Whether the line from ``a`` to ``b`` goes through ``box`` (Liang and Barsky's clipping)."""
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
    """Boxes beside a mark at (x, y), each with whether it is on its right."""
    right, left = x + gap, x - gap - width
    found = []
    for start, is_right in ((right, True), (left, False)):
        for top in (y - height / 2, y - height - 3, y + 3):
            found.append((Box(start, top, start + width, top + height), is_right))
    return found
