"""The shapes of marks and signs; each differs from the others without colour."""

from __future__ import annotations

from xml.sax.saxutils import escape

from checker.diagnostics.visible import visible, xml_text
from checker.render.diagram.parts import MarkKind
from checker.render.diagram.svg_style import colour, dash

BODIES: dict[MarkKind, str] = {
    "receive": '<circle class="body" r="10"/>',
    "request": '<path class="body" d="M-10,-9 H4 L13,0 L4,9 H-10 Z"/>',
    "step": '<rect class="body" x="-9.5" y="-9" width="19" height="18" rx="3"/>',
    "effect": '<path class="body" d="M-7,-9 H7 L11,9 H-11 Z"/>',
    "timeout": '<path class="body" d="M-6,-10 H6 L11,0 L6,10 H-6 L-11,0 Z"/>',
    "detect": '<path class="body" d="M-14,0 Q0,-19 14,0 Q0,19 -14,0 Z"/>',
    "recover": '<path class="body" d="M-9,9 V-4 L0,-13 L9,-4 V9 Z"/>',
    "forge": '<circle class="body" r="10"/>'
    '<circle class="sign faulty" r="13" stroke-dasharray="3 3"/>',
    "also": '<circle class="body" r="6"/>',
    "world": '<rect class="body" x="-12" y="-9" width="24" height="18" rx="9"/>',
}
"""The shape of a step of each kind around (0, 0)."""

CROSS = '<path class="cross" d="M-7,-7 L7,7 M-7,7 L7,-7"/>'
SMALL_CROSS = '<path class="cross" d="M-5,-5 L5,5 M-5,5 L5,-5"/>'

RINGS = '<circle r="14.5"/><circle r="18"/>'
"""The rings around the mark of the step that violates the property."""

LACKING = '<circle r="7"/><circle r="10.5"/><text class="words bad middle" y="4.5">!</text>'
"""The mark at the end where the violation is that something never happens."""

SIGNS = {
    "request": '<path class="sign" d="M-4,-5 L5,0 L-4,5 Z"/>',
    "store": '<path class="sign" d="M-5,-3 C-5,-6 5,-6 5,-3 V4 C5,7 -5,7 -5,4 Z'
    ' M-5,-3 C-5,-1 5,-1 5,-3"/>',
    "timeout": '<circle class="sign" r="5.5"/><path class="sign" d="M0,-3.5 V0 L3,2"/>',
    "suspicion": '<path class="sign" d="M-7,0 Q0,-9 7,0 Q0,9 -7,0 Z"/>'
    '<circle class="solid" r="2"/>',
    "coin": '<circle class="sign" r="5.5"/>'
    '<path class="solid" d="M0,-5.5 A5.5,5.5 0 0 1 0,5.5 Z"/>',
    "oracle": '<path class="sign" d="M-6,-5 H6 V3 H0 L-3,6 V3 H-6 Z"/>',
    "recover": '<path class="sign" d="M0,6 V-5 M-4,-1 L0,-5 L4,-1"/>',
    "crash": '<path class="cross" d="M-4,-4 L4,4 M-4,4 L4,-4"/>',
    "does": '<rect class="sign" x="-4.5" y="-4.5" width="9" height="9" rx="2"/>',
    "world": '<path class="sign" d="M-6,0 H6"/>',
    "message": '<path class="sign" d="M-6,0 H4 M0,-4 L5,0 L0,4"/>',
}
"""Signs in front of a line of text; those of messages are made by :func:`filled_sign`."""


def body(kind: MarkKind, number: int) -> str:
    """Returns the shape of a mark with the step's number in it, or beside it."""
    if kind == "crash":
        return f'{CROSS}<text class="number halo" x="-17" y="4">{number}</text>'
    if kind == "lose":
        return f'{CROSS}<text class="number halo" x="0" y="-11">{number}</text>'
    if kind == "start":
        return f"{text(0, 4, 'start', 'words quiet')}"
    shape = BODIES.get(kind, BODIES["effect"])
    if kind == "also":
        return shape
    long = " long" if number > 999 else ""
    return f'{shape}<text class="number{long}" y="3.5">{number}</text>'


def filled_sign(shape: str, identity: int, prefix: str, struck: bool = False) -> str:
    """Returns a square (``delivery``) or diamond (``perform``) in a message's colour and
    pattern.
    """
    ways = {"delivery": "M-5,-5 H5 V5 H-5 Z", "perform": "M0,-7 L7,0 L0,7 L-7,0 Z"}
    way = ways.get(shape, ways["delivery"])
    if struck:
        return f'<path class="sign m{colour(identity)}" d="{way}"/>'
    over = dash(identity)
    laid = f'<path d="{way}" fill="url(#{prefix}over{over})"/>' if over else ""
    return f'<path class="f{colour(identity)}" d="{way}"/>{laid}'


def sign(name: str, identity: int, prefix: str, struck: bool = False) -> str:
    """Returns the sign of that name around (0, 0)."""
    if name in ("delivery", "perform"):
        return filled_sign(name, max(identity, 0), prefix, struck)
    return SIGNS.get(name, "")


def at(x: float, y: float, inside: str, attributes: str = "") -> str:
    """Returns ``inside`` moved to (x, y)."""
    return f'<g transform="translate({number(x)},{number(y)})"{attributes}>{inside}</g>'


def number(value: float) -> str:
    """Formats a coordinate, as short as possible."""
    return f"{value:.1f}".removesuffix(".0")


def text(x: float, y: float, said: str, classes: str = "") -> str:
    """Returns a line of text, escaped."""
    named = f' class="{classes}"' if classes else ""
    return f'<text x="{number(x)}" y="{number(y)}"{named}>{safe(said)}</text>'


def safe(said: str) -> str:
    """Escapes ``said`` for XML, without control characters or those that XML does not allow."""
    return escape(xml_text(visible(said)), {'"': "&quot;"})


def title_tag(said: str) -> str:
    """Returns the tooltip, which is also read aloud."""
    return f"<title>{safe(said)}</title>"
