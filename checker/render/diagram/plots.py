"""Draws plots of grids as SVG: the points of a frontier, and the numbers of states of a sweep.

A plot is narrow enough for a phone; marks differ in shape, not only in colour.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from checker.render.diagram.graph_drawing import CHARACTER, COLOURS, LINE, MARGIN, Canvas
from checker.render.diagram.svg_signs import number, safe
from checker.results.frontier import SHOWN, Frontier, FrontierCell, PropertyFrontier
from checker.words.frontier import cell_text, shown_at, worlds_of

WIDE, HIGH, LEFT = 290.0, 200.0, 74.0
"""The size of the plot without its axes, and where it begins."""
COLUMNS = 48
"""Characters of a line of the legend."""

HOLDS, FAILS, INFERRED, OTHER = "holds", "violated", "violated, not run", "undecided"
SHAPES = {
    HOLDS: '<circle r="5" style="fill:var(--c2)"/>',
    FAILS: '<path d="M-5,-5 L5,5 M-5,5 L5,-5" style="stroke:var(--c6);stroke-width:2.5"/>',
    INFERRED: '<path d="M-4,-4 L4,4 M-4,4 L4,-4" style="stroke:var(--faded);stroke-width:1.2"/>',
    OTHER: '<path d="M0,-5 L5,0 L0,5 L-5,0 z" style="fill:none;stroke:var(--ink)"/>',
}
"""The mark of each kind of point around (0, 0)."""


class PlotPoint(Struct, frozen=True):
    """A point: the number of its value on the axis across, its height, and its kind, which is one
    of ``SHAPES``; ``said``: its tooltip."""

    at: int
    height: float
    kind: str
    said: str


class Plot(Struct, frozen=True):
    """``across``: the name and the values of the axis; ``up``: the name of the other one, and its
    ticks with their heights; ``series``: points by name, which are joined if ``joined``;
    ``boundary``: a line between heights, one for each value across."""

    title: str
    across: tuple[str, tuple[str, ...]]
    up: tuple[str, tuple[tuple[float, str], ...]]
    series: Mapping[str, tuple[PlotPoint, ...]]
    joined: bool = True
    boundary: tuple[float, ...] = ()
    dashed: bool = False

    @property
    def heights(self) -> tuple[float, float]:
        """The lowest and the highest height."""
        found = [height for height, _ in self.up[1]]
        found += [point.height for points in self.series.values() for point in points]
        return min(found, default=0.0), max(found, default=1.0)


def plot_svg(plot: Plot, prefix: str = "") -> str:
    """Returns a plot as an SVG document; ``prefix``: of its ids."""
    return plots_svg((plot,), plot.title, prefix)


def plots_svg(plots: Sequence[Plot], title: str, prefix: str = "") -> str:
    """Returns plots, one below the other, as an SVG document; ``prefix``: of its ids."""
    canvas = Canvas(prefix, width=LEFT + WIDE + MARGIN, columns=COLUMNS)
    for at, plot in enumerate(plots):
        canvas.y += LINE * 2 * bool(at)
        _draw(plot, canvas)
    return canvas.document(title)


def _draw(plot: Plot, canvas: Canvas) -> None:
    canvas.line(plot.title, "band")
    top = canvas.y + LINE * 1.5
    places = _Places(plot, top)
    canvas.text(MARGIN, top - 8, plot.up[0], "quiet")
    canvas.parts += _axes(plot, places)
    for index, points in enumerate(plot.series.values()):
        canvas.parts += _series(points, places, index % COLOURS if plot.joined else None)
    if plot.boundary:
        canvas.parts.append(_stairs(plot, places))
    canvas.y = top + HIGH + LINE * 2.5
    _legend(plot, canvas)


class _Places:
    """The place of a point of a plot."""

    def __init__(self, plot: Plot, top: float) -> None:
        self.low, self.high = plot.heights
        self.step = WIDE / max(len(plot.across[1]), 1)
        self.top = top

    def x(self, at: float) -> float:
        return LEFT + (at + 0.5) * self.step

    def y(self, height: float) -> float:
        room = self.high - self.low or 1.0
        return self.top + HIGH - 14 - (height - self.low) / room * (HIGH - 28)


def _axes(plot: Plot, places: _Places) -> Iterator[str]:
    bottom = places.top + HIGH
    way = f"M{number(LEFT)},{number(places.top)} V{number(bottom)} H{number(LEFT + WIDE)}"
    yield f'<path d="{way}" style="fill:none;stroke:var(--faded)"/>'
    for height, label in plot.up[1]:
        y = places.y(height)
        line = f"M{number(LEFT - 4)},{number(y)} H{number(LEFT + WIDE)}"
        yield f'<path d="{line}" style="stroke:var(--faded);stroke-opacity:.3"/>'
        yield _label(LEFT - 8, y + 4, label, "end")
    name, labels = plot.across
    room = max(1, math.ceil((max(map(len, labels), default=1) + 1) * CHARACTER / places.step))
    for at, label in enumerate(labels):
        if at % room == 0:
            yield _label(places.x(at), bottom + LINE, label, "middle")
    yield _label(LEFT + WIDE, bottom + 2 * LINE, name, "end")


def _label(x: float, y: float, said: str, anchor: str) -> str:
    place = f'x="{number(x)}" y="{number(y)}"'
    return f'<text class="quiet" {place} style="text-anchor:{anchor}">{safe(said)}</text>'


def _series(points: Sequence[PlotPoint], places: _Places, colour: int | None) -> Iterator[str]:
    if colour is not None:
        for one, other in pairwise(points):
            ends = (places.x(one.at), places.y(one.height), places.x(other.at))
            way = "M{},{} L{}".format(*map(number, ends)) + f",{number(places.y(other.height))}"
            dash = f";stroke-dasharray:{3 * colour} 3" if colour else ""
            yield f'<path d="{way}" style="stroke:var(--c{colour});stroke-width:1.5{dash}"/>'
    for point in points:
        place = f"translate({number(places.x(point.at))},{number(places.y(point.height))})"
        title = f"<title>{safe(point.said)}</title>"
        yield f'<g class="point" transform="{place}">{title}{SHAPES[point.kind]}</g>'


def _stairs(plot: Plot, places: _Places) -> str:
    half = places.step / 2
    way = ""
    for at, height in enumerate(plot.boundary):
        x, y = places.x(at), number(places.y(height))
        way += f"{'L' if way else 'M'}{number(x - half)},{y} L{number(x + half)},{y} "
    dash = ";stroke-dasharray:6 4" if plot.dashed else ""
    return f'<path d="{way.strip()}" style="fill:none;stroke:var(--ink);stroke-width:2{dash}"/>'


def _legend(plot: Plot, canvas: Canvas) -> None:
    for index, name in enumerate(plot.series if plot.joined else ()):
        colour = index % COLOURS
        dash = f";stroke-dasharray:{3 * colour} 3" if colour else ""
        y = number(canvas.y + LINE - 4)
        canvas.parts.append(
            f'<path d="M{number(MARGIN)},{y} h26"'
            f' style="stroke:var(--c{colour});stroke-width:1.5{dash}"/>'
        )
        canvas.line(name or "all", indent=34)
    used = {point.kind for points in plot.series.values() for point in points}
    for kind in SHAPES:
        if kind in used:
            place = f"translate({number(MARGIN + 12)},{number(canvas.y + LINE - 4)})"
            canvas.parts.append(f'<g transform="{place}">{SHAPES[kind]}</g>')
            canvas.line(kind, indent=34)


# ---- frontiers ----------------------------------------------------------------------------------


def frontier_plot(
    title: str,
    names: tuple[str, str],
    cells: Mapping[str, Mapping[str, FrontierCell]],
    *,
    proved: bool = False,
) -> Plot:
    """Returns the plot of a property in one world.

    ``names``: of the axes up and across; ``cells``: by their values there.  The line is between
    what holds and what fails, if that is one step in each column; it is solid if it is proved.
    """
    levels = tuple(cells)
    across = tuple(dict.fromkeys(value for row in cells.values() for value in row))
    points = tuple(
        PlotPoint(across.index(value), up, _kind(cell), f"{shown_at(cell)}: {cell_text(cell)}")
        for up, row in enumerate(cells.values())
        for value, cell in row.items()
        if cell.known != "impossible"
    )
    steps = [_step([p for p in points if p.at == at]) for at in range(len(across))]
    known = tuple(step for step in steps if step is not None)
    whole = len(known) == len(across) and any(p.kind == FAILS for p in points)
    ticks = tuple((float(up), level) for up, level in enumerate(levels))
    boundary = known if whole else ()
    series = {"": points}
    return Plot(title, (names[1], across), (names[0], ticks), series, False, boundary, not proved)


def frontier_plots(report: Frontier, found: PropertyFrontier) -> Iterator[tuple[str, Plot]]:
    """Yields the plots of a property, each with the settings of its world."""
    for world, across, cells in worlds_of(report, found):
        proved = any(each.proved and each.world == world for each in found.boundaries)
        title = " ".join((found.property, world)).strip()
        yield world, frontier_plot(title, (report.harder[0], across), cells, proved=proved)


def frontier_svg(report: Frontier) -> str:
    """Returns the plots of all properties and worlds as one SVG document."""
    plots = [plot for each in report.properties for _, plot in frontier_plots(report, each)]
    return plots_svg(plots, f"How far {report.check} holds")


def _kind(cell: FrontierCell) -> str:
    if cell.inferred:
        return INFERRED
    return HOLDS if cell.known == "holds" else FAILS if cell.known in SHOWN else OTHER


def _step(column: Sequence[PlotPoint]) -> float | None:
    """Returns the height between the points that hold and those above, which fail; ``None`` if
    they are not in this order, or if something there is not known."""
    good = [p.height for p in column if p.kind == HOLDS]
    bad = [p.height for p in column if p.kind in (FAILS, INFERRED)]
    if len(good) + len(bad) < len(column) or not column:
        return None
    highest, lowest = max(good, default=None), min(bad, default=None)
    if highest is None or lowest is None:
        return min(p.height for p in column) - 0.5 if highest is None else highest + 0.5
    return (highest + lowest) / 2 if highest < lowest else None


# ---- sweeps -------------------------------------------------------------------------------------


class SweepPoint(Struct, frozen=True):
    """A cell of a sweep: its value on the axis across, those on the other axes as text, its number
    of states, its kind, which is one of ``SHAPES``, and what is said of it."""

    value: str
    others: str
    states: int
    kind: str
    said: str


def sweep_plot(title: str, across: str, points: Sequence[SweepPoint]) -> Plot:
    """Returns the plot of the numbers of states, on a logarithmic axis; cells that have none are
    left out."""
    values = tuple(dict.fromkeys(point.value for point in points))
    series: dict[str, list[PlotPoint]] = {}
    for point in points:
        if point.states > 0:
            height = math.log10(point.states)
            made = PlotPoint(values.index(point.value), height, point.kind, point.said)
            series.setdefault(point.others, []).append(made)
    heights = [p.height for found in series.values() for p in found]
    low, high = math.floor(min(heights, default=0)), math.ceil(max(heights, default=1))
    every = max(1, (high - low) // 5)
    ticks = tuple((float(t), _power(t)) for t in range(low, max(high, low + 1) + 1, every))
    ordered = {name: tuple(sorted(found, key=lambda p: p.at)) for name, found in series.items()}
    return Plot(title, (across, values), ("states", ticks), ordered)


def _power(exponent: int) -> str:
    return f"{10**exponent:,}" if exponent < 6 else f"{10 ** (exponent - 6):,} M"
