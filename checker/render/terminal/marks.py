"""The signs of space-time diagrams in a terminal: each is one column wide, with an ASCII stand-in.

The meaning of a sign never depends on its colour.
"""

from __future__ import annotations

UP, DOWN, BYZANTINE = "│", "┊", "║"
REQUEST, SEND, RECEIVE = "▷", "├", "●"
RETURN, OPERATION = "◁", "┃"
DELIVERY, PERFORM, STORE = "■", "◆", "▪"
NOT_DELIVERED, NOT_PERFORMED, NOT_STORED = "□", "◇", "▫"
CRASH, RECOVERY, SUSPICION, TIMER = "✕", "↑", "?", "◷"
ERROR = "✘"
COIN = "◐"
LOST, MISSED, UNDER_WAY = "✗", "○", "·"
RIGHT, LEFT = "►", "◄"
SOLID, BROKEN, DOUBLE = "─", "┄", "═"
CROSSED, SENT_LEFT, WORLD, BAR = "┼", "┤", "═", "━"
LOOP, LOOP_HEAD, LOOP_FOOT = "┃", "┏", "┗"
CUT, FOLDED = "…", "⋯"

CROSSINGS = {UP: CROSSED, DOWN: CROSSED, BYZANTINE: "╫", OPERATION: "╂"}
"""The symbols of an arrow where it crosses a lane."""

STAND_INS = {
    "│": "|", "┊": ":", "║": "H", "▷": ">", "├": "+", "┤": "+", "●": "o", "■": "#", "◆": "$",
    "▪": "&", "□": "_", "◇": "_", "▫": "_", "✕": "X", "↑": "^", "◷": "@", "✗": "x", "○": "0",
    "·": "*", "►": ">", "◄": "<", "─": "-", "┄": ".", "═": "=", "┼": "+", "━": "=", "┃": "!",
    "┏": "!", "┗": "!", "…": "~", "⋯": "~", "╟": "+", "╢": "+", "╫": "+",
    "◁": "]", "╂": "+", "◐": "%", "✘": "E",
}  # fmt: skip
"""The ASCII stand-in for each sign."""

MEANINGS = (
    (REQUEST, "request"),
    (RETURN, "returns"),
    (OPERATION, "an operation, from its call to its return"),
    (SEND, "sends"),
    (RECEIVE, "receives, or takes a step"),
    (DELIVERY, "indicates (delivers, decides …)"),
    (NOT_DELIVERED, "would have indicated"),
    (PERFORM, "performs an external action"),
    (NOT_PERFORMED, "would have acted"),
    (STORE, "stores"),
    (NOT_STORED, "would have stored"),
    (CRASH, "crashes"),
    (ERROR, "ends in a run-time error"),
    (DOWN, "is down"),
    (RECOVERY, "is back up"),
    (BYZANTINE, "is Byzantine"),
    (SUSPICION, "output of a failure detector or an oracle"),
    (TIMER, "timer"),
    (COIN, "is drawn by chance"),
    (LOST, "lost"),
    (MISSED, "never arrives"),
    (UNDER_WAY, "still in transit"),
)
"""The meaning of each sign, as the legend of a diagram with that sign has it."""


def in_ascii(text: str) -> str:
    """Replaces signs in ``text`` by stand-ins, column for column; ``?`` for those without one."""
    return text.translate(_TABLE).encode("ascii", "replace").decode("ascii")


_TABLE = str.maketrans(STAND_INS)
