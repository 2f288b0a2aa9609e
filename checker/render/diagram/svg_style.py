"""Colours, dashes and patterns of the space-time diagram.

The colours resemble those of Okabe and Ito (Color Universal Design, 2008), darker on light paper
so that thin lines can be seen; no sign depends on colour alone.
"""

from __future__ import annotations

COLOURS = 8
"""The number of colours of messages; further messages use them again, with another dash."""

LIGHT = {
    "--ink": "#1b1f24",
    "--paper": "#ffffff",
    "--fault": "#b8002e",
    "--faded": "#6b7280",
    "--message-0": "#0067a5",
    "--message-1": "#b35900",
    "--message-2": "#00735c",
    "--message-3": "#a63d82",
    "--message-4": "#7a6200",
    "--message-5": "#1f6cae",
    "--message-6": "#6a45b5",
    "--message-7": "#54606e",
}

DARK = {
    "--ink": "#e6e9ee",
    "--paper": "#14181d",
    "--fault": "#ff7088",
    "--faded": "#9aa3af",
    "--message-0": "#56b4e9",
    "--message-1": "#e69f00",
    "--message-2": "#2fc79a",
    "--message-3": "#e39ac8",
    "--message-4": "#e5d84a",
    "--message-5": "#8ab6ff",
    "--message-6": "#b9a0f2",
    "--message-7": "#b4bfcc",
}

DASHES = ("", "9 4", "2 3.5", "12 3 2.5 3", "5 3", "15 4", "8 2.5 2 2.5 2 2.5", "3 2")
"""The dashes of the arrows of each message; the first one is a solid line."""

HALO = """
.spacetime .halo { paint-order: stroke; stroke: var(--paper); stroke-width: 4px;
  stroke-linejoin: round; }
"""
"""The paper around letters; a program that does not know ``paint-order`` would cover them."""

RULES = """
.spacetime { background: var(--paper); color: var(--ink); }
.spacetime text { font: 11px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono',
  'Liberation Mono', monospace; fill: var(--ink); }
.spacetime .words { font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans',
  'DejaVu Sans', 'Liberation Sans', sans-serif; font-size: 12px; }
.spacetime .ground { fill: var(--paper); }
.spacetime .heading { font-size: 16px; font-weight: 600; }
.spacetime .head { font-size: 14px; font-weight: 700; text-anchor: middle; }
.spacetime .quiet { fill: var(--faded); font-size: 11px; }
.spacetime .middle { text-anchor: middle; }
.spacetime .end { text-anchor: end; }
.spacetime .struck { text-decoration: line-through; fill: var(--faded); }
.spacetime .bad { fill: var(--fault); font-weight: 600; }
.spacetime .lane line { stroke: var(--ink); stroke-width: 1.5; }
.spacetime .lane line.down { stroke: var(--fault); stroke-dasharray: 1 6; stroke-linecap: round;
  stroke-width: 2; }
.spacetime .operation path { fill: var(--ink); fill-opacity: .16; stroke: var(--ink);
  stroke-width: 1.2; }
.spacetime .operation.open path { stroke-dasharray: 4 3; }
.spacetime .body { fill: var(--paper); stroke: var(--ink); stroke-width: 1.6; }
.spacetime .number { text-anchor: middle; font-size: 10px; }
.spacetime .number.long { font-size: 7.5px; }
.spacetime .cross { stroke: var(--fault); stroke-width: 3; stroke-linecap: round; fill: none; }
.spacetime .sign { fill: none; stroke: var(--ink); stroke-width: 1.4; stroke-linejoin: round; }
.spacetime .solid { fill: var(--ink); stroke: none; }
.spacetime .faulty { stroke: var(--fault); }
.spacetime .arrow path { stroke-width: 1.8; stroke-linejoin: round; }
.spacetime .arrow .way { fill: none; }
.spacetime .arrow .tip { stroke-width: 1.4; stroke-dasharray: none; }
.spacetime .arrow-text rect { fill: var(--paper); opacity: .88; }
.spacetime .arrow.missed .way { stroke-width: 1.4; stroke-dasharray: 2 4; }
.spacetime .arrow.missed .tip { fill: var(--paper); stroke-width: 1.6; }
.spacetime .bar line { stroke: var(--ink); stroke-width: 2.5; }
.spacetime .bar .side { stroke: var(--ink); stroke-width: 5; fill: none; }
.spacetime .bar .side.apart { stroke: var(--fault); stroke-dasharray: 8 3; }
.spacetime .loop-box rect { fill: none; stroke: var(--ink); stroke-width: 2;
  stroke-dasharray: 10 3 2 3; }
.spacetime .loop-box .under { fill: var(--paper); stroke: none; }
.spacetime .violation circle, .spacetime .violation rect { fill: none; stroke: var(--fault);
  stroke-width: 2.5; }
.spacetime .delivery rect { stroke-width: 1.8; fill: var(--paper); }
.spacetime .delivery.missing rect { stroke: var(--fault); stroke-dasharray: 4 3; }
.spacetime .delivery.missing text { fill: var(--fault); }
.spacetime .rule { stroke: var(--faded); stroke-width: 1; }
.spacetime .context { fill-opacity: .5; stroke-opacity: .5; }
.spacetime .context text { fill: var(--faded); fill-opacity: 1; stroke-opacity: 1; }
.spacetime .hatching { stroke: var(--fault); stroke-width: 1.4; }
.spacetime .overlay { stroke: var(--paper); stroke-width: 1.6; fill: none; }
.spacetime .step:focus { outline: none; }
.spacetime .step:focus-visible .body { stroke-width: 4; }
@media print { .spacetime { background: none; } }
"""


def style() -> str:
    """Returns the style sheet: a page's custom properties take precedence over these.

    Programs that don't know custom properties, such as converters to PDF, use the light colours.
    """
    hues = "\n".join(
        f".spacetime .m{i} {{ stroke: var(--message-{i}); }}"
        f" .spacetime .f{i} {{ fill: var(--message-{i}); stroke: var(--message-{i}); }}"
        for i in range(COLOURS)
    )
    dashes = "\n".join(
        f".spacetime .arrow .d{i} {{ stroke-dasharray: {dash}; }}"
        for i, dash in enumerate(DASHES)
        if dash
    )
    rules = f"{RULES}{hues}\n{dashes}\n"
    plain = rules
    for name, value in LIGHT.items():
        plain = plain.replace(f"var({name})", value)
    return (
        f":where(:root) {{ {_properties(LIGHT)} }}\n"
        "@media (prefers-color-scheme: dark) {"
        f" :where(:root) {{ {_properties(DARK)} }} }}\n"
        f"@media print {{ :where(:root) {{ {_properties(LIGHT)} }} }}"
        f"{plain}@supports (fill: var(--ink)) {{{HALO}{rules}}}\n"
    )


def _properties(values: dict[str, str]) -> str:
    return " ".join(f"{name}: {value};" for name, value in values.items())


def colour(identity: int) -> int:
    """Returns the number of the colour of a message."""
    return identity % COLOURS


def dash(identity: int) -> int:
    """Returns the number of the dash of a message: it changes with every eight colours."""
    return (identity + identity // COLOURS) % len(DASHES)


def patterns(prefix: str) -> str:
    """Returns definitions of patterns: hatching for Byzantine processes, and one for each dash,
    which is laid over the colour of a message.
    """
    lines = (
        "",
        "M0,6 L6,0",
        "M3,0 V6",
        "M0,3 H6",
        "M0,0 L6,6",
        "M3,0 V6 M0,3 H6",
        "M0,6 L6,0 M0,0 L6,6",
        "M2,2 h2 v2 h-2 z",
    )
    found = [
        f'<pattern id="{prefix}hatch" width="6" height="6" patternUnits="userSpaceOnUse">'
        '<path d="M0,6 L6,0" class="hatching"/></pattern>',
        f'<pattern id="{prefix}omits" width="6" height="9" patternUnits="userSpaceOnUse">'
        '<path d="M0,2 H6" class="hatching"/></pattern>',
    ]
    for i, way in enumerate(lines):
        if way:
            found.append(
                f'<pattern id="{prefix}over{i}" width="6" height="6"'
                f' patternUnits="userSpaceOnUse"><path d="{way}" class="overlay"/></pattern>'
            )
    return "<defs>" + "".join(found) + "</defs>"
