"""Draws graphs as SVG: boxes with lines of text, and arrows with letters that a legend explains.

A document is one self-contained file, for light and for dark backgrounds.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from checker.render.diagram.graph_layout import Edge, GraphLayout, lay_out
from checker.render.diagram.svg_signs import safe

MARGIN, LINE, GAP = 24.0, 16.0, 104.0
CHARACTER = 7.0
"""Width of a character of 12 pixels in a monospaced font."""

COLUMNS = 96
"""Characters of a line of the legend."""

LIGHT = "--ink:#1b1f24;--paper:#ffffff;--faded:#6b7280;--c0:#0067a5;--c1:#b35900;--c2:#00735c;"
LIGHT += "--c3:#a63d82;--c4:#7a6200;--c5:#6a45b5;--c6:#b8002e;--c7:#54606e"
DARK = "--ink:#e6e9ee;--paper:#14181d;--faded:#9aa3af;--c0:#56b4e9;--c1:#e69f00;--c2:#2fc79a;"
DARK += "--c3:#e39ac8;--c4:#e5d84a;--c5:#b9a0f2;--c6:#ff7088;--c7:#b4bfcc"
COLOURS = 8

STYLE = f""":where(:root) {{ {LIGHT} }}
@media (prefers-color-scheme: dark) {{ :where(:root) {{ {DARK} }} }}
@media print {{ :where(:root) {{ {LIGHT} }} }}
.graph {{ background: var(--paper); }}
.graph text {{ font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono',
  'Liberation Mono', monospace; fill: var(--ink); }}
.graph .title {{ font-size: 17px; font-weight: 700; }}
.graph .quiet {{ fill: var(--faded); }}
.graph .band {{ font-weight: 700; }}
.graph .place rect {{ fill: var(--paper); stroke: var(--ink); stroke-width: 1.2; }}
.graph .place.initial rect {{ stroke-width: 3; }}
.graph .place.crashed rect {{ stroke-dasharray: 5 4; }}
.graph .place .inner {{ fill: none; stroke-width: 1.2; }}
.graph .place.violating rect {{ stroke: var(--c6); }}
.graph .place.violating .bad {{ fill: var(--c6); font-weight: 700; }}
.graph .place text {{ text-anchor: middle; }}
.graph .edge {{ fill: none; stroke-width: 1.5; }}
.graph .letter {{ text-anchor: middle; font-weight: 700; }}
"""

HALO = """@supports (fill: var(--ink)) { .graph .letter { paint-order: stroke;
  stroke: var(--paper); stroke-width: 5px; stroke-linejoin: round; } }
"""

Point = tuple[float, float]


class Place(Struct, frozen=True):
    """A box: its lines of text, the first of which is bold; ``marks``: ``initial``, ``crashed``,
    ``end`` (a second frame) or ``violating`` (the last line says what); ``name``: its tooltip."""

    lines: tuple[str, ...]
    marks: tuple[str, ...] = ()
    name: str = ""

    @property
    def width(self) -> float:
        """Its width in pixels."""
        return max(map(len, self.lines)) * CHARACTER * 1.03 + 20

    @property
    def height(self) -> float:
        """Its height in pixels."""
        return len(self.lines) * LINE + 10


class Canvas(Struct):
    """The drawing so far, its size, and where letters are; ``prefix``: of its ids, which in a page
    no other drawing has."""

    prefix: str = ""
    parts: list[str] = field(default_factory=list)
    letters: list[tuple[float, float, float]] = field(default_factory=list)
    width: float = 720.0
    y: float = MARGIN
    columns: int = COLUMNS

    def text(self, x: float, y: float, text: str, class_: str = "") -> None:
        """Draws a line of text that begins at ``x``."""
        named = f' class="{class_}"' if class_ else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}"{named} xml:space="preserve">{safe(text)}</text>'
        )
        self.width = max(self.width, x + len(text) * CHARACTER * 1.03 + MARGIN)

    def line(self, text: str, class_: str = "", indent: float = 0.0, hang: int = 2) -> None:
        """Draws a line of text below all others, broken where it is too long."""
        for part in textwrap.wrap(text, self.columns, subsequent_indent=" " * hang) or [""]:
            self.y += LINE
            self.text(MARGIN + indent, self.y, part, class_)

    def document(self, title: str) -> str:
        """Returns the drawing as an SVG document."""
        width, height = self.width, self.y + MARGIN
        size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
        tips = "".join(_tip(self.prefix, number) for number in range(COLOURS))
        drawn = "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img"'
                f' aria-labelledby="{self.prefix}title" {size}>',
                f'<title id="{self.prefix}title">{safe(title)}</title>',
                f"<style>{STYLE}{HALO}</style>",
                f"<defs>{tips}</defs>",
                f'<rect width="{width:.0f}" height="{height:.0f}" style="fill:var(--paper)"/>',
                *self.parts,
                "</svg>",
                "",
            )
        )
        return _with_light_colours(drawn)


def _with_light_colours(drawn: str) -> str:
    """Returns a document in which each colour that is a custom property comes behind the light one:
    programs that don't know custom properties, such as converters to PDF, take that."""
    plain, halo, rest = drawn.partition(HALO)
    return "".join((_both_colours(plain), halo, _both_colours(rest)))


def _both_colours(text: str) -> str:
    for name, colour in (pair.split(":") for pair in LIGHT.split(";")):
        for coloured in ("fill:", "fill: ", "stroke:", "stroke: ", "background: "):
            wanted = f"{coloured}var({name})"
            text = text.replace(wanted, f"{coloured}{colour};{wanted}")
    return text


def letters_of(number: int) -> str:
    """Returns A to Z for the first numbers, then AA, AB, …"""
    high, low = divmod(number, 26)
    return (letters_of(high - 1) if high else "") + chr(ord("A") + low)


def draw_graph(
    canvas: Canvas,
    places: Mapping[int, Place],
    edges: Mapping[Edge, Sequence[str]],
    colours: Mapping[str, int],
    backwards: frozenset[Edge] = frozenset(),
) -> None:
    """Draws a graph below all others: ``edges`` have letters, and make no cycle; the arrows of
    those that are ``backwards`` lead from their second node to the first one.  ``colours``: the
    number of each letter's colour."""
    heights = {number: place.height for number, place in places.items()}
    layout = lay_out(tuple(places), tuple(edges), heights)
    columns = _columns(layout, places)
    sides = {n: _sides(columns[box.layer], places[n]) for n, box in layout.boxes.items()}
    drawn: list[str] = []
    letters: list[tuple[list[Point], list[str]]] = []
    ports = _ports(layout, tuple(edges))
    for edge, steps in edges.items():
        ends = sides[edge[0]][1], sides[edge[1]][0]
        way = _way(edge, layout, columns, ports, ends, canvas.y)
        tip = f'marker-{"start" if edge in backwards else "end"}="url(#{canvas.prefix}tip'
        drawn.append(_curve(way, colours[steps[0]] % COLOURS, tip))
        letters.append((way, list(dict.fromkeys(steps))))
    canvas.parts += drawn
    for number, box in layout.boxes.items():
        left, right = columns[box.layer]
        canvas.parts.append(_box(number, places[number], ((left + right) / 2, canvas.y + box.y)))
    for way, found in letters:
        _letter(way, found, colours[found[0]] % COLOURS, canvas)
    canvas.width = max(canvas.width, columns[-1][1] + MARGIN if columns else 0.0)
    canvas.y += layout.height


def _tip(prefix: str, number: int) -> str:
    return (
        f'<marker id="{prefix}tip{number}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7"'
        f' markerHeight="7" orient="auto-start-reverse"><path d="M0,1 L10,5 L0,9 z"'
        f' style="fill:var(--c{number})"/></marker>'
    )


def _sides(column: Point, place: Place) -> Point:
    """Returns where a box begins and ends."""
    middle, half = (column[0] + column[1]) / 2, place.width / 2
    return middle - half, middle + half


def _columns(layout: GraphLayout, places: Mapping[int, Place]) -> list[Point]:
    """Returns from where to where each layer reaches."""
    widths = [44.0] * layout.layers
    for number, box in layout.boxes.items():
        widths[box.layer] = max(widths[box.layer], places[number].width)
    crossing = [0] * layout.layers
    for source, bends in ((layout.boxes[edge[0]], bends) for edge, bends in layout.bends.items()):
        for box in (source, *bends):
            crossing[box.layer] += 1
    found, x = [], MARGIN
    for width, edges in zip(widths, crossing, strict=True):
        found.append((x, x + width))
        x += width + min(GAP + 3 * edges, 2 * GAP)
    return found


def _ports(layout: GraphLayout, edges: Sequence[Edge]) -> dict[tuple[Edge, bool], float]:
    """Returns at which height each edge leaves its first node and enters its second one."""
    found: dict[tuple[Edge, bool], float] = {}
    for node, box in layout.boxes.items():
        for leaving in (True, False):
            mine = [e for e in edges if e[0 if leaving else 1] == node]

            def towards(edge: Edge, leaving: bool = leaving) -> float:
                way = (layout.boxes[edge[0]], *layout.bends[edge], layout.boxes[edge[1]])
                return way[1].y if leaving else way[-2].y

            room = (box.height - 8) / (len(mine) + 1)
            for i, edge in enumerate(sorted(mine, key=towards), start=1):
                found[edge, leaving] = box.y - box.height / 2 + 4 + i * room
    return found


def _way(
    edge: Edge,
    layout: GraphLayout,
    columns: Sequence[Point],
    ports: Mapping[tuple[Edge, bool], float],
    ends: Point,
    top: float,
) -> list[Point]:
    """Returns the points of an edge: between layers it curves, and it is straight where it passes
    one."""
    way = [(ends[0], ports[edge, True] + top)]
    for bend in layout.bends[edge]:
        left, right = columns[bend.layer]
        way += [(left, bend.y + top), (right, bend.y + top)]
    way.append((ends[1], ports[edge, False] + top))
    return way


def _curve(way: Sequence[Point], colour: int, tip: str) -> str:
    x, y = way[0]
    path = f"M{x:.1f},{y:.1f}"
    for number, (to_x, to_y) in enumerate(way[1:]):
        if number % 2:
            path += f" L{to_x:.1f},{to_y:.1f}"
        else:
            middle = (x + to_x) / 2
            path += f" C{middle:.1f},{y:.1f} {middle:.1f},{to_y:.1f} {to_x:.1f},{to_y:.1f}"
        x, y = to_x, to_y
    return f'<path class="edge" d="{path}" style="stroke:var(--c{colour})" {tip}{colour})"/>'


def _letter(way: Sequence[Point], steps: Sequence[str], colour: int, canvas: Canvas) -> None:
    """Draws the letters of an edge, where it has room: on its curves, or where it passes a
    layer."""
    text = " ".join(steps)
    half = len(text) * CHARACTER / 2 + 3
    best: tuple[float, float, float] | None = None
    for part in (0.5, 0.36, 0.64, 0.24, 0.76, 0.15):
        for number, ((x, y), (to_x, to_y)) in enumerate(itertools.pairwise(way)):
            smooth = part if number % 2 else part * part * (3 - 2 * part)
            bend = part if number % 2 else _across(part)
            at = x + (to_x - x) * bend, y + (to_y - y) * smooth
            clash = sum(
                max(0.0, half + h - abs(at[0] - ox)) * max(0.0, LINE - 2 - abs(at[1] - oy))
                for ox, oy, h in canvas.letters
            )
            if best is None or clash < best[0] - 1e-6:
                best = clash, *at
    assert best is not None
    _, x, y = best
    canvas.letters.append((x, y, half))
    canvas.parts.append(
        f'<text class="letter" x="{x:.1f}" y="{y + 4:.1f}" style="fill:var(--c{colour})">'
        f"{safe(text)}</text>"
    )


def _across(part: float) -> float:
    """Returns how far a curve with both handles in the middle has come across at ``part``."""
    rest = 1 - part
    return 1.5 * rest * rest * part + 1.5 * rest * part * part + part**3


def _box(number: int, place: Place, centre: Point) -> str:
    wide, high = place.width, place.height
    x, y = centre
    classes = {0: "band"}
    if "violating" in place.marks:
        classes[len(place.lines) - 1] = "bad"
    lines = "".join(
        f'<text x="{x:.1f}" y="{y - high / 2 + 5 + LINE * (i + 0.75):.1f}"'
        + (f' class="{classes[i]}"' if i in classes else "")
        + f">{safe(line)}</text>"
        for i, line in enumerate(place.lines)
    )
    inner = _frame(x, y, wide - 7, high - 7, ' class="inner"') if "end" in place.marks else ""
    return (
        f'<g class="{" ".join(("place", *place.marks))}" data-location="{number}">'
        f"<title>{safe(place.name)}</title>{_frame(x, y, wide, high)}{inner}{lines}</g>"
    )


def _frame(x: float, y: float, wide: float, high: float, more: str = "") -> str:
    return (
        f'<rect x="{x - wide / 2:.1f}" y="{y - high / 2:.1f}" width="{wide:.1f}"'
        f' height="{high:.1f}" rx="7"{more}/>'
    )
