"""Lays out the nodes of an acyclic graph in layers from left to right.

A node's layer is the length of the longest path to it; an edge that
passes layers has a bend in each; the order in a layer follows the mean of the neighbours, layer
after layer in both directions (Sugiyama, Tagawa, Toda 1981), and heights come as near to it as the
distances allow (isotonic regression).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

SWEEPS = 12
"""Passes over all layers; the order no longer changes much after a few."""

APART = 16.0
"""Pixels between two boxes of a layer."""


Edge = tuple[int, ...]
"""Its source, its target, and what else tells edges between the same nodes apart."""


class Box(Struct, frozen=True):
    """A node or a bend in a layer; a bend of an edge is as high as a line.  Positions are of its
    centre."""

    layer: int
    y: float
    height: float


class GraphLayout(Struct, frozen=True):
    """``boxes``: of the nodes; ``bends``: for each edge those of the layers that it passes;
    ``height``: of the whole drawing."""

    boxes: Mapping[int, Box]
    bends: Mapping[Edge, tuple[Box, ...]]
    layers: int
    height: float


def lay_out(
    nodes: Sequence[int], edges: Sequence[Edge], heights: Mapping[int, float]
) -> GraphLayout:
    """Returns positions for ``nodes`` with these heights in pixels, between which ``edges`` make no
    cycle."""
    layer = _layers(nodes, edges)
    height: dict[object, float] = {node: heights[node] for node in nodes}
    rows: list[list[object]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for node in nodes:
        rows[layer[node]].append(node)
    before: dict[object, list[object]] = {}
    after: dict[object, list[object]] = {}
    chains: dict[Edge, list[object]] = {}
    for edge in edges:
        source, target = edge[:2]
        chain: list[object] = []
        for between in range(layer[source] + 1, layer[target]):
            bend = ("bend", edge, between)
            rows[between].append(bend)
            height[bend] = 14.0
            chain.append(bend)
        chains[edge] = chain
        way = [source, *chain, target]
        for left, right in itertools.pairwise(way):
            after.setdefault(left, []).append(right)
            before.setdefault(right, []).append(left)
    _sort_layers(rows, before, after)
    y = _place(rows, before, after, height)
    number = {thing: at for at, row in enumerate(rows) for thing in row}
    boxes = {thing: Box(number[thing], y[thing], height[thing]) for thing in number}
    whole = max((box.y + box.height / 2 for box in boxes.values()), default=0.0)
    return GraphLayout(
        {node: boxes[node] for node in nodes},
        {edge: tuple(boxes[bend] for bend in chain) for edge, chain in chains.items()},
        len(rows),
        whole,
    )


def _layers(nodes: Sequence[int], edges: Sequence[Edge]) -> dict[int, int]:
    before: dict[int, list[int]] = {node: [] for node in nodes}
    after: dict[int, list[int]] = {node: [] for node in nodes}
    for source, target, *_ in edges:
        before[target].append(source)
        after[source].append(target)
    layer = dict.fromkeys(nodes, 0)
    missing = {node: len(found) for node, found in before.items()}
    ready = [node for node in nodes if not missing[node]]
    while ready:
        node = ready.pop(0)
        for other in after[node]:
            layer[other] = max(layer[other], layer[node] + 1)
            missing[other] -= 1
            if not missing[other]:
                ready.append(other)
    return layer


def _mean(values: Iterable[float], otherwise: float) -> float:
    found = list(values)
    return sum(found) / len(found) if found else otherwise


def _sort_layers(
    rows: list[list[object]],
    before: Mapping[object, list[object]],
    after: Mapping[object, list[object]],
) -> None:
    """Sorts each layer by where its neighbours are; keeps the order with the fewest crossings."""
    best, fewest = [list(row) for row in rows], _crossings(rows, after)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        near = before if forward else after
        for row in rows if forward else reversed(rows):
            rank = {thing: float(i) for each in rows for i, thing in enumerate(each)}
            mean = {t: _mean((rank[o] for o in near.get(t, ())), rank[t]) for t in row}
            row.sort(key=mean.__getitem__)
        crossings = _crossings(rows, after)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    for row, order in zip(rows, best, strict=True):
        row[:] = order


def _crossings(rows: list[list[object]], after: Mapping[object, list[object]]) -> int:
    rank = {thing: i for row in rows for i, thing in enumerate(row)}
    total = 0
    for row in rows:
        ends = [sorted(rank[o] for o in after.get(thing, ())) for thing in row]
        flat = [end for found in ends for end in found]
        starts = [i for i, found in enumerate(ends) for _ in found]
        for i in range(len(flat)):
            for j in range(i + 1, len(flat)):
                total += starts[i] < starts[j] and flat[i] > flat[j]
    return total


def _place(
    rows: list[list[object]],
    before: Mapping[object, list[object]],
    after: Mapping[object, list[object]],
    height: Mapping[object, float],
) -> dict[object, float]:
    y: dict[object, float] = {}
    for row in rows:
        top = 0.0
        for thing in row:
            y[thing] = top + height[thing] / 2
            top += height[thing] + APART
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = []
            for thing in row:
                near = [*before.get(thing, ()), *after.get(thing, ())]
                wanted.append(_mean((y[other] for other in near), y[thing]))
            for thing, place in zip(row, _spread(row, wanted, height), strict=True):
                y[thing] = place
    highest = min((y[t] - height[t] / 2 for row in rows for t in row), default=0.0)
    return {thing: place - highest for thing, place in y.items()}


def _spread(
    row: list[object], wanted: Sequence[float], height: Mapping[object, float]
) -> list[float]:
    """Returns the positions nearest to ``wanted`` at which boxes keep their order and distance."""
    offsets, offset = [], 0.0
    for i, thing in enumerate(row):
        if i:
            offset += (height[row[i - 1]] + height[thing]) / 2 + APART
        offsets.append(offset)
    blocks: list[list[float]] = []  # sum of the wanted positions, and their number
    for want, off in zip(wanted, offsets, strict=True):
        blocks.append([want - off, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    level = [total / count for total, count in blocks for _ in range(int(count))]
    return [base + off for base, off in zip(level, offsets, strict=True)]
