"""A threshold automaton as SVG: one self-contained file, for light and for dark backgrounds.

Each group of processes has a band of its own; a location is a box that names what is true of a
process there, with a thick edge where it is initial; arrows carry the letters of the steps that are
explained below, as in :func:`checker.parametric.drawing.text_drawing.draw_text`.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Sequence
from html import escape

from msgspec import Struct, field

from checker.parametric.automaton.automaton import Automaton, Question
from checker.parametric.automaton.wording import Words, constant_names, facts
from checker.parametric.drawing.graph_layout import GraphLayout, lay_out
from checker.parametric.drawing.text_drawing import (
    group_in_words,
    rule_effects,
    same_steps,
    step_names,
    violation_text,
)

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
.automaton {{ background: var(--paper); }}
.automaton text {{ font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono',
  'Liberation Mono', monospace; fill: var(--ink); }}
.automaton .title {{ font-size: 17px; font-weight: 700; }}
.automaton .quiet {{ fill: var(--faded); }}
.automaton .band {{ font-weight: 700; }}
.automaton .place rect {{ fill: var(--paper); stroke: var(--ink); stroke-width: 1.2; }}
.automaton .place.initial rect {{ stroke-width: 3; }}
.automaton .place.crashed rect {{ stroke-dasharray: 5 4; }}
.automaton .place text {{ text-anchor: middle; }}
.automaton .edge {{ fill: none; stroke-width: 1.5; }}
.automaton .letter {{ text-anchor: middle; font-weight: 700; paint-order: stroke;
  stroke: var(--paper); stroke-width: 5px; stroke-linejoin: round; }}
.automaton .rule {{ stroke: var(--faded); stroke-width: 1; }}
"""


class _Canvas(Struct):
    """The drawing so far, its size, and where letters are."""

    parts: list[str] = field(default_factory=list)
    letters: list[tuple[float, float, float]] = field(default_factory=list)
    width: float = 720.0
    y: float = MARGIN

    def text(self, x: float, y: float, text: str, class_: str = "") -> None:
        """Draws a line of text that begins at ``x``."""
        named = f' class="{class_}"' if class_ else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}"{named} xml:space="preserve">{escape(text)}</text>'
        )
        self.width = max(self.width, x + len(text) * CHARACTER * 1.03 + MARGIN)

    def line(self, text: str, class_: str = "", indent: float = 0.0, hang: int = 2) -> None:
        """Draws a line of text below all others, broken where it is too long."""
        for part in textwrap.wrap(text, COLUMNS, subsequent_indent=" " * hang) or [""]:
            self.y += LINE
            self.text(MARGIN + indent, self.y, part, class_)


def svg_of(automaton: Automaton, questions: Sequence[Question] = ()) -> str:
    """Returns ``automaton`` as an SVG document, with the ``questions`` about it in words."""
    words, canvas = Words(automaton), _Canvas()
    names = step_names(automaton)
    canvas.line(automaton.name, "title")
    canvas.y += 4
    canvas.line(f"for all {', '.join(automaton.parameters)}, {_condition(automaton, words)}")
    for number, kind in enumerate(automaton.kinds):
        forged = words.forged_count(number)
        if forged:
            canvas.line(f"{kind.name}: plus {forged} forged ones", "quiet")
    for group in range(len(automaton.groups)):
        canvas.y += LINE * 1.5
        _band(automaton, group, names, words, canvas)
    _legend(automaton, questions, words, canvas)
    width, height = canvas.width, canvas.y + MARGIN
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    tips = "".join(_tip(number) for number in range(COLOURS))
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="automaton" role="img"'
            f' aria-labelledby="title" {size}>',
            f'<title id="title">{escape(automaton.name)}: a threshold automaton</title>',
            f"<style>{STYLE}</style>",
            f"<defs>{tips}</defs>",
            f'<rect width="{width:.0f}" height="{height:.0f}" style="fill:var(--paper)"/>',
            *canvas.parts,
            "</svg>",
            "",
        )
    )


def _condition(automaton: Automaton, words: Words) -> str:
    condition = words.condition(automaton.resilience)
    return "without conditions" if condition == "true" else f"with {condition}"


def _tip(number: int) -> str:
    return (
        f'<marker id="tip{number}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7"'
        f' markerHeight="7" orient="auto"><path d="M0,1 L10,5 L0,9 z"'
        f' style="fill:var(--c{number})"/></marker>'
    )


# ---- a band ------------------------------------------------------------------------------------


def _band(
    automaton: Automaton, group: int, names: Sequence[str], words: Words, canvas: _Canvas
) -> None:
    """Draws the locations of a group and the edges between them."""
    canvas.line(group_in_words(automaton.groups[group], words), "band")
    canvas.y += LINE
    quiet = constant_names(automaton, group)
    labels = {
        number: _label(number, facts(location, without=quiet))
        for number, location in enumerate(automaton.locations)
        if location.group == group
    }
    edges: dict[tuple[int, int], list[str]] = {}
    for rule, name in zip(automaton.rules, names, strict=True):
        if rule.source in labels:
            edges.setdefault((rule.source, rule.target), []).append(name)
    heights = {number: len(label) * LINE + 10 for number, label in labels.items()}
    layout = lay_out(tuple(labels), tuple(edges), heights)
    columns = _columns(layout, labels)
    sides = {n: _sides(columns[box.layer], labels[n]) for n, box in layout.boxes.items()}
    drawn: list[str] = []
    letters: list[tuple[list[tuple[float, float]], list[str]]] = []
    ports = _ports(layout, tuple(edges))
    letter_of = {name: i for i, name in enumerate(dict.fromkeys(names))}
    for edge, steps in edges.items():
        ends = sides[edge[0]][1], sides[edge[1]][0]
        way = _way(edge, layout, columns, ports, ends, canvas.y)
        colour = letter_of[steps[0]] % COLOURS
        drawn.append(_curve(way, colour))
        letters.append((way, list(dict.fromkeys(steps))))
    canvas.parts += drawn
    for number, box in layout.boxes.items():
        left, right = columns[box.layer]
        _place(automaton, number, labels[number], ((left + right) / 2, canvas.y + box.y), canvas)
    for way, found in letters:
        _letter(way, found, letter_of[found[0]] % COLOURS, canvas)
    canvas.width = max(canvas.width, columns[-1][1] + MARGIN if columns else 0.0)
    canvas.y += layout.height


def _label(number: int, known: Sequence[str]) -> list[str]:
    inside = [line for fact in known for line in textwrap.wrap(fact, 30)]
    return [str(number), *inside]


def _width(label: Sequence[str]) -> float:
    return max(len(line) for line in label) * CHARACTER + 18


def _sides(column: tuple[float, float], label: Sequence[str]) -> tuple[float, float]:
    """Returns where the box of a location begins and ends."""
    middle, half = (column[0] + column[1]) / 2, _width(label) / 2
    return middle - half, middle + half


def _columns(layout: GraphLayout, labels: dict[int, list[str]]) -> list[tuple[float, float]]:
    """Returns from where to where each layer reaches."""
    widths = [44.0] * layout.layers
    for number, box in layout.boxes.items():
        widths[box.layer] = max(widths[box.layer], _width(labels[number]))
    crossing = [0] * layout.layers
    for source, bends in ((layout.boxes[edge[0]], bends) for edge, bends in layout.bends.items()):
        for box in (source, *bends):
            crossing[box.layer] += 1
    found, x = [], MARGIN
    for width, edges in zip(widths, crossing, strict=True):
        found.append((x, x + width))
        x += width + min(GAP + 3 * edges, 2 * GAP)
    return found


def _ports(
    layout: GraphLayout, edges: Sequence[tuple[int, int]]
) -> dict[tuple[tuple[int, int], bool], float]:
    """Returns at which height each edge leaves its source and enters its target."""
    found: dict[tuple[tuple[int, int], bool], float] = {}
    for node, box in layout.boxes.items():
        for leaving in (True, False):
            mine = [e for e in edges if e[0 if leaving else 1] == node]

            def towards(edge: tuple[int, int], leaving: bool = leaving) -> float:
                way = (layout.boxes[edge[0]], *layout.bends[edge], layout.boxes[edge[1]])
                return way[1].y if leaving else way[-2].y

            room = (box.height - 8) / (len(mine) + 1)
            for i, edge in enumerate(sorted(mine, key=towards), start=1):
                found[edge, leaving] = box.y - box.height / 2 + 4 + i * room
    return found


def _way(
    edge: tuple[int, int],
    layout: GraphLayout,
    columns: Sequence[tuple[float, float]],
    ports: dict[tuple[tuple[int, int], bool], float],
    ends: tuple[float, float],
    top: float,
) -> list[tuple[float, float]]:
    """Returns the points of an edge: between layers it curves, and it is straight where it passes
    one."""
    way = [(ends[0], ports[edge, True] + top)]
    for bend in layout.bends[edge]:
        left, right = columns[bend.layer]
        way += [(left, bend.y + top), (right, bend.y + top)]
    way.append((ends[1], ports[edge, False] + top))
    return way


def _curve(way: Sequence[tuple[float, float]], colour: int) -> str:
    x, y = way[0]
    path = f"M{x:.1f},{y:.1f}"
    for number, (to_x, to_y) in enumerate(way[1:]):
        if number % 2:
            path += f" L{to_x:.1f},{to_y:.1f}"
        else:
            middle = (x + to_x) / 2
            path += f" C{middle:.1f},{y:.1f} {middle:.1f},{to_y:.1f} {to_x:.1f},{to_y:.1f}"
        x, y = to_x, to_y
    return (
        f'<path class="edge" d="{path}" style="stroke:var(--c{colour})"'
        f' marker-end="url(#tip{colour})"/>'
    )


def _letter(
    way: Sequence[tuple[float, float]], steps: Sequence[str], colour: int, canvas: _Canvas
) -> None:
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
        f"{escape(text)}</text>"
    )


def _across(part: float) -> float:
    """Returns how far a curve with both handles in the middle has come across at ``part``."""
    rest = 1 - part
    return 1.5 * rest * rest * part + 1.5 * rest * part * part + part**3


def _place(
    automaton: Automaton,
    number: int,
    label: Sequence[str],
    centre: tuple[float, float],
    canvas: _Canvas,
) -> None:
    location = automaton.locations[number]
    wide = _width(label)
    high = len(label) * LINE + 10
    x, y = centre
    kinds = "place" + " initial" * location.initial + " crashed" * location.crashed
    lines = [
        f'<text x="{x:.1f}" y="{y - high / 2 + 5 + LINE * (i + 0.75):.1f}"'
        f"{' class=' + chr(34) + 'band' + chr(34) if i == 0 else ''}>{escape(line)}</text>"
        for i, line in enumerate(label)
    ]
    canvas.parts.append(
        f'<g class="{kinds}" data-location="{number}"><title>{escape(location.name)}</title>'
        f'<rect x="{x - wide / 2:.1f}" y="{y - high / 2:.1f}" width="{wide:.1f}"'
        f' height="{high:.1f}" rx="7"/>{"".join(lines)}</g>'
    )


# ---- below -------------------------------------------------------------------------------------


def _legend(
    automaton: Automaton, questions: Sequence[Question], words: Words, canvas: _Canvas
) -> None:
    canvas.y += LINE * 1.5
    names = step_names(automaton)
    for alike in same_steps(automaton):
        first = automaton.rules[alike[0]]
        canvas.line(f"{names[alike[0]]}  {first.label}", hang=3)
        for part in rule_effects(first, words):
            canvas.line(part, "quiet", 3 * CHARACTER)
    if questions:
        canvas.y += LINE * 0.5
        canvas.line("violated where", "band")
        for question in questions:
            canvas.line(f"{question.property}: {violation_text(question, words)}")
