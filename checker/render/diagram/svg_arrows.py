"""Renders messages as SVG."""

from __future__ import annotations

from math import atan2, degrees

from checker.render.diagram.parts import Drawn, Label, Point
from checker.render.diagram.svg_signs import SMALL_CROSS, at, number, safe, text, title_tag
from checker.render.diagram.svg_style import colour, dash
from checker.results.causality import CopyOutcome

ROUND = 14.0
"""The distance from a bend at which an arrow starts to turn."""


def arrow(drawn: Drawn) -> str:
    """Draws an arrow with its end and its texts."""
    hue = colour(drawn.identity)
    classes = ["arrow", drawn.how.value.replace(" ", "-")]
    classes += ["context"] * drawn.context + ["loop"] * drawn.loop
    sent = "" if drawn.sent is None else f' data-sent="{drawn.sent}"'
    ended = "" if drawn.ended is None else f' data-ended="{drawn.ended}"'
    way = f'<path class="way m{hue} d{dash(drawn.identity)}" d="{_way(drawn)}"/>'
    return (
        f'<g class="{" ".join(classes)}"{sent}{ended} data-message="{safe(drawn.message)}"'
        f' data-from="{safe(drawn.sender)}" data-to="{safe(drawn.receiver)}">'
        f"{title_tag(drawn.title)}{way}{_end(drawn, hue)}</g>"
    )


def arrow_texts(drawn: Drawn) -> str:
    """Draws the texts of an arrow; they are drawn over all arrows."""
    return "".join(
        _text(drawn, label, hue)
        for label, hue in ((drawn.label, True), (drawn.note, False))
        if label is not None
    )


def _text(drawn: Drawn, label: Label, is_message: bool) -> str:
    box, line = label.box, label.lines[0]
    middle = (box.left + box.right) / 2
    quiet = "" if is_message or line.identity >= 0 else " words quiet"
    classes = "context" if drawn.context else ""
    named = f' class="arrow-text {classes}"' if classes else ' class="arrow-text"'
    sent = "" if drawn.sent is None else f' data-sent="{drawn.sent}"'
    ended = "" if drawn.ended is None else f' data-ended="{drawn.ended}"'
    said = text(middle, box.bottom - 3.5, line.text, f"halo middle{quiet}")
    under = (
        f'<rect x="{number(box.left)}" y="{number(box.top)}" rx="3"'
        f' width="{number(box.right - box.left)}" height="{number(box.bottom - box.top)}"/>'
    )
    ends = f' data-from="{safe(drawn.sender)}" data-to="{safe(drawn.receiver)}"'
    return f"<g{named}{sent}{ended}{ends}>{title_tag(drawn.title)}{under}{said}</g>"


def _way(drawn: Drawn) -> str:
    points = drawn.points
    if drawn.curved:
        a, b, c, d = (f"{number(x)},{number(y)}" for x, y in points)
        return f"M{a} C{b} {c} {d}"
    parts = [f"M{_point(points[0])}"]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        parts.append(f"L{_point(_near(here, before))} Q{_point(here)} {_point(_near(here, after))}")
    parts.append(f"L{_point(points[-1])}")
    return " ".join(parts)


def _point(point: Point) -> str:
    return f"{number(point[0])},{number(point[1])}"


def _near(corner: Point, other: Point) -> Point:
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    part = min(ROUND / max((dx * dx + dy * dy) ** 0.5, 0.01), 0.5)
    return corner[0] + dx * part, corner[1] + dy * part


def _end(drawn: Drawn, hue: int) -> str:
    (from_x, from_y), (x, y) = drawn.points[-2], drawn.points[-1]
    turned = f"rotate({number(degrees(atan2(y - from_y, x - from_x)))})"
    where = f'transform="translate({number(x)},{number(y)}) {turned}"'
    match drawn.how:
        case CopyOutcome.LOST:
            return at(x, y, SMALL_CROSS)
        case CopyOutcome.UNDER_WAY:
            dots = "".join(f'<circle class="f{hue}" cx="{i * 6 + 5}" r="1.7"/>' for i in range(3))
            return f"<g {where}>{dots}</g>"
        case CopyOutcome.MISSED:
            return f'<path class="tip m{hue}" {where} d="M0,0 L-10,-5 L-10,5 Z"/>'
        case CopyOutcome.FORGED:
            return (
                f'<path class="tip f{hue}" {where} d="M2,0 L-9,-5 L-9,5 Z"/>'
                f'<path class="tip m{hue}" {where} d="M-12,-5 V5 M-15,-5 V5"/>'
            )
        case _:
            return f'<path class="tip f{hue}" {where} d="M2,0 L-9,-5 L-9,5 Z"/>'
